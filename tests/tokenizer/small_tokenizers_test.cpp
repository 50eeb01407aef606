// Small whole tokenizers against the reference: added tokens and their flags, unknown characters, byte fallback,
// merges, post-processors.
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {

TEST_CASE(
    "small tokenizers give the reference's ids and texts for all flags of added tokens and all rules of the model") {
  using Ids = std::vector<std::int32_t>;
  std::optional<models::Tokenizer> tokenizer;
  std::string name;
  std::size_t count = 0;
  for (const nlohmann::json& line : read_jsonl(golden_file("tokenizer/components.jsonl"))) {
    const std::string kind = line.at("kind");
    if (kind == "tokenizer") {
      name = line.at("name");
      tokenizer = models::Tokenizer::from_json(around(line.at("json")).dump(), {}, name);
      ++count;
    }
    CAPTURE(name);
    if (kind == "encode") {
      const std::string text = line.at("text");
      CAPTURE(text);
      const Ids ids = line.at("ids");
      CHECK(tokenizer->encode(text, /*add_special_tokens=*/false) == ids);
      // The reference repeats a begin token that the text has already.
      Ids special = line.at("special");
      if (special != ids && !ids.empty() && special.front() == ids.front()) special.erase(special.begin());
      CHECK(tokenizer->encode(text, /*add_special_tokens=*/true) == special);
      CHECK(tokenizer->decode(ids) == line.at("decoded").get<std::string>());
    }
    if (kind == "decode") {
      const Ids ids = line.at("ids");
      CAPTURE(line.dump());
      CHECK(tokenizer->decode(ids) == line.at("all").get<std::string>());
      CHECK(tokenizer->decode(ids, /*skip_special_tokens=*/true) == line.at("text").get<std::string>());
    }
  }
  CHECK(count >= 10);
}

}  // namespace minitorch::test
