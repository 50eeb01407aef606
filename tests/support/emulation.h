// Whether the tests run on an emulated processor, tens of times slower: scripts/test_portable.sh says so.
#pragma once

#include <cstdlib>  // std::getenv

namespace minitorch::test {

inline bool emulated() { return std::getenv("MINITORCH_EMULATED") != nullptr; }

}  // namespace minitorch::test
