// All golden strings of the seven real tokenizers, and 500 lines of mixed text.
#include <fstream>

#include "tests/tokenizer/helpers.h"

namespace minitorch::test {
namespace {

void check_goldens(const std::string& name) {
  MT_REQUIRE_DATA("goldens/tokenize/" + name + ".jsonl");
  MT_REQUIRE_DATA(tokenizer_folders().at(name));
  const models::Tokenizer& tokenizer = real_tokenizer(name);
  const auto lines = read_jsonl(data_folder() / "goldens/tokenize" / (name + ".jsonl"));
  REQUIRE(lines.size() > 200);
  for (const auto& line : lines) {
    CAPTURE(line.at("i").get<int>());
    const auto text = line.at("text").get<std::string>();
    const auto ids = line.at("ids").get<std::vector<std::int32_t>>();
    CHECK(tokenizer.encode(text, /*add_special_tokens=*/false) == ids);
    CHECK(tokenizer.decode(ids) == line.value("decoded", text));
  }
}

}  // namespace

TEST_CASE("every golden string of DeepSeek-R1-Distill-Qwen has the reference's ids and text") {
  check_goldens("deepseek_r1_distill_qwen");
}
TEST_CASE("every golden string of DeepSeek V3 has the reference's ids and text") { check_goldens("deepseek_v3"); }
TEST_CASE("every golden string of Llama 3 has the reference's ids and text") { check_goldens("llama3"); }
TEST_CASE("every golden string of Llama 3.1 has the reference's ids and text") { check_goldens("llama3.1"); }
TEST_CASE("every golden string of Qwen2.5 has the reference's ids and text") { check_goldens("qwen2.5"); }
TEST_CASE("every golden string of Qwen3 has the reference's ids and text") { check_goldens("qwen3"); }
TEST_CASE("every golden string of stories260K has the reference's ids and text") { check_goldens("stories260K"); }

// The second half of report B15 (tests/README.md): text as it occurs, not single strings.
TEST_CASE("500 lines of prose, code and Chinese have the reference's ids") {
  MT_REQUIRE_DATA("benches/gsm8k/test.jsonl");
  MT_REQUIRE_DATA("benches/human_eval/HumanEval.jsonl");
  MT_REQUIRE_DATA("benches/mgsm/mgsm_zh.tsv");
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  std::vector<std::string> texts;
  const auto prose = read_jsonl(data_folder() / "benches/gsm8k/test.jsonl");
  for (std::size_t i = 0; i < 170; ++i) texts.push_back(prose.at(i).at("question"));
  const auto code = read_jsonl(data_folder() / "benches/human_eval/HumanEval.jsonl");
  for (std::size_t i = 0; i < 160; ++i) {
    texts.push_back(code.at(i).at("prompt").get<std::string>() +
                    code.at(i).at("canonical_solution").get<std::string>());
  }
  std::ifstream chinese(data_folder() / "benches/mgsm/mgsm_zh.tsv");
  for (std::string line; texts.size() < 500 && std::getline(chinese, line);)
    texts.push_back(line.substr(0, line.find('\t')));
  REQUIRE(texts.size() == 500);

  const models::Tokenizer& tokenizer = real_tokenizer("deepseek_r1_distill_qwen");
  std::ifstream expected(golden_file("tokenizer/mixed_lines.txt"));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(i);
    std::size_t count = 0;
    std::string hash;
    expected >> count >> hash;
    REQUIRE(expected.good());
    const auto ids = tokenizer.encode(texts[i], /*add_special_tokens=*/false);
    Fnv fnv;
    for (const std::int32_t id : ids) fnv.add(static_cast<std::uint32_t>(id));
    CHECK(ids.size() == count);
    CHECK(fnv.hex() == hash);
    CHECK(tokenizer.decode(ids) == texts[i]);
  }
}

}  // namespace minitorch::test
