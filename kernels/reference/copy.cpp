// Reference copy: every element becomes a number of the widest type and is stored from there.
#include <cmath>  // std::isnan, std::trunc
#include <cstring>
#include <limits>

#include "kernels/reference/reference.h"
#include "kernels/round_to_odd.h"

namespace minitorch::kernels::reference {
namespace {

// An element before conversion: f64 holds every float type exactly, i64 every integer type and bool.
struct Number {
  bool is_float = false;
  double f64 = 0.0;
  std::int64_t i64 = 0;
};

template <typename T>
T read(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

template <typename T>
void write(std::byte* place, T value) {
  std::memcpy(place, &value, sizeof(T));
}

Number load(DType dtype, const std::byte* place) {
  switch (dtype) {
    case DType::kF32: return {true, read<float>(place), 0};
    case DType::kF64: return {true, read<double>(place), 0};
    case DType::kBF16: return {true, to_float(read<BFloat16>(place)), 0};
    case DType::kF16: return {true, to_float(read<Float16>(place)), 0};
    case DType::kI32: return {false, 0.0, read<std::int32_t>(place)};
    case DType::kI64: return {false, 0.0, read<std::int64_t>(place)};
    case DType::kU8: return {false, 0.0, read<std::uint8_t>(place)};
    case DType::kBool: return {false, 0.0, read<std::uint8_t>(place) != 0 ? 1 : 0};
  }
  return {};
}

// Truncates towards zero and saturates; NaN gives 0.
template <typename T>
T to_integer(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  const double truncated = std::trunc(value);
  // The upper limit of i64 is not a double; its neighbour above (2^63) is, and >= is right for all types.
  if (truncated >= static_cast<double>(Limits::max())) return Limits::max();
  if (truncated <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<T>(truncated);
}

template <typename T>
T integer_of(const Number& number) {
  return number.is_float ? to_integer<T>(number.f64) : static_cast<T>(number.i64);
}

float narrow_float_of(const Number& number) {
  return to_odd_float(number.is_float ? number.f64 : to_odd_double(number.i64));
}

void store(DType dtype, std::byte* place, const Number& number) {
  switch (dtype) {
    case DType::kF32:
      return write(place, number.is_float ? static_cast<float>(number.f64) : static_cast<float>(number.i64));
    case DType::kF64: return write(place, number.is_float ? number.f64 : static_cast<double>(number.i64));
    case DType::kBF16: return write(place, to_bfloat16(narrow_float_of(number)));
    case DType::kF16: return write(place, to_float16(narrow_float_of(number)));
    case DType::kI32: return write(place, integer_of<std::int32_t>(number));
    case DType::kI64: return write(place, integer_of<std::int64_t>(number));
    case DType::kU8: return write(place, integer_of<std::uint8_t>(number));
    case DType::kBool:
      return write(place, static_cast<std::uint8_t>(number.is_float ? number.f64 != 0.0 : number.i64 != 0));
  }
}

void copy_dim(const CopyArgs& args, int dim, const std::byte* source, std::byte* destination) {
  if (dim == args.dims) {
    if (args.source_dtype == args.destination_dtype) {
      std::memcpy(destination, source, size_of(args.source_dtype));  // also keeps the payload of a NaN
    } else {
      store(args.destination_dtype, destination, load(args.source_dtype, source));
    }
    return;
  }
  const auto source_step = args.source_strides[dim] * static_cast<std::int64_t>(size_of(args.source_dtype));
  const auto destination_step =
      args.destination_strides[dim] * static_cast<std::int64_t>(size_of(args.destination_dtype));
  for (std::int64_t i = 0; i < args.shape[dim]; ++i) {
    copy_dim(args, dim + 1, source + i * source_step, destination + i * destination_step);
  }
}

}  // namespace

void copy(const Context&, const CopyArgs& args) {
  copy_dim(args, 0, static_cast<const std::byte*>(args.source), static_cast<std::byte*>(args.destination));
}

}  // namespace minitorch::kernels::reference
