// Decoders by their type.
#include <string>
#include <utility>

#include "models/tokenizer/json_steps.h"
#include "models/tokenizer/read_steps.h"

namespace minitorch::models {
namespace {

constexpr std::string_view kKnown = "Sequence, ByteLevel, Replace, ByteFallback, Fuse, Strip, Metaspace";
using Kind = DecoderStep::Kind;

std::size_t count(const JsonFields& fields, std::string_view field) {
  constexpr std::int64_t kMax = 1'000'000;
  return static_cast<std::size_t>(fields.required_integer(field, 0, kMax));
}

void add(const JsonFields& fields, int depth, std::vector<DecoderStep>& steps) {
  check_depth(fields, depth);
  const std::string type = required_text(fields, "type");
  const auto add_step = [&](DecoderStep step) { steps.push_back(std::move(step)); };
  if (type == "ByteLevel") return add_step({.kind = Kind::kByteLevel});
  if (type == "ByteFallback") return add_step({.kind = Kind::kByteFallback});
  if (type == "Fuse") return add_step({.kind = Kind::kFuse});
  if (type == "Replace") {
    return add_step(
        {.kind = Kind::kReplace, .pattern = pattern(fields, "pattern"), .content = required_text(fields, "content")});
  }
  if (type == "Strip") {
    return add_step({.kind = Kind::kStrip,
                     .content = required_character(fields, "content"),
                     .num_start = count(fields, "start"),
                     .num_stop = count(fields, "stop")});
  }
  if (type == "Metaspace") {
    return add_step({.kind = Kind::kMetaspace,
                     .content = required_character(fields, "replacement"),
                     .scheme = prepend_scheme(fields)});
  }
  if (type != "Sequence") refuse_type(fields, type, kKnown);
  for (const JsonFields& step : objects(fields, "decoders")) add(step, depth + 1, steps);
}

}  // namespace

std::vector<DecoderStep> read_decoder(const JsonFields& owner) {
  const std::optional<JsonFields> fields = owner.object("decoder");
  if (!fields) return {DecoderStep{.kind = Kind::kJoinWithSpaces}};
  std::vector<DecoderStep> steps;
  add(*fields, 0, steps);
  return steps;
}

}  // namespace minitorch::models
