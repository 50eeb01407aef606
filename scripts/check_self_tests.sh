#!/usr/bin/env bash
# Tests the checks: each must find what is planted here, and nothing in a tree without faults.
#
#   scripts/check_self_tests.sh COMPILER PLANTED_TESTS      (tests/support/planted, built)
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

compiler=${1:?check_self_tests.sh: expected the C++ compiler}
planted_tests=${2:?check_self_tests.sh: expected the program with the planted tests}
scripts="$MT_ROOT/scripts"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
planted=0
export CXX=$compiler  # of check_headers.sh

# write PATH: standard input into the tree.
write() {
  mkdir -p "$(dirname "$tree/$1")"
  cat >"$tree/$1"
}

# A tree that every check accepts.
new_tree() {
  tree="$folder/tree"
  rm -rf "$tree"
  write minitorch/base/error.h <<<$'// Errors.\n#pragma once\n#include <string>'
  write minitorch/base/check.h <<<$'// Checks.\n#pragma once\n#include <fmt/format.h>\n#include "minitorch/base/error.h"'
  write kernels/context.h <<<$'// Context.\n#pragma once\n#include "minitorch/base/error.h"'
  write kernels/ops/op.h <<<$'// An op.\n#pragma once\n#include "kernels/context.h"'
  write minitorch/core/tensor.h <<<$'// Tensor.\n#pragma once\n#include <nlohmann/json_fwd.hpp>\n#include "kernels/ops/op.h"'
  write models/model.cpp <<<$'// Model.\n#include <nlohmann/json.hpp>\n#include "minitorch/core/tensor.h"'
  write speculative/draft.h <<<$'// Draft.\n#pragma once'
  write examples/common/shared.h <<<$'// Shared.\n#pragma once'
  write examples/one/main.cpp <<<$'// One.\n#include <CLI/CLI.hpp>\n#include "examples/common/shared.h"'
  write examples/two/part.h <<<$'// Two.\n#pragma once'
  write bench/kernels/op_bench.cpp <<<$'// Bench.\n#include <benchmark/benchmark.h>'
  write tests/support/data.h <<<$'// Data.\n#pragma once\n#include <doctest/doctest.h>\n#include <nlohmann/json.hpp>'
  write scripts/tool.sh <<<$'#!/usr/bin/env bash\n# Tool.'
  chmod +x "$tree/scripts/tool.sh"
  write models/README.md <<<$'# models: a title\n\nText.'
}

# expect pass|fail WHAT COMMAND...: runs a check.
expect() {
  local expected=$1 what=$2 got=pass
  shift 2
  planted=$((planted + 1))
  "$@" >"$folder/output" 2>&1 || got=fail
  [[ $got == "$expected" ]] && return
  echo "self test: '$what' must $expected, and did not:"
  cat "$folder/output"
  failures=$((failures + 1))
}

# plant CHECK PATH TEXT: the check must find TEXT when it is added to the file PATH of an otherwise sound tree.
plant() {
  new_tree
  mkdir -p "$(dirname "$tree/$2")"
  [[ -e $tree/$2 ]] || echo "// New." >"$tree/$2"
  printf '%b\n' "$3" >>"$tree/$2"
  expect fail "$2: $3" "$scripts/$1" "$tree"
}

new_tree
expect pass "a sound tree" "$scripts/check_layers.sh" "$tree"
expect pass "a sound tree" "$scripts/check_style.sh" "$tree"

plant check_layers.sh minitorch/base/error.h '#include "kernels/context.h"'
plant check_layers.sh kernels/context.h '#include "minitorch/core/tensor.h"'
plant check_layers.sh minitorch/core/tensor.h '#include "models/model.h"'
plant check_layers.sh models/model.cpp '  #  include "speculative/draft.h"'
plant check_layers.sh speculative/draft.h '#include "examples/common/shared.h"'
plant check_layers.sh models/model.cpp '#include "tests/support/data.h"'
plant check_layers.sh examples/one/main.cpp '#include "examples/two/part.h"'
plant check_layers.sh examples/one/main.cpp '#include "bench/kernels/op_bench.cpp"'
plant check_layers.sh models/model.cpp '#include "tensor.h"'
plant check_layers.sh elsewhere/file.cpp ''
plant check_layers.sh minitorch/elsewhere/file.cpp ''
plant check_layers.sh minitorch/core/tensor.h '#include <nlohmann/json.hpp>'
plant check_layers.sh examples/common/shared.h '#include <CLI/CLI.hpp>'
plant check_layers.sh models/model.cpp '#include <doctest/doctest.h>'
plant check_layers.sh models/model.cpp '#include <benchmark/benchmark.h>'
plant check_layers.sh minitorch/base/error.h '#include <fmt/core.h>'
plant check_layers.sh kernels/context.h '#include "minitorch/base/check.h"'

# header PATH TEXT: a tree of this header alone, as compiling takes time.
header() {
  tree="$folder/headers"
  rm -rf "$tree"
  write "$1" <<<"// New."$'\n#pragma once\n'"$2"
  "$scripts/check_headers.sh" "$tree"
}
expect pass "a sound header" header kernels/op.h $'#include <vector>\ninline std::vector<int> f() { return {}; }'
expect fail "a header without an include" header kernels/op.h 'inline std::vector<int> f() { return {}; }'
expect fail "a header with a narrowing" header examples/one/part.h 'inline int f(long x) { return static_cast<int>(x) + x; }'
expect fail "a header with a shadow" header models/new.h 'inline int f(int x) { if (x > 0) { int x = 1; return x; } return x; }'

long=$(printf '//\\n%.0s' {1..260})
plant check_style.sh kernels/context.h "$long"
plant check_style.sh models/model.cpp "$long$long"
plant check_style.sh kernels/context.h 'using namespace std;'
plant check_style.sh models/model.cpp '// See /wor''k/notes.'
plant check_style.sh scripts/tool.sh '# From http:/''/deb.debian.org/debian.'
plant check_style.sh models/model.cpp '// TO''DO: more'
plant check_style.sh models/model.cpp 'TEST_CASE("x" * doctest::''skip()) {}'
plant check_style.sh scripts/tool.sh 'if true; then'
plant check_style.sh scripts/new.sh '#!/usr/bin/env bash'
new_tree
write models/README.md <<<'#models : a title that a formatter for another language took apart'
expect fail "no title in an .md file" "$scripts/check_style.sh" "$tree"
new_tree
write models/model.cpp <<<'#include "minitorch/core/tensor.h"'
expect fail "no first comment" "$scripts/check_style.sh" "$tree"
new_tree
write kernels/context.h <<<'// Context.'
expect fail "no #pragma once" "$scripts/check_style.sh" "$tree"

# docs CODE: examples/README.md of one program, changed by the sed script CODE.
docs() {
  {
    printf '## tool\n'
    printf '### %s\n' NAME SYNOPSIS DESCRIPTION EXAMPLES "EXIT STATUS" ENVIRONMENT FILES OPTIONS
    printf '| `%s` | what it means, see `--other` |\n' '-h`, `--help' '--json FILE'
  } | sed "$1" >"$folder/README.md"
  "$scripts/check_program_docs.sh" "$folder/bin" "$folder/README.md"
}
mkdir "$folder/bin"
printf '#!/bin/sh\nprintf "Options:\\n  -h,--help       Help\\n  --json FILE     Results\\n"\n' >"$folder/bin/tool"
chmod +x "$folder/bin/tool"
expect pass "a program's true description" docs ''
expect fail "a description without an option" docs '/--json/d'
expect fail "a description without a short option" docs 's/`-h`, //'
expect fail "an option that the program does not have" docs 's/--json/--jsons/'
expect fail "a description without a heading" docs '/EXIT/d'
expect fail "a program without a description" docs 's/## tool/## other/'

# test_file TEXT: what CMake checks about a file of tests when it configures.
test_file() {
  printf '%s\n' "$1" >"$folder/planted_test.cpp"
  printf 'include("%s")\nmt_check_test_file("%s")\n' "$scripts/cmake/MinitorchTests.cmake" "$folder/planted_test.cpp" >"$folder/check.cmake"
  cmake -D PROJECT_SOURCE_DIR="$folder" -P "$folder/check.cmake"
}
expect pass "a semicolon outside the name" test_file 'TEST_CASE("fine \"x\"") { int a; f("x;y"); }'
expect fail "no test case" test_file 'int f();'
expect fail "a semicolon in a name" test_file 'TEST_CASE("a;b") {}'
expect fail "a semicolon behind an escape" test_file 'TEST_CASE("a \"x\" ; b") {}'
expect fail "a semicolon in the second part of a name" test_file $'TEST_CASE("a"\n   "b;c") {}'
expect fail "a semicolon in the name of a fixture test" test_file 'TEST_CASE_FIXTURE(a::B, "a;b") {}'
expect fail "a semicolon in a subcase" test_file 'TEST_CASE("a") { SUBCASE("a;b") {} }'

# symbols NAME CODE: a library with one object compiled from CODE as NAME.
symbols() {
  rm -f "$folder/planted.a"
  printf '%s\n' "$2" >"$folder/$1"
  "$compiler" -std=c++20 -O0 -c "$folder/$1" -o "$folder/$1.o"
  ar rcs "$folder/planted.a" "$folder/$1.o"
}
check_symbols=("$scripts/check_weak_symbols.sh" "$folder/planted.a")
symbols op_avx2.cpp 'namespace k::avx2 { inline int f() { return 1; } int g() { return f(); } }'
expect pass "all inside the namespace" "${check_symbols[@]}"
symbols op_avx2.cpp 'namespace k { inline int f() { return 1; } namespace avx2 { int g() { return f(); } } }'
expect fail "an inline function outside" "${check_symbols[@]}"
symbols op_avx512.cpp 'template <class T> T f(T x) { return x; } namespace k::avx512 { int g() { return f(1); } }'
expect fail "a template instance outside" "${check_symbols[@]}"
symbols op_avx512.cpp 'template <class T> int f(T) { return 1; } namespace k::avx512 { struct S {}; int g() { return f(S{}); } }'
expect pass "a template instance for a type of the namespace" "${check_symbols[@]}"
symbols op_avx512.cpp 'namespace k::avx2 { int g() { return 1; } }'
expect fail "the namespace of another variant" "${check_symbols[@]}"
symbols op_avx512vnni.cpp 'namespace k::avx512vnni { inline int f() { return 1; } int g() { return f(); } }'
expect pass "all inside the namespace of a longer name" "${check_symbols[@]}"
symbols op_avx512vnni.cpp 'namespace k::avx512 { inline int f() { return 1; } int g() { return f(); } }'
expect fail "the namespace of a variant with a shorter name" "${check_symbols[@]}"
symbols op_neondot.cpp 'namespace k::neondot { inline int f() { return 1; } int g() { return f(); } }'
expect pass "all inside the namespace of a variant for arm64" "${check_symbols[@]}"
symbols op_neon.cpp 'namespace k { inline int f() { return 1; } namespace neon { int g() { return f(); } } }'
expect fail "an inline function outside, in a variant for arm64" "${check_symbols[@]}"
symbols op.cpp 'inline int f() { return 1; } int g() { return f(); }'
expect pass "a file without instruction sets of its own" "${check_symbols[@]}"

# The main function of the tests, with tests of its own.
unset MINITORCH_COUNT_LOG MINITORCH_SKIP_LOG  # these tests do not count
expect pass "a test that holds" "$planted_tests" --test-case=right
expect fail "a test that does not hold" "$planted_tests" --test-case=wrong
expect fail "a test that checks nothing" "$planted_tests" --test-case=empty
expect pass "a skipped test" "$planted_tests" --test-case=skipped
expect fail "a filter that matches no test" "$planted_tests" --test-case=absent

((failures == 0)) || mt_die "self tests: $failures of $planted failed"
echo "self tests: $planted"
