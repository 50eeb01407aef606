// The drafters by name. A new drafter is one file, its maker in all.h, and one line here.
#include <array>

#include "speculative/drafter.h"
#include "speculative/drafters/all.h"
#include "speculative/registry.h"

namespace minitorch::spec {
namespace {

constexpr std::array kDrafters = {
    DrafterInfo{"model", "a draft model: proposes what it would say itself", make_model_drafter},
    DrafterInfo{"ngram", "prompt look-up: repeats what followed the same tokens earlier", make_ngram_drafter},
    DrafterInfo{"none", "no drafting: plain decoding", make_no_drafter},
};

}  // namespace

std::span<const DrafterInfo> drafters() { return kDrafters; }

const DrafterInfo& find_drafter(std::string_view name) { return find_named("drafter", drafters(), name); }

}  // namespace minitorch::spec
