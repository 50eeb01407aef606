// WaitWord: a counter that threads wait on. Waiting spins for some microseconds and then sleeps in the kernel.
//
// std::atomic::wait is not used: libstdc++ calls sched_yield before it sleeps, and on a core shared with a busy process
// that gives away a whole time slice (milliseconds), whereas a sleeper is woken at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace minitorch {

// Whether one waiting thread spins before it sleeps. Where cores are shared, the thread waited for may need this very
// core: every vain spin makes the waiter skip more of the following ones (1, 3, 7, 15, 31), a successful one brings all
// of them back.
class SpinPolicy {
 public:
  explicit SpinPolicy(bool enabled) : enabled_(enabled) {}

  [[nodiscard]] bool next() {
    if (num_skips_ == 0) return enabled_;
    --num_skips_;
    return false;
  }
  void record(bool success) {
    penalty_ = success ? 0 : std::min(2 * penalty_ + 1, 31);
    num_skips_ = penalty_;
  }

 private:
  bool enabled_;
  int penalty_ = 0;
  int num_skips_ = 0;
};

class WaitWord {
 public:
  [[nodiscard]] std::uint32_t value() const { return value_.load(std::memory_order_acquire); }

  // Adds one and wakes all waiters. What was written before is visible to them.
  void advance();

  // Returns the value once it differs from `seen`. `spins` belongs to the waiting thread.
  std::uint32_t wait_past(std::uint32_t seen, SpinPolicy& spins);

 private:
  [[nodiscard]] bool spin_past(std::uint32_t seen) const;
  std::uint32_t sleep_past(std::uint32_t seen);

  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::int32_t> num_sleepers_{0};
};

}  // namespace minitorch
