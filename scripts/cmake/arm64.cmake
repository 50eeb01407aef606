# Toolchain file of the preset `arm64`: cross-builds with Debian's g++-aarch64-linux-gnu and the libraries of its
# architecture arm64 (scripts/setup.sh --portable installs both); tests run under qemu-aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
