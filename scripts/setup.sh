#!/usr/bin/env bash
# Installs the Debian packages that minitorch needs to be built and tested, with --lint the formatter too, with --bench
# Google Benchmark, and with --portable emulators, a cross-compiler for arm64 and that architecture's libraries. Does
# nothing when all are there. MINITORCH_SKIP_SETUP=1 leaves it out: then the libraries may come from anywhere CMake looks.
#
#   scripts/setup.sh [--lint] [--bench] [--portable]
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

# Tools: any one of the commands will do; the first word is the package to install otherwise.
tools=("g++ c++" "cmake cmake" "ninja-build ninja make")
libraries=(libfmt-dev nlohmann-json3-dev libcli11-dev libpcre2-dev libutf8proc-dev doctest-dev liblzma-dev)
foreign=
for argument in "$@"; do
  case $argument in
    --lint) tools+=("clang-format-14 clang-format-14") ;;
    --bench) libraries+=(libbenchmark-dev) ;;
    --portable)
      foreign=arm64
      tools+=("qemu-user qemu-x86_64" "qemu-user qemu-aarch64" "g++-aarch64-linux-gnu aarch64-linux-gnu-g++")
      libraries+=({libfmt-dev,libpcre2-dev,libutf8proc-dev,liblzma-dev}:arm64)  # the others are headers alone
      ;;
    -h | --help)
      mt_usage "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) mt_die "setup.sh: unknown argument '$argument' (expected --lint, --bench or --portable)" ;;
  esac
done
[[ -n ${MINITORCH_SKIP_SETUP:-} ]] && exit 0

# Prints the packages of `tools` of which no command is found.
missing_tools() {
  local entry package command found
  for entry in "${tools[@]}"; do
    read -r package found <<<"$entry"
    for command in $found; do command -v "$command" >/dev/null && continue 2; done
    printf '%s\n' "$package"
  done
}

# Prints the packages of `libraries` that dpkg does not list as installed, for this machine unless they name another.
missing_libraries() {
  local installed package native
  native=$(dpkg --print-architecture)
  installed=$(dpkg-query -W -f='${Package}:${Architecture} ${db:Status-Status}\n' "${libraries[@]}" 2>/dev/null || true)
  for package in "${libraries[@]}"; do
    grep -qxE "$package(:($native|all))? installed" <<<"$installed" || printf '%s\n' "$package"
  done
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  # Not Debian-like: the tools are looked for here, the libraries by CMake, which names what it misses.
  mapfile -t missing < <(missing_tools)
  ((${#missing[@]} == 0)) && exit 0
  mt_die "no apt-get here; install what these Debian packages hold and run again: ${missing[*]} ${libraries[*]}"
fi

mapfile -t missing < <(missing_tools | sort -u; missing_libraries)
((${#missing[@]} == 0)) && exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null ||
    mt_die "packages are missing and there is no sudo to install them; as root: apt-get install ${missing[*]}"
  as_root=(sudo)
  [[ -t 2 ]] || as_root+=(--non-interactive)  # without a terminal sudo cannot ask for a password
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Runs apt-get; its output is shown only when it fails.
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" \
    </dev/null >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}

mt_say "installing packages (this takes a minute or two): ${missing[*]}"
started=$SECONDS
if [[ -n $foreign ]] && ! dpkg --print-foreign-architectures | grep -qx "$foreign"; then
  "${as_root[@]}" dpkg --add-architecture "$foreign"
fi
apt_get update || mt_say "the package lists could not be updated; trying with those at hand"
apt_get install --yes --no-install-recommends "${missing[@]}" ||
  mt_die "the packages could not be installed; as root: apt-get install ${missing[*]}"
mt_say "installed packages in $((SECONDS - started)) s"
