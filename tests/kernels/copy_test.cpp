// copy: every pair of element types, every kind of stride, and the rounding rules.
#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <numeric>  // std::iota

#include "tests/kernels/support.h"
#include "tests/kernels/table_walk.h"

namespace minitorch::test {
namespace {

using kernels::CopyArgs;
using kernels::KernelTable;

constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16,
                            DType::kI32, DType::kI64, DType::kU8,   DType::kBool};

void run(const KernelTable& table, const CopyArgs& args, int threads = 1) {
  table.copy({.pool = pool_of(threads)}, args);
}

// Random bits are random values of every kind: NaN, infinities, subnormals, huge integers.
std::vector<std::byte> random_bytes(std::size_t count, PhiloxStream& random) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next_u32());
  return bytes;
}

// Elements of `type` in the range where conversions differ most: small numbers, halves, limits.
std::vector<std::byte> special_values(DType type) {
  const double values[] = {0.0,
                           -0.0,
                           0.5,
                           -0.5,
                           1.5,
                           -1.5,
                           2.5,
                           254.9,
                           255.0,
                           255.5,
                           256.0,
                           65519.9,
                           65520.0,
                           1e9,
                           -1e9,
                           2147483647.0,
                           2147483648.0,
                           -2147483648.0,
                           -2147483649.0,
                           9.2e18,
                           9.3e18,
                           -9.3e18,
                           1e39,
                           1e-45,
                           1e-42,
                           3e-8,
                           2.9e-8,
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};
  std::vector<std::byte> result(std::size(values) * size_of(type));
  run(kernels::reference_table(), {.dims = 1,
                                   .shape = {std::ssize(values)},
                                   .source = values,
                                   .source_dtype = DType::kF64,
                                   .source_strides = {1},
                                   .destination = result.data(),
                                   .destination_dtype = type,
                                   .destination_strides = {1}});
  return result;
}

bool is_nan(DType type, const std::byte* place) {
  double value = 0.0;
  run(kernels::reference_table(),
      {.source = place, .source_dtype = type, .destination = &value, .destination_dtype = DType::kF64});
  return std::isnan(value);
}

// The number of elements that differ; NaNs of any payload are equal.
std::int64_t count_differing(DType type, const GuardedRows<std::byte>& a, const GuardedRows<std::byte>& b) {
  const auto size = static_cast<std::int64_t>(size_of(type));
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < a.cols(); i += size) {
    if (same_bits(a.data() + i, b.data() + i, size)) continue;
    differing += is_nan(type, a.data() + i) && is_nan(type, b.data() + i) ? 0 : 1;
  }
  return differing;
}

// Compares a contiguous conversion of `source` with the reference at steps of one and two elements.
void check_conversion(DType from, DType to, const std::vector<std::byte>& source) {
  CAPTURE(name_of(from));
  CAPTURE(name_of(to));
  const auto count = static_cast<std::int64_t>(source.size() / size_of(from));
  const auto convert = [&](const KernelTable& table, std::int64_t step) {
    GuardedRows<std::byte> out(1, count * step * static_cast<std::int64_t>(size_of(to)));
    std::fill_n(out.data(), out.cols(), std::byte{0});
    run(table, {.dims = 1,
                .shape = {count},
                .source = source.data(),
                .source_dtype = from,
                .source_strides = {1},
                .destination = out.data(),
                .destination_dtype = to,
                .destination_strides = {step}});
    return out;
  };
  for (const std::int64_t step : {1, 2}) {
    const GuardedRows<std::byte> expected = convert(kernels::reference_table(), step);
    on_every_table("copy", [&](const KernelTable& table) {
      const GuardedRows<std::byte> out = convert(table, step);
      CHECK(count_differing(to, out, expected) == 0);
      CHECK(out.guards_intact());
    });
  }
}

TEST_CASE("copy converts between all pairs of element types as the reference does") {
  PhiloxStream random(1);
  for (const DType from : kTypes) {
    for (const DType to : kTypes) {
      check_conversion(from, to, special_values(from));
      for (const std::size_t count : {0, 1, 15, 16, 17, 1009})
        check_conversion(from, to, random_bytes(count * size_of(from), random));
    }
  }
}

template <typename To, typename From>
To converted(const KernelTable& table, From value) {
  To result{};
  run(table,
      {.source = &value, .source_dtype = dtype_of<From>, .destination = &result, .destination_dtype = dtype_of<To>});
  return result;
}

TEST_CASE("copy rounds, truncates and saturates as its contract says") {
  on_every_table("copy", [](const KernelTable& table) {
    CHECK(converted<BFloat16>(table, 1.00390625f).bits == 0x3F80);  // tie to even
    // Not a tie in f64, one if rounded to f32 first.
    CHECK(converted<BFloat16>(table, 1.00390625 + 1e-12).bits == 0x3F81);
    CHECK(converted<Float16>(table, 1.0 + 0x1p-11 + 0x1p-40).bits == 0x3C01);
    // Above a tie by one part in 2^56.
    CHECK(converted<BFloat16>(table, std::int64_t{0x0101000000000001}).bits == 0x5B81);
    CHECK(converted<float>(table, 1e300) == std::numeric_limits<float>::infinity());
    CHECK(converted<std::int32_t>(table, -1.9f) == -1);
    CHECK(converted<std::int32_t>(table, 3e9f) == std::numeric_limits<std::int32_t>::max());
    CHECK(converted<std::int64_t>(table, -1e30f) == std::numeric_limits<std::int64_t>::min());
    CHECK(converted<std::int64_t>(table, 0x1p63) == std::numeric_limits<std::int64_t>::max());
    CHECK(converted<std::uint8_t>(table, 300.0f) == 255);
    CHECK(converted<std::uint8_t>(table, -3.0f) == 0);
    CHECK(converted<std::uint8_t>(table, std::int32_t{0x1FF}) == 0xFF);
    CHECK(converted<std::int32_t>(table, std::nanf("")) == 0);
    CHECK(converted<bool>(table, 0.25f));
    CHECK(converted<bool>(table, std::nanf("")));
    CHECK(!converted<bool>(table, -0.0f));
    CHECK(converted<float>(table, true) == 1.0f);
  });
}

// A strided view of a shape: `order` says which dimension lies outermost in memory, extents in `padding` leave gaps.
std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& shape, const std::vector<int>& order,
                                     std::int64_t padding) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step = step * shape[order[i]] + padding;
  }
  return strides;
}

void check_strided(const std::vector<std::int64_t>& shape, const std::vector<int>& order, std::int64_t padding,
                   bool broadcast, DType to, int threads) {
  CopyArgs args{.dims = static_cast<int>(shape.size()), .source_dtype = DType::kF32, .destination_dtype = to};
  std::vector<int> plain(shape.size());
  std::iota(plain.begin(), plain.end(), 0);
  const std::vector<std::int64_t> source_strides = strides_of(shape, plain, 0);
  const std::vector<std::int64_t> destination_strides = strides_of(shape, order, padding);
  std::int64_t source_size = 1;
  std::int64_t destination_size = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    args.shape[i] = shape[i];
    args.source_strides[i] = broadcast && i % 2 == 0 ? 0 : source_strides[i];
    args.destination_strides[i] = destination_strides[i];
    source_size += (shape[i] - 1) * source_strides[i];
    destination_size += (shape[i] - 1) * destination_strides[i];
  }
  PhiloxStream random(3);
  const std::vector<float> source = random_floats(std::max<std::int64_t>(source_size, 1), random);
  args.source = source.data();
  const auto fill = [&](const KernelTable& table) {
    GuardedRows<std::byte> out(1, std::max<std::int64_t>(destination_size, 0) * static_cast<std::int64_t>(size_of(to)));
    std::fill_n(out.data(), out.cols(), std::byte{0x7B});
    args.destination = out.data();
    run(table, args, threads);
    return out;
  };
  const GuardedRows<std::byte> expected = fill(kernels::reference_table());
  on_every_table("copy", [&](const KernelTable& table) {
    const GuardedRows<std::byte> out = fill(table);
    CHECK(same_bits(out.data(), expected.data(), out.cols()));
    CHECK(out.guards_intact());
  });
}

TEST_CASE("copy follows permuted, padded and broadcast strides") {
  struct Case {
    std::vector<std::int64_t> shape;
    std::vector<int> order;
  };
  const Case cases[] = {{{}, {}},
                        {{7}, {0}},
                        {{3, 5}, {0, 1}},
                        {{3, 5}, {1, 0}},
                        {{1, 17, 1}, {2, 0, 1}},
                        {{4, 3, 6}, {2, 0, 1}},
                        {{4, 3, 6}, {0, 2, 1}},
                        {{2, 3, 1, 5, 4}, {3, 0, 4, 1, 2}},
                        {{2, 1, 2, 3, 2, 1, 2, 3}, {7, 6, 5, 4, 3, 2, 1, 0}},
                        {{3, 0, 4}, {0, 1, 2}}};
  for (const Case& c : cases) {
    CAPTURE(c.shape.size());
    for (const std::int64_t padding : {0, 3}) {
      for (const bool broadcast : {false, true}) {
        for (const DType to : {DType::kF32, DType::kBF16}) check_strided(c.shape, c.order, padding, broadcast, to, 1);
      }
    }
  }
  for (int threads = 1; threads <= 4; ++threads) {
    for (const DType to : {DType::kF32, DType::kF16}) {
      check_strided({300, 401}, {1, 0}, 0, false, to, threads);
      check_strided({301 * 401}, {0}, 0, false, to, threads);
    }
  }
}

}  // namespace
}  // namespace minitorch::test
