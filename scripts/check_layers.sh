#!/usr/bin/env bash
# Checks what files include: layers, full paths, heavy headers, and what device code may reach.
#
#   scripts/check_layers.sh [FOLDER]     the repository, or another tree of the same shape
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
MT_ROOT=${1:-$MT_ROOT}

cd "$MT_ROOT"
mapfile -t files < <(mt_files '*.h' '*.cpp' '*.inl' '*.def' '*.cu' '*.cuh')
((${#files[@]} > 0)) || mt_die "layers: no source file in $MT_ROOT"

awk '
  # A file includes only what has a lower or the same number.
  function layer(path) {
    if (path ~ /^minitorch\/base\//) return 0
    if (path ~ /^kernels\//) return 1
    if (path ~ /^minitorch\/(core|autograd|ops|nn|optim|data|io|scalar)\//) return 2
    if (path ~ /^models\//) return 3
    if (path ~ /^speculative\//) return 4
    if (path ~ /^(examples|bench)\//) return 5
    if (path ~ /^tests\//) return 6
    return -1
  }
  # Device code reaches these headers; nvcc does not take all of fmt.
  function is_device_root(path) {
    return path ~ /^minitorch\/base\/(error|dtype|float16|philox)\.h$/ || path ~ /^kernels\/(ops\/[^\/]*|packed_matrix)\.h$/
  }
  function is_header(path) { return path ~ /\.(h|inl|def|cuh)$/ }
  function top(path) { sub(/\/.*/, "", path); return path }
  function program(path) { split(path, part, "/"); return part[2] }
  function bad(text) { print FILENAME ":" FNR ": " text; failures++ }

  function check_project_include(path) {
    if (!(path in known)) { bad("no file \"" path "\" seen from the root of the repository"); return }
    includes[FILENAME] = includes[FILENAME] " " path
    if (layer(path) > layer(FILENAME)) bad(FILENAME " may not include " path ": it stands in a higher layer")
    if (layer(FILENAME) != 5 || layer(path) != 5) return
    if (top(path) != top(FILENAME)) bad("examples and bench may not include each other: " path)
    else if (top(path) == "examples" && program(path) != program(FILENAME) && program(path) != "common")
      bad("a program may include its own folder and examples/common, not " path)
  }
  function check_library_include(name) {
    if (name ~ /^fmt\//) uses_fmt[FILENAME] = FNR
    if (layer(FILENAME) == 6) return
    if (name ~ /^doctest\//) bad("<" name "> is for tests")
    if (name ~ /^benchmark\// && top(FILENAME) != "bench") bad("<" name "> is for bench")
    if (is_header(FILENAME) && (name ~ /^CLI\// || (name ~ /^nlohmann\// && name != "nlohmann/json_fwd.hpp")))
      bad("<" name "> is heavy: include it in .cpp files")
  }
  # Follows the includes of a header that device code may reach.
  function follow(path, chain, count, list, i) {
    if (path in followed) return
    followed[path] = 1
    if (path in uses_fmt) {
      print path ":" uses_fmt[path] ": device code reaches this header, so it may not include fmt: " chain
      failures++
    }
    count = split(includes[path], list, " ")
    for (i = 1; i <= count; i++) follow(list[i], chain " -> " list[i])
  }

  BEGIN { for (i = 1; i < ARGC; i++) known[ARGV[i]] = 1 }
  FNR == 1 && layer(FILENAME) < 0 { bad("this folder belongs to no layer") }
  /^[ \t]*#[ \t]*include[ \t]*"/ { split($0, part, "\""); check_project_include(part[2]) }
  /^[ \t]*#[ \t]*include[ \t]*</ { split($0, part, /[<>]/); check_library_include(part[2]) }
  END {
    for (path in known) if (is_device_root(path)) follow(path, path)
    exit failures > 0
  }
' "${files[@]}" || mt_die "layers: the includes above are not allowed (the layers are in ARCHITECTURE.md)"
echo "layers: ${#files[@]} files"
