// Field access on top of JsonFields.
#include "models/tokenizer/json_steps.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/tokenizer/token_table.h"
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {

std::string required_text(const JsonFields& fields, std::string_view field) {
  std::optional<std::string> text = fields.text(field);
  if (!text) fields.refuse(field, "a string");
  return *std::move(text);
}

bool required_boolean(const JsonFields& fields, std::string_view field) {
  const std::optional<bool> value = fields.boolean(field);
  if (!value) fields.refuse(field, "true or false");
  return *value;
}

JsonFields required_object(const JsonFields& fields, std::string_view field) {
  std::optional<JsonFields> object = fields.object(field);
  if (!object) fields.refuse(field, "an object");
  return *std::move(object);
}

std::string required_character(const JsonFields& fields, std::string_view field) {
  std::string text = required_text(fields, field);
  if (text.empty() || utf8_length(text.front()) != text.size()) fields.refuse(field, "one character");
  return text;
}

std::vector<JsonFields> objects(const JsonFields& fields, std::string_view field) {
  const nlohmann::json* array = fields.find(field);
  if (array == nullptr || !array->is_array()) fields.refuse(field, "an array of objects");
  std::vector<JsonFields> result;
  for (std::size_t i = 0; i < array->size(); ++i) {
    result.emplace_back((*array)[i], fmt::format("{}: {}[{}]", fields.where(), field, i));
  }
  return result;
}

std::vector<std::int32_t> ids(const JsonFields& fields, std::string_view field) {
  const nlohmann::json* array = fields.find(field);
  if (array == nullptr || !array->is_array()) fields.refuse(field, "an array of ids");
  std::vector<std::int32_t> result;
  for (const nlohmann::json& value : *array) {
    const auto id = value.is_number_unsigned() ? value.get<std::uint64_t>() : std::uint64_t{TokenTable::kMaxId} + 1;
    if (id > std::uint64_t{TokenTable::kMaxId}) fields.refuse(field, "an array of ids");
    result.push_back(static_cast<std::int32_t>(id));
  }
  return result;
}

std::vector<std::string> member_names(const JsonFields& fields, std::string_view field) {
  const nlohmann::json* object = fields.find(field);
  if (object == nullptr || !object->is_object()) fields.refuse(field, "an object");
  std::vector<std::string> names;
  for (const auto& [name, value] : object->items()) names.push_back(name);
  return names;
}

Pattern pattern(const JsonFields& fields, std::string_view field) {
  const JsonFields choice = required_object(fields, field);
  if (std::optional<std::string> text = choice.text("String")) {
    if (text->empty()) choice.refuse("String", "a text that is not empty");
    return Pattern::literal(*std::move(text));
  }
  const std::optional<std::string> regex = choice.text("Regex");
  if (!regex) fields.refuse(field, "{\"String\": text} or {\"Regex\": text}");
  return Pattern::regex(*regex, choice.where());
}

PrependScheme prepend_scheme(const JsonFields& fields) {
  const std::string scheme = fields.text("prepend_scheme").value_or("always");
  const bool add_prefix_space = fields.boolean("add_prefix_space").value_or(true);
  if (scheme == "never" || (!add_prefix_space && !fields.given("prepend_scheme"))) return PrependScheme::kNever;
  if (!add_prefix_space) fields.refuse("add_prefix_space", "true, or prepend_scheme \"never\"");
  if (scheme == "first") return PrependScheme::kFirst;
  if (scheme != "always") fields.refuse("prepend_scheme", "\"always\", \"first\" or \"never\"");
  return PrependScheme::kAlways;
}

void refuse_type(const JsonFields& fields, std::string_view type, std::string_view known) {
  fail<IoError>("{}: the type \"{}\" is not supported (known: {})", fields.where(), printable(type, 60), known);
}

void check_depth(const JsonFields& fields, int depth) {
  MT_CHECK_AS(IoError, depth < kMaxSequenceDepth, "{}: expected sequences nested at most {} deep", fields.where(),
              kMaxSequenceDepth);
}

}  // namespace minitorch::models
