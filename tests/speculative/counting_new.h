// Calls of the global operator new, counted in the test program that links counting_new.cpp.
#pragma once

namespace minitorch::test {

void reset_allocation_count();

// Calls since the last reset, by all threads.
[[nodiscard]] long allocation_count();

}  // namespace minitorch::test
