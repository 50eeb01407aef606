// Tensor: creation, element access, sharing, text.
#include "minitorch/core/tensor.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minitorch/base/error.h"

namespace minitorch {
namespace {

using Values = std::vector<double>;

TEST_CASE("an undefined tensor says so instead of crashing") {
  const Tensor tensor;
  CHECK_FALSE(tensor.defined());
  CHECK_THROWS_WITH_AS((void)tensor.shape(), "tensor: expected a defined tensor, got an undefined one", Error);
  CHECK_THROWS_AS((void)tensor.dtype(), Error);
  CHECK_THROWS_AS((void)tensor.raw_data(), Error);
  CHECK_THROWS_AS((void)tensor.item(), Error);
  CHECK_THROWS_AS((void)tensor.view({1}), Error);
  CHECK_THROWS_AS((void)tensor.contiguous(), Error);
  CHECK_THROWS_AS((void)tensor.permute({}), Error);
  CHECK_THROWS_AS((void)tensor.expand({}), Error);
  CHECK_THROWS_AS(Tensor::zeros({1}).copy_(tensor), Error);
  CHECK(to_string(tensor) == "tensor(undefined)");
}

TEST_CASE("tensors are created with the given elements") {
  CHECK(Tensor::zeros({2, 2}).to_vector() == Values{0, 0, 0, 0});
  CHECK(Tensor::full({3}, 2.5).to_vector() == Values{2.5, 2.5, 2.5});
  CHECK(Tensor::full({2}, 2.9, DType::kI32).to_vector() == Values{2, 2});
  CHECK(Tensor::arange(4).to_vector() == Values{0, 1, 2, 3});
  CHECK(Tensor::arange(3, DType::kI64).dtype() == DType::kI64);
  const Tensor tensor = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(tensor.dtype() == DType::kF32);
  CHECK(tensor.shape() == Shape{2, 3});
  CHECK(tensor.strides() == Shape{3, 1});
  CHECK(tensor.to_vector() == Values{1, 2, 3, 4, 5, 6});
  CHECK(reinterpret_cast<std::uintptr_t>(tensor.raw_data()) % 64 == 0);
}

TEST_CASE("creation refuses shapes that do not fit") {
  CHECK_THROWS_WITH_AS((void)Tensor::from(std::vector<float>{1, 2}, {3}), "from: expected 3 values for [3], got 2",
                       ShapeError);
  CHECK_THROWS_AS((void)Tensor::empty({-1}), ShapeError);
  CHECK_THROWS_AS((void)Tensor::empty({std::int64_t{1} << 61}, DType::kF64), ShapeError);  // bytes beyond 2^63
  CHECK_THROWS_AS((void)Tensor::empty({std::int64_t{1} << 58}), Error);                    // no such memory
  CHECK_THROWS_AS((void)Tensor::arange(-1), ShapeError);
}

TEST_CASE("scalars have no dimensions and one element") {
  const Tensor scalar = Tensor::full({}, 3.0);
  CHECK(scalar.dims() == 0);
  CHECK(scalar.numel() == 1);
  CHECK(scalar.item() == 3.0);
  CHECK(scalar.is_contiguous());
  CHECK_THROWS_AS((void)scalar.size(0), ShapeError);
}

TEST_CASE("empty tensors go through every operation") {
  const Tensor empty = Tensor::zeros({0, 3});
  CHECK(empty.numel() == 0);
  CHECK(empty.to_vector().empty());
  CHECK(empty.clone().shape() == Shape{0, 3});
  CHECK(empty.to(DType::kBF16).shape() == Shape{0, 3});
  CHECK(empty.transpose(0, 1).contiguous().shape() == Shape{3, 0});
  CHECK(empty.reshape({3, 0, 5}).shape() == Shape{3, 0, 5});
  CHECK(empty.slice(1, {.start = 1}).shape() == Shape{0, 2});
  CHECK(empty.expand({4, 0, 3}).numel() == 0);
  CHECK_NOTHROW(empty.copy_(Tensor::full({}, 1)));
  CHECK_THROWS_AS((void)empty.item(), ShapeError);
  CHECK_THROWS_AS((void)empty.select(0, 0), ShapeError);
  CHECK(to_string(empty) == "tensor([], f32)");
}

TEST_CASE("size counts dimensions from the end when negative") {
  const Tensor tensor = Tensor::zeros({2, 3});
  CHECK(tensor.size(1) == 3);
  CHECK(tensor.size(-2) == 2);
  CHECK_THROWS_AS((void)tensor.size(2), ShapeError);
}

TEST_CASE("item needs exactly one element") {
  CHECK(Tensor::full({1, 1}, 7).item() == 7);
  CHECK(Tensor::arange(5).select(0, 3).item() == 3);
  CHECK_THROWS_WITH_AS((void)Tensor::zeros({2}).item(), "item: expected one element, got [2]", ShapeError);
}

TEST_CASE("typed access needs the tensor's own type") {
  const Tensor tensor = Tensor::zeros({2});
  CHECK(tensor.data<float>() == tensor.raw_data());
  CHECK_THROWS_WITH_AS((void)tensor.data<double>(), "data: expected dtype f64, got f32", DTypeError);
  CHECK_THROWS_AS((void)tensor.data<std::int32_t>(), DTypeError);
}

TEST_CASE("copies of a tensor share its elements and clones do not") {
  const Tensor original = Tensor::arange(3);
  const Tensor copy = original;
  const Tensor clone = original.clone();
  CHECK(copy.shares_storage_with(original));
  CHECK_FALSE(clone.shares_storage_with(original));
  original.data<float>()[1] = 9;
  CHECK(copy.to_vector() == Values{0, 9, 2});
  CHECK(clone.to_vector() == Values{0, 1, 2});
}

TEST_CASE("assignment releases the former elements and survives assigning to itself") {
  Tensor tensor = Tensor::arange(3);
  const Tensor& alias = tensor;
  tensor = alias;
  CHECK(tensor.to_vector() == Values{0, 1, 2});
  Tensor other = Tensor::zeros({1});
  other = std::move(tensor);
  CHECK(other.to_vector() == Values{0, 1, 2});
  CHECK_FALSE(tensor.defined());  // NOLINT(bugprone-use-after-move): a moved-from tensor is undefined by contract
  tensor = other;
  other = Tensor();
  CHECK(tensor.to_vector() == Values{0, 1, 2});
}

TEST_CASE("views keep the elements alive after their source is gone") {
  Tensor view;
  {
    const Tensor source = Tensor::arange(10);
    view = source.slice(0, {.start = 7});
  }
  const Tensor noise = Tensor::full({10}, -1);
  CHECK(view.to_vector() == Values{7, 8, 9});
}

TEST_CASE("threads may copy and drop handles of the same tensor at once") {
  const Tensor shared = Tensor::arange(100);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&shared, i] {
      for (int repeat = 0; repeat < 2000; ++repeat) {
        const Tensor copy = shared;
        const Tensor view = copy.slice(0, {.start = i});
        const Tensor own = Tensor::empty({repeat % 50});
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(shared.to_vector().size() == 100);
}

TEST_CASE("tensors print as nested brackets with their dtype") {
  CHECK(to_string(Tensor::from(std::vector<float>{1, 2.5F, 3, -4}, {2, 2})) == "tensor([[1, 2.5], [3, -4]], f32)");
  CHECK(to_string(Tensor::full({}, 0.1)) == "tensor(0.1, f32)");
  CHECK(to_string(Tensor::full({2}, 1, DType::kBool)) == "tensor([true, true], bool)");
  CHECK(to_string(Tensor::full({1}, 200, DType::kU8)) == "tensor([200], u8)");
  CHECK(to_string(Tensor::full({1}, 0.5, DType::kBF16)) == "tensor([0.5], bf16)");
  CHECK(to_string(Tensor::full({1}, -1.5, DType::kF16)) == "tensor([-1.5], f16)");
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  CHECK(to_string(Tensor::from(std::vector<std::int64_t>{large}, {1})) == "tensor([9223372036854775807], i64)");
  CHECK(to_string(Tensor::full({1}, std::numeric_limits<double>::quiet_NaN())) == "tensor([nan], f32)");
  CHECK(to_string(Tensor::arange(6).view({2, 3}).transpose(0, 1)) == "tensor([[0, 3], [1, 4], [2, 5]], f32)");
}

TEST_CASE("long tensors are shortened in the middle when printed") {
  CHECK(to_string(Tensor::arange(1000, DType::kI32)) == "tensor([0, 1, 2, ..., 997, 998, 999], i32)");
  const std::string text = to_string(Tensor::zeros({1000, 1000}));
  CHECK(text.size() < 300);
  CHECK(text.starts_with("tensor([[0, 0, 0, ..., 0, 0, 0], "));
}

}  // namespace
}  // namespace minitorch
