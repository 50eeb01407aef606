// A program of another project: a gradient, and the embedded pair decoding with and without a drafter. Prints what it
// got. It has a warning (an unused variable), which must stop nobody's build but ours.
#include <cstdio>
#include <cstdlib>  // EXIT_FAILURE
#include <exception>
#include <memory>
#include <vector>

#include "minitorch/ops/operators.h"
#include "minitorch/ops/reduce.h"
#include "models/chat_template/chat_template.h"
#include "models/embedded_pair.h"
#include "models/load.h"
#include "speculative/session.h"

using namespace minitorch;

namespace {

void differentiate() {
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3}, {3});
  x.requires_grad_();
  const Tensor sum = ops::sum(x * x);
  sum.backward();
  std::printf("sum %g gradient", sum.item());
  for (const double value : x.grad().to_vector()) std::printf(" %g", value);
  std::printf("\n");
}

spec::GenerateResult decode(models::LoadedModel& target, spec::Drafter* drafter) {
  const models::ChatMessage question{.role = "user", .content = "Mia had 15 pens. Mia lost 2 pens. How many now?"};
  const std::string text = models::make_chat_template(target.tokenizer)->render({question}, true);
  const std::unique_ptr<spec::Verifier> verifier = spec::find_verifier("greedy").make();
  spec::Session session(*target.model, &target.tokenizer, drafter, *verifier);
  spec::GenerateOptions options;
  options.max_new_tokens = 12;
  return session.generate(target.tokenizer.encode(text, false), options);
}

void decode_with_the_pair() {
  const std::filesystem::path pair = models::find_embedded_pair();
  models::LoadedModel target = models::load_model(pair / "target", default_runtime());
  models::LoadedModel draft = models::load_model(pair / "draft", default_runtime());
  const std::unique_ptr<spec::Drafter> drafter =
      spec::find_drafter("model").make({.draft_model = draft.model.get(), .target_model = target.model.get()});
  const spec::GenerateResult speculative = decode(target, drafter.get());
  const bool identical = speculative.ids == decode(target, nullptr).ids;
  std::printf("pair %s\nids %zu identical %s\ntext %s\n", pair.c_str(), speculative.ids.size(),
              identical ? "yes" : "no", speculative.text.c_str());
}

}  // namespace

int main() {
  int unused;
  try {
    differentiate();
    decode_with_the_pair();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
