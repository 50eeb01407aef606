#!/usr/bin/env bash
# Builds and runs the tests. The last line says how many tests were skipped and why.
#
#   scripts/test.sh               the release suite
#   scripts/test.sh --sanitizers  the same suite under ASan + UBSan, then under TSan
#   scripts/test.sh --lint        formatting, include layers, style, headers on their own, symbols of the files for one
#                                 instruction set
#   scripts/test.sh --full        the release suite with the long matrices (MINITORCH_FULL_TESTS=1)
#   -R REGEX                      only ctest entries that match, with any suite
#
# MINITORCH_DATA names the data folder; by default it is ../shared/data seen from the repository. Tests whose data is
# absent are skipped.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

mode=release
filter=()
while (($# > 0)); do
  case $1 in
    --sanitizers) mode=sanitizers ;;
    --lint) mode=lint ;;
    --full) export MINITORCH_FULL_TESTS=1 ;;
    -R)
      (($# > 1)) || mt_die "test.sh: -R needs a regular expression"
      filter=(-R "$2")
      shift
      ;;
    -h | --help)
      mt_usage "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) mt_die "test.sh: unknown argument '$1' (see scripts/test.sh --help)" ;;
  esac
  shift
done
# Tests run in other folders than the caller's.
[[ -z ${MINITORCH_DATA:-} ]] || MINITORCH_DATA=$(realpath -m "$MINITORCH_DATA")

# fixed_layout COMMAND...: runs it without address randomisation where that can be asked for. Sanitizers reserve address
# ranges, with which a randomised layout can collide.
fixed_layout() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then setarch "$(uname -m)" -R "$@"; else "$@"; fi
}

# run_suite PRESET: builds and runs the suite of one preset. Leaves the logs test_counts and test_skips in its build
# folder, prints what tests report as results, and closes with the numbers.
run_suite() {
  local preset=$1 folder="$MT_ROOT/build/$1" status=0 launcher=()
  mt_build "$preset" all
  : >"$folder/test_counts"
  : >"$folder/test_skips"
  [[ $preset == release ]] || launcher=(fixed_layout)
  ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:${ASAN_OPTIONS:-}" \
    UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}" \
    TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:${TSAN_OPTIONS:-}" \
    MINITORCH_COUNT_LOG="$folder/test_counts" MINITORCH_SKIP_LOG="$folder/test_skips" \
    "${launcher[@]}" ctest --test-dir "$folder" --parallel "$(mt_cores)" --output-on-failure --no-tests=error \
    "${filter[@]}" </dev/null ||
    status=$?
  grep -ah '^RESULT ' "$folder/Testing/Temporary/LastTest.log" || true
  mt_count_tests "$folder" "$status"
  echo "$preset: $MT_PASSED passed, $MT_FAILED failed, $MT_SKIPPED skipped"
  echo "skipped $MT_SKIPPED of $MT_RUN tests$MT_SKIP_REASONS"
  return "$status"
}

# Prints "ctest entries, test cases" of a build folder, without running them.
count_tests() {
  local entries cases=0 program count
  entries=$(ctest --test-dir "$1" -N | sed -n 's/^Total Tests: //p')
  for program in "$1"/tests/test_*; do
    count=$(fixed_layout "$program" --count --no-colors=true | sed -n 's/.*: \([0-9]*\)$/\1/p')
    cases=$((cases + count))
  done
  echo "$entries ctest entries, $cases test cases"
}

run_sanitizers() {
  local status=0 preset expected counted
  for preset in asan tsan; do run_suite "$preset" || status=$?; done
  mt_build release all
  expected=$(count_tests "$MT_ROOT/build/release")
  for preset in asan tsan; do
    counted=$(count_tests "$MT_ROOT/build/$preset")
    [[ $counted == "$expected" ]] || mt_die "$preset has $counted, release has $expected: the suites must be the same"
  done
  echo "asan, tsan and release have the same tests: $expected"
  return "$status"
}

run_lint() {
  local failed=0 passed=0 check
  "$MT_ROOT/scripts/setup.sh" --lint
  mt_build release mt_kernels
  cd "$MT_ROOT"
  for check in check_format.sh check_layers.sh check_style.sh check_headers.sh "check_weak_symbols.sh build/release/libmt_kernels.a"; do
    # shellcheck disable=SC2086  # the words of an entry are the script and its argument
    if bash scripts/$check; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  done
  echo "lint: $passed passed, $failed failed"
  ((failed == 0))
}

"$MT_ROOT/scripts/setup.sh"
case $mode in
  release) run_suite release ;;
  sanitizers) run_sanitizers ;;
  lint) run_lint ;;
esac
