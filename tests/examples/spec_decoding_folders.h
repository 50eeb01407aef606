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

// The ids of the tiny tokenizer; a model may have more rows.
inline constexpr std::int64_t kTinyIds = 20;
// Its text repeats itself a little, and not only, and f32 and bf16 weights soon part.
inline constexpr std::uint64_t kTinySeed = 13;

// A random-weight model of context 64 with the tiny tokenizer.
inline void write_tiny_model(const std::filesystem::path& folder, std::uint64_t seed, std::int64_t vocab_size) {
  RandomModelShape shape;
  shape.vocab_size = vocab_size;
  shape.max_position_embeddings = 64;
  std::filesystem::create_directories(folder);
  write_random_checkpoint(folder, shape, seed);
  write_file(folder / "tokenizer.json", kTinyTokenizer);
}

class TinyModelFolder {
 public:
  explicit TinyModelFolder(std::uint64_t seed = kTinySeed, std::int64_t vocab_size = kTinyIds) {
    write_tiny_model(path(), seed, vocab_size);
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

// Another tiny model with the same tokens, which often proposes what the first one would not say.
inline std::string tiny_draft() {
  static const TinyModelFolder folder(kTinySeed + 1);
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
