// Pieces to symbols, symbols to tokens.
#include "models/tokenizer/bpe_model.h"

#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {

BpeModel::BpeModel(TokenTable tokens, MergeTable merges, BpeOptions options)
    : tokens_(std::move(tokens)), merges_(std::move(merges)), options_(std::move(options)) {
  for (std::size_t i = 0; i < direct_.size(); ++i) {
    std::string character;
    append_utf8(character, static_cast<char32_t>(i));
    direct_[i] = tokens_.find(character).value_or(-1);
  }
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte)
    bytes_[byte] = tokens_.find(fmt::format("<0x{:02X}>", byte)).value_or(-1);
}

std::optional<std::int32_t> BpeModel::symbol_of(std::string_view character, bool is_first, bool is_last,
                                                std::string& text) const {
  const bool has_prefix = !is_first && !options_.continuing_subword_prefix.empty();
  const bool has_suffix = is_last && !options_.end_of_word_suffix.empty();
  if (!has_prefix && !has_suffix) {
    const char32_t code_point = code_point_at(character, 0);
    text = character;
    if (code_point >= kNumDirect) return tokens_.find(character);
    const std::int32_t id = direct_[code_point];
    return id >= 0 ? std::optional(id) : std::nullopt;
  }
  text = has_prefix ? options_.continuing_subword_prefix : std::string();
  text += character;
  if (has_suffix) text += options_.end_of_word_suffix;
  return tokens_.find(text);
}

bool BpeModel::append_bytes(std::string_view text, std::vector<std::int32_t>& symbols) const {
  for (const char byte : text) {
    if (bytes_[static_cast<unsigned char>(byte)] < 0) return false;
  }
  for (const char byte : text) symbols.push_back(bytes_[static_cast<unsigned char>(byte)]);
  return true;
}

std::int32_t BpeModel::unknown() const {
  const std::optional<std::int32_t> id = tokens_.find(*options_.unk_token);
  MT_CHECK(id.has_value(), "encode: a character has no token, and unk_token \"{}\" is no token either",
           printable(*options_.unk_token, 40));
  return *id;
}

void BpeModel::encode(std::string_view piece, Scratch& scratch, std::vector<std::int32_t>& ids) const {
  if (piece.empty()) return;
  if (options_.ignore_merges) {
    if (const auto id = tokens_.find(piece)) return ids.push_back(*id);
  }
  std::vector<std::int32_t>& symbols = scratch.symbols;
  symbols.clear();
  // An unknown character is held back until it is known whether the next one joins it. Byte tokens overtake it, as in
  // the reference.
  bool unknown_pending = false;
  for (std::size_t position = 0; position < piece.size();) {
    const std::size_t end = position + utf8_length(piece[position]);
    const auto symbol =
        symbol_of(piece.substr(position, end - position), position == 0, end == piece.size(), scratch.text);
    position = end;
    if (symbol) {
      if (unknown_pending) symbols.push_back(unknown());
      unknown_pending = false;
      symbols.push_back(*symbol);
    } else if (options_.byte_fallback && append_bytes(scratch.text, symbols)) {
      continue;
    } else if (options_.unk_token) {
      if (unknown_pending && !options_.fuse_unk) symbols.push_back(unknown());
      unknown_pending = true;
    }
  }
  if (unknown_pending) symbols.push_back(unknown());
  merge_symbols(symbols, merges_, scratch.merge);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

}  // namespace minitorch::models
