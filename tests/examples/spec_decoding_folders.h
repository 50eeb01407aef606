// Model folders for tests of run_spec_decoding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>

#include "tests/examples/run_program.h"
#include "tests/speculative/tiny_tokenizer.h"
#include "tests/support/data.h"
#include "tests/support/random_model.h"

namespace minitorch::test {

inline constexpr const char* kSpecDecoding = "run_spec_decoding";

// A random-weight model of context 64 with the tiny tokenizer. The seed is one whose text repeats itself a little, and
// not only, and whose f32 and bf16 weights soon part.
class TinyModelFolder {
 public:
  static constexpr std::uint64_t kSeed = 13;
  TinyModelFolder() {
    RandomModelShape shape;
    shape.vocab_size = 20;
    shape.max_position_embeddings = 64;
    write_random_checkpoint(path(), shape, kSeed);
    write_file(path() / "tokenizer.json", kTinyTokenizer);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

// The tiny model, written once per test program.
inline std::string tiny_model() {
  static const TinyModelFolder folder;
  return folder.path().string();
}

inline std::string stories_model() { return (data_folder() / "models/stories260K").string(); }

// Arguments of a run on the tiny model, short and with a raw prompt.
inline Arguments tiny_run(const Arguments& more) {
  Arguments arguments{"--target", tiny_model(), "--raw"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  if (std::find(more.begin(), more.end(), "--max-new-tokens") == more.end()) {
    arguments.insert(arguments.end(), {"--max-new-tokens", "12"});
  }
  return arguments;
}

// Runs with --json and gives what was written; the run must succeed.
inline nlohmann::json run_to_json(Arguments arguments, std::string_view input = {}) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "result.json";
  arguments.insert(arguments.end(), {"--json", file.string()});
  const ProgramResult result = run_program(kSpecDecoding, arguments, input);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  REQUIRE(std::filesystem::exists(file));
  // No temporary file is left beside it.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  return nlohmann::json::parse(content_of(file));
}

}  // namespace minitorch::test
