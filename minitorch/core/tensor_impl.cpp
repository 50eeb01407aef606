// Making and releasing TensorImpl and Storage objects.
#include "minitorch/core/tensor_impl.h"

#include <memory>
#include <string>

#include "minitorch/autograd/node.h"
#include "minitorch/base/check.h"
#include "minitorch/core/current_memory.h"
#include "minitorch/core/free_list.h"

namespace minitorch {
namespace {

// Never destroyed: static tensors may outlive any other static.
FreeList<TensorImpl>& impl_list() {
  static auto* const list = new FreeList<TensorImpl>;
  return *list;
}
FreeList<Storage>& storage_list() {
  static auto* const list = new FreeList<Storage>;
  return *list;
}

std::size_t bytes_of(const Shape& shape, DType dtype) {
  std::int64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(shape.numel(), static_cast<std::int64_t>(size_of(dtype)), &bytes);
  MT_CHECK_AS(ShapeError, !overflow, "tensor: {} of {} has more bytes than 2^63", to_string(shape), name_of(dtype));
  return static_cast<std::size_t>(bytes);
}

void drop_storage(Storage* storage) noexcept {
  if (storage->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (storage->data != nullptr) storage->pool->deallocate(storage->data, storage->bytes);
  storage_list().recycle(storage);
}

struct DropStorage {
  void operator()(Storage* storage) const noexcept { drop_storage(storage); }
};
using StorageReference = std::unique_ptr<Storage, DropStorage>;

StorageReference make_storage(std::size_t bytes) {
  StorageReference storage(storage_list().make());
  MemoryPool& pool = current_memory();
  storage->data = static_cast<std::byte*>(pool.allocate(bytes));
  storage->pool = &pool;
  storage->bytes = bytes;
  return storage;
}

}  // namespace

TensorImpl* make_tensor_impl(const Shape& shape, DType dtype) {
  StorageReference storage = make_storage(bytes_of(shape, dtype));
  TensorImpl* const impl = impl_list().make();
  impl->storage = storage.release();
  impl->numel = shape.numel();
  impl->dtype = dtype;
  impl->shape = shape;
  impl->strides = contiguous_strides(shape);
  return impl;
}

TensorImpl* make_view_impl(const TensorImpl& source, const Shape& shape, const Shape& strides, std::int64_t offset) {
  const std::int64_t numel = shape.numel();  // throws before anything is taken
  TensorImpl* const impl = impl_list().make();
  source.storage->references.fetch_add(1, std::memory_order_relaxed);
  impl->storage = source.storage;
  impl->offset = offset;
  impl->numel = numel;
  impl->dtype = source.dtype;
  impl->shape = shape;
  impl->strides = strides;
  return impl;
}

void add_reference(TensorImpl* impl) noexcept { impl->references.fetch_add(1, std::memory_order_relaxed); }

void drop_reference(TensorImpl* impl) noexcept {
  if (impl->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  autograd::Node* const node = impl->node;
  drop_storage(impl->storage);
  impl_list().recycle(impl);
  if (node != nullptr) autograd::Node::drop_reference(node);
}

}  // namespace minitorch
