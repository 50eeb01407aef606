// What a Tensor points to, and the element memory behind it. Private to the tensor library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "minitorch/base/dtype.h"
#include "minitorch/core/shape.h"
#include "minitorch/core/storage.h"

namespace minitorch {

// Element memory shared by a tensor and its views.
struct Storage {
  std::atomic<std::int64_t> references{1};
  MemoryPool* pool = nullptr;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

namespace autograd {
class Node;
}  // namespace autograd

struct TensorImpl {
  std::atomic<std::int64_t> references{1};
  Storage* storage = nullptr;
  std::int64_t offset = 0;  // of the first element, in elements
  std::int64_t numel = 0;
  DType dtype = DType::kF32;
  Shape shape;
  Shape strides;                   // in elements
  autograd::Node* node = nullptr;  // what made it (one reference); null when no gradient is required
};

// New memory of the current ExecutionScope's pool, contiguous; one reference.
[[nodiscard]] TensorImpl* make_tensor_impl(const Shape& shape, DType dtype);
// A view of `source`'s storage; one reference.
[[nodiscard]] TensorImpl* make_view_impl(const TensorImpl& source, const Shape& shape, const Shape& strides,
                                         std::int64_t offset);

void add_reference(TensorImpl* impl) noexcept;
// Gives the impl and, behind the last view, its memory back to their pools.
void drop_reference(TensorImpl* impl) noexcept;

}  // namespace minitorch
