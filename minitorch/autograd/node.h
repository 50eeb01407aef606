// Node: one recorded op of the graph that backward() walks, or the place where a leaf tensor's gradient is added up.
//
// A tensor that requires a gradient points to the node that made it (or to its LeafNode); a node points to the nodes of
// its inputs. So a graph lives exactly as long as something that can be differentiated through it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "minitorch/core/free_list.h"
#include "minitorch/core/tensor.h"

namespace minitorch::autograd {

class Node;

// Counted reference to a node.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(Node* adopted) noexcept : node_(adopted) {}  // takes over one reference
  NodeRef(const NodeRef& other) noexcept;
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef();

  [[nodiscard]] Node* get() const { return node_; }
  [[nodiscard]] Node* release() { return std::exchange(node_, nullptr); }

 private:
  Node* node_ = nullptr;
};

// One input of a recorded op: the node its gradient goes to (none where no gradient is wanted), and its shape.
struct Edge {
  NodeRef node;
  Shape shape;
};

// What the backward function of an op fills in: the gradients of the op's inputs.
class InputGradients {
 public:
  InputGradients(const char* op, std::span<const Edge> edges, std::span<Tensor> gradients)
      : op_(op), edges_(edges), gradients_(gradients) {}

  // False where nobody needs the gradient of that input: it need not be computed.
  [[nodiscard]] bool wanted(int input) const { return edge(input).node.get() != nullptr; }
  // Throws ShapeError when the gradient does not have the input's shape. Ignored where it is not wanted.
  void set(int input, Tensor gradient);
  // The same for a gradient of the shape that the input was broadcast to: sums over what was expanded.
  void set_broadcast(int input, const Tensor& gradient);

 private:
  [[nodiscard]] const Edge& edge(int input) const { return edges_[static_cast<std::size_t>(input)]; }

  const char* op_;
  std::span<const Edge> edges_;
  std::span<Tensor> gradients_;
};

class Node {
 public:
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] std::span<Edge> edges() { return edges_; }
  [[nodiscard]] bool released() const { return released_; }

  // Computes the inputs' gradients from that of the output.
  virtual void backward(const Tensor& gradient, InputGradients& inputs) = 0;
  // Leaves add `gradient`, which they may take over, to the one they keep and return true.
  virtual bool keep(Tensor& gradient);
  // Lets go of saved values and of the inputs' nodes.
  void release() noexcept;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  // Frees the node behind the last reference, and what only it held: in a loop, so that graphs of any depth need no
  // stack.
  static void drop_reference(Node* node) noexcept;

  // Working state of the backward pass that is under way; a graph takes part in one at a time.
  struct Visit {
    Tensor gradient;               // sum of what has arrived
    std::int64_t outstanding = 0;  // consumers that have not been run
    bool seen = false;
  };
  Visit visit;

 protected:
  explicit Node(const char* name) : name_(name) {}
  virtual ~Node() = default;
  void set_edges(std::span<const Tensor* const> inputs);

 private:
  virtual void release_saved() noexcept = 0;
  virtual void destroy() noexcept = 0;  // gives the object back to where it came from

  static constexpr std::size_t kFewInputs = 4;

  std::atomic<std::int64_t> references_{1};
  const char* name_;
  bool released_ = false;
  std::array<Edge, kFewInputs> few_edges_;
  std::vector<Edge> many_edges_;  // of ops with more inputs
  std::span<Edge> edges_;
  Node* next_dying_ = nullptr;
};

// Where the gradient of a tensor that no op computed is added up.
class LeafNode final : public Node {
 public:
  [[nodiscard]] static NodeRef make();

  void backward(const Tensor&, InputGradients&) override {}
  bool keep(Tensor& addend) override;

  Tensor gradient;  // undefined until the first backward pass

 private:
  friend class FreeList<LeafNode>;
  LeafNode() : Node("leaf") {}
  ~LeafNode() override = default;
  void release_saved() noexcept override {}
  void destroy() noexcept override;
};

// Recorded ops that exist at this moment, leaves not counted.
[[nodiscard]] std::int64_t live_nodes();

// Adds `addend` to `sum`: in its memory when nobody else can see it, else into a new tensor. An undefined sum becomes
// the addend itself.
void accumulate(Tensor& sum, const Tensor& addend);

}  // namespace minitorch::autograd
