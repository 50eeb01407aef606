// The conversions between all pairs of element types.
#include "kernels/cpu/convert_line.h"

#include <concepts>
#include <limits>
#include <type_traits>

#include "kernels/round_to_odd.h"
#include "minitorch/base/float16.h"

namespace minitorch::kernels {
namespace {

// A stored truth value: one byte, any value but 0 is true.
struct Bool {
  std::uint8_t byte;
};

template <typename T>
constexpr bool is_half = std::same_as<T, BFloat16> || std::same_as<T, Float16>;

// The element as a number of a C++ arithmetic type, exactly.
template <typename T>
auto number_of(T value) {
  if constexpr (is_half<T>) {
    return to_float(value);
  } else if constexpr (std::same_as<T, Bool>) {
    return static_cast<std::uint8_t>(value.byte != 0);
  } else {
    return value;
  }
}

// As a float that rounds to 16 bits as the number itself would.
template <typename T>
float odd_float_of(T number) {
  if constexpr (std::same_as<T, float>) {
    return number;
  } else if constexpr (std::same_as<T, double>) {
    return to_odd_float(number);
  } else {
    return to_odd_float(to_odd_double(number));
  }
}

// Truncates towards zero and saturates; NaN gives 0. In this form both limits are exact in double (2^63 for i64).
template <typename Integer>
Integer saturate(double value) {
  using Limits = std::numeric_limits<Integer>;
  constexpr double kBeyond = 2.0 * static_cast<double>(Limits::max() / 2 + 1);
  if (value >= kBeyond) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return value == value ? static_cast<Integer>(value) : Integer{0};
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::same_as<To, From>) {
    return value;
  } else {
    const auto number = number_of(value);
    using Number = std::remove_const_t<decltype(number)>;
    if constexpr (std::same_as<To, Bool>) {
      return {static_cast<std::uint8_t>(number != 0)};
    } else if constexpr (std::same_as<To, BFloat16>) {
      return to_bfloat16(odd_float_of(number));
    } else if constexpr (std::same_as<To, Float16>) {
      return to_float16(odd_float_of(number));
    } else if constexpr (std::floating_point<Number> && std::integral<To>) {
      return saturate<To>(static_cast<double>(number));
    } else {
      return static_cast<To>(number);
    }
  }
}

struct Line {
  const std::byte* source;
  std::int64_t source_step;
  std::byte* destination;
  std::int64_t destination_step;
  std::int64_t count;
};

template <typename To, typename From>
void convert_elements(const Line& line) {
  const auto* source = reinterpret_cast<const From*>(line.source);
  auto* destination = reinterpret_cast<To*>(line.destination);
  if (line.source_step == 1 && line.destination_step == 1) {  // the form that the compiler turns into vectors
    for (std::int64_t i = 0; i < line.count; ++i) destination[i] = convert<To>(source[i]);
    return;
  }
  for (std::int64_t i = 0; i < line.count; ++i) {
    destination[i * line.destination_step] = convert<To>(source[i * line.source_step]);
  }
}

template <typename From>
void convert_from(const Line& line, DType destination_dtype) {
  switch (destination_dtype) {
    case DType::kF32: return convert_elements<float, From>(line);
    case DType::kF64: return convert_elements<double, From>(line);
    case DType::kBF16: return convert_elements<BFloat16, From>(line);
    case DType::kF16: return convert_elements<Float16, From>(line);
    case DType::kI32: return convert_elements<std::int32_t, From>(line);
    case DType::kI64: return convert_elements<std::int64_t, From>(line);
    case DType::kU8: return convert_elements<std::uint8_t, From>(line);
    case DType::kBool: return convert_elements<Bool, From>(line);
  }
}

}  // namespace

void convert_line(DType source_dtype, const std::byte* source, std::int64_t source_step, DType destination_dtype,
                  std::byte* destination, std::int64_t destination_step, std::int64_t count) {
  const Line line{source, source_step, destination, destination_step, count};
  switch (source_dtype) {
    case DType::kF32: return convert_from<float>(line, destination_dtype);
    case DType::kF64: return convert_from<double>(line, destination_dtype);
    case DType::kBF16: return convert_from<BFloat16>(line, destination_dtype);
    case DType::kF16: return convert_from<Float16>(line, destination_dtype);
    case DType::kI32: return convert_from<std::int32_t>(line, destination_dtype);
    case DType::kI64: return convert_from<std::int64_t>(line, destination_dtype);
    case DType::kU8: return convert_from<std::uint8_t>(line, destination_dtype);
    case DType::kBool: return convert_from<Bool>(line, destination_dtype);
  }
}

}  // namespace minitorch::kernels
