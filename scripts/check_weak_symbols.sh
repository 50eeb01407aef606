#!/usr/bin/env bash
# Checks that the files compiled with an instruction set of their own (*_avx2.cpp, *_avx512.cpp, *_avx512vnni.cpp,
# *_neon.cpp, *_neondot.cpp) define nothing that the linker could take for the whole program: an inline function or
# template instance outside the namespace of the variant is merged with the copies of other files, and the copy with
# AVX-512 instructions may be the one that stays, on a machine that lacks them.
#
#   scripts/check_weak_symbols.sh LIBRARY.a
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

library=${1:?check_weak_symbols.sh: expected the library with the kernels}
[[ -f $library ]] || mt_die "weak symbols: no library $library"

# nm prints "member.o:" before the symbols of each member. Weak (w, W, v, V) and unique (u) symbols must name the
# variant's namespace, be it in a template argument: then no other file has them. Strong ones must at least name the
# variant.
nm --demangle --defined-only --extern-only "$library" | awk '
  /\.o:$/ {
    variant = ""
    member = $0
    sub(/:$/, "", member)
    if (match(member, /_(avx2|avx512|avx512vnni|neon|neondot)\.cpp\.o$/)) {
      variant = substr(member, RSTART + 1, RLENGTH - 7)
      members++
    }
    next
  }
  variant == "" || NF < 3 { next }
  {
    symbol = $0
    sub(/^[^ ]* [^ ] /, "", symbol)
    weak = $2 ~ /^[wWvVu]$/
    if (symbol ~ /^(DW\.ref\.__gxx_personality_v0|__clang_call_terminate|__odr_asan.*)$/) next
    if (weak ? symbol !~ ("(^|[^A-Za-z0-9_])" variant "::") : symbol !~ variant) {
      printf "%s: %s symbol outside namespace %s: %s\n", member, weak ? "weak" : "strong", variant, symbol
      failures++
    }
  }
  END {
    if (failures > 0) exit 1
    printf "weak symbols: %d objects\n", members
  }
' || mt_die "weak symbols: move the functions above into the namespace of the variant, or mark them always_inline or static"
