// The sentences of the problems as data. A theme is a kind of story: how it opens, what may happen, what is asked.
//
// Placeholders in the texts:
//   {x} {y}     numbers of the sentence; {r} the result, as \boxed{...}
//   {o}         the counted noun, singular or plural as the number in front of it asks; {os} always plural
//   {c} {cs}    a container, singular and plural
//   {n}         the person the story is about; {he} {He} the pronoun
//   {m}         another person, new in every step; in an ending: that of the last step
//   {p}         the place
//   {was} {is}  the verb for the result
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "examples/train_tiny_r1/equations.h"

namespace minitorch::train_tiny_r1 {

enum class NounKind : std::uint8_t { kObjects, kAnimals, kPeople, kDollars, kPages, kKilometers, kPoints, kLiters };
enum class PlaceKind : std::uint8_t { kNone, kStore, kVehicle };

struct OpeningForm {
  std::string_view text;
  bool is_product = false;  // states two numbers, {x} times {y}; else {x} alone
};

struct Ending {
  std::string_view question;
  std::string_view answer;
};

enum class StepKind : std::uint8_t {
  kGoesOn,
  kPassesOn,  // the story goes on with {m} in place of {n}
  kIsLast,    // no step may follow, and the ending is its own
};

struct StepForm {
  Op op;
  std::string_view text;
  StepKind kind = StepKind::kGoesOn;
  Ending ending = {};  // of kIsLast
};

struct Theme {
  std::uint32_t weight;  // of its share among all problems
  NounKind nouns;
  PlaceKind places;
  std::span<const OpeningForm> openings;
  std::span<const StepForm> steps;
  std::span<const Ending> endings;
};

[[nodiscard]] std::span<const Theme> themes();

// Openings, steps and questions of all themes; different texts only.
[[nodiscard]] std::int64_t num_sentence_forms();

}  // namespace minitorch::train_tiny_r1
