// Records as JSON.
#include "examples/run_spec_decoding/json_report.h"

#include <nlohmann/json.hpp>

#include "examples/common/build_id.h"
#include "models/chat_template/reasoning_splitter.h"

namespace minitorch::run_spec_decoding {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

Json points_json(const models::CostCurve* curve) {
  if (curve == nullptr || curve->empty()) return nullptr;
  Json points = Json::array();
  for (const models::CostCurve::Point& point : curve->points()) {
    points.push_back({{"rows", point.rows}, {"ms", curve->ms(point.rows)}});
  }
  return points;
}

void add_stats(Json& json, const spec::GenerationStats& stats) {
  json["prompt_tokens"] = stats.prompt_tokens;
  json["tokens"] = stats.tokens;
  json["target_passes"] = stats.target_passes;
  json["proposed"] = stats.proposed;
  json["accepted"] = stats.accepted;
  json["acceptance_rate"] = or_null(stats.acceptance_rate());
  json["tokens_per_pass"] = or_null(stats.tokens_per_pass());
  json["nodes_per_pass"] = or_null(stats.nodes_per_pass());
  json["depth_per_pass"] = or_null(stats.depth_per_pass());
  json["prefill_s"] = stats.prefill_s;
  json["decode_s"] = stats.decode_s;
  json["tokens_per_s"] = or_null(stats.tokens_per_s());
  json["draft_s"] = stats.draft_s;
  json["verify_s"] = stats.verify_s;
  json["rows"] = stats.rows;
}

Json stats_json(const std::optional<spec::GenerationStats>& stats) {
  if (!stats.has_value()) return nullptr;
  Json json;
  add_stats(json, *stats);
  return json;
}

Json result_json(const spec::GenerateResult& result, bool in_reasoning) {
  Json json;
  json["ids"] = result.ids;
  json["text"] = result.text;
  const models::SplitText split = models::split_reasoning(result.text, in_reasoning);
  json["reasoning"] = split.reasoning;
  json["answer"] = split.answer;
  json["unfinished_reasoning"] = split.unfinished;
  json["finish_reason"] = spec::name_of(result.finish_reason);
  add_stats(json, result.stats);
  return json;
}

void add_info(Json& json, const RunInfo& info, const Settings& settings) {
  json["verifier"] = settings.verifier;
  json["lossless"] = settings.lossless;
  json["same_text_as_plain"] = settings.same_text_as_plain;
  json["reproducible"] = true;  // the same command gives the same text: no draft length depends on a clock
  json["target"] = info.options.target.string();
  json["draft"] = info.options.draft.has_value() ? Json(info.options.draft->string()) : Json(nullptr);
  json["drafter"] = settings.drafter;
  json["gamma"] = settings.gamma;
  json["repeat"] = info.options.repeat;
  json["warmup"] = info.options.warmup;
  json["temperature"] = settings.sampling.temperature;
  json["top_k"] = settings.sampling.top_k;
  json["top_p"] = settings.sampling.top_p;
  json["min_p"] = settings.sampling.min_p;
  json["seed"] = settings.sampling.seed;
  json["threads"] = info.threads;
  json["isa"] = info.isa;
  json["build"] = build_id();
  json["cost_curve"] = {{"target", points_json(info.target_cost)}, {"draft", points_json(info.draft_cost)}};
}

Json record_json(const Record& record, const RunInfo& info) {
  Json json;
  json["prompt"] = record.prompt;
  json["speculative"] = result_json(record.speculative, record.in_reasoning);
  json["baseline"] = record.baseline.has_value() ? result_json(*record.baseline, record.in_reasoning) : Json(nullptr);
  json["speedup"] = or_null(record.speedup);
  json["identical"] = or_null(record.identical);
  if (record.first_difference.has_value()) json["first_difference"] = *record.first_difference;
  add_info(json, info, record.settings.value_or(info.settings));
  json["repeat"] = record.repeat;
  return json;
}

Json totals_json(const Totals& totals, std::size_t num_prompts, const RunInfo& info) {
  Json json;
  json["prompts"] = num_prompts;
  json["speculative"] = stats_json(totals.speculative);
  json["baseline"] = stats_json(totals.baseline);
  json["speedup"] = or_null(totals.speedup);
  json["identical"] = or_null(totals.all_identical());
  json["compared_prompts"] = totals.compared;
  json["identical_prompts"] = totals.identical;
  add_info(json, info, info.settings);
  return json;
}

}  // namespace

std::string to_json(std::span<const Record> records, const RunInfo& info) {
  Json json;
  if (info.options.prompts_file.has_value() || info.options.interactive) {
    json["records"] = Json::array();
    for (const Record& record : records) json["records"].push_back(record_json(record, info));
    json["totals"] = totals_json(sum_of(records), records.size(), info);
  } else {
    json = record_json(records.front(), info);
  }
  // The names of folders may be no UTF-8.
  return json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

}  // namespace minitorch::run_spec_decoding
