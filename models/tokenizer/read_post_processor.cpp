// Post-processors by their type.
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/tokenizer/json_steps.h"
#include "models/tokenizer/read_steps.h"
#include "models/tokenizer/token_table.h"

namespace minitorch::models {
namespace {

constexpr std::string_view kKnown = "Sequence, TemplateProcessing, ByteLevel, BertProcessing, RobertaProcessing";

PostTemplate template_processing(const JsonFields& fields) {
  const JsonFields tokens = required_object(fields, "special_tokens");
  PostTemplate result;
  for (const JsonFields& piece : objects(fields, "single")) {
    if (const auto sequence = piece.object("Sequence")) {
      if (required_text(*sequence, "id") != "A") sequence->refuse("id", "\"A\"");
      result.items.push_back({.is_text = true});
      continue;
    }
    const std::string name = required_text(required_object(piece, "SpecialToken"), "id");
    const auto token = tokens.object(name);
    MT_CHECK_AS(IoError, token.has_value(), "{}: special_tokens: expected an entry for \"{}\"", fields.where(),
                printable(name, 60));
    for (const std::int32_t id : ids(*token, "ids")) result.items.push_back({.id = id});
  }
  return result;
}

// [text, id], as in BertProcessing.
std::int32_t token_pair(const JsonFields& fields, std::string_view field) {
  const nlohmann::json* pair = fields.find(field);
  const bool is_pair = pair != nullptr && pair->is_array() && pair->size() == 2 && (*pair)[0].is_string() &&
                       (*pair)[1].is_number_unsigned();
  if (!is_pair || (*pair)[1].get<std::uint64_t>() > std::uint64_t{TokenTable::kMaxId})
    fields.refuse(field, "[token, id]");
  return (*pair)[1].get<std::int32_t>();
}

void add(const JsonFields& fields, int depth, PostProcessor& processor) {
  check_depth(fields, depth);
  const std::string type = required_text(fields, "type");
  if (type == "ByteLevel") return;  // concerns offsets only
  if (type == "TemplateProcessing") return processor.add(template_processing(fields));
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return processor.add(
        {.items = {{.id = token_pair(fields, "cls")}, {.is_text = true}, {.id = token_pair(fields, "sep")}}});
  }
  if (type != "Sequence") refuse_type(fields, type, kKnown);
  for (const JsonFields& step : objects(fields, "processors")) add(step, depth + 1, processor);
}

}  // namespace

PostProcessor read_post_processor(const JsonFields& owner) {
  PostProcessor processor;
  if (const std::optional<JsonFields> fields = owner.object("post_processor")) add(*fields, 0, processor);
  return processor;
}

}  // namespace minitorch::models
