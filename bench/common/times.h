// Wall and processor time of one repeat. A repeat in which the threads did not compute all the time was disturbed (or
// waited); whoever compares drops it.
#pragma once

#include <sys/resource.h>  // getrusage
#include <time.h>          // clock_gettime: processor time of all threads

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace minitorch::bench {

struct Times {
  double wall_ms = 0.0;
  double cpu_ms = 0.0;  // of all threads of this process
};

inline double process_cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

template <typename Task>
Times time_once(Task&& task) {
  const double cpu = process_cpu_ms();
  const auto start = std::chrono::steady_clock::now();
  task();
  const auto end = std::chrono::steady_clock::now();
  return {.wall_ms = std::chrono::duration<double, std::milli>(end - start).count(), .cpu_ms = process_cpu_ms() - cpu};
}

template <typename Task>
std::vector<Times> time_repeats(std::int64_t repeats, Task&& task) {
  std::vector<Times> times;
  for (std::int64_t i = 0; i < repeats; ++i) times.push_back(time_once(task));
  return times;
}

inline double median_wall_ms(std::vector<Times> times) {
  std::sort(times.begin(), times.end(), [](const Times& a, const Times& b) { return a.wall_ms < b.wall_ms; });
  return times[times.size() / 2].wall_ms;
}

// Largest resident size of this process so far.
inline std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
}

}  // namespace minitorch::bench
