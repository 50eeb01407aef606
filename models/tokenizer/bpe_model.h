// The BPE model: vocabulary, merges and the rules about unknown characters.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizer/bpe_merge.h"
#include "models/tokenizer/token_table.h"

namespace minitorch::models {

struct BpeOptions {
  std::optional<std::string> unk_token;   // stands for characters without a token; without it they are dropped
  std::string continuing_subword_prefix;  // in front of all characters of a piece but the first
  std::string end_of_word_suffix;         // behind the last one
  bool fuse_unk = false;                  // neighbouring unknown characters give one unk_token
  bool byte_fallback = false;  // unknown characters are written as <0xXX> where all their bytes have such a token
  bool ignore_merges = false;  // a piece that is a token is that token, whatever the merges say
};

class BpeModel {
 public:
  BpeModel() = default;
  BpeModel(TokenTable tokens, MergeTable merges, BpeOptions options);

  struct Scratch {
    std::vector<std::int32_t> symbols;
    MergeScratch merge;
    std::string text;
  };
  // Appends the ids of one piece (valid UTF-8). Throws Error when unk_token is needed and is no token.
  void encode(std::string_view piece, Scratch& scratch, std::vector<std::int32_t>& ids) const;

  [[nodiscard]] const TokenTable& tokens() const { return tokens_; }

 private:
  [[nodiscard]] std::optional<std::int32_t> symbol_of(std::string_view character, bool is_first, bool is_last,
                                                      std::string& text) const;
  // Appends the byte tokens of `text`; false, and nothing is appended, when one is missing.
  bool append_bytes(std::string_view text, std::vector<std::int32_t>& symbols) const;
  [[nodiscard]] std::int32_t unknown() const;

  // Characters looked up without hashing; holds the byte-level alphabet.
  static constexpr std::size_t kNumDirect = 0x200;

  TokenTable tokens_;
  MergeTable merges_;
  BpeOptions options_;
  std::array<std::int32_t, kNumDirect> direct_{};  // -1: no token
  std::array<std::int32_t, 256> bytes_{};          // ids of <0x00> to <0xFF>, -1: no token
};

}  // namespace minitorch::models
