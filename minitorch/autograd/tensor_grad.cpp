// The gradient side of Tensor.
#include "minitorch/autograd/backward.h"
#include "minitorch/autograd/node.h"
#include "minitorch/base/check.h"
#include "minitorch/core/tensor_impl.h"

namespace minitorch {
namespace {

autograd::LeafNode* leaf_of(const Tensor& tensor) { return dynamic_cast<autograd::LeafNode*>(tensor.node()); }

}  // namespace

autograd::Node* Tensor::node() const {
  MT_CHECK(impl_ != nullptr, "tensor: expected a defined tensor, got an undefined one");
  return impl_->node;
}

void Tensor::set_node(autograd::NodeRef node) const {
  const autograd::NodeRef former(std::exchange(impl_->node, node.release()));
}

bool Tensor::requires_grad() const { return node() != nullptr; }

bool Tensor::is_leaf() const { return node() == nullptr || leaf_of(*this) != nullptr; }

const Tensor& Tensor::requires_grad_(bool on) const {
  MT_CHECK(is_leaf(), "requires_grad_: expected a tensor that no op computed; detach() gives one without a history");
  if (!on) {
    set_node({});
  } else if (node() == nullptr) {
    MT_CHECK_AS(DTypeError, dtype() == DType::kF32 || dtype() == DType::kF64,
                "requires_grad_: expected a tensor of dtype f32 or f64, got {}", name_of(dtype()));
    set_node(autograd::LeafNode::make());
  }
  return *this;
}

Tensor Tensor::grad() const {
  const autograd::LeafNode* const leaf = leaf_of(*this);
  return leaf != nullptr ? leaf->gradient : Tensor();
}

void Tensor::set_grad(const Tensor& gradient) const {
  autograd::LeafNode* const leaf = leaf_of(*this);
  MT_CHECK(leaf != nullptr, "set_grad: expected a leaf that requires a gradient");
  MT_CHECK_AS(ShapeError, !gradient.defined() || gradient.shape() == shape(),
              "set_grad: expected a gradient of shape {}, got {}", to_string(shape()), to_string(gradient.shape()));
  MT_CHECK_AS(DTypeError, !gradient.defined() || gradient.dtype() == dtype(),
              "set_grad: expected a gradient of dtype {}, got {}", name_of(dtype()), name_of(gradient.dtype()));
  leaf->gradient = gradient;
}

Tensor Tensor::detach() const { return make_view(shape(), strides(), storage_offset()); }

void Tensor::backward() const { autograd::backward(*this); }

void Tensor::backward(const Tensor& gradient) const { autograd::backward(*this, gradient); }

bool Tensor::is_sole_owner() const {
  return impl_->references.load(std::memory_order_acquire) == 1 &&
         impl_->storage->references.load(std::memory_order_acquire) == 1;
}

}  // namespace minitorch
