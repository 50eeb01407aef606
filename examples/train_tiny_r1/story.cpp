// Drawing the words of a problem and filling in placeholders.
#include "examples/train_tiny_r1/story.h"

#include <algorithm>

#include "minitorch/base/check.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr Noun kDollars[] = {{"dollar", "dollars"}};
constexpr Noun kPages[] = {{"page", "pages"}};
constexpr Noun kKilometers[] = {{"kilometer", "kilometers"}};
constexpr Noun kPoints[] = {{"point", "points"}};
constexpr Noun kLiters[] = {{"liter", "liters"}};

std::span<const Noun> nouns_of(NounKind kind) {
  switch (kind) {
    case NounKind::kObjects: return objects();
    case NounKind::kAnimals: return animals();
    case NounKind::kPeople: return people();
    case NounKind::kDollars: return kDollars;
    case NounKind::kPages: return kPages;
    case NounKind::kKilometers: return kKilometers;
    case NounKind::kPoints: return kPoints;
    case NounKind::kLiters: return kLiters;
  }
  return {};
}

}  // namespace

ProblemRandom::ProblemRandom(std::uint64_t seed, std::int64_t index, bool held_out)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, held_out ? 1U : 0U, static_cast<std::uint32_t>(index),
               static_cast<std::uint32_t>(static_cast<std::uint64_t>(index) >> 32)} {}

std::uint32_t ProblemRandom::below(std::size_t bound) {
  if (used_ == 4) {
    words_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return static_cast<std::uint32_t>((std::uint64_t{words_[used_++]} * bound) >> 32);
}

std::int64_t ProblemRandom::between(std::int64_t min, std::int64_t max) {
  return min + below(static_cast<std::size_t>(max - min + 1));
}

Story::Story(const Theme& theme, ProblemRandom& random)
    : random_(random), subject_(new_person()), noun_(&random.pick(nouns_of(theme.nouns))), container_(noun_) {
  while (container_->singular == noun_->singular) container_ = &random.pick(containers());
  if (theme.places == PlaceKind::kStore) place_ = random.pick(stores());
  if (theme.places == PlaceKind::kVehicle) place_ = random.pick(vehicles());
}

Story::Person Story::new_person() {
  while (true) {
    const bool is_female = random_.below(2) == 0;
    const std::string_view name = random_.pick(is_female ? female_names() : male_names());
    if (std::find(used_names_.begin(), used_names_.end(), name) != used_names_.end()) continue;
    used_names_.push_back(name);
    return {.name = name, .is_female = is_female};
  }
}

void Story::introduce_person() { other_ = new_person(); }
void Story::pass_on() { subject_ = other_; }

std::string Story::tell(std::string_view form, const Numbers& numbers) const {
  std::string text;
  std::int64_t last_number = 0;
  const auto number = [&](std::int64_t value) {
    last_number = value;
    return fmt::to_string(value);
  };
  const auto value_of = [&](std::string_view placeholder) -> std::string {
    if (placeholder == "x") return number(numbers.x);
    if (placeholder == "y") return number(numbers.y);
    if (placeholder == "r") return "\\boxed{" + number(numbers.result) + "}";
    if (placeholder == "o") return std::string(noun_->form_for(last_number));
    if (placeholder == "os") return std::string(noun_->plural);
    if (placeholder == "c") return std::string(container_->singular);
    if (placeholder == "cs") return std::string(container_->plural);
    if (placeholder == "n") return std::string(subject_.name);
    if (placeholder == "m") return std::string(other_.name);
    if (placeholder == "p") return std::string(place_);
    if (placeholder == "he") return subject_.is_female ? "she" : "he";
    if (placeholder == "He") return subject_.is_female ? "She" : "He";
    if (placeholder == "was") return numbers.result == 1 ? "was" : "were";
    if (placeholder == "is") return numbers.result == 1 ? "is" : "are";
    fail<Error>("sentence form: expected a known placeholder, got \"{}\"", placeholder);
  };
  while (!form.empty()) {
    const std::size_t open = std::min(form.find('{'), form.size());
    text.append(form.substr(0, open));
    form.remove_prefix(open);
    if (form.empty()) break;
    const std::size_t close = form.find('}');
    MT_CHECK(close != std::string_view::npos, "sentence form: expected a closing brace in \"{}\"", form);
    text.append(value_of(form.substr(1, close - 1)));
    form.remove_prefix(close + 1);
  }
  return text;
}

}  // namespace minitorch::train_tiny_r1
