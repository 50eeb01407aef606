// A free list of objects of one type, so that making one costs no heap allocation after warm-up.
#pragma once

#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "minitorch/core/poison.h"

namespace minitorch {

// Objects are constructed and destroyed; only their memory is kept, to the end of the process. Safe from several
// threads.
template <typename T>
class FreeList {
 public:
  template <typename... Args>
  [[nodiscard]] T* make(Args&&... args) {
    void* memory = take();
    if (memory == nullptr) memory = ::operator new(sizeof(Node));
    return new (memory) T(std::forward<Args>(args)...);
  }

  void recycle(T* object) noexcept {
    object->~T();
    const std::lock_guard lock(mutex_);
    head_ = new (static_cast<void*>(object)) Node{.next = head_};
    poison_free_block(head_, sizeof(Node));
  }

 private:
  union Node {
    Node* next;
    alignas(T) std::byte object[sizeof(T)];
  };
  static_assert(alignof(Node) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  void* take() noexcept {
    const std::lock_guard lock(mutex_);
    if (head_ == nullptr) return nullptr;
    unpoison(head_, sizeof(Node));
    return std::exchange(head_, head_->next);
  }

  std::mutex mutex_;
  Node* head_ = nullptr;
};

}  // namespace minitorch
