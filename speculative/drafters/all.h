// The makers of all drafters that programs can ask for by name; the registry lists them.
#pragma once

#include <memory>

#include "speculative/drafter.h"

namespace minitorch::spec {

[[nodiscard]] std::unique_ptr<Drafter> make_model_drafter(const DrafterOptions& options);
[[nodiscard]] std::unique_ptr<Drafter> make_ngram_drafter(const DrafterOptions& options);
[[nodiscard]] std::unique_ptr<Drafter> make_no_drafter(const DrafterOptions& options);

}  // namespace minitorch::spec
