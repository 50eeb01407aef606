// tokenizer_config.json: what is not in tokenizer.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace minitorch::models {

// Everything else there (tokenizer_class, clean_up_tokenization_spaces, ...) has no influence on ids or text.
struct TokenizerConfig {
  bool add_bos_token = false;
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  std::string chat_template;  // of several, the one named "default"
};

// `text` may be empty. Throws IoError that begins with `name`.
[[nodiscard]] TokenizerConfig parse_tokenizer_config(std::string_view text, std::string_view name);

}  // namespace minitorch::models
