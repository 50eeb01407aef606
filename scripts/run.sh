#!/usr/bin/env bash
# Builds all programs and runs run_spec_decoding with the given arguments. Build messages go to stderr.
#
#   scripts/run.sh               the sample prompt with the embedded pair
#   scripts/run.sh ARGS          scripts/run.sh --help lists them
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

"$MT_ROOT/scripts/setup.sh"
mt_build release programs
exec "$MT_ROOT/build/release/bin/run_spec_decoding" "$@"
