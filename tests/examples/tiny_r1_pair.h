// The embedded pair as it is shipped, and problems it has not seen.
#pragma once

#include <cstdlib>  // std::getenv
#include <filesystem>
#include <vector>

#include "examples/train_tiny_r1/evaluation.h"
#include "minitorch/core/execution_scope.h"
#include "models/chat_template/chat_template.h"
#include "models/load.h"

namespace minitorch::test {

constexpr std::int32_t kMaxNewTokens = 200;

inline std::filesystem::path pair_folder() {
  return std::filesystem::path(MINITORCH_SOURCE_DIR) / "models" / "tiny_r1";
}

inline models::LoadedModel& target() {
  static models::LoadedModel model = models::load_model(pair_folder() / "target", default_runtime());
  return model;
}
inline models::LoadedModel& draft() {
  static models::LoadedModel model = models::load_model(pair_folder() / "draft", default_runtime());
  return model;
}

// Instrumented code is ten to twenty times slower; it has to run everything, not often.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// The long matrices were asked for (scripts/test.sh --full).
inline bool full_tests() { return std::getenv("MINITORCH_FULL_TESTS") != nullptr; }

inline std::vector<train_tiny_r1::Question> questions(std::uint64_t seed, std::int64_t count) {
  return train_tiny_r1::held_out_questions(seed, count, 2, train_tiny_r1::EquationSet());
}

inline std::vector<std::int32_t> prompt_of(const train_tiny_r1::Question& question) {
  const auto chat = models::make_chat_template(target().tokenizer);
  return target().tokenizer.encode(chat->render({{.role = "user", .content = question.text}}, true), false);
}

}  // namespace minitorch::test
