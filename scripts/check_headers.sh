#!/usr/bin/env bash
# Checks that every header compiles on its own, with the warnings of the build: it includes what it uses, so includes may
# stand in any order and be taken away. (Files *.inl and *.def are parts of others and no headers.)
#
#   scripts/check_headers.sh [FOLDER]    the repository, or another tree of the same shape; CXX names the compiler
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

cmake="$MT_ROOT/CMakeLists.txt" helpers="$MT_ROOT/scripts/cmake/MinitorchHelpers.cmake"
MT_ROOT=${1:-$MT_ROOT}
cd "$MT_ROOT"

# isa_flags NAME: what mt_set_isa_flags gives the files of an instruction set.
isa_flags() { sed -n "s/^ *set($1 \(.*\))$/\1/p" "$helpers" | sed "s/\${avx2}/${2:-}/"; }

MT_FLAGS=$(sed -n 's/^  \(-Wall .*\)$/\1/p' "$cmake")
MT_AVX2=$(isa_flags avx2)
MT_AVX512=$(isa_flags avx512 "$MT_AVX2")
[[ -n $MT_FLAGS && -n $MT_AVX2 && -n $MT_AVX512 ]] || mt_die "headers: the flags are not where they were in $cmake and $helpers"
MT_FLAGS="-std=c++20 -Werror -fmax-errors=3 $MT_FLAGS"
MT_CXX=${CXX:-c++}
export MT_FLAGS MT_AVX2 MT_AVX512 MT_CXX

# Each header is compiled for the instruction set in its name; headers of another machine's are left out.
mapfile -t headers < <(mt_files '*.h' | grep -E '^(minitorch|kernels|models|speculative|examples)/')
case $(uname -m) in x86_64) others=neon ;; aarch64) others='avx[0-9]*' ;; *) others='\(neon\|avx[0-9]*\)' ;; esac
mapfile -t headers < <(printf '%s\n' "${headers[@]}" | grep -v "_$others\.h\$")
((${#headers[@]} > 0)) || mt_die "headers: no header in $MT_ROOT"
# shellcheck disable=SC2016  # expanded by the shells that xargs starts
printf '%s\0' "${headers[@]}" | xargs -0 -n 1 -P "$(mt_cores)" bash -c '
  isa=
  case $1 in *_avx2.h) isa=$MT_AVX2 ;; *_avx512.h) isa=$MT_AVX512 ;; esac
  "$MT_CXX" $MT_FLAGS $isa -I. -fsyntax-only -x c++ - <<<"#include \"$1\"" || { echo "$1: does not compile on its own"; exit 1; }
' check_headers || mt_die "headers: see above"
echo "headers: ${#headers[@]} files"
