// tokenizer.json taken apart: the two big members of the model go straight into flat tables, everything else becomes a
// JSON value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/tokenizer/token_table.h"

namespace minitorch::models {

// The merges as they stand in the file; ids are looked up when the vocabulary is complete.
class RawMerges {
 public:
  struct Pair {
    std::string_view left;
    std::string_view right;
  };

  void add(std::string_view left, std::string_view right);
  [[nodiscard]] std::size_t size() const { return sizes_.size(); }
  // Calls visit(index, pair) for all in order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    std::string_view rest = text_;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const auto [left, right] = sizes_[i];
      visit(i, Pair{rest.substr(0, left), rest.substr(left, right)});
      rest.remove_prefix(std::size_t{left} + right);
    }
  }

 private:
  struct Sizes {
    std::uint32_t left;
    std::uint32_t right;
  };
  std::string text_;
  std::vector<Sizes> sizes_;
};

struct TokenizerFile {
  TokenizerFile();
  TokenizerFile(TokenizerFile&&) noexcept;
  ~TokenizerFile();

  std::unique_ptr<nlohmann::json> document;  // without model.vocab and model.merges where those have the right type
  TokenTable vocab;
  RawMerges merges;
  bool has_vocab = false;
  bool has_merges = false;
};

// Throws IoError that begins with `name`.
[[nodiscard]] TokenizerFile parse_tokenizer_file(std::string_view text, std::string_view name);

}  // namespace minitorch::models
