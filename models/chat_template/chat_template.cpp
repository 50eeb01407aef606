// The known kinds of chat templates. A kind looks at the template text and either takes it or not.
#include "models/chat_template/chat_template.h"

#include <string_view>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/chat_template/deepseek_template.h"
#include "models/chat_template/tiny_r1_template.h"
#include "models/tokenizer/tokenizer.h"

namespace minitorch::models {
namespace {

// Null: the text is not of this kind.
using MakeTemplate = std::unique_ptr<ChatTemplate> (*)(std::string_view text, const std::string& bos_token);

// Asked in this order; one that takes any text belongs at the end.
constexpr MakeTemplate kKinds[] = {make_deepseek_template, make_tiny_r1_template};

}  // namespace

std::unique_ptr<ChatTemplate> make_chat_template(const Tokenizer& tokenizer) {
  const std::string& text = tokenizer.chat_template();
  MT_CHECK(!text.empty(), "chat template: the tokenizer came without one");
  for (const MakeTemplate make : kKinds) {
    if (std::unique_ptr<ChatTemplate> made = make(text, tokenizer.bos_token())) return made;
  }
  fail<Error>(
      "chat template: expected one of the known ones (DeepSeek R1 distills, DeepSeek V3, the tiny R1 pair), got \"{}\"",
      printable(text, 60));
}

}  // namespace minitorch::models
