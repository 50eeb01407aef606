#!/usr/bin/env bash
# Checks what a formatter cannot: first lines, lengths, forbidden words. Long functions are shown and not counted as
# failures.
#
#   scripts/check_style.sh [FOLDER]      the repository, or another tree of the same shape
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
MT_ROOT=${1:-$MT_ROOT}

cd "$MT_ROOT"
mapfile -t sources < <(mt_files '*.h' '*.cpp' '*.inl' '*.def' '*.cu' '*.cuh')
mapfile -t others < <(mt_files '*.sh' '*.py' '*.cmake' 'CMakeLists.txt' '*.md' '*.json' '.ci/run' '.clang-*')
((${#sources[@]} > 0)) || mt_die "style: no source file in $MT_ROOT"
failed=0

# Prints what awk finds; a line that begins with "note:" is no failure.
check() {
  local found
  found=$(awk "$@")
  [[ -n $found ]] || return 0
  printf '%s\n' "$found"
  if grep -qv '^note:' <<<"$found"; then failed=1; fi
}

check '
  function bad(text) { print FILENAME ":" FNR ": " text }
  function finish() {
    if (file == "") return
    limit = header ? 250 : 400
    if (lines > limit) print file ": " lines " lines, the limit is " limit
    if (header && !once) print file ": no #pragma once"
  }
  FNR == 1 {
    finish()
    file = FILENAME
    header = file ~ /\.(h|cuh)$/
    once = 0
    if ($0 !~ /^\/\/ ./) bad("the first line says what the file is for: // ...")
  }
  { lines = FNR }
  /^#pragma once/ { once = 1 }
  /^[ ]*using namespace / && header { bad("using namespace in a header") }
  /doctest::(skip|may_fail|should_fail|expected_failures)/ { bad("a test that may not run or may fail proves nothing") }
  END { finish() }
' "${sources[@]}"

# A function begins in the first column (formatting does not indent namespaces) and ends with a brace there.
check '
  FNR == 1 { name = "" }
  /^[A-Za-z].*\{$/ && !/^(namespace|class|struct|enum|union|extern)/ && !/= *\{$/ { name = $0; begin = FNR }
  /^\}/ {
    if (name != "" && FNR - begin - 1 > 60) print "note: " FILENAME ":" begin ": " FNR - begin - 1 " lines in one function"
    name = ""
  }
' "${sources[@]}"

((${#others[@]} == 0)) || check '
  FNR == 1 { shebang = $0 ~ /^#!/ }
  FNR == 1 + shebang && FILENAME !~ /\.(md|json)$/ && $0 !~ /^(#|""")/ {
    print FILENAME ":" FNR ": the first line says what the file is for"
  }
  FNR == 1 && FILENAME ~ /\.md$/ && $0 !~ /^# ./ { print FILENAME ":1: the first line is a title: # ..." }
' "${others[@]}"

# Patterns are written so that they do not match themselves.
check '
  function bad(text) { print FILENAME ":" FNR ": " text ": " $0 }
  /\/wor[k]\/|\/roo[t]\/|\/hom[e]\/[a-z]/ { bad("a path of one machine") }
  /http(s?):\/\/[^ )"]*(deb[.]debian|debian[.]org\/debian|pyp[i]|pythonhosted|npm[j]s|registr[y])/ {
    bad("the host of a package registry")
  }
  /(^|[^A-Za-z_X])(TOD[O]|FIXM[E]|XX[X])($|[^A-Za-z_X(]|\([^#])/ && FILENAME !~ /\.json$/ {
    bad("unfinished, and no issue named: (#number)")
  }
  /[ \t]$/ && FILENAME !~ /\.(md|json)$/ { bad("space at the end of the line") }
' "${sources[@]}" "${others[@]}"

for script in $(mt_files '*.sh' '.ci/run'); do
  bash -n "$script" || failed=1
  if [[ $(head -c 2 "$script") == '#!' && ! -x $script ]]; then
    echo "$script: begins with #! and is not executable"
    failed=1
  fi
done

((failed == 0)) || mt_die "style: see above"
echo "style: $((${#sources[@]} + ${#others[@]})) files"
