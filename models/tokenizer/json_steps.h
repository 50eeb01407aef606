// What the readers of normalizers, pre-tokenizers, post-processors and decoders share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/json_fields.h"
#include "models/tokenizer/pattern.h"
#include "models/tokenizer/pre_tokenizer.h"  // PrependScheme

namespace minitorch::models {

// Required fields.
[[nodiscard]] std::string required_text(const JsonFields& fields, std::string_view field);
[[nodiscard]] bool required_boolean(const JsonFields& fields, std::string_view field);
[[nodiscard]] JsonFields required_object(const JsonFields& fields, std::string_view field);
[[nodiscard]] std::string required_character(const JsonFields& fields, std::string_view field);

// The objects of an array; nothing but objects may stand in it.
[[nodiscard]] std::vector<JsonFields> objects(const JsonFields& fields, std::string_view field);
// The ids of an array.
[[nodiscard]] std::vector<std::int32_t> ids(const JsonFields& fields, std::string_view field);
// The names of all members of an object.
[[nodiscard]] std::vector<std::string> member_names(const JsonFields& fields, std::string_view field);

// {"String": text} or {"Regex": text}; a text must not be empty.
[[nodiscard]] Pattern pattern(const JsonFields& fields, std::string_view field);
// prepend_scheme, or the older add_prefix_space.
[[nodiscard]] PrependScheme prepend_scheme(const JsonFields& fields);

// Throws the error about a type that is none of the `known` ones.
[[noreturn]] void refuse_type(const JsonFields& fields, std::string_view type, std::string_view known);

// Nesting of sequences that is accepted, counted from 0.
inline constexpr int kMaxSequenceDepth = 16;
void check_depth(const JsonFields& fields, int depth);

}  // namespace minitorch::models
