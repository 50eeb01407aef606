// Ctrl-C as a flag.
#include "examples/common/interrupt.h"

#include <csignal>

namespace minitorch {
namespace {

std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

void set_flag(int /*signal*/) { flag.store(true, std::memory_order_relaxed); }

}  // namespace

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = set_flag;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

void release_interrupt() { std::signal(SIGINT, SIG_DFL); }

const std::atomic<bool>& interrupted() { return flag; }

}  // namespace minitorch
