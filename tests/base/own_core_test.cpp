// OwnCore: a worker leaves a core that it shares, and may use every core afterwards.
#include "minitorch/base/own_core.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <thread>

#include "minitorch/base/cpu_limits.h"
#include "tests/support/skips.h"

namespace minitorch::test {
namespace {

cpu_set_t usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  REQUIRE(sched_getaffinity(0, sizeof(cores), &cores) == 0);
  return cores;
}

TEST_CASE("a thread leaves the core that it is told to keep off, and no core stays forbidden") {
  if (affinity_cpu_count() < 2) return note_skipped("this process may use one core only");
  std::thread([] {
    const cpu_set_t before = usable_cores();
    OwnCore own;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const int core = current_core();
      REQUIRE(core >= 0);
      own.keep_off(core);
      // The system may move the thread back at any time, but hardly at once and every time.
      const cpu_set_t after = usable_cores();
      CHECK(CPU_EQUAL(&before, &after) != 0);
      if (current_core() != core) return;
    }
    FAIL("three attempts left the thread on its core");
  }).join();
}

TEST_CASE("a thread that may use one core stays there, and a core that nobody names is kept off by doing nothing") {
  std::thread([] {
    const int core = current_core();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(core), &one);
    REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
    OwnCore own;
    for (int i = 0; i < 100; ++i) own.keep_off(core);
    own.keep_off(-1);
    CHECK(current_core() == core);
    const cpu_set_t after = usable_cores();
    CHECK(CPU_EQUAL(&one, &after) != 0);
  }).join();
}

}  // namespace
}  // namespace minitorch::test
