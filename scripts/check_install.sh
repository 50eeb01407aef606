#!/usr/bin/env bash
# Checks that what is installed can be used: all is there, the installation can be moved, another project builds against
# it alone (tests/consumer), and its programs find the embedded pair from any folder.
#
#   scripts/check_install.sh BUILD_FOLDER      (built; any CMake generator, sanitizers too)
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

build=$(realpath -e "${1:?check_install.sh: expected the build folder}")
folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
unset MINITORCH_MODELS

bad() { mt_die "install: $*"; }

# cached NAME: a variable of the build.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# quietly COMMAND...: shows the output of a command that fails.
quietly() { "$@" >"$folder/log" 2>&1 </dev/null || { cat "$folder/log" >&2; bad "this failed: $*"; }; }

# Installs, and moves the installation: nothing may be left that knows where it stood.
quietly cmake --install "$build" --prefix "$folder/first place"
prefix="$folder/second place"
mv "$folder/first place" "$prefix"

# What must be there, and nothing beside it.
[[ $(ls "$prefix" | paste -sd ' ') == "bin include lib share" ]] || bad "unexpected folders: $(ls "$prefix")"
[[ -z $(find "$prefix" -type d -empty) ]] || bad "empty folders: $(find "$prefix" -type d -empty)"
[[ $(ls "$prefix/include") == minitorch ]] || bad "headers must lie in a folder of their own: $(ls "$prefix/include")"
for name in bin/{run_spec_decoding,tokenize,inspect_model,quantize,train_tiny_r1} lib/libmt_{base,kernels,core,models,speculative}.a \
  include/minitorch/{minitorch/core/tensor.h,kernels/kernel_list.def,models/load.h,speculative/session.h} \
  lib/cmake/minitorch/minitorch{Config,ConfigVersion,Targets}.cmake \
  share/minitorch/tiny_r1/{target,draft}/{config.json,tokenizer.json,model.safetensors} \
  share/bash-completion/completions/{run_spec_decoding,tokenize,inspect_model,quantize,train_tiny_r1}; do
  [[ -s $prefix/$name ]] || bad "$name is missing or empty"
done
found=$(cd "$prefix" && find . -type f '(' -name '*_test*' -o -name '*.cpp' -o -name '*.inl' ')')
[[ -z $found ]] || bad "this is not for users: $found"

# Every file that an installed header includes is installed.
includes=$(cd "$prefix/include/minitorch" && grep -rh '^ *# *include "' . | sed 's/.*"\(.*\)".*/\1/' | sort -u)
((${#includes} > 0)) || bad "no header includes another"
while IFS= read -r name; do
  [[ -f $prefix/include/minitorch/$name ]] || bad "installed headers include \"$name\", which is not installed"
done <<<"$includes"

# The package names no place of this machine, and hands no flag of ours on.
if grep -rnF -e "$MT_ROOT" -e "$build" -e "$folder" -e /usr/lib "$prefix/lib/cmake"; then
  bad "the CMake package names a path of this machine"
fi
if grep -rnE -e '-(W[a-z]|f[a-z])' "$prefix/lib/cmake/minitorch/minitorchTargets.cmake"; then
  bad "the CMake package hands our flags on"
fi

# configure NAME ARGUMENT...: configures tests/consumer in $folder/NAME as the libraries were built.
flags=$(cached CMAKE_CXX_FLAGS)
sanitize=$(cached MINITORCH_SANITIZE)
configure() {
  local name=$1
  shift
  quietly cmake -S "$MT_ROOT/tests/consumer" -B "$folder/$name" -G "$(cached CMAKE_GENERATOR)" \
    -D CMAKE_CXX_COMPILER="$(cached CMAKE_CXX_COMPILER)" -D CMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" \
    -D CMAKE_CXX_FLAGS="$flags${sanitize:+ -fsanitize=$sanitize}" -D CMAKE_CXX_FLAGS_RELEASE=-DNDEBUG \
    -D CMAKE_PREFIX_PATH="$(cached CMAKE_PREFIX_PATH)" "$@"
}

# check_output PAIR COMMAND...: what the consumer or a program prints, from a folder that has nothing to do with it.
check_output() {
  local expected=$1 line
  shift
  mkdir -p "$folder/elsewhere"
  (cd "$folder/elsewhere" && "$@") >"$folder/output" 2>&1 </dev/null || { cat "$folder/output"; bad "this failed: $*"; }
  while IFS= read -r line; do
    grep -qxF -- "$line" "$folder/output" || { cat "$folder/output"; bad "$1 did not print the line '$line'"; }
  done <<<"$expected"
}

configure installed -D minitorch_ROOT="$prefix"
quietly cmake --build "$folder/installed"
if grep -F "$MT_ROOT/minitorch" "$folder/installed/compile_commands.json"; then bad "the consumer saw the source tree"; fi
check_output "sum 14 gradient 2 4 6
pair $prefix/share/minitorch/tiny_r1
ids 12 identical yes" "$folder/installed/consumer"

# A program takes the pair it was installed with, not that of the source tree.
check_output "identical: yes" "$prefix/bin/run_spec_decoding" --json "$folder/result.json" --max-new-tokens 12
grep -qF "\"$prefix/share/minitorch/tiny_r1/target\"" "$folder/result.json" ||
  bad "run_spec_decoding did not use the installed pair: $(head -c 2000 "$folder/result.json")"

# The source tree inside another project: configured only, as building takes minutes.
configure added -D MINITORCH_SOURCE="$MT_ROOT"
if grep -E 'consumer/main.cpp' "$folder/added/compile_commands.json" | grep -E -e ' -(Werror|Wall|ffp)'; then
  bad "a project that adds minitorch gets our flags"
fi
echo "install: $(cd "$prefix" && find . -type f | wc -l) files, used by another project"
