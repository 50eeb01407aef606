#!/usr/bin/env bash
# Checks that every C++ file is formatted by .clang-format, with version 14 (versions differ in what they make of it).
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

cd "$MT_ROOT"
mapfile -t files < <(mt_files '*.h' '*.cpp' '*.inl' '*.cu' '*.cuh')
clang-format-14 --dry-run -Werror --ferror-limit=3 "${files[@]}" || mt_die "run: clang-format-14 -i on the files above"
echo "format: ${#files[@]} files"
