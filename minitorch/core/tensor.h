// Tensor: a view (shape, strides, offset, dtype) of reference-counted memory.
//
// A Tensor is one intrusive pointer to a pooled TensorImpl; copying it is cheap and shares the elements. All views
// (permute, slice, expand, ...) share storage with their source.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "minitorch/base/dtype.h"
#include "minitorch/core/shape.h"

namespace minitorch {

struct TensorImpl;
namespace autograd {
class Node;
class NodeRef;
}  // namespace autograd

// Bounds of a slice along one dimension, as in Python's start:stop:step. Negative start and stop count from the end;
// step is at least 1.
struct Slice {
  static constexpr std::int64_t kEnd = INT64_MAX;
  std::int64_t start = 0;
  std::int64_t stop = kEnd;
  std::int64_t step = 1;
};

class Tensor {
 public:
  Tensor() = default;  // undefined; defined() is false
  Tensor(const Tensor& other) noexcept;
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(const Tensor& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();

  // Creation. Memory comes from the current ExecutionScope's pool.
  [[nodiscard]] static Tensor empty(const Shape& shape, DType dtype = DType::kF32);  // not initialised
  [[nodiscard]] static Tensor zeros(const Shape& shape, DType dtype = DType::kF32);
  [[nodiscard]] static Tensor full(const Shape& shape, double value, DType dtype = DType::kF32);
  [[nodiscard]] static Tensor arange(std::int64_t count, DType dtype = DType::kF32);
  template <typename T>
  [[nodiscard]] static Tensor from(std::span<const T> values, const Shape& shape);
  template <typename T>
  [[nodiscard]] static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }

  [[nodiscard]] bool defined() const { return impl_ != nullptr; }
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] const Shape& strides() const;         // in elements
  [[nodiscard]] std::int64_t storage_offset() const;  // in elements
  [[nodiscard]] DType dtype() const;
  [[nodiscard]] int dims() const { return shape().dims(); }
  [[nodiscard]] std::int64_t size(int dim) const;  // negative dim counts from the end
  [[nodiscard]] std::int64_t numel() const;
  [[nodiscard]] bool is_contiguous() const;
  [[nodiscard]] bool shares_storage_with(const Tensor& other) const;

  // The first element. The typed form throws DTypeError when T is not the tensor's type.
  [[nodiscard]] void* raw_data() const;
  template <typename T>
  [[nodiscard]] T* data() const;
  // The single element of a one-element tensor, converted to double.
  [[nodiscard]] double item() const;
  // All elements in logical order, converted to double (tests, printing).
  [[nodiscard]] std::vector<double> to_vector() const;

  // Views. Each throws ShapeError with the real shapes when the arguments do not fit.
  [[nodiscard]] Tensor permute(std::span<const int> order) const;
  [[nodiscard]] Tensor permute(std::initializer_list<int> order) const;
  [[nodiscard]] Tensor transpose(int dim0, int dim1) const;
  [[nodiscard]] Tensor view(const Shape& shape) const;     // one extent may be -1; throws when a copy would be needed
  [[nodiscard]] Tensor reshape(const Shape& shape) const;  // a view where possible, else a copy
  [[nodiscard]] Tensor slice(int dim, const Slice& bounds) const;
  [[nodiscard]] Tensor select(int dim, std::int64_t index) const;  // drops the dimension
  [[nodiscard]] Tensor expand(const Shape& shape) const;           // broadcast: stride 0
  [[nodiscard]] Tensor squeeze(int dim) const;
  [[nodiscard]] Tensor unsqueeze(int dim) const;

  // Copies.
  [[nodiscard]] Tensor contiguous() const;  // itself when it already is
  [[nodiscard]] Tensor clone() const;       // always a new contiguous tensor
  [[nodiscard]] Tensor to(DType dtype) const;
  // Into this tensor's memory; `source` broadcasts and converts. Not recorded: throws Error when a gradient would be
  // lost.
  void copy_(const Tensor& source) const;

  // Gradients (minitorch/autograd). Views and copies above are recorded like any op.
  [[nodiscard]] bool requires_grad() const;
  const Tensor& requires_grad_(bool on = true) const;  // of a tensor that no op computed, f32 or f64
  [[nodiscard]] bool is_leaf() const;                  // not computed by a recorded op
  [[nodiscard]] Tensor grad() const;                   // of a leaf; undefined until a backward pass reached it
  void set_grad(const Tensor& gradient) const;         // of a leaf; undefined forgets it
  [[nodiscard]] Tensor detach() const;                 // the same elements without a history
  void backward() const;                               // autograd::backward with its defaults
  void backward(const Tensor& gradient) const;
  [[nodiscard]] autograd::Node* node() const;  // what made this tensor; null when it requires no gradient
  void set_node(autograd::NodeRef node) const;
  [[nodiscard]] bool is_sole_owner() const;  // no other tensor shares this object or its storage

 private:
  explicit Tensor(TensorImpl* impl) : impl_(impl) {}
  [[nodiscard]] Tensor make_view(const Shape& shape, const Shape& strides, std::int64_t offset) const;

  TensorImpl* impl_ = nullptr;
};

// "tensor([[1, 2], [3, 4]], f32)": nested brackets, long tensors shortened in the middle.
[[nodiscard]] std::string to_string(const Tensor& tensor);

}  // namespace minitorch
