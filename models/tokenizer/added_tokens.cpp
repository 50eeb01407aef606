// The search for added tokens: leftmost first, the longest of those that begin at the same place.
#include "models/tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "models/tokenizer/unicode_repair.h"
#include "models/tokenizer/white_space.h"

namespace minitorch::models {

std::int32_t TokenTrie::child(std::int32_t node, char byte) const {
  std::int32_t next = at(node).first_child;
  while (next >= 0 && at(next).byte != byte) next = at(next).next_sibling;
  return next;
}

void TokenTrie::insert(std::string_view text, std::int32_t value) {
  const auto add_node = [&](char byte, std::int32_t sibling) {
    nodes_.push_back({.byte = byte, .next_sibling = sibling});
    return static_cast<std::int32_t>(nodes_.size() - 1);
  };
  std::int32_t& first = root_[static_cast<unsigned char>(text.front())];
  if (first < 0) first = add_node(text.front(), -1);
  std::int32_t node = first;
  for (const char byte : text.substr(1)) {
    std::int32_t next = child(node, byte);
    if (next < 0) {
      next = add_node(byte, at(node).first_child);
      at(node).first_child = next;
    }
    node = next;
  }
  at(node).value = value;
}

TokenTrie::Found TokenTrie::longest_at(std::string_view text, std::size_t position) const {
  Found found;
  std::int32_t node = root_[static_cast<unsigned char>(text[position])];
  for (std::size_t end = position + 1; node >= 0; ++end) {
    if (at(node).value >= 0) found = {end - position, at(node).value};
    if (end == text.size()) break;
    node = child(node, text[end]);
  }
  return found;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer) {
  PatternScratch scratch;
  for (AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    token.decoded = token.content;
    if (token.normalized && normalizer != nullptr) {
      NormalizedText text{.text = token.content};
      normalizer->apply(text, scratch);
      token.decoded = std::move(text.text);
    }
    const auto [place, is_new] = by_content_.try_emplace(token.content, tokens_.size());
    by_id_[token.id] = place->second;
    if (is_new) {
      tokens_.push_back(std::move(token));
    } else {
      tokens_[place->second] = std::move(token);
    }
  }
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    if (token.decoded.empty()) continue;
    (token.normalized ? in_normalized_ : as_is_).insert(token.decoded, static_cast<std::int32_t>(i));
    if (token.single_word && !word_character_) {
      // What \w means to the reference here (it is another library than that of the pre-tokenizers).
      word_character_ = Pattern::pcre2(R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}])", "added_tokens");
    }
  }
}

bool AddedTokens::is_word_character(std::string_view text, std::size_t position, PatternScratch& scratch) const {
  const std::string_view character = text.substr(position, utf8_length(text[position]));
  const std::optional<std::string> stand_in = with_stand_ins(character);
  std::vector<TextRange> matches;
  word_character_->find_all(stand_in ? *stand_in : character, scratch, matches);
  return !matches.empty();
}

bool AddedTokens::stands_alone(std::string_view text, TextRange range, PatternScratch& scratch) const {
  if (range.begin > 0 && is_word_character(text, previous_character(text, range.begin), scratch)) return false;
  return range.end == text.size() || !is_word_character(text, range.end, scratch);
}

std::vector<TextSegment> AddedTokens::split(std::string_view text, bool normalized, PatternScratch& scratch) const {
  const TokenTrie& trie = normalized ? in_normalized_ : as_is_;
  std::vector<TextSegment> segments;
  std::size_t text_begin = 0;  // of the stretch since the last token
  const auto add_text = [&](std::size_t end) {
    if (text_begin < end) segments.push_back({.range = {text_begin, end}});
  };
  for (std::size_t position = 0; !trie.empty() && position < text.size();) {
    const TokenTrie::Found found = trie.longest_at(text, position);
    if (found.size == 0) {
      ++position;
      continue;
    }
    TextRange range{position, position + found.size};
    position = range.end;  // also when the token is not taken, and whatever white space it takes in
    const AddedToken& token = tokens_[static_cast<std::size_t>(found.value)];
    if (token.single_word && !stands_alone(text, range, scratch)) continue;
    if (token.lstrip && range.begin > text_begin) {
      range.begin -= trailing_white_space(text.substr(text_begin, range.begin - text_begin));
    }
    if (token.rstrip) range.end += leading_white_space(text.substr(range.end));
    add_text(range.begin);
    segments.push_back({.range = range, .id = token.id});
    text_begin = range.end;
  }
  add_text(text.size());
  return segments;
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found != by_content_.end() ? &tokens_[found->second] : nullptr;
}

const AddedToken* AddedTokens::find(std::int32_t id) const {
  const auto found = by_id_.find(id);
  return found != by_id_.end() ? &tokens_[found->second] : nullptr;
}

}  // namespace minitorch::models
