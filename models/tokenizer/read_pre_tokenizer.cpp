// Pre-tokenizers by their type. Most of them are splits with a pattern of their own.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/tokenizer/json_steps.h"
#include "models/tokenizer/read_steps.h"
#include "models/tokenizer/unicode_repair.h"

namespace minitorch::models {
namespace {

constexpr std::string_view kKnown =
    "Sequence, Split, ByteLevel, Digits, Metaspace, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, "
    "BertPreTokenizer, FixedLength";

SplitBehavior split_behavior(const JsonFields& fields, std::string_view name) {
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name != "Contiguous")
    fields.refuse("behavior", "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
  return SplitBehavior::kContiguous;
}

// The ranges as members of a PCRE2 class.
std::string members(std::span<const CodePointRange> ranges) {
  std::string result;
  for (const CodePointRange& range : ranges) {
    result += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", static_cast<std::uint32_t>(range.first),
                          static_cast<std::uint32_t>(range.last));
  }
  return result;
}

Pattern punctuation() {
  const std::string regex =
      fmt::format(R"((?![{}])[!-/:-@\[-`{{-~\p{{P}}{}])", members(not_punctuation()), members(also_punctuation()));
  return Pattern::pcre2(regex, "Punctuation");
}

PreTokenizerPtr split(Pattern pattern, SplitBehavior behavior, bool invert = false) {
  return std::make_unique<SplitPreTokenizer>(std::move(pattern), behavior, invert);
}

PreTokenizerPtr white_space_split() {
  return split(Pattern::pcre2(R"(\s)", "WhitespaceSplit"), SplitBehavior::kRemoved);
}

PreTokenizerPtr words() {
  // \w as the reference understands it here; what is neither word nor white space stays together too.
  constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D})";
  return split(Pattern::pcre2(fmt::format(R"([{0}]+|[^{0}\s]+)", kWord), "Whitespace"), SplitBehavior::kRemoved,
               /*invert=*/true);
}

PreTokenizerPtr bert() {
  std::vector<PreTokenizerPtr> steps;
  steps.push_back(white_space_split());
  steps.push_back(split(punctuation(), SplitBehavior::kIsolated));
  return std::make_unique<PreTokenizerSequence>(std::move(steps));
}

PreTokenizerPtr digits(const JsonFields& fields) {
  const bool individual = fields.boolean("individual_digits").value_or(false);
  Pattern digit = Pattern::pcre2(fmt::format(R"([\p{{N}}{}])", members(also_numeric())), "Digits");
  return split(std::move(digit), individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

PreTokenizerPtr metaspace(const JsonFields& fields) {
  return std::make_unique<MetaspacePreTokenizer>(required_character(fields, "replacement"), prepend_scheme(fields),
                                                 fields.boolean("split").value_or(true));
}

PreTokenizerPtr byte_level(const JsonFields& fields) {
  return std::make_unique<ByteLevelPreTokenizer>(fields.boolean("add_prefix_space").value_or(true),
                                                 fields.boolean("use_regex").value_or(true));
}

PreTokenizerPtr fixed_length(const JsonFields& fields) {
  constexpr std::int64_t kMax = 65535;  // of a repetition in PCRE2
  const std::int64_t length = fields.integer("length", 1, kMax).value_or(5);
  return split(Pattern::pcre2(fmt::format("(?s:.){{1,{}}}", length), "FixedLength"), SplitBehavior::kIsolated);
}

PreTokenizerPtr make(const JsonFields& fields, int depth) {
  check_depth(fields, depth);
  const std::string type = required_text(fields, "type");
  if (type == "Split") {
    return split(pattern(fields, "pattern"), split_behavior(fields, required_text(fields, "behavior")),
                 fields.boolean("invert").value_or(false));
  }
  if (type == "ByteLevel") return byte_level(fields);
  if (type == "Digits") return digits(fields);
  if (type == "Metaspace") return metaspace(fields);
  if (type == "Punctuation")
    return split(punctuation(), split_behavior(fields, fields.text("behavior").value_or("Isolated")));
  if (type == "Whitespace") return words();
  if (type == "WhitespaceSplit") return white_space_split();
  if (type == "CharDelimiterSplit")
    return split(Pattern::literal(required_character(fields, "delimiter")), SplitBehavior::kRemoved);
  if (type == "BertPreTokenizer") return bert();
  if (type == "FixedLength") return fixed_length(fields);
  if (type != "Sequence") refuse_type(fields, type, kKnown);
  std::vector<PreTokenizerPtr> steps;
  for (const JsonFields& step : objects(fields, "pretokenizers")) steps.push_back(make(step, depth + 1));
  return std::make_unique<PreTokenizerSequence>(std::move(steps));
}

}  // namespace

PreTokenizerPtr read_pre_tokenizer(const JsonFields& owner) {
  const std::optional<JsonFields> fields = owner.object("pre_tokenizer");
  return fields ? make(*fields, 0) : nullptr;
}

}  // namespace minitorch::models
