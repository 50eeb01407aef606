// run_spec_decoding with a draft model, given or of the embedded pair: who drafts by default, and what is refused.
#include <doctest/doctest.h>

#include <cstring>  // std::memcpy
#include <filesystem>
#include <limits>

#include "examples/run_spec_decoding/prompts.h"
#include "models/chat_template/tiny_r1_template.h"
#include "tests/examples/spec_decoding_folders.h"
#include "tests/support/environment.h"

using namespace minitorch::test;
using minitorch::run_spec_decoding::kSamplePrompt;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int kError = 1;
constexpr int kUsage = 2;

// An embedded pair of tiny models with a chat template, and the variable that leads to it.
class TinyPair {
 public:
  TinyPair() {
    for (const auto& [model, seed] : {std::pair(target(), kTinySeed), std::pair(draft(), kTinySeed + 1)}) {
      write_tiny_model(model, seed, kTinyIds);
      write_file(fs::path(model) / "tokenizer_config.json",
                 json{{"chat_template", minitorch::models::tiny_r1_template_text()}}.dump());
    }
  }
  [[nodiscard]] std::string target() const { return (folder_.path() / "target").string(); }
  [[nodiscard]] std::string draft() const { return (folder_.path() / "draft").string(); }

 private:
  TemporaryFolder folder_;
  EnvironmentVariable variable_{"MINITORCH_MODELS", folder_.path().c_str()};
};

void refused(const Arguments& arguments, int exit_code, std::string_view text) {
  CAPTURE(text);
  check_refused(kSpecDecoding, run_program(kSpecDecoding, arguments), exit_code, text);
}

// A run of the tiny model with this draft model.
Arguments drafted_run(const std::string& draft, const Arguments& more) {
  Arguments arguments{"--draft", draft, "--ignore-eos"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return tiny_run(arguments);
}

// A draft folder with the tokenizer that `change` makes of the tiny one.
template <typename Change>
std::string draft_with_tokenizer(const TinyModelFolder& folder, Change change) {
  json tokenizer = json::parse(kTinyTokenizer);
  change(tokenizer);
  write_file(folder.path() / "tokenizer.json", tokenizer.dump());
  return folder.path().string();
}

}  // namespace

TEST_CASE("the drafter is model with --draft, ngram with --target alone, and what --drafter says otherwise") {
  const json model = run_to_json(tiny_run({"--prompt", "abcab", "--draft", tiny_draft()}));
  CHECK(model["drafter"] == "model");
  CHECK(model["target"] == tiny_model());
  CHECK(model["draft"] == tiny_draft());
  const json ngram = run_to_json(tiny_run({"--prompt", "abcab"}));
  CHECK(ngram["drafter"] == "ngram");
  CHECK(ngram["target"] == tiny_model());
  CHECK(ngram["draft"].is_null());
  CHECK(run_to_json(tiny_run({"--prompt", "abcab", "--drafter", "none"}))["drafter"] == "none");
  CHECK(run_to_json(tiny_run({"--prompt", "abcab", "--drafter", "model", "--draft", tiny_draft()}))["drafter"] ==
        "model");
}

TEST_CASE("folders and drafters that do not go together are usage errors that name the option") {
  refused(tiny_run({"--prompt", "a", "--drafter", "model"}), kUsage, "--drafter model: expected --draft DIR");
  refused({"--draft", tiny_draft(), "--prompt", "a"}, kUsage, "--draft: expected --target DIR too, got none\n");
  for (const char* drafter : {"ngram", "none"}) {
    refused(tiny_run({"--prompt", "a", "--draft", tiny_draft(), "--drafter", drafter}), kUsage,
            std::string("--draft: goes with --drafter model, got --drafter ") + drafter + "\n");
  }
  refused({"--target", "", "--prompt", "a"}, kUsage, "--target: expected a model folder, got ''\n");
  refused(tiny_run({"--prompt", "a", "--draft", ""}), kUsage, "--draft: expected a model folder, got ''\n");
}

TEST_CASE("without arguments the embedded pair decodes the sample prompt, and standard input is not read") {
  const TinyPair pair;
  const ProgramResult result = run_program(kSpecDecoding, {}, "cdcdc\xFF");
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  std::size_t at = 0;
  for (const std::string& part :
       {std::string("Sample prompt\n"), std::string(kSamplePrompt), std::string("Speculative\n"),
        std::string("Target AR\n"), std::string("identical: yes\n")}) {
    CAPTURE(part);
    at = result.out.find(part, at);
    REQUIRE(at != std::string::npos);
  }
  const json record = run_to_json({}, "cdcdc\xFF");
  CHECK(record["prompt"] == kSamplePrompt);
  CHECK(record["drafter"] == "model");
  CHECK(record["target"] == pair.target());
  CHECK(record["draft"] == pair.draft());
  CHECK(run_to_json({"--prompt-file", "-"}, "cdcdc")["prompt"] == "cdcdc");
  CHECK(run_to_json(tiny_run({}))["prompt"] == kSamplePrompt);
}

TEST_CASE("the README shows the sample prompt") {
  CHECK(content_of(fs::path(MINITORCH_SOURCE_DIR) / "README.md").find(kSamplePrompt) != std::string::npos);
}

TEST_CASE("with the embedded pair --drafter ngram and none use its target alone") {
  const TinyPair pair;
  write_file(fs::path(pair.draft()) / "model.safetensors", "broken");  // not even looked at
  for (const char* drafter : {"ngram", "none"}) {
    CAPTURE(drafter);
    const json record = run_to_json({"--prompt", "abcab", "--drafter", drafter});
    CHECK(record["drafter"] == drafter);
    CHECK(record["target"] == pair.target());
    CHECK(record["draft"].is_null());
    CHECK(record["identical"] == true);
  }
  refused({"--prompt", "abcab"}, kError, pair.draft());
}

TEST_CASE("draft = target: every draft is accepted, and a pass yields gamma + 1 tokens") {
  for (const int gamma : {1, 2, 3, 4, 7}) {
    CAPTURE(gamma);
    const json record = run_to_json(
        drafted_run(tiny_model(), {"--prompt", "abcab", "--max-new-tokens", "41", "--gamma", std::to_string(gamma)}));
    const json& result = record["speculative"];
    CHECK(record["identical"] == true);
    CHECK(result["tokens"] == 41);
    CHECK(result["acceptance_rate"] == 1.0);
    CHECK(result["target_passes"] == (40 + gamma) / (gamma + 1));  // 40 tokens after the first, rounded up
  }
}

TEST_CASE("another model as draft changes the passes and not the text, for every gamma, prompt and on two threads") {
  for (const std::string prompt : {"abcab", "f", "xxxx-%"}) {
    const json plain = run_to_json(tiny_run({"--prompt", prompt, "--drafter", "none", "--ignore-eos"}));
    for (const int gamma : {1, 4, 8}) {
      CAPTURE(prompt);
      CAPTURE(gamma);
      Arguments arguments = drafted_run(tiny_draft(), {"--prompt", prompt, "--gamma", std::to_string(gamma)});
      const json one = run_to_json(arguments);
      CHECK(one["identical"] == true);
      CHECK(one["speculative"]["ids"] == plain["speculative"]["ids"]);
      CHECK(one["speculative"]["proposed"].get<int>() > one["speculative"]["accepted"].get<int>());
      const TemporaryFolder folder;
      const fs::path file = folder.path() / "result.json";
      arguments.insert(arguments.end(), {"--threads", "2", "--json", file.string()});
      // Where there is one core, a note on stderr says so.
      CHECK(run_program(kSpecDecoding, arguments).exit_code == 0);
      const json two = json::parse(content_of(file));
      CHECK(two["threads"] == 2);
      CHECK(two["identical"] == true);
      for (const char* key : {"ids", "proposed", "accepted", "target_passes"}) {
        CHECK(two["speculative"][key] == one["speculative"][key]);
      }
    }
  }
}

TEST_CASE("--dtype holds for the draft model too") {
  // Rounded and unrounded weights of the tiny model soon part, so only the same type accepts everything.
  const json record =
      run_to_json(drafted_run(tiny_model(), {"--prompt", "abababab", "--dtype", "bf16", "--max-new-tokens", "30"}));
  CHECK(record["speculative"]["acceptance_rate"] == 1.0);
  CHECK(record["identical"] == true);
}

TEST_CASE("embeddings padded further in one of the models are no obstacle") {
  const TinyModelFolder padded(kTinySeed + 1, /*vocab_size=*/37);
  const json padded_draft = run_to_json(drafted_run(padded.path().string(), {"--prompt", "abcab"}));
  CHECK(padded_draft["identical"] == true);
  CHECK(padded_draft["speculative"]["proposed"].get<int>() > 0);
  const json padded_target = run_to_json({"--target", padded.path().string(), "--draft", tiny_model(), "--raw",
                                          "--prompt", "abcab", "--ignore-eos", "--max-new-tokens", "12"});
  CHECK(padded_target["identical"] == true);
  CHECK(padded_target["speculative"]["proposed"].get<int>() > 0);
}

TEST_CASE("a draft model with other tokens is refused, one that has more or fewer is not") {
  const TinyModelFolder folder(kTinySeed + 1);
  const std::string other = draft_with_tokenizer(folder, [](json& tokenizer) {
    tokenizer["model"]["vocab"].erase("x");
    tokenizer["model"]["vocab"].erase("-");
    tokenizer["model"]["vocab"]["y"] = 10;
    tokenizer["model"]["vocab"]["z"] = 18;
  });
  refused(
      drafted_run(other, {"--prompt", "abcab"}), kError,
      other + ": expected the tokens of " + tiny_model() + ", got 'y' for id 10 instead of 'x' (2 of 20 ids differ)\n");
  const std::string fewer =
      draft_with_tokenizer(folder, [](json& tokenizer) { tokenizer["model"]["vocab"].erase("%"); });
  CHECK(run_to_json(drafted_run(fewer, {"--prompt", "abcab"}))["identical"] == true);
}

TEST_CASE("a broken draft folder is refused in one line that names it") {
  refused(drafted_run("/nonexistent/draft", {"--prompt", "a"}), kError,
          "/nonexistent/draft: expected a model folder, got no such folder");
  const TinyModelFolder folder;
  for (const char* file : {"model.safetensors", "tokenizer.json", "config.json"}) {
    fs::remove(folder.path() / file);
    refused(drafted_run(folder.path().string(), {"--prompt", "a"}), kError,
            folder.path().string() + " is not a model folder (no " + file);
  }
}

TEST_CASE("damaged draft weights are an error that names the draft's folder, not the target's") {
  const TinyModelFolder folder;
  const fs::path file = folder.path() / "model.safetensors";
  std::string bytes = content_of(file);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = bytes.size() - 4; at > bytes.size() / 2; at -= 4) std::memcpy(bytes.data() + at, &nan, 4);
  write_file(file, bytes);
  const ProgramResult result = run_program(kSpecDecoding, drafted_run(folder.path().string(), {"--prompt", "ab"}));
  CHECK(result.exit_code == kError);
  CHECK(result.err.starts_with("run_spec_decoding: " + folder.path().string() + ": forward: "));
  CHECK(result.err.find('\n') == result.err.size() - 1);
}

TEST_CASE("the report names target and drafter shortly") {
  const TinyPair pair;
  const std::string name = fs::path(pair.target()).parent_path().filename().string();
  const std::string model = run_program(kSpecDecoding, {"--prompt", "ab"}).out;
  CHECK(model.find("\ntarget: " + name + "/target\ndrafter: model " + name + "/draft\nkernels: ") != std::string::npos);
  const std::string ngram = run_program(kSpecDecoding, {"--target", pair.target() + "/", "--prompt", "ab"}).out;
  CHECK(ngram.find("\ntarget: " + name + "/target\ndrafter: ngram\nkernels: ") != std::string::npos);
}
