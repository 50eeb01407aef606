// record: how an op tells the graph of its backward function.
//
//   Tensor square(const Tensor& x) {
//     Tensor y = map(UnaryOp::kSquare, x);
//     record(y, "square", {&x}, [&] {
//       return [x](const Tensor& dy, InputGradients& inputs) { inputs.set(0, mul(dy, mul(x, 2.0))); };
//     });
//     return y;
//   }
//
// The outer lambda runs only when a gradient can flow, so an op without one costs a look at the inputs. What the inner
// lambda captures is saved until the backward pass: inputs as they are; outputs through detach(), or the node would own
// itself. Inside, plain ops compute the gradients, so that they can be differentiated in turn.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "minitorch/autograd/node.h"
#include "minitorch/core/free_list.h"
#include "minitorch/core/tensor.h"

namespace minitorch::autograd {

// Gradients are on and one of the inputs requires one. Undefined inputs count as left out.
[[nodiscard]] bool gradient_flows(std::span<const Tensor* const> inputs);
[[nodiscard]] inline bool gradient_flows(std::initializer_list<const Tensor*> inputs) {
  return gradient_flows(std::span(inputs.begin(), inputs.size()));
}

void count_live_nodes(std::int64_t change) noexcept;

// A node with the backward function of one kind of op. `Backward`: void(const Tensor& gradient, InputGradients&).
template <typename Backward>
class OpNode final : public Node {
 public:
  [[nodiscard]] static NodeRef make(const char* name, std::span<const Tensor* const> inputs, Backward&& backward) {
    return NodeRef(list().make(name, inputs, std::move(backward)));
  }
  void backward(const Tensor& gradient, InputGradients& inputs) override { (*backward_)(gradient, inputs); }

 private:
  friend class FreeList<OpNode>;
  OpNode(const char* name, std::span<const Tensor* const> inputs, Backward&& backward)
      : Node(name), backward_(std::move(backward)) {
    set_edges(inputs);
    count_live_nodes(1);
  }
  ~OpNode() override { count_live_nodes(-1); }
  void release_saved() noexcept override { backward_.reset(); }
  void destroy() noexcept override { list().recycle(this); }

  static FreeList<OpNode>& list() {
    static auto* const nodes = new FreeList<OpNode>;  // never destroyed: static tensors may outlive any other static
    return *nodes;
  }

  std::optional<Backward> backward_;
};

// Makes `out`, the result of op `name` on `inputs`, know how its gradient flows back; see above. `name` is a literal.
template <typename MakeBackward>
void record(Tensor& out, const char* name, std::span<const Tensor* const> inputs, MakeBackward&& make_backward) {
  if (!gradient_flows(inputs)) return;
  auto backward = make_backward();
  out.set_node(OpNode<decltype(backward)>::make(name, inputs, std::move(backward)));
}
template <typename MakeBackward>
void record(Tensor& out, const char* name, std::initializer_list<const Tensor*> inputs, MakeBackward&& make_backward) {
  record(out, name, std::span(inputs.begin(), inputs.size()), std::forward<MakeBackward>(make_backward));
}

}  // namespace minitorch::autograd
