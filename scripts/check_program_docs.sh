#!/usr/bin/env bash
# Checks that examples/README.md is true: a section with all man-page headings for each program, which names every option
# that --help prints and, in its table of options, no other.
#
#   scripts/check_program_docs.sh BIN_FOLDER [FILE]      FILE: instead of examples/README.md
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

bin=${1:?check_program_docs.sh: expected the folder of the programs}
file=${2:-$MT_ROOT/examples/README.md}
failures=0
programs=0

bad() {
  echo "$file: $*"
  failures=$((failures + 1))
}

for program in "$bin"/*; do
  [[ -f $program && -x $program ]] || continue
  programs=$((programs + 1))
  name=$(basename "$program")
  # A section goes on to the next heading of its level.
  section=$(awk -v title="## $name" '/^## / { inside = $0 == title } inside' "$file")
  [[ -n $section ]] || { bad "no section '## $name'"; continue; }
  for heading in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES "EXIT STATUS" ENVIRONMENT FILES; do
    grep -qx "### $heading" <<<"$section" || bad "$name: no heading '### $heading'"
  done
  options=$("$program" --help | grep -oE '^  (-[a-z],)?--?[a-z0-9-]+' | tr -d ' ' | tr ',' '\n')
  [[ -n $options ]] || mt_die "program docs: --help of $name lists no options"
  table=$(awk '/^### / { inside = $0 == "### OPTIONS" } inside' <<<"$section" | sed -n 's/^| *\(`[^|]*\).*/\1/p')
  described=$(grep -oE '`-[^` ]*' <<<"$table" | tr -d '`' || true)
  for option in $options; do
    grep -qxF -e "$option" <<<"$described" || bad "$name: the table of options lacks $option"
  done
  for option in $described; do
    grep -qxF -e "$option" <<<"$options" || bad "$name: --help does not know $option"
  done
done
((programs > 0)) || mt_die "program docs: no program in $bin"
((failures == 0)) || mt_die "program docs: see above"
echo "program docs: $programs programs"
