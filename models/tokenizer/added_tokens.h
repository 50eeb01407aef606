// Added tokens: whole strings that are found in the text before everything else, such as <|im_start|>.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/tokenizer/normalizer.h"
#include "models/tokenizer/pattern.h"

namespace minitorch::models {

struct AddedToken {
  std::string content = {};
  std::int32_t id = 0;
  bool single_word = false;  // only where no word character stands beside it
  bool lstrip = false;       // takes in the white space on its left
  bool rstrip = false;
  bool normalized = false;  // looked for in its normalized form in normalized text, else in the text as it came
  bool special = false;
  std::string decoded = {};  // what decoders get: the form that is looked for; set by AddedTokens
};

// A set of strings, each with a value, searched for the longest that begins at a place.
class TokenTrie {
 public:
  TokenTrie() { root_.fill(-1); }

  void insert(std::string_view text, std::int32_t value);

  struct Found {
    std::size_t size = 0;  // 0: none
    std::int32_t value = -1;
  };
  [[nodiscard]] Found longest_at(std::string_view text, std::size_t position) const;
  [[nodiscard]] bool empty() const { return nodes_.empty(); }

 private:
  struct Node {
    char byte = 0;
    std::int32_t first_child = -1;
    std::int32_t next_sibling = -1;
    std::int32_t value = -1;  // no string ends here
  };
  [[nodiscard]] std::int32_t child(std::int32_t node, char byte) const;
  [[nodiscard]] Node& at(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Node& at(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }

  std::array<std::int32_t, 256> root_;
  std::vector<Node> nodes_;
};

// A stretch of text, or one added token.
struct TextSegment {
  TextRange range;
  std::int32_t id = -1;  // text
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // `normalizer` may be null. A later token replaces an earlier one with the same content. Tokens without content are
  // ignored.
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer);

  // Cuts `text` at the tokens that are looked for in text as it came, or in normalized text.
  [[nodiscard]] std::vector<TextSegment> split(std::string_view text, bool normalized, PatternScratch& scratch) const;

  [[nodiscard]] const AddedToken* find(std::string_view content) const;
  [[nodiscard]] const AddedToken* find(std::int32_t id) const;
  [[nodiscard]] const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  [[nodiscard]] bool stands_alone(std::string_view text, TextRange range, PatternScratch& scratch) const;
  [[nodiscard]] bool is_word_character(std::string_view text, std::size_t position, PatternScratch& scratch) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, std::size_t> by_content_;  // places in tokens_
  std::unordered_map<std::int32_t, std::size_t> by_id_;
  TokenTrie as_is_;
  TokenTrie in_normalized_;
  std::optional<Pattern> word_character_;  // when a token is to stand alone
};

}  // namespace minitorch::models
