// OwnCore: keeps a worker off the core of the thread it works beside.
//
// Linux may wake a worker on the core of the thread that woke it and leave it there for seconds, even where another
// core is idle: the two then run in turn, at half the speed (seen on virtual machines whose cores share no cache
// domain).
#pragma once

#include "minitorch/base/wait_word.h"

namespace minitorch {

// The core that runs the calling thread; -1 where the system does not say.
[[nodiscard]] int current_core();

// For one worker thread.
class OwnCore {
 public:
  // Moves the calling thread to another core that it may use when it is on `other`; no core is forbidden to it
  // afterwards. Where that does not help, because others are busy too, it is tried less and less often.
  void keep_off(int other);

 private:
  SpinPolicy attempts_{true};
  bool moved_ = false;  // at the last attempt, whose success is not known yet
};

}  // namespace minitorch
