// Token texts and ids, each found by the other. Made for fast loading: one text block, one flat hash table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace minitorch::models {

class TokenTable {
 public:
  // Far above any real vocabulary; bounds memory for files with absurd ids.
  static constexpr std::int32_t kMaxId = (1 << 24) - 1;

  enum class Added : std::uint8_t { kYes, kTextTaken, kIdTaken };
  // `id` is 0 to kMaxId.
  Added add(std::string_view text, std::int32_t id);

  [[nodiscard]] std::optional<std::int32_t> find(std::string_view text) const;
  [[nodiscard]] bool has(std::int32_t id) const {
    return id >= 0 && id < size() && places_[static_cast<std::size_t>(id)].begin != kNone;
  }
  [[nodiscard]] std::string_view text(std::int32_t id) const;  // "" when there is no such id
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(places_.size()); }  // highest id + 1
  [[nodiscard]] std::size_t num_tokens() const { return num_tokens_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Place {  // of a token's text
    std::size_t begin = kNone;
    std::size_t size = 0;
  };
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t id = -1;  // empty
  };
  // The slot that holds `text`, or the empty one where it belongs.
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  std::string texts_;
  std::vector<Place> places_;  // by id
  std::vector<Slot> slots_;    // a power of two, at most half full
  std::size_t num_tokens_ = 0;
};

}  // namespace minitorch::models
