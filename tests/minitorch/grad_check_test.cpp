// Every op with a backward against central differences, its second derivatives too, and f32 against f64. The list of
// ops that record is read from the sources.
#include "minitorch/autograd/grad_check.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "minitorch/autograd/backward.h"
#include "minitorch/autograd/node.h"
#include "minitorch/autograd/record.h"
#include "minitorch/base/error.h"
#include "minitorch/core/execution_scope.h"
#include "tests/minitorch/differentiable_cases.h"

namespace minitorch {
namespace {

using autograd::grad_check;
using autograd::InputGradients;
using test::Case;
using test::Inputs;
using test::leaf;
using test::random_tensor;

using Names = std::set<std::string>;

// The gradients of sum(y^2) for y = function(inputs), one behind the other, with a history: they depend on the inputs
// even where `function` is linear.
Tensor gradients_of(const Case& test_case, Inputs inputs) {
  const GradMode recorded(true);
  std::vector<Tensor> former;
  for (const Tensor& input : inputs) {
    former.push_back(input.grad());
    input.set_grad({});
  }
  autograd::backward(ops::sum(ops::square(test_case.function(inputs))), {}, {.create_graph = true});
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor gradient = inputs[i].grad();
    if (gradient.defined()) parts.push_back(gradient.reshape({inputs[i].numel()}));
    inputs[i].set_grad(former[i]);
  }
  return ops::cat(parts, 0);
}

TEST_CASE("the gradients of every op agree with central differences, in f64") {
  for (const Case& test_case : test::differentiable_cases()) {
    CAPTURE(test_case.name);
    CAPTURE(to_string(test_case.inputs[0].shape));
    const std::string difference = grad_check(test_case.function, test_case.make_inputs(DType::kF64),
                                              {.step = test_case.step, .tolerance = test_case.tolerance});
    CHECK(difference == "");
  }
}

TEST_CASE("the gradients of every op's gradients agree with central differences, in f64") {
  for (const Case& test_case : test::differentiable_cases()) {
    if (!test_case.smooth) continue;
    CAPTURE(test_case.name);
    CAPTURE(to_string(test_case.inputs[0].shape));
    const auto function = [&](Inputs inputs) { return gradients_of(test_case, inputs); };
    CHECK(grad_check(function, test_case.make_inputs(DType::kF64), {.tolerance = 1e-5}) == "");
  }
}

// The gradients of a weighted sum of the outputs; with `create_graph` the second way through the backward functions.
std::vector<Tensor> gradients(const Case& test_case, DType dtype, bool create_graph) {
  const std::vector<Tensor> inputs = test_case.make_inputs(dtype);
  const Tensor output = test_case.function(inputs);
  autograd::backward(output, random_tensor(output.shape(), 3, dtype), {.create_graph = create_graph});
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) {
    result.push_back(input.grad().defined() ? input.grad().detach() : Tensor::zeros(input.shape(), dtype));
    if (input.requires_grad()) input.set_grad({});  // under create_graph it has a history that ends in the input itself
  }
  return result;
}

TEST_CASE("results and gradients in f32 agree with those in f64, by kernel and by plain ops") {
  for (const Case& test_case : test::differentiable_cases()) {
    CAPTURE(test_case.name);
    CAPTURE(to_string(test_case.inputs[0].shape));
    const Tensor result = test_case.function(test_case.make_inputs(DType::kF32));
    CHECK(result.dtype() == DType::kF32);
    CHECK(test::distance(result, test_case.function(test_case.make_inputs(DType::kF64))) < 2e-6);
    const std::vector<Tensor> exact = gradients(test_case, DType::kF64, /*create_graph=*/false);
    for (const bool create_graph : {false, true}) {
      CAPTURE(create_graph);
      const std::vector<Tensor> rounded = gradients(test_case, DType::kF32, create_graph);
      for (std::size_t i = 0; i < exact.size(); ++i) CHECK(test::distance(rounded[i], exact[i]) < 5e-6);
    }
  }
}

TEST_CASE("second derivatives in f32 agree with those in f64") {
  for (const Case& test_case : test::differentiable_cases()) {
    CAPTURE(test_case.name);
    CAPTURE(to_string(test_case.inputs[0].shape));
    const Case second{.name = test_case.name,
                      .function = [&](Inputs inputs) { return gradients_of(test_case, inputs); },
                      .inputs = test_case.inputs};
    const std::vector<Tensor> exact = gradients(second, DType::kF64, /*create_graph=*/false);
    const std::vector<Tensor> rounded = gradients(second, DType::kF32, /*create_graph=*/false);
    for (std::size_t i = 0; i < exact.size(); ++i) CHECK(test::distance(rounded[i], exact[i]) < 5e-5);
  }
}

// The names of all recorded ops behind `output`.
void collect_names(const Tensor& output, Names& names) {
  std::vector<autograd::Node*> pending{output.node()};
  std::set<autograd::Node*> seen;
  while (!pending.empty()) {
    autograd::Node* const node = pending.back();
    pending.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    names.insert(node->name());
    for (const autograd::Edge& edge : node->edges()) pending.push_back(edge.node.get());
  }
}

Names checked_names() {
  Names names;
  for (const Case& test_case : test::differentiable_cases()) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const std::vector<Tensor> inputs = test_case.make_inputs(dtype);
      collect_names(test_case.function(inputs), names);
      collect_names(gradients_of(test_case, inputs), names);
    }
  }
  names.erase("leaf");
  return names;
}

Names pointwise_names() {
  return {
#define MT_UNARY(name, Functor) #name,
#define MT_BINARY(name, Functor) #name,
#define MT_COMPARE(name, Functor)
#include "kernels/pointwise.def"
#undef MT_UNARY
#undef MT_BINARY
#undef MT_COMPARE
  };
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Names that record(out, name, ...) is called with in a source. Where the name is the parameter of a function, those
// that the function is called with.
void collect_recorded(const std::string& source, Names& names) {
  static const std::regex site(R"re(\brecord\(\s*\w+,\s*(?:"(\w+)"|name),)re");
  static const std::regex any_site(R"(\brecord\(\s*\w+,)");
  static const std::regex helper(R"(\n(?:Tensor|void) (\w+)\([^)]*\bconst char\* name)");
  const std::sregex_iterator end;
  const auto count = [&](const std::regex& pattern) {
    return std::distance(std::sregex_iterator(source.begin(), source.end(), pattern), end);
  };
  CHECK(count(any_site) == count(site));
  for (std::sregex_iterator match(source.begin(), source.end(), site); match != end; ++match) {
    if ((*match)[1].matched) {
      names.insert((*match)[1]);
      continue;
    }
    std::string function;
    const auto position = source.begin() + match->position();
    for (std::sregex_iterator found(source.begin(), position, helper); found != end; ++found) function = (*found)[1];
    REQUIRE(function != "");
    const std::regex call("\\b" + function + R"re(\([^;{]*?(?:"(\w+)"|#name))re");
    Names called;
    for (std::sregex_iterator found(source.begin(), source.end(), call); found != end; ++found) {
      if ((*found)[1].matched) {
        called.insert((*found)[1]);
      } else {
        called.merge(pointwise_names());
      }
    }
    CHECK(called.size() > 1);
    names.merge(called);
  }
}

TEST_CASE("every op that records is checked, and nothing else is listed") {
  Names recorded;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(MINITORCH_SOURCE_DIR) / "minitorch")) {
    if (entry.path().extension() != ".cpp") continue;
    CAPTURE(entry.path().string());
    collect_recorded(text_of(entry.path()), recorded);
  }
  CHECK(recorded.size() > 50);
  const Names checked = checked_names();
  for (const std::string& name : recorded) CHECK_MESSAGE(checked.contains(name), name << " records without a check");
  for (const std::string& name : checked) CHECK_MESSAGE(recorded.contains(name), name << " is not in the sources");
}

// square with another gradient than 2 x.
using Gradient = Tensor (*)(const Tensor& dy, const Tensor& x);
std::string check_square_with(Gradient gradient) {
  const auto function = [gradient](Inputs inputs) {
    const Tensor x = inputs[0];
    Tensor y = ops::square(x.detach());
    autograd::record(y, "planted", {&x}, [&] {
      return [x, gradient](const Tensor& dy, InputGradients& into) {
        if (const Tensor dx = gradient(dy, x); dx.defined()) into.set(0, dx);
      };
    });
    return y;
  };
  return grad_check(function, {leaf(random_tensor({2, 2}, 5, DType::kF64, 0.5, 1.5))});
}

TEST_CASE("grad_check finds gradients that are slightly wrong, zero, negated, permuted or missing") {
  CHECK(check_square_with([](const Tensor& dy, const Tensor& x) { return dy * x * 2.0; }) == "");
  CHECK(check_square_with([](const Tensor& dy, const Tensor& x) { return dy * x * 2.02; }) != "");
  CHECK(check_square_with([](const Tensor& dy, const Tensor& x) { return dy * x * 2.00002; }) != "");
  CHECK(check_square_with([](const Tensor& dy, const Tensor&) { return dy * 0.0; }) != "");
  CHECK(check_square_with([](const Tensor& dy, const Tensor& x) { return dy * x * -2.0; }) != "");
  CHECK(check_square_with([](const Tensor& dy, const Tensor& x) { return (dy * x * 2.0).transpose(0, 1); }) != "");
  CHECK(check_square_with([](const Tensor&, const Tensor&) { return Tensor(); }) != "");
  CHECK(check_square_with([](const Tensor& dy, const Tensor& x) { return dy * x / 0.0; }) != "");
}

TEST_CASE("grad_check says which element differs, and refuses what it cannot check") {
  const std::string difference = check_square_with([](const Tensor& dy, const Tensor& x) { return dy * x * 3.0; });
  CHECK(difference.find("input 0, element 0: gradient") == 0);
  CHECK(grad_check([](Inputs x) { return x[0].detach(); }, {leaf(Tensor::zeros({1}, DType::kF64))}) ==
        "the output requires no gradient");
  CHECK_THROWS_AS((void)grad_check([](Inputs x) { return x[0] * 1.0; }, {leaf(Tensor::zeros({1}))}), DTypeError);
}

TEST_CASE("grad_check leaves its inputs alone and checks only those that require a gradient") {
  const Tensor x = leaf(Tensor::full({2}, 2, DType::kF64));
  const Tensor constant = Tensor::full({2}, 3, DType::kF64);
  CHECK(grad_check([](Inputs inputs) { return inputs[0] * inputs[1]; }, {x, constant}) == "");
  CHECK(x.to_vector() == test::Values{2, 2});
  CHECK_FALSE(x.grad().defined());
}

}  // namespace
}  // namespace minitorch
