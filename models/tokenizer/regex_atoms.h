// Escapes and character classes, the parts of a regular expression that match one character, rewritten from Oniguruma
// to PCRE2.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace minitorch::models {

struct Translated {
  std::string text;      // for PCRE2
  std::size_t size = 0;  // bytes of the original pattern
};

// The escape that begins with the backslash at `position`, outside of classes.
[[nodiscard]] Translated translate_escape(std::string_view pattern, std::size_t position);

// The class that begins with the bracket at `position`, with all that is nested in it.
[[nodiscard]] Translated translate_class(std::string_view pattern, std::size_t position);

}  // namespace minitorch::models
