// Drafter "none": no drafter at all, which is plain decoding.
#include "speculative/drafter.h"
#include "speculative/drafters/all.h"

namespace minitorch::spec {

std::unique_ptr<Drafter> make_no_drafter(const DrafterOptions& /*options*/) { return nullptr; }

}  // namespace minitorch::spec
