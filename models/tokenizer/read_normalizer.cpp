// Normalizers by their type.
#include <string>
#include <utility>

#include "models/tokenizer/json_steps.h"
#include "models/tokenizer/read_steps.h"

namespace minitorch::models {
namespace {

constexpr std::string_view kKnown = "Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Prepend, Replace, Strip, ByteLevel";

NormalizerPtr make(const JsonFields& fields, int depth) {
  check_depth(fields, depth);
  const std::string type = required_text(fields, "type");
  if (type == "NFC") return std::make_unique<UnicodeNormalizer>(NormalForm::kC);
  if (type == "NFD") return std::make_unique<UnicodeNormalizer>(NormalForm::kD);
  if (type == "NFKC") return std::make_unique<UnicodeNormalizer>(NormalForm::kKC);
  if (type == "NFKD") return std::make_unique<UnicodeNormalizer>(NormalForm::kKD);
  if (type == "Lowercase") return std::make_unique<LowercaseNormalizer>();
  if (type == "ByteLevel") return std::make_unique<ByteLevelNormalizer>();
  if (type == "Prepend") return std::make_unique<PrependNormalizer>(required_text(fields, "prepend"));
  if (type == "Replace")
    return std::make_unique<ReplaceNormalizer>(pattern(fields, "pattern"), required_text(fields, "content"));
  if (type == "Strip") {
    return std::make_unique<StripNormalizer>(required_boolean(fields, "strip_left"),
                                             required_boolean(fields, "strip_right"));
  }
  if (type != "Sequence") refuse_type(fields, type, kKnown);
  std::vector<NormalizerPtr> steps;
  for (const JsonFields& step : objects(fields, "normalizers")) steps.push_back(make(step, depth + 1));
  return std::make_unique<NormalizerSequence>(std::move(steps));
}

}  // namespace

NormalizerPtr read_normalizer(const JsonFields& owner) {
  const std::optional<JsonFields> fields = owner.object("normalizer");
  return fields ? make(*fields, 0) : nullptr;
}

}  // namespace minitorch::models
