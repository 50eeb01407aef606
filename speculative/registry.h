// Looking up an entry of a registry by its name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "minitorch/base/check.h"

namespace minitorch::spec {

// The entry called `name`; throws Error that lists the known names. `what` says what is looked up.
template <typename Info>
[[nodiscard]] const Info& find_named(std::string_view what, std::span<const Info> entries, std::string_view name) {
  std::string known;
  for (const Info& entry : entries) {
    if (entry.name == name) return entry;
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  fail("{}: expected one of {}, got '{}'", what, known, name);
}

}  // namespace minitorch::spec
