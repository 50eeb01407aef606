// The backward pass: counts the consumers of every node, then runs nodes whose consumers have all been run.
#include "minitorch/autograd/backward.h"

#include <cstddef>
#include <vector>

#include "minitorch/autograd/node.h"
#include "minitorch/base/check.h"
#include "minitorch/core/execution_scope.h"

namespace minitorch::autograd {
namespace {

class Pass {
 public:
  explicit Pass(const BackwardOptions& options) : options_(options) {}
  ~Pass() {
    for (const NodeRef& node : nodes_) node.get()->visit = {};
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Finds all nodes below `root` and counts the consumers of each.
  void explore(Node* root) {
    meet(root);
    for (std::size_t next = 0; next < nodes_.size(); ++next) {
      Node* const node = nodes_[next].get();
      MT_CHECK(!node->released(),
               "backward: the graph behind '{}' was freed by an earlier pass; use retain_graph to walk it again",
               node->name());
      for (const Edge& edge : node->edges()) {
        if (edge.node.get() == nullptr) continue;
        ++edge.node.get()->visit.outstanding;
        meet(edge.node.get());
      }
    }
  }

  void run(Node* root, const Tensor& gradient) {
    root->visit.gradient = gradient;
    ready_.push_back(root);
    while (!ready_.empty()) {
      Node* const node = ready_.back();
      ready_.pop_back();
      Tensor arrived = std::move(node->visit.gradient);
      if (!arrived.defined() || !node->keep(arrived)) run_node(*node, arrived);
    }
  }

 private:
  void meet(Node* node) {
    if (node->visit.seen) return;
    node->visit.seen = true;
    node->add_reference();  // its consumer may let go of it during the pass
    nodes_.emplace_back(node);
  }

  // An undefined gradient means that nothing flows: the inputs are told that this consumer is done.
  void run_node(Node& node, const Tensor& gradient) {
    gradients_.assign(node.edges().size(), Tensor());
    if (gradient.defined()) {
      InputGradients inputs(node.name(), node.edges(), gradients_);
      node.backward(gradient, inputs);
    }
    for (std::size_t i = 0; i < node.edges().size(); ++i) {
      Node* const input = node.edges()[i].node.get();
      if (input == nullptr) continue;
      if (gradients_[i].defined()) accumulate(input->visit.gradient, std::exchange(gradients_[i], Tensor()));
      if (--input->visit.outstanding == 0) ready_.push_back(input);
    }
    if (!options_.retain_graph && !options_.create_graph) node.release();
  }

  BackwardOptions options_;
  std::vector<NodeRef> nodes_;
  std::vector<Node*> ready_;
  std::vector<Tensor> gradients_;  // of the inputs of the node at work
};

Tensor initial_gradient(const Tensor& output, const Tensor& gradient) {
  if (!gradient.defined()) {
    MT_CHECK_AS(ShapeError, output.numel() == 1, "backward: expected a gradient for an output of shape {}, got none",
                to_string(output.shape()));
    return Tensor::full(output.shape(), 1.0, output.dtype());
  }
  MT_CHECK_AS(ShapeError, gradient.shape() == output.shape(), "backward: expected a gradient of shape {}, got {}",
              to_string(output.shape()), to_string(gradient.shape()));
  MT_CHECK_AS(DTypeError, gradient.dtype() == output.dtype(), "backward: expected a gradient of dtype {}, got {}",
              name_of(output.dtype()), name_of(gradient.dtype()));
  return gradient;
}

}  // namespace

void backward(const Tensor& output, const Tensor& gradient, const BackwardOptions& options) {
  MT_CHECK(output.requires_grad(),
           "backward: expected an output that requires a gradient: none of its inputs does, or gradients were off");
  const GradMode mode(options.create_graph);
  Pass pass(options);
  pass.explore(output.node());
  pass.run(output.node(), initial_gradient(output, gradient));
}

}  // namespace minitorch::autograd
