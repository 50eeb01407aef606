// Copies and conversions between all pairs of dtypes, through every CPU table and the reference.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/core/execution_scope.h"
#include "minitorch/core/tensor.h"

namespace minitorch {
namespace {

using Values = std::vector<double>;
constexpr DType kAll[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16,
                          DType::kI32, DType::kI64, DType::kU8,   DType::kBool};

Tensor counting(const Shape& shape) { return Tensor::arange(shape.numel()).view(shape); }

std::vector<const kernels::KernelTable*> all_tables() {
  std::vector<const kernels::KernelTable*> tables{&kernels::reference_table()};
  for (const auto* table : kernels::cpu_tables()) tables.push_back(table);
  return tables;
}

TEST_CASE("small whole numbers survive conversion between all pairs of dtypes on every table") {
  ThreadPool pool(2);
  for (const auto* table : all_tables()) {
    const ExecutionScope scope({.runtime = {.table = table, .threads = &pool}});
    for (const DType from : kAll) {
      for (const DType to : kAll) {
        CAPTURE(std::string(table->name));
        CAPTURE(std::string(name_of(from)));
        CAPTURE(std::string(name_of(to)));
        const bool is_bool = from == DType::kBool || to == DType::kBool;
        const Values expected = is_bool ? Values{0, 1, 1, 1, 1, 1, 1, 1, 1, 1} : Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        const Tensor source = Tensor::arange(10, from);
        CHECK(source.to(to).dtype() == to);
        CHECK(source.to(to).to_vector() == expected);
        const Tensor target = Tensor::zeros({10, 2}, to).select(1, 1);  // strided destination
        target.copy_(source);
        CHECK(target.to_vector() == expected);
      }
    }
  }
}

TEST_CASE("conversion rounds, truncates and saturates as the contract says on every table") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ThreadPool pool(1);
  for (const auto* table : all_tables()) {
    CAPTURE(std::string(table->name));
    const ExecutionScope scope({.runtime = {.table = table, .threads = &pool}});
    const Tensor floats = Tensor::from(Values{2.9, -2.9, 1e10, -1e10, nan, kInf, 300, -1}, {8});
    CHECK(floats.to(DType::kI32).to_vector() == Values{2, -2, 2147483647, -2147483648.0, 0, 2147483647, 300, -1});
    CHECK(floats.to(DType::kU8).to_vector() == Values{2, 0, 255, 0, 0, 255, 255, 0});
    CHECK(floats.to(DType::kBool).to_vector() == Values{1, 1, 1, 1, 1, 1, 1, 1});
    CHECK(floats.to(DType::kF16).to_vector().at(2) == kInf);
    const Tensor integers = Tensor::from(std::vector<std::int64_t>{257, -1, std::int64_t{1} << 33}, {3});
    CHECK(integers.to(DType::kU8).to_vector() == Values{1, 255, 0});
    CHECK(integers.to(DType::kI32).to_vector() == Values{257, -1, 0});
    const Tensor halves = Tensor::from(std::vector<float>{1.00390625F, 1.01171875F}, {2});
    CHECK(halves.to(DType::kBF16).to_vector() == Values{1.0, 1.015625});
  }
}

TEST_CASE("to the same dtype is the tensor itself and contiguous copies only when needed") {
  const Tensor tensor = counting({2, 3});
  CHECK(tensor.to(DType::kF32).shares_storage_with(tensor));
  CHECK(tensor.contiguous().shares_storage_with(tensor));
  const Tensor transposed = tensor.transpose(0, 1);
  const Tensor made = transposed.contiguous();
  CHECK(made.is_contiguous());
  CHECK_FALSE(made.shares_storage_with(tensor));
  CHECK(made.to_vector() == transposed.to_vector());
}

TEST_CASE("copy_ broadcasts its source and writes through views") {
  const Tensor target = Tensor::zeros({2, 3});
  target.copy_(Tensor::from(std::vector<float>{1, 2, 3}, {3}));
  CHECK(target.to_vector() == Values{1, 2, 3, 1, 2, 3});
  target.select(1, 1).copy_(Tensor::full({}, 9, DType::kI64));
  CHECK(target.to_vector() == Values{1, 9, 3, 1, 9, 3});
  target.transpose(0, 1).slice(0, {.start = 2}).copy_(Tensor::from(std::vector<double>{7, 8}, {1, 2}));
  CHECK(target.to_vector() == Values{1, 9, 7, 1, 9, 8});
}

TEST_CASE("copy_ between overlapping views gives what a copy of the source would give") {
  const Tensor tensor = Tensor::arange(6);
  tensor.slice(0, {.start = 1}).copy_(tensor.slice(0, {.stop = 5}));
  CHECK(tensor.to_vector() == Values{0, 0, 1, 2, 3, 4});
  const Tensor square = counting({3, 3});
  square.copy_(square.transpose(0, 1));
  CHECK(square.to_vector() == Values{0, 3, 6, 1, 4, 7, 2, 5, 8});
  square.copy_(square);
  CHECK(square.to_vector() == Values{0, 3, 6, 1, 4, 7, 2, 5, 8});
  const Tensor halves = Tensor::arange(8);
  halves.slice(0, {.stop = 4}).copy_(halves.slice(0, {.start = 4}));  // side by side, no overlap
  CHECK(halves.to_vector() == Values{4, 5, 6, 7, 4, 5, 6, 7});
}

TEST_CASE("copy_ refuses shapes that do not broadcast and destinations that hold one element twice") {
  const Tensor target = Tensor::zeros({2, 3});
  CHECK_THROWS_AS(target.copy_(Tensor::zeros({2})), ShapeError);
  CHECK_THROWS_AS(target.copy_(Tensor::zeros({1, 2, 3})), ShapeError);
  CHECK_THROWS_AS(Tensor::zeros({3}).expand({2, 3}).copy_(target), ShapeError);
  CHECK_NOTHROW(Tensor::zeros({3}).expand({1, 3}).copy_(Tensor::zeros({3})));
}

TEST_CASE("large strided copies on several threads equal the ones on one thread") {
  ThreadPool many(4);
  ThreadPool one(1);
  const Tensor source = counting({37, 129, 65}).permute({2, 0, 1});
  const auto converted = [&](ThreadPool& pool) {
    const ExecutionScope scope({.runtime = {.threads = &pool}});
    return source.to(DType::kBF16).to_vector();
  };
  const Values expected = converted(one);
  CHECK(converted(many) == expected);
  CHECK(expected.at(1) == 65.0);
}

}  // namespace
}  // namespace minitorch
