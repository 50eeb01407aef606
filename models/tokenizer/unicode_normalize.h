// The four Unicode normalization forms (Unicode standard annex 15) and lower case, as the reference computes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace minitorch::models {

enum class NormalForm : std::uint8_t { kC, kD, kKC, kKD };

// `text` is valid UTF-8. Time is linear, but for the sorting of long runs of combining marks.
[[nodiscard]] std::string normalize_unicode(std::string_view text, NormalForm form);

// Every character by itself: the form of a final sigma does not depend on what stands around it.
[[nodiscard]] std::string lower_case(std::string_view text);

}  // namespace minitorch::models
