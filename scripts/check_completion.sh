#!/usr/bin/env bash
# Tests scripts/completion/minitorch.bash with the built programs, as bash calls it.
#
#   scripts/check_completion.sh BIN_FOLDER
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

bin=$(realpath -e "${1:?check_completion.sh: expected the folder of the programs}")
source "$MT_ROOT/scripts/completion/minitorch.bash"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/a folder"
touch "$folder/a file" "$folder/b"
cd "$folder"
failures=0
checked=0

# expect EXPECTED WORD...: what the last word can become, with | between; the program is the first word.
expect() {
  local expected=$1 found previous
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  previous=${COMP_WORDS[COMP_CWORD - 1]}
  # `complete -p` names the function that bash calls for this program.
  "$(complete -p "$(basename "$1")" | sed 's/.*-F \([^ ]*\) .*/\1/')" "$1" "${COMP_WORDS[COMP_CWORD]}" "$previous"
  found=$(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd '|')
  checked=$((checked + 1))
  [[ $found == "$expected" ]] && return
  echo "completion of '${*:2}' for $(basename "$1"): expected '$expected', got '$found'"
  failures=$((failures + 1))
}

for program in "$bin"/*; do
  [[ -f $program && -x $program ]] || continue
  complete -p "$(basename "$program")" >/dev/null || mt_die "completion: none for $(basename "$program")"
  options=$("$program" --help | grep -oE '^  (-[a-z],)?--?[a-z-]+' | tr -d ' ' | tr ',' '\n' | LC_ALL=C sort | paste -sd '|')
  [[ $options == *"|--version"* ]] || mt_die "completion: --help of $(basename "$program") lists no options"
  expect "$options" "$program" -
  expect "--help" "$program" --he
  expect "" "$program" --no-such-option
done
spec="$bin/run_spec_decoding"
expect "--prompt|--prompt-file|--prompts" "$spec" --raw --prompt
expect "a folder" "$spec" --target a
expect "a folder" "$spec" --target 'a\ f'
expect "a file|a folder" "$spec" --json a
expect "a file|a folder" "$spec" --json = a
expect "a file|a folder|b" "$spec" --json =
expect "a folder" "$spec" --trace --draft ""
expect "" "$spec" --prompt a
expect "" "$spec" --gamma ""
expect "a file|a folder" "$bin/inspect_model" --logits a
expect "a file|a folder|b" "$bin/tokenize" ""
expect "target|tokenizer" "$bin/train_tiny_r1" --stage t
expect "evaluate" "$bin/train_tiny_r1" dir --stage = e
expect "" "$folder/none/tokenize" -

((failures == 0)) || mt_die "completion: $failures of $checked failed"
echo "completion: $checked cases"
