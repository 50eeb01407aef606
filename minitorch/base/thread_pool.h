// A pool of worker threads for data-parallel loops with a static split.
//
// Waiting spins briefly and then sleeps, so that a core shared with another process costs a factor and not
// a hundredfold. The split of work never changes results: every kernel obeys row independence (ARCHITECTURE.md, E1).
#pragma once

#include <memory>
#include <type_traits>

namespace minitorch {

// Cores this process may use: CPU affinity, limited by the cgroup CPU quota (v1 or v2), at least 1.
[[nodiscard]] int default_thread_count();

class ThreadPool {
 public:
  // `num_threads` includes the calling thread; 1 starts no worker at all. Throws Error when it is below 1 or above
  // 1024.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const { return num_threads_; }

  // Calls task(worker, size()) once for every worker in [0, size()), worker 0 on the calling thread, and returns when
  // all are done. An exception of any call is rethrown here. A call from inside a task runs all parts on the
  // calling thread, so nested loops finish. Calls from several threads take turns.
  template <typename Task>
  void run(Task&& task) {
    using Callable = std::remove_reference_t<Task>;
    run_erased(const_cast<void*>(static_cast<const void*>(&task)),
               [](void* callable, int worker, int count) { (*static_cast<Callable*>(callable))(worker, count); });
  }

 private:
  using Thunk = void (*)(void* callable, int worker, int count);
  void run_erased(void* callable, Thunk thunk);

  struct State;  // the workers and what they wait on
  int num_threads_;
  std::unique_ptr<State> state_;
};

}  // namespace minitorch
