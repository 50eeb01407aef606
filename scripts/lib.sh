# Functions the other scripts share: messages, build folders, lists of files. Source it with `source`; it runs nothing.

# The repository, whatever the current folder and however the script was called.
MT_ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

mt_say() { printf 'minitorch: %s\n' "$*" >&2; }

mt_die() {
  mt_say "$*"
  exit 1
}

# Prints the comment at the top of a script, which says how to use it.
mt_usage() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"; }

# Cores this process may use.
mt_cores() { nproc 2>/dev/null || echo 1; }

# Shows the lines of a build: on a terminal the steps overwrite each other, elsewhere each has its line. What a build
# without work says is left out. Prints "something" on file descriptor 3 when there was work.
mt_show_build() {
  local line worked=
  while IFS= read -r line; do
    case $line in
      "ninja: no work to do."* | "ninja: Entering directory"* | "-- "* | *"Re-checking globbed directories..." | \
        *"Checking the build id" | *"Built target "* | "Consolidate compiler generated"*) continue ;;
    esac
    worked=something
    if [[ $line == \[* && -t 2 ]]; then
      printf '\r\033[K%.*s' "${COLUMNS:-79}" "$line" >&2
    else
      [[ -t 2 ]] && printf '\r\033[K' >&2
      printf '%s\n' "$line" >&2
    fi
  done
  [[ -n $worked && -t 2 ]] && printf '\r\033[K' >&2
  printf '%s' "$worked" >&3
}

# mt_configure PRESET: configures build/PRESET when it is new or the presets have changed. CMake itself sees to every
# other change.
mt_configure() {
  local folder="$MT_ROOT/build/$1" log="$MT_ROOT/build/$1/configure.log"
  local stamp="$folder/.configured"
  [[ $stamp -nt $MT_ROOT/CMakePresets.json ]] && return
  if command -v ninja >/dev/null; then export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}; fi
  if ! (cd "$MT_ROOT" && cmake --preset "$1") >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    mt_die "CMake could not configure $folder"
  fi
  touch "$stamp"
}

# mt_build PRESET TARGET...: builds targets in build/PRESET. Messages go to stderr; without work there are none.
mt_build() {
  local preset=$1 folder="$MT_ROOT/build/$1" started=$SECONDS status=0 worked lock
  shift
  mkdir -p "$folder" || mt_die "cannot make the build folder $folder"
  exec {lock}>"$folder/.lock"
  flock "$lock"  # two scripts at once would write the same files
  mt_configure "$preset"
  worked=$({
    set -o pipefail
    cmake --build "$folder" --parallel "$(mt_cores)" --target "$@" 2>&1 </dev/null {lock}>&- | mt_show_build 3>&4
  } 4>&1) || status=$?
  exec {lock}>&-
  ((status == 0)) || mt_die "the build in $folder failed"
  if [[ -n $worked ]]; then mt_say "built $preset in $((SECONDS - started)) s"; fi
}

# mt_sum FILE COLUMN: the sum of a column of numbers.
mt_sum() { awk -v column="$2" '{ total += $column } END { print total + 0 }' "$1"; }

# mt_count_tests FOLDER STATUS: what the logs test_counts and test_skips in FOLDER say of a run that ended with STATUS, in
# MT_RUN, MT_PASSED, MT_FAILED, MT_SKIPPED and MT_SKIP_REASONS. Their lines are "cases run, cases failed" and
# "test <tab> reason".
mt_count_tests() {
  local reasons
  MT_RUN=$(mt_sum "$1/test_counts" 1)
  MT_FAILED=$(mt_sum "$1/test_counts" 2)
  reasons=$(awk -F '\t' '!seen[$1]++ { count[$2]++ } END { for (reason in count) print count[reason] "\t" reason }' \
    "$1/test_skips" | sort -k 2)
  MT_SKIPPED=$(mt_sum <(cut -f1 <<<"$reasons") 1)
  MT_PASSED=$((MT_RUN - MT_FAILED - MT_SKIPPED))
  MT_SKIP_REASONS=$(awk -F '\t' 'NF == 2 { printf "%s%d x %s", n++ ? ", " : ": ", $1, $2 }' <<<"$reasons")
  (($2 == 0 || MT_FAILED > 0)) || MT_FAILED=1  # a crash, a time-out or a check that is no test case leaves no count
}

# mt_files PATTERN...: the repository's files whose names match one of the patterns, relative to MT_ROOT, one a line.
# Build folders and what git ignores are left out.
mt_files() {
  local pattern file names=()
  if git -C "$MT_ROOT" rev-parse --git-dir >/dev/null 2>&1 && [[ -e $MT_ROOT/.git ]]; then
    git -C "$MT_ROOT" ls-files --cached --others --exclude-standard --deduplicate -- "$@" | while IFS= read -r file; do
      if [[ -f $MT_ROOT/$file ]]; then printf '%s\n' "$file"; fi
    done
  else
    for pattern in "$@"; do names+=(-o -name "$pattern"); done
    (cd "$MT_ROOT" && find . \( -name build -o -name .git \) -prune -o -type f \( "${names[@]:1}" \) -print) |
      sed 's|^\./||' | sort
  fi
}
