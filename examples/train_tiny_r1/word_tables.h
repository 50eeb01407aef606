// The words of the problems: names, things, animals, people, places and containers.
#pragma once

#include <span>
#include <string_view>

namespace minitorch::train_tiny_r1 {

struct Noun {
  std::string_view singular;
  std::string_view plural;
  [[nodiscard]] std::string_view form_for(long long number) const { return number == 1 ? singular : plural; }
};

[[nodiscard]] std::span<const std::string_view> female_names();
[[nodiscard]] std::span<const std::string_view> male_names();

// What the quantities of a problem count.
[[nodiscard]] std::span<const Noun> objects();
[[nodiscard]] std::span<const Noun> animals();
[[nodiscard]] std::span<const Noun> people();

[[nodiscard]] std::span<const Noun> containers();
[[nodiscard]] std::span<const std::string_view> stores();    // places that hold objects, without an article
[[nodiscard]] std::span<const std::string_view> vehicles();  // likewise, that carry people

}  // namespace minitorch::train_tiny_r1
