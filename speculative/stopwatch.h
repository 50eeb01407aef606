// Stopwatch: seconds since it was made or restarted.
#pragma once

#include <chrono>
#include <utility>  // std::exchange

namespace minitorch::spec {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // The seconds so far; counting begins again.
  double restart() {
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace minitorch::spec
