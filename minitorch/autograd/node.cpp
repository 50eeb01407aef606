// Lifetime of nodes, and how gradients are added up.
#include "minitorch/autograd/node.h"

#include "minitorch/autograd/record.h"
#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"

namespace minitorch::autograd {
namespace {

std::atomic<std::int64_t> num_live_nodes{0};

// Never destroyed: static tensors may outlive any other static.
FreeList<LeafNode>& leaf_list() {
  static auto* const list = new FreeList<LeafNode>;
  return *list;
}

}  // namespace

NodeRef::NodeRef(const NodeRef& other) noexcept : node_(other.node_) {
  if (node_ != nullptr) node_->add_reference();
}

NodeRef::~NodeRef() {
  if (node_ != nullptr) Node::drop_reference(node_);
}

void InputGradients::set(int input, Tensor gradient) {
  if (!wanted(input)) return;
  MT_CHECK(gradient.defined(), "{} backward: expected a gradient for input {}, got an undefined tensor", op_, input);
  MT_CHECK_AS(ShapeError, gradient.shape() == edge(input).shape,
              "{} backward: expected a gradient of shape {} for input {}, got {}", op_, to_string(edge(input).shape),
              input, to_string(gradient.shape()));
  gradients_[static_cast<std::size_t>(input)] = std::move(gradient);
}

void InputGradients::set_broadcast(int input, const Tensor& gradient) {
  if (wanted(input)) set(input, ops::sum_to(gradient, edge(input).shape));
}

bool Node::keep(Tensor&) { return false; }

void Node::release() noexcept {
  released_ = true;
  release_saved();
  for (Edge& edge : edges_) edge.node = {};
}

void Node::drop_reference(Node* node) noexcept {
  if (node->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Freeing a node drops references to others, from inside this function; those wait in a list until it is their turn.
  thread_local Node* dying = nullptr;
  thread_local bool draining = false;
  node->next_dying_ = std::exchange(dying, node);
  if (draining) return;
  draining = true;
  while (dying != nullptr) {
    Node* const next = std::exchange(dying, dying->next_dying_);
    next->destroy();
  }
  draining = false;
}

void Node::set_edges(std::span<const Tensor* const> inputs) {
  if (inputs.size() > kFewInputs) many_edges_.resize(inputs.size());
  edges_ = inputs.size() > kFewInputs ? std::span(many_edges_) : std::span(few_edges_).first(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]->defined()) continue;  // an argument that was left out
    edges_[i].shape = inputs[i]->shape();
    if (Node* const node = inputs[i]->node(); node != nullptr) {
      node->add_reference();
      edges_[i].node = NodeRef(node);
    }
  }
}

NodeRef LeafNode::make() { return NodeRef(leaf_list().make()); }

bool LeafNode::keep(Tensor& addend) {
  if (gradient.defined()) {
    accumulate(gradient, addend);
  } else {
    // A gradient may be an expanded view or shared with another leaf's; what the user sees is nobody else's.
    const bool is_own = addend.is_contiguous() && addend.is_sole_owner();
    gradient = is_own ? std::move(addend) : addend.clone();
  }
  return true;
}

void LeafNode::destroy() noexcept { leaf_list().recycle(this); }

void count_live_nodes(std::int64_t change) noexcept { num_live_nodes.fetch_add(change, std::memory_order_relaxed); }

std::int64_t live_nodes() { return num_live_nodes.load(std::memory_order_relaxed); }

bool gradient_flows(std::span<const Tensor* const> inputs) {
  if (!grad_enabled()) return false;
  for (const Tensor* input : inputs) {
    if (input->defined() && input->node() != nullptr) return true;
  }
  return false;
}

void accumulate(Tensor& sum, const Tensor& addend) {
  if (!sum.defined()) {
    sum = addend;
  } else if (!grad_enabled() && sum.is_contiguous() && sum.is_sole_owner()) {
    ops::add_(sum, addend);
  } else {
    sum = ops::add(sum, addend);
  }
}

}  // namespace minitorch::autograd
