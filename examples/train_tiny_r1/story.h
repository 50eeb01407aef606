// One problem being told: who and what it is about, and placeholders of sentence forms filled in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/train_tiny_r1/sentence_forms.h"
#include "examples/train_tiny_r1/word_tables.h"
#include "minitorch/base/philox.h"

namespace minitorch::train_tiny_r1 {

// Random numbers of one problem: Philox under the seed as key, for counters {block, held out, index}.
class ProblemRandom {
 public:
  ProblemRandom(std::uint64_t seed, std::int64_t index, bool held_out);

  // Uniform integer in [0, bound). The bias of the multiplication is below bound / 2^32.
  std::uint32_t below(std::size_t bound);
  std::int64_t between(std::int64_t min, std::int64_t max);  // both included
  template <typename T>
  const T& pick(std::span<const T> choices) {
    return choices[below(choices.size())];
  }

 private:
  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter words_{};
  std::uint32_t used_ = 4;
};

class Story {
 public:
  Story(const Theme& theme, ProblemRandom& random);

  struct Numbers {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t result = 0;
  };
  // The sentence of a form. Where it names {m}, `introduce_person` must have drawn one.
  [[nodiscard]] std::string tell(std::string_view form, const Numbers& numbers) const;
  void introduce_person();  // a new {m}
  void pass_on();           // {m} becomes {n}

 private:
  struct Person {
    std::string_view name;
    bool is_female = false;
  };
  [[nodiscard]] Person new_person();

  ProblemRandom& random_;
  std::vector<std::string_view> used_names_;
  Person subject_;
  Person other_;
  const Noun* noun_;
  const Noun* container_;
  std::string_view place_;
};

}  // namespace minitorch::train_tiny_r1
