// Open addressing with linear probing over token texts.
#include "models/tokenizer/token_table.h"

#include <algorithm>
#include <functional>  // std::hash

namespace minitorch::models {
namespace {

std::uint32_t hash_of(std::string_view text) {
  const std::size_t hash = std::hash<std::string_view>{}(text);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

std::size_t TokenTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot].id >= 0; slot = (slot + 1) & mask) {
    if (slots_[slot].hash == hash && this->text(slots_[slot].id) == text) break;
  }
  return slot;
}

void TokenTable::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.id < 0) continue;
    std::size_t slot = entry.hash & mask;
    while (slots_[slot].id >= 0) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

TokenTable::Added TokenTable::add(std::string_view text, std::int32_t id) {
  if (2 * (num_tokens_ + 1) > slots_.size()) grow();
  const std::uint32_t hash = hash_of(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot].id >= 0) return Added::kTextTaken;
  if (has(id)) return Added::kIdTaken;
  const auto index = static_cast<std::size_t>(id);
  if (index >= places_.size()) places_.resize(index + 1);
  places_[index] = {texts_.size(), text.size()};
  texts_ += text;
  slots_[slot] = {hash, id};
  ++num_tokens_;
  return Added::kYes;
}

std::optional<std::int32_t> TokenTable::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(text, hash_of(text))];
  return slot.id >= 0 ? std::optional(slot.id) : std::nullopt;
}

std::string_view TokenTable::text(std::int32_t id) const {
  if (!has(id)) return {};
  const Place& place = places_[static_cast<std::size_t>(id)];
  return std::string_view(texts_).substr(place.begin, place.size);
}

}  // namespace minitorch::models
