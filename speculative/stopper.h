// Stopper: the reasons to end a text that tokens alone decide: end tokens, the token limit, the end of the context.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace minitorch::spec {

enum class FinishReason : std::uint8_t;

class Stopper {
 public:
  Stopper(std::span<const std::int32_t> end_tokens, std::int32_t max_new_tokens, std::int32_t prompt_tokens,
          std::int32_t context);

  [[nodiscard]] bool is_end_token(std::int32_t id) const;
  // How many tokens may follow `num_new` generated ones.
  [[nodiscard]] std::int32_t room(std::int32_t num_new) const { return limit_ - num_new; }
  // Whether the text ends with token `id`, the `num_new`-th generated one.
  [[nodiscard]] std::optional<FinishReason> after(std::int32_t id, std::int32_t num_new) const;

 private:
  std::vector<std::int32_t> end_tokens_;  // ascending
  std::int32_t limit_;                    // most new tokens
  bool limited_by_context_;
};

}  // namespace minitorch::spec
