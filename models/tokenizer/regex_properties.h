// Names of character sets in regular expressions: \p{...} and [:...:], as the reference's library (Oniguruma)
// understands them.
#pragma once

#include <string>
#include <string_view>

namespace minitorch::models {

// What a set means in PCRE2: the members of a character class without its brackets.
// \p{name}: general categories by short or long name, scripts, binary properties, and the POSIX names. Throws Error for
// unknown ones.
[[nodiscard]] std::string property_members(std::string_view name);
// [:name:] inside a class; "word" is \w too. Throws Error for unknown ones.
[[nodiscard]] std::string posix_members(std::string_view name);

}  // namespace minitorch::models
