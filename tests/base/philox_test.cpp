// Philox 4x32-10 against the published vectors, and the uniforms made of it.
#include "minitorch/base/philox.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>  // std::abs
#include <cstdlib>

namespace minitorch {
namespace {

constexpr std::uint32_t kOnes = 0xFFFFFFFF;

// Known answers: file kat_vectors of the Random123 distribution, lines "philox4x32 10".
static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});

TEST_CASE("philox gives the known answers of Random123") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("uniform53 lies strictly between 0 and 1, symmetric, and uses the upper 52 bits") {
  CHECK(uniform53(0, 0) == 0x1p-53);
  CHECK(uniform53(0, 0xFFF) == 0x1p-53);  // the lowest 12 bits do not matter
  CHECK(uniform53(0, 0x1000) == 3 * 0x1p-53);
  CHECK(uniform53(0x80000000, 0) == 0.5 + 0x1p-53);
  CHECK(uniform53(0x7FFFFFFF, kOnes) == 0.5 - 0x1p-53);
  CHECK(uniform53(kOnes, kOnes) == 1.0 - 0x1p-53);
  CHECK(uniform53(kOnes, kOnes) < 1.0);
}

TEST_CASE("a stream gives the blocks of successive counters under its seed") {
  constexpr std::uint64_t kSeed = 0x123456789ABCDEF0;
  PhiloxStream stream(kSeed);
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word : philox4x32({block, 0, 0, 0}, {0x9ABCDEF0, 0x12345678}))
      CHECK(stream.next_u32() == word);
  }
  PhiloxStream same(kSeed);
  PhiloxStream other(kSeed + 1);
  CHECK(same.next_u32() == PhiloxStream(kSeed).next_u32());
  CHECK(same.next_u32() != other.next_u32());
}

TEST_CASE("a stream's uniforms stay in range and fill it") {
  PhiloxStream stream(7);
  double sum = 0;
  float smallest = 1;
  float largest = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const float value = stream.uniform();
    sum += value;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  CHECK(smallest >= 0.0f);
  CHECK(smallest < 0.001f);
  CHECK(largest < 1.0f);
  CHECK(largest > 0.999f);
  CHECK(std::abs(sum / kDraws - 0.5) < 0.01);  // five standard deviations are 0.0102
}

TEST_CASE("below gives every integer under the bound and no other") {
  PhiloxStream stream(3);
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) ++counts.at(stream.below(7));
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);  // five standard deviations
  CHECK(stream.below(1) == 0);
}

}  // namespace
}  // namespace minitorch
