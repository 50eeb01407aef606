#!/usr/bin/env bash
# Shows that the golden values are really compared: with one id changed in any golden file, or one byte in golden.json, the
# tests must fail; with an empty data folder they must pass and say what they skipped.
# Usage: scripts/check_goldens_matter.sh BUILD_FOLDER [DATA_FOLDER]      (a built release tree; default data ../shared/data)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:?usage: scripts/check_goldens_matter.sh BUILD_FOLDER [DATA_FOLDER]}" && pwd)
data=$(cd "${2:-$root/../shared/data}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

run_suite() {  # run_suite DATA_FOLDER: succeeds when the tests that read data pass
  MINITORCH_DATA=$1 ctest --test-dir "$build" --output-on-failure -j "$(nproc)" -R '^(tokenizer|models|speculative|examples)/' -E 'exactness|bad_|fuzz' \
    > "$work/log" 2>&1
}

# A data folder of links to the real files, except FILE, which is the real file passed through the given awk program.
expect_failure() {  # expect_failure FILE AWK_PROGRAM
  rm -rf "$work/data"
  cp -rs "$data" "$work/data"
  rm "$work/data/$1"
  awk "$2" "$data/$1" > "$work/data/$1"
  if cmp -s "$data/$1" "$work/data/$1"; then
    echo "FAILED  $1: the change changed nothing"
    failures=$((failures + 1))
  elif run_suite "$work/data"; then
    echo "FAILED  $1: changed, but the suite passes"
    failures=$((failures + 1))
  else
    echo "ok      $1: changed, the suite fails"
  fi
}

# Adds 1 to the first id of the last line that has ids.
change_id='{ line[NR] = $0; if (match($0, /"ids": ?\[[0-9]+/)) last = NR }
  END { for (i = 1; i <= NR; ++i) { if (i == last) { match(line[i], /"ids": ?\[[0-9]+/); head = substr(line[i], 1, RSTART + RLENGTH - 1);
    tail = substr(line[i], RSTART + RLENGTH); match(head, /[0-9]+$/); printf "%s%d%s\n", substr(head, 1, RSTART - 1), substr(head, RSTART) + 1, tail }
    else print line[i] } }'

for file in "$data"/goldens/tokenize/*.jsonl "$data"/goldens/chat/*.jsonl; do
  case $file in *.disputed.jsonl) continue ;; esac
  expect_failure "${file#"$data"/}" "$change_id"
done
expect_failure models/stories260K/golden.json '{ if (seen && !done && /[0-9]/) { sub(/[0-9]+/, "7"); done = 1 } if (/"new_ids"/) seen = 1; print }'
expect_failure models/stories260K/golden.json '/"text"/ { sub(/little/, "litale") } { print }'
expect_failure models/stories260K/golden_256.json 'NR == 200 { sub(/[0-9]+/, "7") } { print }'

mkdir "$work/empty"
if MINITORCH_SKIP_LOG=$work/skips run_suite "$work/empty" && [ -s "$work/skips" ]; then
  echo "ok      empty data folder: the suite passes and skips $(wc -l < "$work/skips") tests"
else
  echo "FAILED  empty data folder: $(tail -n 3 "$work/log" | tr '\n' ' ')"
  failures=$((failures + 1))
fi
[ "$failures" -eq 0 ] || { echo "$failures golden file(s) do not matter"; exit 1; }
