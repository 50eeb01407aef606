// The workers of a ThreadPool and the turn-taking of its callers.
#include "minitorch/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "minitorch/base/check.h"
#include "minitorch/base/cpu_limits.h"
#include "minitorch/base/own_core.h"
#include "minitorch/base/wait_word.h"

namespace minitorch {
namespace {

constexpr int kMaxThreads = 1024;

// True while this thread executes a part of a task of any pool; a run() from there must not wait for workers.
thread_local bool inside_task = false;

class InsideTask {
 public:
  InsideTask() { inside_task = true; }
  ~InsideTask() { inside_task = false; }
  InsideTask(const InsideTask&) = delete;
  InsideTask& operator=(const InsideTask&) = delete;
};

// The exception of the lowest worker, whichever comes first, so that the report does not depend on timing.
class FirstError {
 public:
  void set(int worker, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (error_ != nullptr && worker_ <= worker) return;
    worker_ = worker;
    error_ = std::move(error);
  }
  void rethrow() {
    const std::exception_ptr error = std::exchange(error_, nullptr);
    if (error != nullptr) std::rethrow_exception(error);
  }

 private:
  std::mutex mutex_;
  int worker_ = 0;
  std::exception_ptr error_;
};

}  // namespace

int default_thread_count() { return std::clamp(std::min(affinity_cpu_count(), cgroup_cpu_limit()), 1, kMaxThreads); }

struct ThreadPool::State {
  explicit State(int count) : num_threads(count), may_spin(count <= affinity_cpu_count()), caller_spins(may_spin) {}
  ~State();
  void start_workers();
  void work(int worker);
  void run_part(int worker);
  void run_all(void* task, Thunk call);

  const int num_threads;
  const bool may_spin;  // never where threads of this pool must share cores
  SpinPolicy caller_spins;
  std::mutex turn;  // held by the caller whose task is running
  WaitWord started;
  WaitWord finished;
  std::atomic<int> num_running{0};
  std::atomic<int> caller_core{-1};  // where the running task's caller is
  bool stopping = false;
  void* callable = nullptr;
  Thunk thunk = nullptr;
  FirstError error;
  std::vector<std::thread> workers;
};

ThreadPool::State::~State() {
  stopping = true;
  started.advance();
  for (std::thread& worker : workers) worker.join();
}

void ThreadPool::State::start_workers() {
  workers.reserve(static_cast<std::size_t>(num_threads - 1));
  try {
    for (int worker = 1; worker < num_threads; ++worker) workers.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error& failure) {
    fail("thread pool: cannot start {} threads: {}", num_threads, failure.what());
  }
}

void ThreadPool::State::work(int worker) {
  SpinPolicy spins(may_spin);
  OwnCore core;
  std::uint32_t seen = 0;
  while (true) {
    seen = started.wait_past(seen, spins);
    if (stopping) return;
    if (may_spin) core.keep_off(caller_core.load(std::memory_order_relaxed));
    run_part(worker);
    if (num_running.fetch_sub(1) == 1) finished.advance();
  }
}

void ThreadPool::State::run_part(int worker) {
  const InsideTask guard;
  try {
    thunk(callable, worker, num_threads);
  } catch (...) {
    error.set(worker, std::current_exception());
  }
}

void ThreadPool::State::run_all(void* task, Thunk call) {
  const std::lock_guard lock(turn);
  callable = task;
  thunk = call;
  if (num_threads > 1) {
    num_running.store(num_threads - 1);
    caller_core.store(current_core(), std::memory_order_relaxed);
    const std::uint32_t seen = finished.value();
    started.advance();
    run_part(0);
    finished.wait_past(seen, caller_spins);
  } else {
    run_part(0);
  }
  error.rethrow();
}

ThreadPool::ThreadPool(int num_threads) : num_threads_(num_threads) {
  MT_CHECK(num_threads >= 1 && num_threads <= kMaxThreads, "thread pool: expected 1 to {} threads, got {}", kMaxThreads,
           num_threads);
  state_ = std::make_unique<State>(num_threads);
  state_->start_workers();
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run_erased(void* callable, Thunk thunk) {
  if (!inside_task) {
    state_->run_all(callable, thunk);
    return;
  }
  FirstError error;
  for (int worker = 0; worker < num_threads_; ++worker) {
    try {
      thunk(callable, worker, num_threads_);
    } catch (...) {
      error.set(worker, std::current_exception());
    }
  }
  error.rethrow();
}

}  // namespace minitorch
