// ReasoningSplitter: tags in prompt and output or only one of them, every way of cutting, what is held back, histories.
#include "models/chat_template/reasoning_splitter.h"

#include <doctest/doctest.h>

#include <iterator>  // std::size
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/chat_template/chat_template.h"
#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

using models::ReasoningSplitter;
using models::split_reasoning;
using Pieces = std::vector<std::string_view>;

// "reasoning|answer", and "|unfinished" where it is.
std::string shown(const std::string& reasoning, const std::string& answer, bool unfinished) {
  return fmt::format("{}|{}{}", reasoning, answer, unfinished ? "|unfinished" : "");
}
std::string split(std::string_view text, bool in_reasoning) {
  const models::SplitText result = split_reasoning(text, in_reasoning);
  return shown(result.reasoning, result.answer, result.unfinished);
}

// What a program that shows deltas has in the end.
class Screen {
 public:
  void show(const ReasoningSplitter::Delta& delta) {
    if (delta.was_reasoning) {
      CHECK(reasoning_.empty());
      CHECK_FALSE(answer_.empty());
      reasoning_.swap(answer_);
      ++num_corrections_;
    }
    CHECK((answer_.empty() || delta.reasoning.empty()));
    reasoning_ += delta.reasoning;
    answer_ += delta.answer;
  }
  [[nodiscard]] std::string text(bool unfinished) const { return shown(reasoning_, answer_, unfinished); }
  [[nodiscard]] int num_corrections() const { return num_corrections_; }

 private:
  std::string reasoning_;
  std::string answer_;
  int num_corrections_ = 0;
};

// Splits the pieces; what the deltas add up to must be what the accessors say, after each of them.
std::string split_pieces(const Pieces& pieces, bool in_reasoning) {
  ReasoningSplitter splitter(in_reasoning);
  Screen screen;
  const auto show = [&](const ReasoningSplitter::Delta& delta) {
    screen.show(delta);
    CHECK(screen.text(false) == shown(splitter.reasoning(), splitter.answer(), false));
  };
  for (const std::string_view piece : pieces) show(splitter.push(piece));
  show(splitter.finish());
  CHECK(screen.num_corrections() <= 1);
  return screen.text(splitter.unfinished());
}

struct Case {
  std::string_view text;
  std::string_view after_prompt_with_tag;
  std::string_view after_prompt_without;
};

// White space, tags whole, partial, twice, absent, and at every place.
constexpr Case kCases[] = {
    {"", "||unfinished", "|"},
    {"plan</think>\n\n4", "plan|4", "plan|4"},
    {"<think>plan</think>4", "plan|4", "plan|4"},
    {" \n<think>\n\nplan \n\n</think> \n4\n", "plan|4\n", "plan|4\n"},
    {"<think>plan", "plan||unfinished", "plan||unfinished"},
    {"plan", "plan||unfinished", "|plan"},
    {"\n plan \n", "plan||unfinished", "|plan \n"},
    {" \n\t", "||unfinished", "|"},
    {"</think>4", "|4", "|4"},
    {"\n</think>\n4", "|4", "|4"},
    {"<think></think>4", "|4", "|4"},
    {"<think>\n\n</think>\n\n", "|", "|"},
    {"a\n\nb  c</think>d \n e ", "a\n\nb  c|d \n e ", "a\n\nb  c|d \n e "},
    {"a</think>b</think> c<think>d", "a|b</think> c<think>d", "a|b</think> c<think>d"},
    {"a</think></think>b", "a|</think>b", "a|</think>b"},
    {"<think>a<think>b</think>c", "a<think>b|c", "a<think>b|c"},
    {"a<think>b</think>c", "a<think>b|c", "a<think>b|c"},
    {"<thin", "<thin||unfinished", "|<thin"},
    {"<think", "<think||unfinished", "|<think"},
    {"</thin", "</thin||unfinished", "|</thin"},
    {"a \n</thin", "a \n</thin||unfinished", "|a \n</thin"},
    {"<think>a <", "a <||unfinished", "a <||unfinished"},
    {"<<think>a<</think>>b", "<<think>a<|>b", "<<think>a<|>b"},
    {"</</think>a", "</|a", "</|a"},
    {"1 < 2 </ thin > </thin</thinking>", "1 < 2 </ thin > </thin</thinking>||unfinished",
     "|1 < 2 </ thin > </thin</thinking>"},
    {"<Think>a</THINK>", "<Think>a</THINK>||unfinished", "|<Think>a</THINK>"},
    {"想\u00a0一</think>答\n案", "想\u00a0一|答\n案", "想\u00a0一|答\n案"},
    {"<think>é</think>👩‍👩‍👧‍👦", "é|👩‍👩‍👧‍👦", "é|👩‍👩‍👧‍👦"},
};

std::string_view without_white_space(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\n\v\f\r").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\n\v\f\r").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return text;
}

// The rules again, for whole texts without white space at their end: there the answer keeps it.
std::string split_by_reference(std::string_view text, bool in_reasoning) {
  constexpr std::string_view opening = "<think>";
  constexpr std::string_view closing = "</think>";
  text = without_white_space(text);
  const bool opened = text.starts_with(opening);
  if (opened) text.remove_prefix(opening.size());
  const std::size_t end = text.find(closing);
  const std::string before(without_white_space(text.substr(0, end)));
  if (end != std::string_view::npos) {
    return shown(before, std::string(without_white_space(text.substr(end + closing.size()))), false);
  }
  return opened || in_reasoning ? shown(before, "", true) : shown("", before, false);
}

// For both kinds of prompt: `cut` gives the result for some way of cutting the case's text.
template <typename Cut>
void check_all_cases(const Cut& cut) {
  for (const Case& c : kCases) {
    CAPTURE(c.text);
    cut(c.text, /*in_reasoning=*/true, c.after_prompt_with_tag);
    cut(c.text, /*in_reasoning=*/false, c.after_prompt_without);
  }
}

}  // namespace

TEST_CASE("a prompt ends inside the reasoning when it ends with the opening tag, white space aside") {
  CHECK(models::ends_in_reasoning("<|Assistant|><think>\n"));
  CHECK(models::ends_in_reasoning("<think>"));
  CHECK(models::ends_in_reasoning("a<think> \n\t"));
  for (const char* text : {"", "\n", "<|Assistant|>", "<think>\n\n</think>\n\n", "<think>a", "think>", "</think>"}) {
    CAPTURE(text);
    CHECK_FALSE(models::ends_in_reasoning(text));
  }
}

TEST_CASE("text up to the closing tag is reasoning, whether prompt, output or nothing opens it") {
  CHECK(split("plan</think>\n\n4", /*in_reasoning=*/true) == "plan|4");
  CHECK(split("<think>plan</think>4", /*in_reasoning=*/false) == "plan|4");
  CHECK(split("plan</think>4", /*in_reasoning=*/false) == "plan|4");
  CHECK(split("</think>4", /*in_reasoning=*/true) == "|4");
}

TEST_CASE("reasoning that ends by length leaves the answer empty and is called unfinished") {
  CHECK(split("plan", /*in_reasoning=*/true) == "plan||unfinished");
  CHECK(split("<think>plan", /*in_reasoning=*/false) == "plan||unfinished");
  CHECK(split("", /*in_reasoning=*/true) == "||unfinished");
}

TEST_CASE("a tag that comes in pieces is never shown in part") {
  ReasoningSplitter splitter(/*in_reasoning=*/true);
  std::vector<std::string> reasoning;
  std::vector<std::string> answer;
  for (const char* piece : {"pl", "an</th", "ink>\n", "\n4"}) {
    const ReasoningSplitter::Delta& delta = splitter.push(piece);
    reasoning.push_back(delta.reasoning);
    answer.push_back(delta.answer);
    CHECK_FALSE(delta.was_reasoning);
  }
  CHECK(reasoning == std::vector<std::string>{"pl", "an", "", ""});
  CHECK(answer == std::vector<std::string>{"", "", "", "4"});
  CHECK(splitter.finish().answer == "");
  CHECK(shown(splitter.reasoning(), splitter.answer(), splitter.unfinished()) == "plan|4");
}

TEST_CASE("whole texts give the expected reasoning and answer") {
  check_all_cases([](std::string_view text, bool in_reasoning, std::string_view expected) {
    CHECK(split(text, in_reasoning) == expected);
    CHECK(split_pieces({text}, in_reasoning) == expected);
  });
}

TEST_CASE("every text in two or three pieces, cut anywhere, gives what the whole gives") {
  check_all_cases([](std::string_view text, bool in_reasoning, std::string_view expected) {
    for (std::size_t a = 0; a <= text.size(); ++a) {
      for (std::size_t b = a; b <= text.size(); ++b) {
        CAPTURE(a);
        CAPTURE(b);
        REQUIRE(split_pieces({text.substr(0, a), text.substr(a, b - a), text.substr(b)}, in_reasoning) == expected);
      }
    }
  });
}

TEST_CASE("every text byte by byte, with empty pieces between, gives what the whole gives") {
  check_all_cases([](std::string_view text, bool in_reasoning, std::string_view expected) {
    Pieces bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
      bytes.push_back(text.substr(i, 1));
      bytes.push_back("");
    }
    CHECK(split_pieces(bytes, in_reasoning) == expected);
  });
}

TEST_CASE("random texts of tags, parts of tags and white space, cut at random, follow the rules") {
  constexpr std::string_view parts[] = {"<think>", "</think>", "<",  "/", "thi", "nk>", "</",    "th",
                                        ">",       " ",        "\n", "a", "想",  "",    "<thin", "</think"};
  std::mt19937 random(20'260);
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (auto left = random() % 10; left > 0; --left) text += parts[random() % std::size(parts)];
    text = without_white_space(text);
    CAPTURE(text);
    Pieces pieces;
    for (std::string_view rest = text; !rest.empty();) {
      pieces.push_back(rest.substr(0, 1 + random() % rest.size()));
      rest.remove_prefix(pieces.back().size());
    }
    for (const bool in_reasoning : {true, false}) {
      REQUIRE(split_pieces(pieces, in_reasoning) == split_by_reference(text, in_reasoning));
    }
  }
}

TEST_CASE("nothing certain is held back") {
  ReasoningSplitter splitter(/*in_reasoning=*/true);
  CHECK(splitter.push("\n a").reasoning == "a");
  CHECK(splitter.push(" \n").reasoning == "");
  CHECK(splitter.push("b").reasoning == " \nb");
  CHECK(splitter.push("想").reasoning == "想");
  CHECK(splitter.push(" <").reasoning == "");
  CHECK(splitter.push("i").reasoning == " <i");
  CHECK(splitter.push("</think>").reasoning == "");
  CHECK(splitter.push("\n").answer == "");
  CHECK(splitter.push("c \n").answer == "c \n");
  CHECK(splitter.push("</thi").answer == "</thi");
}

TEST_CASE("an answer that turns out to have been reasoning is said so once, in the delta and by the accessors") {
  ReasoningSplitter splitter(/*in_reasoning=*/false);
  CHECK(splitter.push("pl").answer == "pl");
  CHECK(splitter.answer() == "pl");
  CHECK(splitter.reasoning() == "");
  CHECK_FALSE(splitter.unfinished());
  const ReasoningSplitter::Delta delta = splitter.push("an\n</think>\n4");
  CHECK(delta.was_reasoning);
  CHECK(delta.reasoning == "an");
  CHECK(delta.answer == "4");
  CHECK(splitter.reasoning() == "plan");
  CHECK(splitter.answer() == "4");
  CHECK_FALSE(splitter.push("2").was_reasoning);
  CHECK_FALSE(splitter.finish().was_reasoning);
  CHECK(splitter.answer() == "42");
}

TEST_CASE("what was shown nowhere needs no correction") {
  CHECK_FALSE(ReasoningSplitter(/*in_reasoning=*/false).push("plan</think>4").was_reasoning);
  CHECK_FALSE(ReasoningSplitter(/*in_reasoning=*/false).push(" </think>4").was_reasoning);
  CHECK_FALSE(ReasoningSplitter(/*in_reasoning=*/false).push("<think>plan</think>4").was_reasoning);
}

TEST_CASE("the end delivers the beginning of a tag that was held back") {
  ReasoningSplitter splitter(/*in_reasoning=*/false);
  CHECK(splitter.push("<thin").answer == "");
  CHECK(splitter.finish().answer == "<thin");
  CHECK(splitter.finish().answer == "");
  CHECK_THROWS_WITH_AS((void)splitter.push("k>"),
                       "reasoning splitter: expected no more text after its end, got 2 bytes", Error);
}

TEST_CASE("unfinished is said while the text streams, too") {
  ReasoningSplitter by_prompt(/*in_reasoning=*/true);
  CHECK(by_prompt.unfinished());
  by_prompt.push("a</thin");
  CHECK(by_prompt.unfinished());
  by_prompt.push("k>");
  CHECK_FALSE(by_prompt.unfinished());
  ReasoningSplitter by_tag(/*in_reasoning=*/false);
  CHECK_FALSE(by_tag.unfinished());
  by_tag.push("<think>");
  CHECK(by_tag.unfinished());
}

TEST_CASE("the second turn's prompt of R1 has the first answer and not its reasoning") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const models::Tokenizer& tokenizer = real_tokenizer("deepseek_r1_distill_qwen");
  const auto chat = models::make_chat_template(tokenizer);
  std::vector<models::ChatMessage> history = {{.role = "user", .content = "2+2?"}};
  const std::string first = chat->render(history, /*add_generation_prompt=*/true);
  REQUIRE(models::ends_in_reasoning(first));
  const std::string output = "plan: two and two\n</think>\n\n4";
  history.push_back({.role = "assistant", .content = split_reasoning(output, models::ends_in_reasoning(first)).answer});
  history.push_back({.role = "user", .content = "and 3?"});

  const std::string second = chat->render(history, /*add_generation_prompt=*/true);
  CHECK(second ==
        "<｜begin▁of▁sentence｜><｜User｜>2+2?<｜Assistant｜>4<｜end▁of▁sentence｜><｜User｜>and 3?"
        "<｜Assistant｜><think>\n");
  const std::vector<std::int32_t> ids = tokenizer.encode(second, /*add_special_tokens=*/false);
  CHECK(tokenizer.decode(ids) == second);
  CHECK(tokenizer.decode(ids).find("plan") == std::string::npos);
}

TEST_CASE("the ids of the closing tag stream through the tokenizer into reasoning and answer") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const models::Tokenizer& tokenizer = real_tokenizer("deepseek_r1_distill_qwen");
  const std::string output = "two and two\n</think>\n\n4";
  std::string joined;
  std::vector<std::string> texts;
  for (const std::int32_t id : tokenizer.encode(output, /*add_special_tokens=*/false)) {
    texts.push_back(tokenizer.decode(std::vector{id}));
    joined += texts.back();
  }
  REQUIRE(joined == output);
  CHECK(split_pieces(Pieces(texts.begin(), texts.end()), /*in_reasoning=*/true) == "two and two|4");
}

}  // namespace minitorch::test
