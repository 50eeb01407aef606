// Typed fields of a JSON object.
#include "models/json_fields.h"

#include <cmath>  // std::isfinite
#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"

namespace minitorch::models {
namespace {

// A value as an error message shows it: its JSON text, cut when long.
std::string shown(const nlohmann::json& value) {
  constexpr std::size_t kMaxShown = 60;
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return text;
}

}  // namespace

JsonFields::JsonFields(const nlohmann::json& object, std::string where) : object_(&object), where_(std::move(where)) {
  MT_CHECK_AS(IoError, object.is_object(), "{}: expected a JSON object, got {}", where_, shown(object));
}

const nlohmann::json* JsonFields::find(std::string_view field) const {
  const auto found = object_->find(field);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void JsonFields::refuse(std::string_view field, std::string_view expected) const {
  const nlohmann::json* value = find(field);
  fail<IoError>("{}: {}: expected {}, got {}", where_, field, expected, value != nullptr ? shown(*value) : "nothing");
}

std::optional<std::int64_t> JsonFields::integer(std::string_view field, std::int64_t min, std::int64_t max) const {
  const nlohmann::json* value = find(field);
  if (value == nullptr) return std::nullopt;
  const auto expected = [&] { return fmt::format("an integer from {} to {}", min, max); };
  if (!value->is_number_integer()) refuse(field, expected());
  // Positive numbers are held unsigned and may exceed the signed range.
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    refuse(field, expected());
  }
  const auto number = value->get<std::int64_t>();
  if (number < min || number > max) refuse(field, expected());
  return number;
}

std::int64_t JsonFields::required_integer(std::string_view field, std::int64_t min, std::int64_t max) const {
  const std::optional<std::int64_t> value = integer(field, min, max);
  if (!value) refuse(field, fmt::format("an integer from {} to {}", min, max));
  return *value;
}

std::optional<double> JsonFields::number(std::string_view field, double min, double max) const {
  const nlohmann::json* value = find(field);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : NAN;
  if (!(number >= min && number <= max)) refuse(field, fmt::format("a number from {} to {}", min, max));
  return number;
}

std::optional<bool> JsonFields::boolean(std::string_view field) const {
  const nlohmann::json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(field, "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonFields::text(std::string_view field) const {
  const nlohmann::json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(field, "a string");
  return value->get<std::string>();
}

std::optional<JsonFields> JsonFields::object(std::string_view field) const {
  const nlohmann::json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) refuse(field, "an object");
  return JsonFields(*value, fmt::format("{}: {}", where_, field));
}

}  // namespace minitorch::models
