#!/usr/bin/env bash
# Runs the tests labelled `portable` (kernels, tokenizers, 16 tokens of a real model) for other processors than this one,
# in emulation, and prints one line for each machine:
#   haswell   the release programs of an x86-64 machine on one with AVX2 and without AVX-512
#   nehalem   the same programs on one without AVX
#   arm64     a cross-build on one with dot products of bytes
#   cortex    the same on one without them
#
#   scripts/test_portable.sh [MACHINE...]    all of them by default; needs an x86-64 machine
#
# MINITORCH_DATA names the data folder, as for scripts/test.sh.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

# For each machine its build, the table that must be its fastest, and the emulator.
declare -A machines=(
  [haswell]="release avx2 qemu-x86_64 -cpu Haswell"
  [nehalem]="release scalar qemu-x86_64 -cpu Nehalem"
  [arm64]="arm64 neondot qemu-aarch64 -cpu max"
  [cortex]="arm64 neon qemu-aarch64 -cpu cortex-a53"
)
case ${1:-} in
  -h | --help)
    mt_usage "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac
(($# > 0)) || set -- haswell nehalem arm64 cortex
for machine in "$@"; do
  [[ -n ${machines[$machine]:-} ]] || mt_die "test_portable.sh: unknown machine '$machine' (see scripts/test_portable.sh --help)"
done
[[ $(uname -m) == x86_64 ]] || mt_die "test_portable.sh: expected an x86-64 machine, got $(uname -m)"
[[ -z ${MINITORCH_DATA:-} ]] || MINITORCH_DATA=$(realpath -m "$MINITORCH_DATA")
kLimit=600  # seconds for all tests of one machine

# portable_commands FOLDER: the commands of the portable tests of a build, one a line, for a shell.
portable_commands() { ctest --test-dir "$1" -L '^portable$' -N -V | sed -n 's/^[0-9]*: Test command: //p'; }

# run_machine MACHINE: builds and runs. Leaves the logs test_counts and test_skips, and the output of each test, in
# build/portable/MACHINE.
run_machine() {
  local machine=$1 preset table emulator folder commands count started status=0 output
  read -r preset table emulator <<<"${machines[$machine]}"
  folder="$MT_ROOT/build/portable/$machine"
  mt_build "$preset" portable_tests
  mapfile -t commands < <(portable_commands "$MT_ROOT/build/$preset")
  count=${#commands[@]}
  ((count > 0)) || mt_die "test_portable.sh: no test is labelled portable"
  rm -rf "$folder"
  mkdir -p "$folder"
  : >"$folder/test_counts"
  : >"$folder/test_skips"
  started=$SECONDS
  # shellcheck disable=SC2016  # expanded by the shells that xargs starts
  printf '%s\0' "${commands[@]}" | MINITORCH_EMULATED=1 MINITORCH_EXPECTED_TABLE=$table \
    MINITORCH_COUNT_LOG="$folder/test_counts" MINITORCH_SKIP_LOG="$folder/test_skips" MT_EMULATOR=$emulator MT_FOLDER=$folder \
    timeout "$kLimit" xargs -0 -n 1 -P "$(mt_cores)" bash -c '
      output="$MT_FOLDER/$$.txt"
      eval "$MT_EMULATOR $0" >"$output" 2>&1 </dev/null || { echo "FAILED: $0" >>"$output"; exit 1; }
      rm "$output"
    ' || status=$?
  for output in "$folder"/*.txt; do [[ ! -e $output ]] || cat "$output" >&2; done
  mt_count_tests "$folder" "$status"
  ((status != 124)) || mt_say "test_portable.sh: $machine was not done after $kLimit s"
  echo "$machine ($emulator, table $table): $count entries, $MT_PASSED tests passed, $MT_FAILED failed," \
    "$MT_SKIPPED skipped$MT_SKIP_REASONS; $((SECONDS - started)) s"
  return "$status"
}

"$MT_ROOT/scripts/setup.sh"
"$MT_ROOT/scripts/setup.sh" --portable
failed=0
for machine in "$@"; do run_machine "$machine" || failed=1; done
exit "$failed"
