// Regular expressions of tokenizer.json are written for the Oniguruma library in its Ruby syntax; here they are
// rewritten for PCRE2.
#pragma once

#include <string>
#include <string_view>

namespace minitorch::models {

// The same pattern for PCRE2 with the options UTF, UCP and MULTILINE, and newline LF. What differs and is rewritten:
// \w, \b, \h, \v, \u, POSIX and script names, nested and intersected classes, the dot option (m), options in mid-group,
// repeated and open-ended intervals.
// Throws Error that names the construct where there is no equivalent: extended syntax (x), raw bytes (\x80), absent
// groups, callouts. Not carried over: case-insensitive matching of one character against several (ß and ss), and of
// intersections as a whole.
[[nodiscard]] std::string to_pcre2_syntax(std::string_view pattern);

}  // namespace minitorch::models
