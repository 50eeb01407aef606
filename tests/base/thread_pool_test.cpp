// ThreadPool: who runs what, exceptions, nesting, concurrent callers, shutdown, and sleeping while idle.
#include "minitorch/base/thread_pool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "minitorch/base/error.h"

namespace minitorch {
namespace {

using namespace std::chrono_literals;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string message_of_run(ThreadPool& pool, int first_failing_worker) {
  try {
    pool.run([&](int worker, int) {
      if (worker >= first_failing_worker) throw std::runtime_error("worker " + std::to_string(worker));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST_CASE("a pool calls every worker once, worker 0 on the calling thread") {
  for (const int size : {1, 2, 3, 5}) {
    CAPTURE(size);
    ThreadPool pool(size);
    CHECK(pool.size() == size);
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(size));
    std::vector<std::thread::id> thread_of(static_cast<std::size_t>(size));
    std::atomic<int> wrong_counts{0};
    constexpr int kRuns = 200;
    for (int run = 0; run < kRuns; ++run) {
      pool.run([&](int worker, int count) {
        if (count != size) ++wrong_counts;
        ++calls[static_cast<std::size_t>(worker)];
        thread_of[static_cast<std::size_t>(worker)] = std::this_thread::get_id();
      });
    }
    CHECK(wrong_counts == 0);
    for (const auto& count : calls) CHECK(count == kRuns);
    CHECK(thread_of[0] == std::this_thread::get_id());
    for (std::size_t i = 1; i < thread_of.size(); ++i) CHECK(thread_of[i] != thread_of[0]);
  }
}

TEST_CASE("what a task wrote is visible after run returns, and what was written before it is visible inside") {
  ThreadPool pool(3);
  std::array<std::int64_t, 3> part{};
  std::int64_t total = 0;
  for (int run = 1; run <= 2000; ++run) {
    pool.run([&](int worker, int) { part[static_cast<std::size_t>(worker)] = total + worker; });
    total = part[0] + part[1] + part[2] - 2 * total;
  }
  CHECK(total == 3 * 2000);
}

TEST_CASE("an exception of any worker reaches the caller of run and the pool stays usable") {
  ThreadPool pool(4);
  for (int repeat = 0; repeat < 100; ++repeat) {
    CHECK(message_of_run(pool, 3) == "worker 3");
    CHECK(message_of_run(pool, 1) == "worker 1");  // the lowest, whichever came first
    CHECK(message_of_run(pool, 0) == "worker 0");
    CHECK(message_of_run(pool, 4) == "nothing thrown");
  }
}

TEST_CASE("all parts run even when one of them throws") {
  for (const int size : {1, 3}) {
    CAPTURE(size);
    ThreadPool pool(size);
    std::atomic<int> calls{0};
    const auto task = [&](int, int) {
      ++calls;
      throw std::runtime_error("always");
    };
    CHECK_THROWS_AS(pool.run(task), std::runtime_error);
    CHECK(calls == size);
    ThreadPool outer(1);
    CHECK_THROWS_AS(outer.run([&](int, int) { pool.run(task); }), std::runtime_error);
    CHECK(calls == 2 * size);
  }
}

TEST_CASE("a run inside a task executes all parts on the calling thread, with one thread too (case B45)") {
  for (const int size : {1, 3}) {
    CAPTURE(size);
    ThreadPool pool(size);
    ThreadPool other(2);
    std::atomic<int> inner_calls{0};
    std::atomic<int> foreign_threads{0};
    pool.run([&](int, int) {
      const auto self = std::this_thread::get_id();
      const auto inner = [&](int, int) {
        ++inner_calls;
        if (std::this_thread::get_id() != self) ++foreign_threads;
      };
      pool.run(inner);
      other.run(inner);
    });
    CHECK(inner_calls == size * (size + 2));
    CHECK(foreign_threads == 0);
  }
}

TEST_CASE("a run after a nested exception uses all workers again") {
  ThreadPool pool(2);
  const auto failing = [](int, int) { throw std::runtime_error("inner"); };
  CHECK_THROWS_AS(pool.run([&](int, int) { pool.run(failing); }), std::runtime_error);
  std::array<std::thread::id, 2> thread_of{};
  pool.run([&](int worker, int) { thread_of[static_cast<std::size_t>(worker)] = std::this_thread::get_id(); });
  CHECK(thread_of[0] != thread_of[1]);
}

TEST_CASE("run calls from several threads take turns") {
  for (const int size : {1, 3}) {
    CAPTURE(size);
    ThreadPool pool(size);
    std::atomic<int> owner{-1};  // the caller whose task is running
    std::atomic<int> mixed{0};
    std::atomic<int> calls{0};
    const auto call = [&](int caller) {
      for (int run = 0; run < 300; ++run) {
        std::atomic<int> left{size};
        pool.run([&](int, int) {
          int expected = -1;
          if (!owner.compare_exchange_strong(expected, caller) && expected != caller) ++mixed;
          ++calls;
          if (--left == 0) owner = -1;
        });
      }
    };
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) callers.emplace_back(call, caller);
    for (auto& thread : callers) thread.join();
    CHECK(mixed == 0);
    CHECK(calls == 4 * 300 * size);
  }
}

TEST_CASE("pools made and destroyed 5000 times with 0 to 3 tasks take under a minute and never hang (case B45)") {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> calls{0};
  int expected = 0;
  for (int round = 0; round < 5000; ++round) {
    const int size = 1 + round % 4;
    ThreadPool pool(size);
    for (int task = 0; task < round / 4 % 4; ++task) {
      pool.run([&](int, int) { ++calls; });
      expected += size;
    }
  }
  CHECK(calls == expected);
  CHECK(std::chrono::steady_clock::now() - start < 60s);
}

TEST_CASE("more threads than cores finish their work") {
  ThreadPool pool(32);
  std::atomic<int> calls{0};
  for (int run = 0; run < 200; ++run) pool.run([&](int, int) { ++calls; });
  CHECK(calls == 200 * 32);
}

TEST_CASE("an idle pool and a caller that waits long sleep instead of spinning") {
  ThreadPool pool(2);
  pool.run([](int, int) {});
  const double before_idle = cpu_seconds();
  std::this_thread::sleep_for(300ms);
  const double idle = cpu_seconds() - before_idle;
  CHECK(idle < 0.1);
  const double before_wait = cpu_seconds();
  pool.run([](int worker, int) {
    if (worker == 1) std::this_thread::sleep_for(300ms);
  });
  const double waiting = cpu_seconds() - before_wait;
  CHECK(waiting < 0.1);
}

TEST_CASE("thread counts outside 1 to 1024 are refused") {
  for (const int size : {0, -1, 1025, INT32_MIN, INT32_MAX}) {
    CAPTURE(size);
    CHECK_THROWS_AS(ThreadPool pool(size), Error);
  }
}

}  // namespace
}  // namespace minitorch
