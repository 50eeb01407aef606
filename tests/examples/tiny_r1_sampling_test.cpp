// Sampling with the embedded pair: coupled gives the text of plain sampling, rejection its distribution.
#include <doctest/doctest.h>

#include <array>
#include <cmath>  // std::cbrt, std::sqrt
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "speculative/session.h"
#include "tests/examples/tiny_r1_pair.h"
#include "tests/support/skips.h"  // report_result

namespace minitorch::test {
namespace {

using Ids = std::vector<std::int32_t>;

spec::DrafterOptions pair() { return {.draft_model = draft().model.get(), .target_model = target().model.get()}; }

spec::GenerateOptions options_of(std::int32_t gamma, const spec::SamplingOptions& sampling) {
  spec::GenerateOptions options;
  options.gamma = gamma;
  options.max_new_tokens = kMaxNewTokens;
  options.end_tokens = target().config.eos_token_ids;
  options.sampling = sampling;
  return options;
}

// How often each text of three tokens came behind the prompt, over many seeds.
using Counts = std::map<std::array<std::int32_t, 3>, std::array<double, 2>>;

// The rule may be a wrong one: then it takes the draft's rows for the target's.
class DraftRows : public spec::Verifier {
 public:
  [[nodiscard]] std::string_view name() const override { return "draft rows"; }
  [[nodiscard]] models::Want want() const override { return models::Want::kLogits; }
  [[nodiscard]] spec::DraftSampling draft_sampling() const override { return spec::DraftSampling::kIndependent; }
  void check(const spec::SamplingOptions& /*sampling*/) const override {}
  [[nodiscard]] bool lossless() const override { return true; }
  [[nodiscard]] bool same_text_as_plain(const spec::SamplingOptions& /*sampling*/) const override { return false; }
  void verify(const spec::Draft& draft, const spec::TargetRows& rows, spec::Chooser& chooser,
              spec::Verdict& verdict) const override {
    verdict.path.clear();
    for (std::int32_t node = 0; node < draft.size(); ++node) verdict.path.push_back(node);
    const spec::Distribution& row = rows.distribution_behind(draft.size() - 1);
    verdict.next_token = row.tokens[chooser.draw(draft.size() - 1, spec::Purpose::kNext, row.tokens)].id;
  }
};

void count_texts(const Ids& prompt, spec::Drafter* drafter, const spec::Verifier& verifier, int draws,
                 std::size_t column, Counts& counts) {
  spec::Session session(*target().model, nullptr, drafter, verifier);
  spec::GenerateOptions options = options_of(4, {.temperature = 6.0, .top_k = 6, .seed = 0});
  options.max_new_tokens = 3;
  options.end_tokens.clear();
  for (int draw = 0; draw < draws; ++draw) {
    ++options.sampling.seed;
    const Ids ids = session.generate(prompt, options).ids;
    ++counts[{ids[0], ids[1], ids[2]}][column];
  }
}

struct ChiSquare {
  double statistic = 0.0;
  int degrees = 0;
  // How many standard deviations the statistic lies above its mean (Wilson and Hilferty 1931).
  [[nodiscard]] double deviations() const {
    const double spread = 2.0 / (9.0 * degrees);
    return (std::cbrt(statistic / degrees) - (1.0 - spread)) / std::sqrt(spread);
  }
};

// Two samples of the same size; texts seen fewer than 10 times in both together are one cell.
ChiSquare compare(const Counts& counts) {
  ChiSquare result;
  std::array<double, 2> rare{};
  const auto add = [&](double a, double b) {
    result.statistic += (a - b) * (a - b) / (a + b);
    ++result.degrees;
  };
  for (const auto& [text, count] : counts) {
    if (count[0] + count[1] >= 10) {
      add(count[0], count[1]);
    } else {
      rare[0] += count[0];
      rare[1] += count[1];
    }
  }
  if (rare[0] + rare[1] > 0) add(rare[0], rare[1]);
  --result.degrees;
  return result;
}

}  // namespace

TEST_CASE("coupled: with the pair every drafter, draft length and setting gives the text of plain sampling") {
  const auto asked = questions(5000, full_tests() ? 100 : kSanitized ? 2 : 8);
  const auto verifier = spec::find_verifier("coupled").make();
  const spec::SamplingOptions settings[] = {{.temperature = 0.6, .top_p = 0.95}, {.temperature = 1.0}};
  spec::Session plain(*target().model, nullptr, nullptr, *verifier);
  int runs = 0;
  int differences = 0;
  for (const char* name : {"model", "ngram"}) {
    const auto drafter = spec::find_drafter(name).make(pair());
    spec::Session speculative(*target().model, nullptr, drafter.get(), *verifier);
    for (spec::SamplingOptions sampling : settings) {
      spec::GenerationStats stats;
      for (const auto& question : asked) {
        ++sampling.seed;
        const Ids prompt = prompt_of(question);
        const Ids expected = plain.generate(prompt, options_of(0, sampling)).ids;
        for (const std::int32_t gamma : {1, 4, 8}) {
          const spec::GenerateResult result = speculative.generate(prompt, options_of(gamma, sampling));
          differences += result.ids == expected ? 0 : 1;
          if (gamma == 4) stats += result.stats;
          ++runs;
        }
      }
      report_result(fmt::format("coupled, {}, temperature {}: acceptance {:.3f} at gamma 4", name, sampling.temperature,
                                stats.acceptance_rate().value_or(0.0)));
    }
  }
  report_result(fmt::format("coupled: {} runs of the pair against plain sampling, {} differences", runs, differences));
  CHECK(differences == 0);
}

TEST_CASE("rejection: the first three tokens have the frequencies of plain sampling, by a chi-square test") {
  const int draws = full_tests() ? 20000 : kSanitized ? 200 : 1500;
  const Ids prompt = prompt_of(questions(6000, 1).front());
  const auto drafter = spec::find_drafter("model").make(pair());
  const auto rejection = spec::find_verifier("rejection").make();
  const auto plain = spec::find_verifier("coupled").make();
  Counts counts;
  count_texts(prompt, nullptr, *plain, draws, 0, counts);
  Counts wrong = counts;
  count_texts(prompt, drafter.get(), *rejection, draws, 1, counts);
  const ChiSquare right = compare(counts);
  report_result(fmt::format("rejection: {} draws, chi-square {:.1f} with {} degrees of freedom, {:.2f} deviations",
                            draws, right.statistic, right.degrees, right.deviations()));
  CHECK(right.degrees > (kSanitized ? 2 : 20));
  CHECK(right.deviations() < 3.1);  // one sample in a thousand is further off; the seeds are fixed

  count_texts(prompt, drafter.get(), DraftRows(), draws, 1, wrong);
  CHECK(compare(wrong).deviations() > (kSanitized ? 2.0 : 10.0));
}

}  // namespace minitorch::test
