// Counting words, and merging pairs with an index of the words that hold them and a lazy heap.
#include "models/tokenizer/bpe_trainer.h"

#include <algorithm>
#include <queue>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/json.h"
#include "models/json_fields.h"
#include "models/tokenizer/byte_level.h"
#include "models/tokenizer/read_steps.h"
#include "models/tokenizer/token_table.h"
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

AddedTokens make_added_tokens(const std::vector<TrainedToken>& tokens) {
  std::vector<AddedToken> added;
  std::set<std::string> seen;
  for (const char32_t character : kByteCharacters) {
    std::string text;
    append_utf8(text, character);
    seen.insert(std::move(text));
  }
  for (const TrainedToken& token : tokens) {
    MT_CHECK(!token.text.empty() && is_valid_utf8(token.text) && seen.insert(token.text).second,
             "BPE trainer: expected added tokens that differ from each other and from bytes, got \"{}\"",
             printable(token.text, 60));
    added.push_back(
        {.content = token.text, .id = static_cast<std::int32_t>(added.size()), .special = token.is_special});
  }
  return {std::move(added), nullptr};
}

nlohmann::json part(const char* name, const std::string& text) {
  return {{name, io::parse_json(text, fmt::format("BPE trainer: {}", name))}};
}

NormalizerPtr make_normalizer(const std::string& text) {
  return read_normalizer(JsonFields(part("normalizer", text), "BPE trainer"));
}

PreTokenizerPtr make_pre_tokenizer(const std::string& text) {
  PreTokenizerPtr made = read_pre_tokenizer(JsonFields(part("pre_tokenizer", text), "BPE trainer"));
  MT_CHECK(made != nullptr, "BPE trainer: expected a pre-tokenizer that ends with ByteLevel, got none");
  return made;
}

// All words with their counts, and how often every pair of neighbours occurs in them.
class PairCounts {
 public:
  using Symbols = std::vector<std::int32_t>;
  struct Candidate {
    std::int64_t count;
    std::uint64_t pair;                                              // left << 32 | right
    friend bool operator<(const Candidate& a, const Candidate& b) {  // less urgent
      return a.count != b.count ? a.count < b.count : a.pair > b.pair;
    }
  };

  explicit PairCounts(std::int64_t min_count) : min_count_(min_count) {}

  void add_word(Symbols symbols, std::int64_t count) {
    const auto word = static_cast<std::uint32_t>(words_.size());
    words_.push_back({.symbols = std::move(symbols), .count = count});
    change_counts(word, count);
    for_each_pair(word, [&](std::uint64_t pair) { note_word(pair, word); });
  }

  void fill_queue() {
    for (const auto& [pair, entry] : pairs_) push(pair, entry.count);
  }

  // The most urgent pair; false when none occurs often enough.
  bool pop(Candidate& best) {
    while (!queue_.empty()) {
      best = queue_.top();
      queue_.pop();
      const std::int64_t count = pairs_.at(best.pair).count;
      if (count == best.count) return true;
      // Where the count grew there is a newer entry.
      if (count < best.count) push(best.pair, count);
    }
    return false;
  }

  // Writes `merged` for all occurrences of `pair`. Only pairs with `merged` become more frequent.
  void merge(std::uint64_t pair, std::int32_t merged) {
    std::vector<std::uint64_t> grown;
    for (const std::uint32_t word : std::exchange(pairs_.at(pair).words, {})) {
      const std::int64_t count = words_[word].count;
      change_counts(word, -count);
      replace(words_[word].symbols, pair, merged);
      change_counts(word, count);
      for_each_pair(word, [&](std::uint64_t now) {
        if (left_of(now) != merged && right_of(now) != merged) return;
        note_word(now, word);
        grown.push_back(now);
      });
    }
    std::sort(grown.begin(), grown.end());
    grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
    for (const std::uint64_t now : grown) push(now, pairs_.at(now).count);
  }

  static std::int32_t left_of(std::uint64_t pair) { return static_cast<std::int32_t>(pair >> 32); }
  static std::int32_t right_of(std::uint64_t pair) { return static_cast<std::int32_t>(pair & 0xFFFFFFFF); }

 private:
  struct Word {
    Symbols symbols;
    std::int64_t count;
  };
  struct Entry {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  // that hold the pair or did once
  };

  template <typename Visit>
  void for_each_pair(std::uint32_t word, const Visit& visit) const {
    const Symbols& symbols = words_[word].symbols;
    for (std::size_t i = 1; i < symbols.size(); ++i) {
      visit(std::uint64_t{static_cast<std::uint32_t>(symbols[i - 1])} << 32 | static_cast<std::uint32_t>(symbols[i]));
    }
  }

  void change_counts(std::uint32_t word, std::int64_t change) {
    for_each_pair(word, [&](std::uint64_t pair) { pairs_[pair].count += change; });
  }

  void note_word(std::uint64_t pair, std::uint32_t word) {
    std::vector<std::uint32_t>& words = pairs_[pair].words;
    if (words.empty() || words.back() != word) words.push_back(word);
  }

  static void replace(Symbols& symbols, std::uint64_t pair, std::int32_t merged) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < symbols.size(); ++i, ++kept) {
      const bool matches = i + 1 < symbols.size() && symbols[i] == left_of(pair) && symbols[i + 1] == right_of(pair);
      symbols[kept] = matches ? merged : symbols[i];
      if (matches) ++i;
    }
    symbols.resize(kept);
  }

  void push(std::uint64_t pair, std::int64_t count) {
    if (count >= min_count_) queue_.push({.count = count, .pair = pair});
  }

  std::int64_t min_count_;
  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, Entry> pairs_;
  std::priority_queue<Candidate> queue_;  // with old counts; pop() brings them up to date
};

// Added tokens, then the bytes in the order of their characters.
std::vector<std::string> first_tokens(const std::vector<TrainedToken>& added) {
  std::vector<std::string> tokens;
  for (const TrainedToken& token : added) tokens.push_back(token.text);
  std::vector<char32_t> characters(kByteCharacters.begin(), kByteCharacters.end());
  std::sort(characters.begin(), characters.end());
  for (const char32_t character : characters) append_utf8(tokens.emplace_back(), character);
  return tokens;
}

}  // namespace

std::string_view qwen2_pre_tokenizer() {
  return R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "behavior": "Isolated", "invert": false,)"
         R"( "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N})"
         R"(| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},)"
         R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}]})";
}

BpeTrainer::BpeTrainer(BpeTrainerOptions options)
    : options_(std::move(options)),
      added_(make_added_tokens(options_.added_tokens)),
      normalizer_(make_normalizer(options_.normalizer)),
      pre_tokenizer_(make_pre_tokenizer(options_.pre_tokenizer)) {
  const std::size_t smallest = options_.added_tokens.size() + kByteCharacters.size();
  MT_CHECK(options_.vocab_size >= 0 && static_cast<std::size_t>(options_.vocab_size) >= smallest &&
               options_.vocab_size <= TokenTable::kMaxId,
           "BPE trainer: expected a vocabulary size from {} (256 bytes, {} added tokens) to {}, got {}", smallest,
           options_.added_tokens.size(), TokenTable::kMaxId, options_.vocab_size);
  MT_CHECK(options_.min_count >= 1, "BPE trainer: expected min_count of at least 1, got {}", options_.min_count);
}

void BpeTrainer::add_text(std::string_view text) {
  const std::size_t valid = valid_utf8_prefix(text);
  MT_CHECK(valid == text.size(), "BPE trainer: expected valid UTF-8, got an invalid sequence at byte {}", valid);
  for (const TextSegment& segment : added_.split(text, /*normalized=*/false, scratch_)) {
    if (segment.id >= 0) continue;
    const TextRange range = segment.range;
    NormalizedText normalized{.text = std::string(text.substr(range.begin, range.end - range.begin)),
                              .at_start = range.begin == 0};
    if (normalizer_ != nullptr) normalizer_->apply(normalized, scratch_);
    PreTokenizedText pieces(std::move(normalized.text), normalized.at_start);
    pre_tokenizer_->apply(pieces, scratch_);
    for (const TextRange& piece : pieces.pieces()) ++word_counts_[std::string(pieces.piece(piece))];
  }
}

TrainedBpe BpeTrainer::train() const {
  TrainedBpe trained{.tokens = first_tokens(options_.added_tokens), .merges = {}};
  std::unordered_map<std::string, std::int32_t> ids;
  for (const std::string& token : trained.tokens) ids.emplace(token, static_cast<std::int32_t>(ids.size()));

  PairCounts pairs(options_.min_count);
  for (const auto& [word, count] : word_counts_) {
    PairCounts::Symbols symbols;
    for (std::size_t i = 0; i < word.size(); i += utf8_length(word[i])) {
      const auto found = ids.find(word.substr(i, utf8_length(word[i])));
      MT_CHECK(found != ids.end(), "BPE trainer: expected a pre-tokenizer that ends with ByteLevel, got a piece \"{}\"",
               printable(word, 60));
      symbols.push_back(found->second);
    }
    pairs.add_word(std::move(symbols), count);
  }
  pairs.fill_queue();

  PairCounts::Candidate best{};
  while (trained.tokens.size() < static_cast<std::size_t>(options_.vocab_size) && pairs.pop(best)) {
    const std::int32_t left = PairCounts::left_of(best.pair);
    const std::int32_t right = PairCounts::right_of(best.pair);
    std::string text = trained.tokens[static_cast<std::size_t>(left)] + trained.tokens[static_cast<std::size_t>(right)];
    // Two pairs may spell the same token.
    const auto [token, is_new] = ids.emplace(text, static_cast<std::int32_t>(trained.tokens.size()));
    if (is_new) trained.tokens.push_back(std::move(text));
    trained.merges.push_back({.left = left, .right = right});
    pairs.merge(best.pair, token->second);
  }
  return trained;
}

}  // namespace minitorch::models
