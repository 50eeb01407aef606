// The BPE trainer against the Hugging Face trainer, its rules, and the files that are written of it.
#include "models/tokenizer/bpe_trainer.h"

#include <array>

#include "minitorch/base/philox.h"
#include "models/chat_template/tiny_r1_template.h"
#include "models/tokenizer/byte_level.h"
#include "models/tokenizer/tokenizer_writer.h"
#include "models/tokenizer/utf8_iterate.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using models::BpeTrainer;
using models::BpeTrainerOptions;
using models::TrainedBpe;

std::vector<models::TrainedToken> pair_tokens() {
  std::vector<models::TrainedToken> tokens;
  for (const auto text : {models::kTinyR1Begin, models::kTinyR1End, models::kTinyR1User, models::kTinyR1Assistant}) {
    tokens.push_back({.text = std::string(text)});
  }
  for (const auto text : {models::kTinyR1Think, models::kTinyR1EndThink}) {
    tokens.push_back({.text = std::string(text), .is_special = false});
  }
  return tokens;
}

models::TokenizerSettings pair_settings() {
  return {.bos_token = std::string(models::kTinyR1Begin),
          .eos_token = std::string(models::kTinyR1End),
          .chat_template = models::tiny_r1_template_text(),
          .model_max_length = 1024};
}

TrainedBpe train(const std::vector<std::string>& texts, const BpeTrainerOptions& options) {
  BpeTrainer trainer(options);
  for (const std::string& text : texts) trainer.add_text(text);
  return trainer.train();
}

// Merges as pairs of texts.
std::vector<std::array<std::string, 2>> merge_texts(const TrainedBpe& trained) {
  std::vector<std::array<std::string, 2>> texts;
  const auto text = [&](std::int32_t id) { return trained.tokens[static_cast<std::size_t>(id)]; };
  for (const auto& [left, right] : trained.merges) texts.push_back({text(left), text(right)});
  return texts;
}

models::Tokenizer load(const TrainedBpe& trained, const BpeTrainerOptions& options) {
  return models::Tokenizer::from_json(models::tokenizer_json(trained, options, pair_settings()),
                                      models::tokenizer_config_json(pair_settings()));
}

// Lines of few different words, with many ties.
std::vector<std::string> random_texts(std::uint64_t seed, int count) {
  PhiloxStream random(seed);
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    std::string& text = texts.emplace_back();
    for (int word = 0; word < 10; ++word) {
      for (std::uint32_t letter = random.below(7); letter > 0; --letter) text += "abcé"[random.below(3)];
      text += random.below(5) == 0 ? " 17 " : " ";
    }
  }
  return texts;
}

}  // namespace

TEST_CASE("training gives the tokens and merges of the Hugging Face trainer, and the written file its ids and texts") {
  std::vector<std::string> corpus;
  std::optional<models::Tokenizer> tokenizer;
  int num_trainings = 0;
  int num_texts = 0;
  for (const auto& line : read_jsonl(golden_file("tokenizer/trained.jsonl"))) {
    const auto kind = line.at("kind").get<std::string>();
    if (kind == "corpus") {
      corpus = line.at("texts").get<std::vector<std::string>>();
    } else if (kind == "training") {
      const BpeTrainerOptions options{.vocab_size = line.at("vocab_size").get<std::int32_t>(),
                                      .added_tokens = pair_tokens(),
                                      .min_count = line.at("min_count").get<std::int64_t>()};
      CAPTURE(options.vocab_size);
      const TrainedBpe trained = train(corpus, options);
      CHECK(trained.tokens == line.at("tokens").get<std::vector<std::string>>());
      CHECK(merge_texts(trained) == line.at("merges").get<std::vector<std::array<std::string, 2>>>());
      tokenizer = load(trained, options);
      ++num_trainings;
    } else if (kind == "text") {
      const auto text = line.at("text").get<std::string>();
      CAPTURE(text);
      const std::vector<std::int32_t> ids = tokenizer->encode(text, /*add_special_tokens=*/false);
      CHECK(ids == line.at("ids").get<std::vector<std::int32_t>>());
      CHECK(tokenizer->decode(ids) == line.at("decoded").get<std::string>());
      // On purpose a text that begins with the begin token gets no second one here.
      if (text.starts_with(models::kTinyR1Begin)) continue;
      CHECK(tokenizer->encode(text, /*add_special_tokens=*/true) ==
            line.at("special").get<std::vector<std::int32_t>>());
      ++num_texts;
    }
  }
  CHECK(num_trainings == 4);
  CHECK(num_texts == 4 * 13);
}

TEST_CASE("a written folder loads with its begin and end token, chat template and thinking that is no special token") {
  const BpeTrainerOptions options{.vocab_size = 300, .added_tokens = pair_tokens()};
  const TemporaryFolder folder;
  models::write_tokenizer(folder.path() / "new", train(random_texts(1, 50), options), options, pair_settings());
  const auto tokenizer = models::Tokenizer::from_directory(folder.path() / "new");
  CHECK(tokenizer.size() == 300);
  CHECK(tokenizer.bos_id() == 0);
  CHECK(tokenizer.eos_id() == 1);
  CHECK(tokenizer.adds_bos());
  CHECK(tokenizer.chat_template() == models::tiny_r1_template_text());
  CHECK(tokenizer.is_special(*tokenizer.id_of("<|user|>")));
  CHECK_FALSE(tokenizer.is_special(*tokenizer.id_of("<think>")));
  CHECK(tokenizer.decode(tokenizer.encode("<|user|>a<think>b</think><|end_of_sentence|>", false),
                         /*skip_special_tokens=*/true) == "a<think>b</think>");
}

TEST_CASE("every digit is a token of its own, and every byte has a token") {
  const BpeTrainerOptions options{.vocab_size = 600, .added_tokens = pair_tokens()};
  std::vector<std::string> texts(200, "1111 222 1111 17 17 17 a17 17b");
  const TrainedBpe trained = train(texts, options);
  for (std::size_t id = 6 + 256; id < trained.tokens.size(); ++id) {
    CAPTURE(trained.tokens[id]);
    CHECK(trained.tokens[id].find_first_of("0123456789") == std::string::npos);
  }
  const models::Tokenizer tokenizer = load(trained, options);
  CHECK(tokenizer.encode("1117", false).size() == 4);
  for (const char32_t character : models::kByteCharacters) {
    std::string text;
    models::append_utf8(text, character);
    CHECK(tokenizer.id_of(text).has_value());
  }
  const std::string any = "\x01\x7F é \xE4\xBD\xA0 \xF0\x9F\x98\x80 \xEF\xBF\xBD";
  CHECK(tokenizer.decode(tokenizer.encode(any, false)) == any);
}

TEST_CASE("the order of the texts, and whether they come at once, change nothing") {
  const BpeTrainerOptions options{.vocab_size = 330, .added_tokens = pair_tokens()};
  std::vector<std::string> texts = random_texts(2, 200);
  const TrainedBpe first = train(texts, options);
  std::vector<std::string> reversed(texts.rbegin(), texts.rend());
  CHECK(train(reversed, options).tokens == first.tokens);
  std::string joined;
  for (const std::string& text : texts) joined += text + "<|end_of_sentence|>";
  const TrainedBpe at_once = train({joined}, options);
  CHECK(at_once.tokens == first.tokens);
  CHECK(merge_texts(at_once) == merge_texts(first));
}

TEST_CASE("of equally frequent pairs the one with the smaller ids is merged first") {
  const TrainedBpe trained = train({"xy ab", "xy ab", "ac xz", "ac xz"}, {.vocab_size = 256 + 4});
  const std::vector<std::array<std::string, 2>> expected = {{"a", "b"}, {"a", "c"}, {"x", "y"}, {"x", "z"}};
  auto merges = merge_texts(trained);
  // " ab" and " xz" hold the space too, so that the words at the beginning decide nothing but these four pairs.
  CHECK(merges == expected);
}

TEST_CASE("training stops at the vocabulary size, or when pairs become rarer than min_count") {
  const std::vector<std::string> texts = random_texts(3, 300);
  CHECK(train(texts, {.vocab_size = 256}).tokens.size() == 256);
  CHECK(train(texts, {.vocab_size = 300}).tokens.size() == 300);
  const TrainedBpe all = train(texts, {.vocab_size = 100000});
  CHECK(all.tokens.size() < 100000);
  CHECK(train(texts, {.vocab_size = 100000, .min_count = 50}).tokens.size() < all.tokens.size());
  CHECK(train({}, {.vocab_size = 300}).tokens.size() == 256);
}

TEST_CASE("added tokens in training texts are no text") {
  const BpeTrainerOptions options{.vocab_size = 400, .added_tokens = pair_tokens()};
  const TrainedBpe trained = train(std::vector<std::string>(50, "<think><|user|></think>"), options);
  CHECK(trained.merges.empty());
}

TEST_CASE("the trainer refuses vocabularies that are too small, added tokens that clash, and bad texts") {
  const auto refused = [](const BpeTrainerOptions& options) { return message_of([&] { (void)BpeTrainer(options); }); };
  CHECK(refused({.vocab_size = 261, .added_tokens = pair_tokens()}).find("from 262 (256 bytes, 6 added tokens)") !=
        std::string::npos);
  CHECK(refused({.vocab_size = 262, .added_tokens = pair_tokens()}) == "");
  CHECK(refused({.added_tokens = {{.text = ""}}}).find("expected added tokens") != std::string::npos);
  CHECK(refused({.added_tokens = {{.text = "ab"}, {.text = "ab"}}}).find("expected added tokens") != std::string::npos);
  CHECK(refused({.added_tokens = {{.text = "a"}}}).find("got \"a\"") != std::string::npos);
  CHECK(refused({.pre_tokenizer = "null"}).find("expected a pre-tokenizer") != std::string::npos);
  CHECK(refused({.pre_tokenizer = "{"}).find("BPE trainer: pre_tokenizer") == 0);
  CHECK(refused({.min_count = 0}).find("min_count") != std::string::npos);
  CHECK(message_of([] { (void)train({"a\xFF"}, {}); }).find("invalid sequence at byte 1") != std::string::npos);
  const BpeTrainerOptions no_bytes{.pre_tokenizer = R"({"type": "WhitespaceSplit"})"};
  CHECK(message_of([&] { (void)train({"你"}, no_bytes); }).find("ends with ByteLevel") != std::string::npos);
  CHECK(message_of([] {
          (void)models::tokenizer_json({}, {.added_tokens = {{.text = "<s>"}}}, {.bos_token = "<t>"});
        }).find("begin token") != std::string::npos);
}

}  // namespace minitorch::test
