// Typed fields of a JSON object from a model folder; every error names the file, the field, what was expected and what
// came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace minitorch::models {

// A view of one JSON object. A field that is absent or null counts as not given.
class JsonFields {
 public:
  // `where` begins every message: the file, or the file and the enclosing field. Throws IoError when `object` is none.
  JsonFields(const nlohmann::json& object, std::string where);

  [[nodiscard]] bool given(std::string_view field) const { return find(field) != nullptr; }

  // Each throws IoError when the value is of another type or outside [min, max].
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view field, std::int64_t min, std::int64_t max) const;
  [[nodiscard]] std::optional<double> number(std::string_view field, double min, double max) const;
  [[nodiscard]] std::optional<bool> boolean(std::string_view field) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view field) const;
  [[nodiscard]] std::optional<JsonFields> object(std::string_view field) const;

  // Likewise, and throws IoError when the field is not given.
  [[nodiscard]] std::int64_t required_integer(std::string_view field, std::int64_t min, std::int64_t max) const;

  // The value itself, null when not given.
  [[nodiscard]] const nlohmann::json* find(std::string_view field) const;
  // Throws the IoError "where: field: expected ..., got <the value>".
  [[noreturn]] void refuse(std::string_view field, std::string_view expected) const;

  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  const nlohmann::json* object_;
  std::string where_;
};

}  // namespace minitorch::models
