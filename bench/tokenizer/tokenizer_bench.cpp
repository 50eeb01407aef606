// Tokenizers: loading, a megabyte of English-like text, a megabyte of one repeated string, decoding.
//   bench_tokenizer --benchmark_filter=encode
// MINITORCH_TOKENIZER names a folder with tokenizer.json, as a model folder has it.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/base/philox.h"
#include "models/tokenizer/tokenizer.h"

namespace minitorch {
namespace {

constexpr std::size_t kTextBytes = 1'000'000;

// Sentences of made-up words with the lengths, the capitals and the punctuation of English prose.
std::string english_like_text() {
  constexpr std::array<std::string_view, 24> kSyllables = {"the", "re",  "in",  "on",   "at",  "er",  "ti", "men",
                                                           "ly",  "con", "pro", "st",   "ing", "a",   "o",  "of",
                                                           "to",  "be",  "an",  "tion", "al",  "com", "di", "ver"};
  PhiloxStream random(42);
  std::string text;
  bool begins_sentence = true;
  while (text.size() < kTextBytes) {
    std::string word;
    for (std::uint32_t i = 0, count = 1 + random.below(3); i < count; ++i)
      word += kSyllables[random.below(kSyllables.size())];
    if (begins_sentence) word[0] = static_cast<char>(word[0] - 'a' + 'A');
    const std::uint32_t end = random.below(20);
    begins_sentence = end == 0;
    text += word + (end == 0 ? ".\n" : end == 1 ? ", " : end == 2 ? "'s " : " ");
    if (end == 3) text += std::to_string(random.below(3000)) + " ";
  }
  text.resize(kTextBytes);
  return text;
}

std::string repeated(std::string_view unit) {
  std::string text;
  while (text.size() + unit.size() <= kTextBytes) text += unit;
  return text;
}

std::optional<std::filesystem::path> folder() {
  const char* name = std::getenv("MINITORCH_TOKENIZER");
  return name != nullptr && *name != '\0' ? std::optional<std::filesystem::path>(name) : std::nullopt;
}

struct Loaded {
  std::optional<models::Tokenizer> tokenizer;
  std::string error;  // why there is none
};

Loaded load_tokenizer() {
  if (!folder()) return {.tokenizer = {}, .error = "set MINITORCH_TOKENIZER to a folder with tokenizer.json"};
  try {
    return {.tokenizer = models::Tokenizer::from_directory(*folder()), .error = {}};
  } catch (const Error& error) {
    return {.tokenizer = {}, .error = std::string("MINITORCH_TOKENIZER: ") + error.what()};
  }
}

// The tokenizer, or null after telling the benchmark to skip.
const models::Tokenizer* tokenizer_for(benchmark::State& state) {
  static const Loaded loaded = load_tokenizer();
  if (!loaded.tokenizer) state.SkipWithError(loaded.error.c_str());
  return loaded.tokenizer ? &*loaded.tokenizer : nullptr;
}

void encode(benchmark::State& state, const std::string& text) {
  const models::Tokenizer* tokenizer = tokenizer_for(state);
  if (tokenizer == nullptr) return;
  std::size_t num_ids = 0;
  for (auto _ : state) num_ids = tokenizer->encode(text, /*add_special_tokens=*/false).size();
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["ids"] = static_cast<double>(num_ids);
}

void load(benchmark::State& state) {
  if (tokenizer_for(state) == nullptr) return;
  for (auto _ : state) benchmark::DoNotOptimize(models::Tokenizer::from_directory(*folder()));
}

void decode(benchmark::State& state) {
  const models::Tokenizer* tokenizer = tokenizer_for(state);
  if (tokenizer == nullptr) return;
  const std::vector<std::int32_t> ids = tokenizer->encode(english_like_text(), /*add_special_tokens=*/false);
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->decode(ids));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ids.size()));
}

BENCHMARK(load)->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, english, english_like_text())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, letters, repeated("a"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, spaces, repeated(" "))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, digits, repeated("1"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, accents, repeated("é"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, newlines, repeated("\n"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, ideographs, repeated("字"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, marks, repeated("\u0301\u0316"))->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace minitorch
