// Initial values of parameters.
#include "minitorch/nn/init.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

#include "minitorch/base/check.h"

namespace minitorch::nn {
namespace {

std::span<float> elements_of(const char* name, const Tensor& x) {
  MT_CHECK_AS(ShapeError, x.is_contiguous(), "{}: expected a contiguous tensor, got {} with strides {}", name,
              to_string(x.shape()), to_string(x.strides()));
  return {x.data<float>(), static_cast<std::size_t>(x.numel())};
}

double next_uniform(PhiloxStream& random) {
  const std::uint32_t high = random.next_u32();
  return uniform53(high, random.next_u32());
}

}  // namespace

void fill_normal(const Tensor& x, double mean, double deviation, PhiloxStream& random) {
  for (float& element : elements_of("fill_normal", x)) {
    const double radius = std::sqrt(-2.0 * std::log(next_uniform(random)));
    const double angle = 2.0 * std::numbers::pi * next_uniform(random);
    element = static_cast<float>(mean + deviation * radius * std::cos(angle));
  }
}

void fill_uniform(const Tensor& x, double low, double high, PhiloxStream& random) {
  MT_CHECK(low < high, "fill_uniform: expected low below high, got {} and {}", low, high);
  const auto limit = static_cast<float>(high);
  for (float& element : elements_of("fill_uniform", x)) {
    element = static_cast<float>(low + (high - low) * next_uniform(random));
    if (element >= limit) element = std::nextafter(limit, static_cast<float>(low));  // rounded up to the open end
  }
}

}  // namespace minitorch::nn
