// What the tokenizer tests share: the seven real tokenizers, single parts, hashes.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "minitorch/base/error.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/json.h"
#include "models/tokenizer/tokenizer.h"
#include "tests/support/data.h"

namespace minitorch::test {

// Folders below the data folder, by the name of their golden files.
inline const std::map<std::string, std::string>& tokenizer_folders() {
  static const std::map<std::string, std::string> folders = {
      {"deepseek_r1_distill_qwen", "tokenizers/deepseek_r1_distill_qwen"},
      {"deepseek_v3", "tokenizers/deepseek_v3"},
      {"llama3", "tokenizers/llama3"},
      {"llama3.1", "tokenizers/llama3.1"},
      {"qwen2.5", "tokenizers/qwen2.5"},
      {"qwen3", "tokenizers/qwen3"},
      {"stories260K", "models/stories260K"},
  };
  return folders;
}

// tokenizer.json of a folder, packed or not.
inline std::string tokenizer_json(const std::string& name) {
  const std::filesystem::path folder = data_folder() / tokenizer_folders().at(name);
  const std::filesystem::path packed = folder / "tokenizer.json.xz";
  return std::filesystem::exists(packed) ? read_xz(packed) : io::read_file(folder / "tokenizer.json");
}

// Loaded once per test program.
inline const models::Tokenizer& real_tokenizer(const std::string& name) {
  static std::map<std::string, models::Tokenizer> loaded;
  auto found = loaded.find(name);
  if (found == loaded.end()) {
    const std::string config = io::read_file(data_folder() / tokenizer_folders().at(name) / "tokenizer_config.json");
    found = loaded.emplace(name, models::Tokenizer::from_json(tokenizer_json(name), config, name)).first;
  }
  return found->second;
}

// FNV-1a over 32-bit values, little-endian, as scripts/make_tokenizer_goldens.py computes it.
class Fnv {
 public:
  void add(std::uint32_t value) {
    for (int i = 0; i < 4; ++i) hash_ = (hash_ ^ (value >> (8 * i) & 0xFF)) * 0x100000001B3;
  }
  [[nodiscard]] std::string hex() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

// A tokenizer.json around a part such as {"decoder": ...}, with a model of one token, "a".
inline nlohmann::json around(const nlohmann::json& parts) {
  nlohmann::json document = {{"added_tokens", nlohmann::json::array()},
                             {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", nlohmann::json::array()}}}};
  if (parts.is_object()) document.update(parts);
  return document;
}

// The message of the error that `action` throws; "" when it throws none.
template <typename Exception = Error, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace minitorch::test
