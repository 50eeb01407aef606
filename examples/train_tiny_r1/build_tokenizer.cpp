// Training and writing the pair's tokenizer.
#include "examples/train_tiny_r1/build_tokenizer.h"

#include "examples/train_tiny_r1/problem_generator.h"
#include "models/chat_template/tiny_r1_template.h"
#include "models/tokenizer/bpe_trainer.h"
#include "models/tokenizer/tokenizer_writer.h"

namespace minitorch::train_tiny_r1 {

void build_tokenizer(const std::filesystem::path& folder, std::uint64_t seed, std::int32_t vocab_size,
                     std::int64_t model_max_length) {
  models::BpeTrainerOptions options{.vocab_size = vocab_size};
  for (const std::string_view token :
       {models::kTinyR1Begin, models::kTinyR1End, models::kTinyR1User, models::kTinyR1Assistant}) {
    options.added_tokens.push_back({.text = std::string(token)});
  }
  // Thinking is part of the text that users see.
  for (const std::string_view token : {models::kTinyR1Think, models::kTinyR1EndThink}) {
    options.added_tokens.push_back({.text = std::string(token), .is_special = false});
  }
  const models::TokenizerSettings settings{.bos_token = std::string(models::kTinyR1Begin),
                                           .eos_token = std::string(models::kTinyR1End),
                                           .chat_template = models::tiny_r1_template_text(),
                                           .model_max_length = model_max_length};
  const auto chat = models::make_tiny_r1_template(settings.chat_template, settings.bos_token);
  models::BpeTrainer trainer(options);
  for (std::int64_t i = 0; i < kTokenizerProblems; ++i) {
    trainer.add_text(chat->render(conversation(make_problem(seed, i, {})), /*add_generation_prompt=*/false));
  }
  models::write_tokenizer(folder, trainer.train(), options, settings);
}

}  // namespace minitorch::train_tiny_r1
