// Training a byte-level BPE tokenizer: from texts to a vocabulary and merges (Sennrich et al. 2016).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/tokenizer/added_tokens.h"
#include "models/tokenizer/normalizer.h"
#include "models/tokenizer/pre_tokenizer.h"

namespace minitorch::models {

// Qwen2's "pre_tokenizer" of tokenizer.json: words, every digit alone, runs of punctuation and of white space, and all
// of them as bytes. Libraries that know a model as Qwen2 put this one (and NFC) in place of what the file says, so that
// a tokenizer for such a model is understood alike everywhere only if it has no other.
[[nodiscard]] std::string_view qwen2_pre_tokenizer();

struct TrainedToken {
  std::string text = {};
  bool is_special = true;  // left out of decoded text where special tokens are skipped
};

struct BpeTrainerOptions {
  std::int32_t vocab_size = 2048;                 // added tokens, the 256 bytes and merged tokens together
  std::vector<TrainedToken> added_tokens = {};    // found in texts before everything else; ids 0, 1, ...
  std::string normalizer = R"({"type": "NFC"})";  // JSON, as in tokenizer.json; may be "null"
  std::string pre_tokenizer = std::string(qwen2_pre_tokenizer());  // likewise; its pieces are ByteLevel's
  std::int64_t min_count = 2;                                      // pairs that are rarer are never merged
};

struct TrainedBpe {
  struct Merge {
    std::int32_t left;
    std::int32_t right;
  };
  std::vector<std::string> tokens;  // by id, as tokenizer.json writes them: added tokens, bytes, merged tokens
  std::vector<Merge> merges;        // the first has the lowest rank
};

// Deterministic: the same texts in any order give the same result. The most frequent pair is merged first, of equally
// frequent ones that with the smaller ids (left, then right). The order of the bytes is that of their characters
// (byte_level.h), so that ids equal those of the Hugging Face tokenizers library's trainer.
class BpeTrainer {
 public:
  // Throws Error when the vocabulary cannot hold the bytes and the added tokens, or an added token is empty or twice.
  explicit BpeTrainer(BpeTrainerOptions options);

  // Counts the words of a text. Throws Error when it is not valid UTF-8.
  void add_text(std::string_view text);
  // Fewer tokens than asked for when no pair occurs min_count times any more.
  [[nodiscard]] TrainedBpe train() const;

  [[nodiscard]] const BpeTrainerOptions& options() const { return options_; }

 private:
  BpeTrainerOptions options_;
  AddedTokens added_;
  NormalizerPtr normalizer_;  // may be null
  PreTokenizerPtr pre_tokenizer_;
  PatternScratch scratch_;
  std::unordered_map<std::string, std::int64_t> word_counts_;  // words in the byte alphabet
};

}  // namespace minitorch::models
