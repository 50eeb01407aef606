// Leaving a core: a moment without it in the thread's affinity mask.
#include "minitorch/base/own_core.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace minitorch {

#ifdef __linux__
namespace {

void leave(int core) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof(usable), &usable) != 0) return;  // more than 1024 cores
  cpu_set_t others = usable;
  CPU_CLR(static_cast<unsigned>(core), &others);
  if (CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(0, sizeof(others), &others) == 0) sched_setaffinity(0, sizeof(usable), &usable);
}

}  // namespace

int current_core() { return sched_getcpu(); }
#else
namespace {
void leave(int) {}
}  // namespace

int current_core() { return -1; }
#endif

void OwnCore::keep_off(int other) {
  const bool shared = other >= 0 && current_core() == other;
  if (moved_) attempts_.record(!shared);
  moved_ = false;
  if (!shared || !attempts_.next()) return;
  leave(other);
  moved_ = true;
}

}  // namespace minitorch
