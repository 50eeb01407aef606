// Sections, figures and verdict on stdout; progress on stderr.
#include "examples/run_spec_decoding/report.h"

#include <unistd.h>  // isatty

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "examples/run_spec_decoding/sampling.h"
#include "minitorch/base/utf8.h"

namespace minitorch::run_spec_decoding {
namespace {

constexpr std::string_view kGreen = "\033[32m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kPlain = "\033[0m";

void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void write_now(std::string_view text) {
  write(text);
  std::fflush(stdout);
}

std::string_view title_of(Section section) {
  switch (section) {
    case Section::kSpeculative: return "Speculative";
    case Section::kBaseline: return "Target AR";
  }
  return "?";
}

void write_title(std::string_view title) { write(fmt::format("{}\n{}\n", title, std::string(title.size(), '-'))); }

void write_figure(std::string_view name, std::string_view value) { write(fmt::format("  {:<16}{}\n", name, value)); }

std::string duration(double seconds) {
  return seconds < 1.0 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

std::string throughput(const spec::GenerationStats& stats) {
  const auto rate = stats.tokens_per_s();
  if (!rate.has_value()) return fmt::format("n/a ({} tokens)", stats.tokens);
  return fmt::format("{:.2f} tokens/s ({} tokens, decoded in {})", *rate, stats.tokens, duration(stats.decode_s));
}

void write_speculation(const spec::GenerationStats& stats) {
  const auto rate = stats.acceptance_rate();
  write_figure("acceptance rate",
               rate.has_value() ? fmt::format("{:.3f} ({} of {} draft tokens)", *rate, stats.accepted, stats.proposed)
                                : "n/a (nothing was drafted)");
  const auto per_pass = stats.tokens_per_pass();
  write_figure("tokens per pass",
               per_pass.has_value()
                   ? fmt::format("{:.3f} ({} target passes; the target's own token and an end token count)", *per_pass,
                                 stats.target_passes)
                   : "n/a (no target pass)");
  if (!per_pass.has_value()) return;
  write_figure("draft per pass",
               fmt::format("{:.2f} tokens, {:.2f} deep", *stats.nodes_per_pass(), *stats.depth_per_pass()));
}

void write_stats(Section section, const spec::GenerationStats& stats) {
  if (section == Section::kSpeculative) write_speculation(stats);
  write_figure("throughput", throughput(stats));
  write_figure("prefill", fmt::format("{} tokens in {}", stats.prompt_tokens, duration(stats.prefill_s)));
  if (section == Section::kSpeculative) {
    write_figure("time", fmt::format("draft {}, verify {}", duration(stats.draft_s), duration(stats.verify_s)));
  }
}

// Why texts were not compared.
std::string not_compared(const RunInfo& info) {
  if (info.settings.same_text_as_plain) return "n/a";
  return fmt::format("n/a (verifier {} keeps the distribution, not the text)", info.settings.verifier);
}

std::string identity(const Record& record, const RunInfo& info) {
  if (!record.identical.has_value()) return not_compared(info);
  if (*record.identical) return "yes";
  return fmt::format("no (first difference at token {})", record.first_difference.value_or(0));
}

// "tiny_r1/draft": a folder and the one above it.
std::string short_name(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(folder, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "a/b/"
  return printable((path.parent_path().filename() / path.filename()).string(), 120);
}

// Measured runs of each kind that every record has.
int runs_of(std::span<const Record> records) {
  const auto fewest = std::min_element(records.begin(), records.end(),
                                       [](const Record& a, const Record& b) { return a.repeat < b.repeat; });
  return fewest == records.end() ? 0 : fewest->repeat;
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace

std::string_view colour_of(spec::TokenOrigin origin) {
  switch (origin) {
    case spec::TokenOrigin::kAccepted: return kGreen;
    case spec::TokenOrigin::kCorrected: return kRed;
    case spec::TokenOrigin::kBonus:
    case spec::TokenOrigin::kPrefill: return {};
  }
  return {};
}

std::string coloured(std::string_view text, std::string_view colour) {
  return colour.empty() ? std::string(text) : fmt::format("{}{}{}", colour, text, kPlain);
}

std::string summary_of(const spec::GenerateResult& result) {
  const spec::GenerationStats& stats = result.stats;
  std::string text = fmt::format("{} tokens", stats.tokens);
  if (const auto rate = stats.tokens_per_s()) text += fmt::format(", {:.2f} tokens/s", *rate);
  if (const auto rate = stats.acceptance_rate()) {
    text += fmt::format(", {:.2f} tokens per pass, acceptance {:.3f}", *stats.tokens_per_pass(), *rate);
  }
  return fmt::format("{}, {}", text, spec::name_of(result.finish_reason));
}

Report::Report(bool drafts, bool trace) : drafts_(drafts), trace_(trace) {}

void Report::sample_prompt(std::string_view text) const {
  write_title("Sample prompt");
  write_now(fmt::format("{}\n\n", text));
}

void Report::begin_prompt(const std::string& origin, std::size_t index, std::size_t count) const {
  if (count > 1)
    write_now(fmt::format("{}== Prompt {} of {} ({})\n\n", index > 0 ? "\n" : "", index + 1, count, origin));
}

void Report::progress(Section section, int run, int num_runs) const {
  if (stderr_is_terminal()) fmt::print(stderr, "{}, run {} of {}\n", title_of(section), run + 1, num_runs);
}

void Report::begin(Section section) {
  streamed_bytes_ = 0;
  write_title(title_of(section));
  std::fflush(stdout);
}

void Report::token(Section section, const spec::TokenEvent& event) {
  if (event.text.empty()) return;
  streamed_bytes_ += event.text.size();
  const std::string_view colour =
      trace_ && section == Section::kSpeculative ? colour_of(event.origin) : std::string_view();
  write_now(coloured(event.text, colour));
}

void Report::end(Section section, const spec::GenerateResult& result, int num_measured) {
  const std::string_view rest = std::string_view(result.text).substr(std::min(streamed_bytes_, result.text.size()));
  write(rest);
  write(result.text.ends_with('\n') ? "\n" : "\n\n");
  write_stats(section, result.stats);
  if (num_measured > 1) write_figure("", fmt::format("times are medians of {} runs", num_measured));
  write_figure("finish", spec::name_of(result.finish_reason));
  write_now("\n");
}

void Report::verdict(const Record& record, const RunInfo& info) const {
  if (!record.baseline.has_value() || !drafts_) return;
  write(record.speedup.has_value() ? fmt::format("speed-up: {:.2f}x\n", *record.speedup) : "speed-up: n/a\n");
  write_now(fmt::format("identical: {}\n", identity(record, info)));
}

void Report::totals(std::span<const Record> records, const RunInfo& info) const {
  const Totals totals = sum_of(records);
  const Section first = drafts_ ? Section::kSpeculative : Section::kBaseline;
  write(fmt::format("\n== Totals of {} prompts\n\n", records.size()));
  if (const int runs = runs_of(records); runs > 1) {
    write(fmt::format("Times are sums over the prompts of medians of {} runs.\n\n", runs));
  }
  write_now(fmt::format("{}\n", title_of(first)));
  write_stats(first, totals.speculative);
  if (!totals.baseline.has_value() || !drafts_) return;
  write("\nTarget AR\n");
  write_stats(Section::kBaseline, *totals.baseline);
  write(fmt::format("\ndecode time: speculative {}, plain {}\n", duration(totals.speculative.decode_s),
                    duration(totals.baseline->decode_s)));
  write(totals.speedup.has_value() ? fmt::format("speed-up: {:.2f}x\n", *totals.speedup) : "speed-up: n/a\n");
  const std::size_t different = totals.compared - totals.identical;
  write_now(totals.compared == 0 ? fmt::format("identical: {}\n", not_compared(info))
            : different == 0     ? "identical: yes\n"
                             : fmt::format("identical: no ({} of {} prompts differ)\n", different, totals.compared));
}

void Report::setting(const RunInfo& info) const {
  const Options& options = info.options;
  const std::string draft = options.draft.has_value() ? fmt::format(" {}", short_name(*options.draft)) : "";
  write(fmt::format("target: {}\ndrafter: {}{}\n", short_name(options.target), options.drafter, draft));
  const Settings& settings = info.settings;
  if (settings.sampling.temperature > 0.0) {
    write(fmt::format("sampling: {}\nverifier: {}\n", to_string(settings.sampling), settings.verifier));
  }
  write_now(fmt::format("kernels: {}, {} {}\n", info.isa, info.threads, info.threads == 1 ? "thread" : "threads"));
}

}  // namespace minitorch::run_spec_decoding
