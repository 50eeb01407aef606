// Streamed text: stop strings over several tokens (B48), whole characters, events that make up the text.
#include <doctest/doctest.h>

#include "minitorch/base/error.h"
#include "minitorch/base/utf8.h"
#include "tests/speculative/helpers.h"
#include "tests/speculative/tiny_tokenizer.h"
#include "tests/support/scripted_model.h"

using namespace minitorch;
using namespace minitorch::spec;
using test::Ids;
using test::ScriptedModel;

namespace {

const models::Tokenizer& tokenizer() {
  static const models::Tokenizer instance = models::Tokenizer::from_json(test::kTinyTokenizer);
  return instance;
}

constexpr std::int32_t kPlainEnd = 16;  // "{", an end token that is not flagged special

struct TextRun {
  GenerateResult result;
  std::string streamed;
  std::vector<std::string> pieces;
};

// Generates `stream`, drafted whole when gamma is large enough.
TextRun run_text(const Ids& stream, const std::vector<std::string>& stops, std::int32_t gamma,
                 std::int32_t limit = -1) {
  ScriptedModel model = ScriptedModel::from_stream(20, 64, 1, stream);
  test::FunctionDrafter drafter([&](std::span<const std::int32_t> history, std::int32_t budget, Draft& draft) {
    for (std::int32_t i = 0; i < budget && history.size() - 1 + static_cast<std::size_t>(i) < stream.size(); ++i) {
      draft.add(stream[history.size() - 1 + static_cast<std::size_t>(i)], i - 1);
    }
  });
  GenerateOptions options = test::options_of(limit < 0 ? static_cast<std::int32_t>(stream.size()) : limit, gamma);
  options.stop_strings = stops;
  options.end_tokens = {kPlainEnd, 0};
  Session session(model, &tokenizer(), &drafter, test::greedy());
  TextRun run;
  run.result = session.generate(Ids{1}, options, [&](const TokenEvent& event) {
    run.streamed += event.text;
    run.pieces.emplace_back(event.text);
    return true;
  });
  return run;
}

// The same in plain decoding, in small drafts and in one block: text, reason and ids.
void check_text(const Ids& stream, const std::vector<std::string>& stops, std::string_view text, FinishReason reason,
                std::size_t num_ids) {
  for (const std::int32_t gamma : {0, 1, 2, 8}) {
    CAPTURE(gamma);
    const TextRun run = run_text(stream, stops, gamma);
    CHECK(run.result.text == text);
    CHECK(run.streamed == text);
    CHECK(run.result.finish_reason == reason);
    CHECK(run.result.ids == Ids(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(num_ids)));
    for (const std::string& piece : run.pieces) CHECK(is_valid_utf8(piece));
  }
}

const Ids kAlphabet{7, 8, 9};  // "ab", "cd", "ef"
const std::string kSmile = "\xF0\x9F\x98\x80";

}  // namespace

TEST_CASE("B48: a stop string spread over tokens never reaches the stream") {
  check_text(kAlphabet, {"bcd"}, "a", FinishReason::kStop, 2);
}

TEST_CASE("B48: text that only began like a stop string is complete at the end, by limit or end token") {
  check_text(kAlphabet, {"cdx"}, "abcdef", FinishReason::kLength, 3);
  check_text({7, 8, 0}, {"cdx"}, "abcd", FinishReason::kStop, 3);
  check_text({7, 8, 7, 8}, {"cdabcdx"}, "abcdabcd", FinishReason::kLength, 4);
}

TEST_CASE("B48: of several stop strings the one that begins first ends the text") {
  check_text(kAlphabet, {"ef", "cdef"}, "ab", FinishReason::kStop, 3);
  check_text(kAlphabet, {"cdef", "ef"}, "ab", FinishReason::kStop, 3);
}

TEST_CASE("B48: a stop string inside one token, at the very beginning, and one that overlaps itself") {
  check_text(kAlphabet, {"b"}, "a", FinishReason::kStop, 1);
  check_text(kAlphabet, {"ab"}, "", FinishReason::kStop, 1);
  check_text({1, 1, 1, 2, 3}, {"aab"}, "a", FinishReason::kStop, 4);
}

TEST_CASE("B48: a stop string with an emoji whose bytes are tokens of their own") {
  check_text({7, 11, 12, 13, 14, 9}, {"b" + kSmile}, "a", FinishReason::kStop, 5);
  check_text({7, 11, 12, 13, 14, 9}, {kSmile + "x"}, "ab" + kSmile + "ef", FinishReason::kLength, 6);
}

TEST_CASE("a character is delivered once all its bytes have come, and whole") {
  const TextRun run = run_text({7, 11, 12, 13, 14, 9}, {}, 8);
  CHECK(run.pieces == std::vector<std::string>{"ab", "", "", "", kSmile, "ef"});
}

TEST_CASE("a text that ends inside a character is still valid UTF-8 and nothing is lost before it") {
  for (const std::int32_t limit : {2, 3, 4}) {
    CAPTURE(limit);
    const TextRun run = run_text({7, 11, 12, 13, 14, 9}, {}, 8, limit);
    CHECK(is_valid_utf8(run.result.text));
    CHECK(run.result.text == tokenizer().decode(run.result.ids, /*skip_special_tokens=*/true));
    CHECK(run.result.text.substr(0, 2) == "ab");
    CHECK(run.result.text.size() > 2);
    CHECK(run.streamed == run.result.text);
  }
}

TEST_CASE("only what may become a stop string is held back, and it comes with the token that decides it") {
  const TextRun run = run_text({7, 8, 10, 9}, {"cdef"}, 0);
  CHECK(run.pieces == std::vector<std::string>{"ab", "", "cdx", "ef"});
}

TEST_CASE("the end token is no part of the text and is counted, special or not") {
  check_text({7, 0}, {}, "ab", FinishReason::kStop, 2);
  check_text({0}, {}, "", FinishReason::kStop, 1);
  check_text({7, kPlainEnd, 8}, {}, "ab", FinishReason::kStop, 2);
  check_text({7, kPlainEnd, 8}, {"{"}, "ab", FinishReason::kStop, 2);
}

TEST_CASE("after an abort the text has all of its tokens, what was held back too") {
  ScriptedModel model = ScriptedModel::from_stream(20, 64, 1, kAlphabet);
  GenerateOptions options = test::options_of(3, 0);
  options.stop_strings = {"cdx"};
  Session session(model, &tokenizer(), nullptr, test::greedy());
  std::string streamed;
  const GenerateResult result = session.generate(Ids{1}, options, [&](const TokenEvent& event) {
    streamed += event.text;
    return event.id != 8;
  });
  CHECK(streamed == "ab");
  CHECK(result.text == "abcd");
  CHECK(result.finish_reason == FinishReason::kAborted);
}

TEST_CASE("an empty stop string and one that is no UTF-8 are refused") {
  CHECK_THROWS_WITH_AS(run_text(kAlphabet, {"ef", ""}, 0), "stop string: expected some text, got an empty string",
                       Error);
  CHECK_THROWS_AS(run_text(kAlphabet, {"\xF0\x9F"}, 0), Error);
}

TEST_CASE("texts of random tokens with random stop strings are cut where a search over the whole text cuts them") {
  const std::uint64_t seed = 4242;
  CAPTURE(seed);
  PhiloxStream random(seed);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    Ids stream(1 + random.below(12));
    for (std::int32_t& id : stream) id = 1 + static_cast<std::int32_t>(random.below(3));  // a, b, c
    std::vector<std::string> stops(1 + random.below(2));
    for (std::string& stop : stops) {
      for (std::uint32_t i = 0; i <= random.below(4); ++i) stop += static_cast<char>('a' + random.below(3));
    }
    // The first token at which any stop string is complete decides; of those complete, the earliest beginning.
    std::string text;
    std::size_t cut = std::string::npos;
    for (std::size_t i = 0; i < stream.size() && cut == std::string::npos; ++i) {
      text += static_cast<char>('a' + stream[i] - 1);
      for (const std::string& stop : stops) cut = std::min(cut, text.find(stop));
    }
    const TextRun run = run_text(stream, stops, static_cast<std::int32_t>(random.below(5)));
    CHECK(run.result.text == text.substr(0, cut));
    CHECK(run.streamed == run.result.text);
    CHECK((run.result.finish_reason == FinishReason::kStop) == (cut != std::string::npos));
  }
}
