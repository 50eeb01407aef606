// One line per tensor, then the sums.
#include "examples/quantize/report.h"

#include <cmath>  // std::fmax
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/weights.h"

namespace minitorch::quantize {
namespace {

nlohmann::ordered_json error_json(const WeightError& error) {
  return {{"name", error.name},
          {"shape", {error.rows, error.cols}},
          {"relative_rms", error.relative_rms()},
          {"largest", error.largest}};
}

void print_line(std::string_view name, const std::string& value) { fmt::print("{:<16}{}\n", name, value); }

void print_divergence(const Divergence& divergence, std::string_view reference) {
  print_line("text", fmt::format("{} tokens in {} {} of at most {}", divergence.tokens, divergence.windows,
                                 divergence.windows == 1 ? "window" : "windows", divergence.window_tokens));
  print_line("KL divergence", fmt::format("{:.6f} nats per token from {} (largest {:.6f})", divergence.mean_kl,
                                          reference, divergence.largest_kl));
  print_line("same top token", fmt::format("{:.2f}%", 100.0 * divergence.top_agreement()));
}

}  // namespace

WeightError Report::total() const {
  WeightError sum;
  for (const WeightError& error : tensors) {
    sum.rows += error.rows;
    sum.squared_error += error.squared_error;
    sum.squared_weights += error.squared_weights;
    sum.largest = std::fmax(sum.largest, error.largest);
  }
  return sum;
}

double Report::bits_per_weight() const {
  std::int64_t weights = 0;
  for (const WeightError& error : tensors) weights += error.rows * error.cols;
  return 8.0 * static_cast<double>(matrix_bytes) / static_cast<double>(weights);
}

void print(const Report& report) {
  for (const WeightError& error : report.tensors) {
    fmt::print("{} [{}, {}]: relative RMS error {:.6f}, largest error {:.6g}\n", error.name, error.rows, error.cols,
               error.relative_rms(), error.largest);
  }
  const WeightError total = report.total();
  print_line("packed", fmt::format("{:.1f} MB as {}, from {:.1f} MB", static_cast<double>(report.packed_bytes) / 1e6,
                                   models::name_of(report.format), static_cast<double>(report.stored_bytes) / 1e6));
  print_line("matrices", fmt::format("{:.3f} bits per weight, relative RMS error {:.6f}, largest error {:.6g}",
                                     report.bits_per_weight(), total.relative_rms(), total.largest));
  if (report.divergence.has_value()) print_divergence(*report.divergence, report.reference);
}

nlohmann::ordered_json to_json(const Report& report) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array();
  for (const WeightError& error : report.tensors) tensors.push_back(error_json(error));
  const WeightError total = report.total();
  nlohmann::ordered_json json{{"dtype", models::name_of(report.format)},     {"tensors", std::move(tensors)},
                              {"relative_rms", total.relative_rms()},        {"largest", total.largest},
                              {"bits_per_weight", report.bits_per_weight()}, {"packed_bytes", report.packed_bytes},
                              {"stored_bytes", report.stored_bytes},         {"divergence", nullptr}};
  if (const auto& divergence = report.divergence) {
    json["divergence"] = {{"reference_dtype", report.reference},
                          {"tokens", divergence->tokens},
                          {"windows", divergence->windows},
                          {"window_tokens", divergence->window_tokens},
                          {"mean_kl", divergence->mean_kl},
                          {"largest_kl", divergence->largest_kl},
                          {"top_agreement", divergence->top_agreement()}};
  }
  return json;
}

}  // namespace minitorch::quantize
