// WaitWord: spinning with the CPU's pause instruction, sleeping on a futex.
#include "minitorch/base/wait_word.h"

#include <chrono>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>  // INT_MAX
#endif

namespace minitorch {
namespace {

// Longer than the gap between two kernels of a forward pass, and than the time by which one thread is ready before
// another with the same work: 20 us cost a 1.5B model in int8 a sixth of its speed (2 cores of a virtual Sapphire
// Rapids, 2026-12-01), where a sleep and a wake-up take that long.
constexpr std::chrono::microseconds kSpinTime{100};
constexpr int kPausesPerClockRead = 16;

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

#ifdef __linux__
// The kernel compares the word with `expected` and sleeps in one step; spurious returns are the caller's business.
void sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}
#else
void sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected) { word.wait(expected); }
void wake_all(std::atomic<std::uint32_t>& word) { word.notify_all(); }
#endif

}  // namespace

void WaitWord::advance() {
  value_.fetch_add(
      1);  // sequentially consistent, as the count of sleepers: either it is seen here, or the new value there
  if (num_sleepers_.load() > 0) wake_all(value_);
}

std::uint32_t WaitWord::wait_past(std::uint32_t seen, SpinPolicy& spins) {
  if (value() != seen) return value();
  if (!spins.next()) return sleep_past(seen);
  const bool success = spin_past(seen);
  spins.record(success);
  return success ? value() : sleep_past(seen);
}

bool WaitWord::spin_past(std::uint32_t seen) const {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (value() != seen) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

std::uint32_t WaitWord::sleep_past(std::uint32_t seen) {
  num_sleepers_.fetch_add(1);
  std::uint32_t now = value_.load();
  while (now == seen) {
    sleep_while_equal(value_, seen);
    now = value_.load();
  }
  num_sleepers_.fetch_sub(1);
  return now;
}

}  // namespace minitorch
