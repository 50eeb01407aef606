// Ctrl-C as a flag.
#include "examples/common/interrupt.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <csignal>

#include "minitorch/base/check.h"

namespace minitorch {
namespace {

std::atomic<bool> flag = false;
std::atomic<int> descriptor = -1;  // an eventfd: readable while its count is not 0
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

void set_flag(int /*signal*/) {
  const int error = errno;
  flag.store(true, std::memory_order_relaxed);
  eventfd_write(descriptor.load(std::memory_order_relaxed), 1);
  errno = error;
}

}  // namespace

void catch_interrupt() {
  if (descriptor < 0) descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  MT_CHECK(descriptor >= 0, "interrupt: expected a file descriptor to be free, got none");
  struct sigaction action {};
  sigaction(SIGINT, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;  // the caller wants it so: shells do for jobs in the background
  action = {};
  action.sa_handler = set_flag;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

void release_interrupt() { std::signal(SIGINT, SIG_DFL); }

const std::atomic<bool>& interrupted() { return flag; }

int interrupt_descriptor() { return descriptor; }

void clear_interrupt() {
  eventfd_t count = 0;
  eventfd_read(descriptor, &count);
  flag = false;
  catch_interrupt();
}

}  // namespace minitorch
