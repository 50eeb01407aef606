// Bad input to run_spec_decoding: one line that names the thing, an exit code that is not 0, no crash.
#include <doctest/doctest.h>

#include <cstdlib>  // setenv
#include <cstring>  // std::memcpy
#include <filesystem>
#include <limits>

#include "tests/examples/spec_decoding_folders.h"
#include "tests/speculative/helpers.h"

using namespace minitorch::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int kError = 1;
constexpr int kUsage = 2;

void refused(const Arguments& arguments, int exit_code, std::string_view text, std::string_view input = {}) {
  CAPTURE(text);
  check_refused(kSpecDecoding, run_program(kSpecDecoding, arguments, input), exit_code, text);
}

// A run on a folder after `change` was made to it.
template <typename Change>
void refused_folder(Change change, std::string_view text) {
  const TinyModelFolder folder;
  change(folder.path());
  refused({"--target", folder.path().string(), "--raw", "--prompt", "ab"}, kError, text);
}

void set_config(const fs::path& folder, const char* key, const json& value) {
  json config = json::parse(content_of(folder / "config.json"));
  config[key] = value;
  write_file(folder / "config.json", config.dump());
}

}  // namespace

TEST_CASE("a command line that makes no sense is a usage error that names the option") {
  refused(tiny_run({"--prompt", "a", "--prompt-file", "-"}), kUsage,
          "expected one of --prompt, --prompt-file and --prompts, got several");
  refused(tiny_run({"--prompt", "a", "--no-such-option"}), kUsage, "--no-such-option");
  refused(tiny_run({"--prompt", "a", "stray"}), kUsage, "stray");
  refused(tiny_run({"--first", "x", "--second"}), kUsage, "unknown argument '--first' (see --help)\n");
  refused({"--target", tiny_model(), "--prompt"}, kUsage, "--prompt");
  refused(tiny_run({"--prompt", "a", "--prompt", "b"}), kUsage, "--prompt");
  refused(tiny_run({"--prompt", "a", "--gamma", "0"}), kUsage,
          "--gamma: expected a whole number from 1 to 2147483647, got '0'");
  refused(tiny_run({"--prompt", "a", "--gamma", "-3"}), kUsage, "--gamma");
  refused(tiny_run({"--prompt", "a", "--gamma", "four"}), kUsage, "--gamma");
  refused(tiny_run({"--prompt", "a", "--gamma", "99999999999"}), kUsage, "--gamma");
  refused(tiny_run({"--prompt", "a", "--threads", "0"}), kUsage,
          "--threads: expected a whole number from 1 to 1024, got '0'");
  for (const char* value : {"", "abc", "1e2", "2147483648", "4 ", "-1"}) {
    CAPTURE(value);
    for (const char* option : {"--gamma", "--max-new-tokens", "--threads", "--repeat", "--warmup"}) {
      refused({"--target", tiny_model(), "--prompt", "a", option, value}, kUsage,
              std::string(option) + ": expected a whole number from ");
    }
  }
  refused(tiny_run({"--prompt", "a", "--repeat", "0"}), kUsage, "--repeat");
  refused(tiny_run({"--prompt", "a", "--warmup", "-1"}), kUsage, "--warmup");
  for (const char* value : {"", "abc", "-1", "nan", "inf", "-inf", "0.5 ", "0,5"}) {
    CAPTURE(value);
    refused(tiny_run({"--prompt", "a", "--temperature", value}), kUsage,
            "--temperature: expected a number of at least 0, got '");
    refused(tiny_run({"--prompt", "a", "--top-p", value}), kUsage, "--top-p: expected a number from 0 to 1, got '");
    refused(tiny_run({"--prompt", "a", "--min-p", value}), kUsage, "--min-p: expected a number from 0 to 1, got '");
  }
  refused(tiny_run({"--prompt", "a", "--top-p", "1.5"}), kUsage, "--top-p: expected a number from 0 to 1, got '1.5'");
  refused(tiny_run({"--prompt", "a", "--top-k", "-1"}), kUsage, "--top-k: expected a whole number from 0");
  refused(tiny_run({"--prompt", "a", "--seed", "-1"}), kUsage, "--seed: expected a whole number from 0 to 2^64 - 1");
  refused(tiny_run({"--prompt", "a", "--verifier", "typical"}), kUsage,
          "--verifier: expected one of auto, " + names_of(minitorch::spec::verifiers()) + ", got 'typical'");
  refused(tiny_run({"--prompt", "a", "--verifier", "greedy", "--temperature", "0.6"}), kUsage,
          "--verifier greedy: expected temperature 0, got 0.6");
  refused(tiny_run({"--prompt", "a", "--drafter", "oracle"}), kUsage,
          "--drafter: expected one of " + names_of(minitorch::spec::drafters()) + ", got 'oracle'");
  refused(tiny_run({"--prompt", "a", "--dtype", "int3"}), kUsage,
          "--dtype: expected auto, f32, bf16, int8 or int4, got 'int3'");
  refused(tiny_run({"--prompt", "a", "--stop", ""}), kUsage, "--stop");
  refused(tiny_run({"--prompt", "a", "--stop", "\xFF"}), kUsage, "--stop");
  refused(tiny_run({"--prompt", "a", "--system", "x"}), kUsage, "--system");
  refused({"--target", tiny_model(), "--prompt", "a", "--max-new-tokens", "0"}, kUsage, "--max-new-tokens");
}

TEST_CASE("text that is no UTF-8 is refused with its source and the place") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "prompt.txt").string();
  write_file(file, "ab\xC3(");
  refused(tiny_run({"--prompt", "ab\xFF"}), kError, "--prompt: expected UTF-8 text, byte 2 is not valid");
  refused(tiny_run({"--prompt-file", file}), kError, file + ": expected UTF-8 text, byte 2 is not valid");
  refused(tiny_run({"--prompt-file", "-"}), kError, "standard input: expected UTF-8 text", "\xED\xA0\x80");
}

TEST_CASE("prompt files that are missing or malformed are named, with the line") {
  const TemporaryFolder folder;
  const std::string missing = (folder.path() / "missing.txt").string();
  refused(tiny_run({"--prompt-file", missing}), kError, missing);
  refused(tiny_run({"--prompts", missing}), kError, missing);
  const auto refused_lines = [&](std::string_view content, std::string_view place) {
    const std::string file = (folder.path() / "prompts.jsonl").string();
    write_file(file, content);
    refused(tiny_run({"--prompts", file}), kError, file + std::string(place));
  };
  refused_lines("{\"prompt\": \"a\"}\n{\"prompt\": ", ":2");
  refused_lines("{\"prompt\": \"a\"}\n\n{\"text\": \"a\"}\n",
                ":3: expected an object with a text \"prompt\", got {\"text\": string}\n");
  refused_lines("{\"prompt\": 5}\n", ":1: expected an object with a text \"prompt\", got {\"prompt\": number}\n");
  refused_lines("[]\n", ":1: expected an object with a text \"prompt\", got array\n");
  refused_lines("\n \n", ": expected lines with a \"prompt\", got none");
  refused_lines("{\"prompt\": \"a\"}\n{\"prompt\": \"\"}\n", ":2: an empty --raw prompt");
}

TEST_CASE("a prompt that leaves no room in the context and an empty raw one are refused") {
  refused(tiny_run({"--prompt", std::string(64, 'x')}), kError,
          "the prompt has 64 tokens, the model's context of 64 has room for 63");
  refused(tiny_run({"--prompt", std::string(5000, 'x')}), kError, "the prompt has 5000 tokens");
  refused(tiny_run({"--prompt", ""}), kError,
          "--prompt: an empty --raw prompt needs a tokenizer that adds a begin token");
  refused(tiny_run({"--prompt="}), kError, "--prompt: an empty --raw prompt");
  CHECK(run_program(kSpecDecoding, tiny_run({"--prompt", std::string(63, 'x')})).exit_code == 0);
}

TEST_CASE("a result file that cannot be written is reported before the model is loaded") {
  const Arguments no_model{"--target", "/nonexistent/model", "--raw", "--prompt", "a", "--json"};
  const TemporaryFolder folder;
  for (const std::string& path :
       {(folder.path() / "no/such/folder.json").string(), folder.path().string(), std::string()}) {
    Arguments arguments = no_model;
    arguments.push_back(path);
    refused(arguments, kError, path);
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a broken model folder is refused with the name of the file") {
  refused(
      {"--target", "/nonexistent/model", "--raw", "--prompt", "a"}, kError,
      "/nonexistent/model: expected a model folder, got no such folder (nothing is downloaded: give a local folder)");
  refused({"--target", tiny_model() + "/config.json", "--raw", "--prompt", "a"}, kError,
          "config.json: expected a model folder, got a file; its folder is " + tiny_model() + "\n");
  refused_folder([](const fs::path& folder) { fs::remove(folder / "config.json"); },
                 " is not a model folder (no config.json)\n");
  refused_folder([](const fs::path& folder) { fs::remove(folder / "tokenizer.json"); },
                 " is not a model folder (no tokenizer.json)\n");
  refused_folder([](const fs::path& folder) { fs::remove(folder / "model.safetensors"); },
                 " is not a model folder (no model.safetensors or model.safetensors.index.json)\n");
  refused_folder([](const fs::path& folder) { write_file(folder / "config.json", "{\"architectures\": ["); },
                 "config.json");
  refused_folder([](const fs::path& folder) { set_config(folder, "architectures", {"ElizaForCausalLM"}); },
                 "ElizaForCausalLM");
  refused_folder([](const fs::path& folder) { set_config(folder, "num_hidden_layers", 3); }, "model.layers.2");
  refused_folder([](const fs::path& folder) { set_config(folder, "intermediate_size", 74); }, "mlp");
  refused_folder(
      [](const fs::path& folder) {
        fs::resize_file(folder / "model.safetensors", fs::file_size(folder / "model.safetensors") - 8);
      },
      "model.safetensors");
  refused_folder([](const fs::path& folder) { write_file(folder / "model.safetensors", std::string(8, '\x7F')); },
                 "model.safetensors");
  refused_folder(
      [](const fs::path& folder) {
        json tokenizer = json::parse(kTinyTokenizer);
        tokenizer["model"].erase("merges");
        write_file(folder / "tokenizer.json", tokenizer.dump());
      },
      "tokenizer.json");
}

TEST_CASE("a model without a known chat template says that --raw is the way") {
  refused({"--target", tiny_model(), "--prompt", "a"}, kError, "; --raw gives the model the prompt as it is");
}

TEST_CASE("weights that give NaN logits are an error, not a text") {
  const TinyModelFolder folder;
  const fs::path file = folder.path() / "model.safetensors";
  std::string bytes = content_of(file);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = bytes.size() - 4; at > bytes.size() / 2; at -= 4) std::memcpy(bytes.data() + at, &nan, 4);
  write_file(file, bytes);
  const ProgramResult result =
      run_program(kSpecDecoding, {"--target", folder.path().string(), "--raw", "--prompt", "ab"});
  CHECK(result.exit_code == kError);
  CHECK(result.err.starts_with("run_spec_decoding: "));
  CHECK(result.err.find('\n') == result.err.size() - 1);
  CHECK(result.err.find("NaN") != std::string::npos);
  CHECK(result.out.find("identical") == std::string::npos);
}

TEST_CASE("an infinite weight is an error that names the folder") {
  const TinyModelFolder folder;
  const fs::path file = folder.path() / "model.safetensors";
  std::string bytes = content_of(file);
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::size_t at = bytes.size() - 4; at > bytes.size() / 2; at -= 4) std::memcpy(bytes.data() + at, &infinity, 4);
  write_file(file, bytes);
  const ProgramResult result =
      run_program(kSpecDecoding, {"--target", folder.path().string(), "--raw", "--prompt", "ab"});
  CHECK(result.exit_code == kError);
  CHECK(result.err.starts_with("run_spec_decoding: " + folder.path().string() + ": forward: "));
  CHECK(result.err.find("damaged weights?") != std::string::npos);
}

TEST_CASE("a result file that is an input, or has the name -, is a usage error") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "in.jsonl").string();
  write_file(file, "{\"prompt\": \"a\"}\n");
  refused(tiny_run({"--prompts", file, "--json", file}), kUsage, "--prompts and --json name the same file");
  refused(tiny_run({"--prompt", "a", "--json", "-"}), kUsage, "/dev/stdout is standard output");
  CHECK(content_of(file) == "{\"prompt\": \"a\"}\n");
}

TEST_CASE("a key that a prompt line has twice is refused with the line") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "in.jsonl").string();
  write_file(file, "{\"prompt\": \"a\", \"prompt\": \"b\"}\n");
  refused(tiny_run({"--prompts", file}), kError, ":1: key \"prompt\" appears twice");
  refused(tiny_run({"--prompts", "-"}), kError, "standard input:1: malformed JSON: parse error at column", "{");
}

TEST_CASE("an unknown instruction set in MINITORCH_ISA is refused") {
  setenv("MINITORCH_ISA", "mmx", /*overwrite=*/1);
  refused(tiny_run({"--prompt", "a"}), kError, "mmx");
  unsetenv("MINITORCH_ISA");
}
