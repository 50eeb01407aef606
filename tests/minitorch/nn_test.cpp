// Modules: names, state, modes, printing; layers and initial values.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/nn/init.h"
#include "minitorch/nn/layers.h"
#include "minitorch/nn/module.h"
#include "minitorch/ops/fused.h"
#include "minitorch/ops/pointwise.h"
#include "minitorch/ops/reduce.h"
#include "tests/minitorch/gradient_support.h"

namespace minitorch::nn {
namespace {

using test::tensor_of;
using test::Values;

class Net final : public Module {
 public:
  explicit Net(PhiloxStream& random) : first_(3, 4, random), second_(4, 2, random, /*with_bias=*/false), norm_(4) {
    register_module("first", first_);
    register_module("second", second_);
    register_module("norm", norm_);
    scale_ = register_parameter("scale", Tensor::full({}, 2));
  }
  [[nodiscard]] Tensor forward(const Tensor& x) const { return second_.forward(norm_.forward(first_.forward(x))); }
  void add_twice() { register_module("first", second_); }
  void add_parameter_twice() { (void)register_parameter("scale", Tensor::zeros({1})); }

 private:
  [[nodiscard]] std::string_view kind() const override { return "Net"; }
  Linear first_, second_;
  RMSNorm norm_;
  Tensor scale_;
};

TEST_CASE("parameters are named by their path, in the order of registration") {
  PhiloxStream random(1);
  Net net(random);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : net.named_parameters()) {
    names.push_back(name);
    CHECK(tensor.requires_grad());
  }
  CHECK(names == std::vector<std::string>{"scale", "first.weight", "first.bias", "second.weight", "norm.weight"});
  CHECK(net.num_parameters() == 1 + 12 + 4 + 8 + 4);
  CHECK_THROWS_WITH_AS(net.add_twice(), "register_module: expected a new name, got 'first'", Error);
  CHECK_THROWS_WITH_AS(net.add_parameter_twice(), "register_parameter: expected a new name, got 'scale'", Error);
}

TEST_CASE("a module prints its tree") {
  PhiloxStream random(1);
  CHECK(to_string(Net(random)) ==
        "Net(): 29 parameters\n"
        "  first: Linear(in=3, out=4): 16 parameters\n"
        "  second: Linear(in=4, out=2, no bias): 8 parameters\n"
        "  norm: RMSNorm(dim=4, eps=1e-06): 4 parameters");
}

TEST_CASE("state goes from one module to another through state_dict") {
  PhiloxStream random(1);
  Net source(random);
  Net target(random);
  const Tensor x = test::random_tensor({2, 3}, 2);
  CHECK(source.forward(x).to_vector() != target.forward(x).to_vector());
  target.load_state_dict(source.state_dict());
  CHECK(source.forward(x).to_vector() == target.forward(x).to_vector());
  CHECK_FALSE(source.state_dict().at("scale").requires_grad());
  CHECK(source.state_dict().at("scale").shares_storage_with(source.parameters()[0]));
  CHECK_FALSE(target.parameters()[0].shares_storage_with(source.parameters()[0]));
  // Values in another type are converted.
  auto wide = source.state_dict();
  wide.at("scale") = Tensor::full({}, 0.25, DType::kF64);
  target.load_state_dict(wide);
  CHECK(target.parameters()[0].item() == 0.25);
}

TEST_CASE("load_state_dict names all that does not fit and then changes nothing") {
  PhiloxStream random(1);
  Net net(random);
  auto values = net.state_dict();
  for (auto& [name, tensor] : values) tensor = Tensor::zeros(tensor.shape());
  values.erase("scale");
  values["norm.weight"] = Tensor::zeros({5});
  values["third.weight"] = Tensor::zeros({1});
  const Values before = net.forward(Tensor::full({1, 3}, 1)).to_vector();
  CHECK_THROWS_WITH_AS(net.load_state_dict(values),
                       "load_state_dict: expected the names and shapes of its state_dict, got differences: 'scale' is "
                       "missing; 'norm.weight' has shape [5] instead of [4]; 'third.weight' is unexpected",
                       Error);
  CHECK(net.forward(Tensor::full({1, 3}, 1)).to_vector() == before);
}

TEST_CASE("train, eval and zero_grad reach the children") {
  PhiloxStream random(1);
  class Pair final : public Module {
   public:
    explicit Pair(PhiloxStream& source) : inner(2, 2, source) { register_module("inner", inner); }
    Linear inner;

   private:
    [[nodiscard]] std::string_view kind() const override { return "Pair"; }
  };
  Pair pair(random);
  CHECK(pair.inner.is_training());
  pair.eval();
  CHECK_FALSE(pair.is_training());
  CHECK_FALSE(pair.inner.is_training());
  pair.train();
  CHECK(pair.inner.is_training());
  ops::sum(pair.inner.forward(Tensor::full({1, 2}, 1))).backward();
  CHECK(pair.inner.weight().grad().defined());
  pair.zero_grad();
  CHECK_FALSE(pair.inner.weight().grad().defined());
}

TEST_CASE("layers compute what their names say and start as documented") {
  PhiloxStream random(5);
  const Linear linear(9, 4, random);
  for (const double value : linear.weight().to_vector()) CHECK(std::abs(value) <= 1.0 / 3);
  linear.weight().detach().copy_(Tensor::full({}, 1));
  linear.bias().detach().copy_(Tensor::full({}, 0.5));
  CHECK(linear.forward(Tensor::full({2, 9}, 1)).to_vector() == Values(8, 9.5));
  const Embedding embedding(5, 3, random);
  CHECK(embedding.forward(std::vector<std::int32_t>{4, 4}).select(0, 1).to_vector() ==
        embedding.weight().select(0, 4).to_vector());
  const Tensor x = test::random_tensor({2, 6}, 1);
  CHECK(RMSNorm(6).forward(x).to_vector() == ops::rms_norm(x, Tensor::full({6}, 1), 1e-6F).to_vector());
  CHECK(LayerNorm(6).forward(x).to_vector() ==
        ops::layer_norm(x, Tensor::full({6}, 1), Tensor::zeros({6}), 1e-5F).to_vector());
  CHECK_THROWS_AS(Linear(0, 3, random), Error);
  CHECK_THROWS_AS(Embedding(3, 0, random), Error);
  CHECK_THROWS_AS(RMSNorm(0), Error);
}

TEST_CASE("initial values have the moments they should and depend on the seed alone") {
  const auto moments = [](const Tensor& x) {
    const Tensor wide = x.to(DType::kF64);
    const double mean = ops::mean(wide).item();
    return std::pair{mean, std::sqrt(ops::mean(ops::square(ops::sub(wide, mean))).item())};
  };
  const Tensor x = Tensor::empty({20000});
  PhiloxStream random(3);
  fill_normal(x, 1.0, 2.0, random);
  CHECK(moments(x).first == doctest::Approx(1).epsilon(0.05));
  CHECK(moments(x).second == doctest::Approx(2).epsilon(0.05));
  PhiloxStream again(3);
  const Tensor same = Tensor::empty({20000});
  fill_normal(same, 1.0, 2.0, again);
  CHECK(same.to_vector() == x.to_vector());
  fill_uniform(x, -3, 1, random);
  CHECK(moments(x).first == doctest::Approx(-1).epsilon(0.05));
  CHECK(moments(x).second == doctest::Approx(4 / std::sqrt(12.0)).epsilon(0.05));
  for (const double value : x.to_vector()) REQUIRE((value >= -3 && value < 1));
  CHECK_THROWS_AS(fill_uniform(x, 1, 1, random), Error);
  CHECK_THROWS_AS(fill_normal(x.view({2, 10000}).transpose(0, 1), 0, 1, random), ShapeError);
}

}  // namespace
}  // namespace minitorch::nn
