// Greedy answers in batches, and acceptance of the draft.
#include "examples/train_tiny_r1/evaluation.h"

#include <algorithm>
#include <memory>

#include "examples/train_tiny_r1/batches.h"
#include "models/chat_template/chat_template.h"
#include "speculative/session.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr std::size_t kSequencesAtOnce = 32;

std::vector<std::int32_t> prompt_ids(const models::ChatTemplate& chat, const models::Tokenizer& tokenizer,
                                     const std::string& question) {
  const std::string text = chat.render({{.role = "user", .content = question}}, /*add_generation_prompt=*/true);
  return tokenizer.encode(text, /*add_special_tokens=*/false);
}

// One question being answered.
struct Sequence {
  models::KVCache cache;
  std::vector<std::int32_t> next;  // to be computed: the prompt, then one token at a time
  std::vector<std::int32_t> output;
  bool done = false;
};

// Runs one pass over all unfinished sequences and appends each one's likeliest token.
void advance(models::CausalLM& model, std::vector<Sequence>& sequences, std::int32_t end_token,
             std::int32_t max_new_tokens) {
  models::Batch batch;
  models::Outputs outputs;
  std::vector<std::pair<Sequence*, std::int32_t>> last_rows;
  for (Sequence& sequence : sequences) {
    if (sequence.done) continue;
    batch.caches.push_back(&sequence.cache);
    last_rows.emplace_back(&sequence,
                           batch.add_chain(static_cast<std::int32_t>(batch.caches.size()) - 1, sequence.next));
  }
  outputs.want.assign(batch.rows.size(), models::Want::kNone);
  for (const auto& [sequence, row] : last_rows) outputs.want[static_cast<std::size_t>(row)] = models::Want::kArgmax;
  model.forward(batch, outputs);
  for (const auto& [sequence, row] : last_rows) {
    const std::int32_t token = outputs.argmax[static_cast<std::size_t>(row)];
    sequence->cache.keep_chain();
    sequence->output.push_back(token);
    sequence->next = {token};
    sequence->done = token == end_token || static_cast<std::int32_t>(sequence->output.size()) >= max_new_tokens;
  }
}

std::vector<std::vector<std::int32_t>> answer(models::CausalLM& model,
                                              const std::vector<std::vector<std::int32_t>>& prompts,
                                              std::int32_t end_token, std::int32_t max_new_tokens) {
  std::vector<Sequence> sequences;
  for (const auto& prompt : prompts) {
    const auto capacity = static_cast<std::int32_t>(prompt.size()) + max_new_tokens;
    sequences.push_back({.cache = model.make_cache(capacity), .next = prompt, .output = {}});
  }
  const auto unfinished = [](const Sequence& sequence) { return !sequence.done; };
  while (std::any_of(sequences.begin(), sequences.end(), unfinished)) {
    advance(model, sequences, end_token, max_new_tokens);
  }
  std::vector<std::vector<std::int32_t>> outputs;
  for (Sequence& sequence : sequences) outputs.push_back(std::move(sequence.output));
  return outputs;
}

bool is_product(const Equation& equation) { return equation.op == Op::kMultiply || equation.op == Op::kDivide; }

}  // namespace

EquationSet training_equations(std::uint64_t seed, std::int64_t steps, std::int64_t problems_per_step) {
  EquationSet seen;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < problems_per_step; ++i) {
      const Problem problem = make_problem(seed, step * Batches::kProblemsPerBatch + i, {});
      for (const Equation& equation : problem.equations) seen.insert(equation);
    }
  }
  return seen;
}

std::vector<Question> held_out_questions(std::uint64_t seed, std::int64_t count, int max_steps,
                                         const EquationSet& seen) {
  std::vector<Question> questions;
  for (std::int64_t i = 0; i < count; ++i) {
    const Problem problem = make_problem(seed, i, {.held_out = true, .min_steps = 1, .max_steps = max_steps});
    const auto unseen = [&](const Equation& equation) { return is_product(equation) && !seen.contains(equation); };
    const auto& equations = problem.equations;
    questions.push_back({.text = problem.question,
                         .result = problem.result,
                         .steps = problem.steps,
                         .has_product = std::any_of(equations.begin(), equations.end(), is_product),
                         .product_seen = std::none_of(equations.begin(), equations.end(), unseen)});
  }
  return questions;
}

Accuracy measure_accuracy(models::CausalLM& model, const models::Tokenizer& tokenizer,
                          const std::vector<Question>& questions, std::int32_t max_new_tokens, const Show& show) {
  const std::unique_ptr<models::ChatTemplate> chat = models::make_chat_template(tokenizer);
  const std::int32_t end_token = tokenizer.eos_id().value_or(-1);
  Accuracy accuracy;
  for (std::size_t begin = 0; begin < questions.size(); begin += kSequencesAtOnce) {
    const std::size_t end = std::min(questions.size(), begin + kSequencesAtOnce);
    std::vector<std::vector<std::int32_t>> prompts;
    for (std::size_t i = begin; i < end; ++i) prompts.push_back(prompt_ids(*chat, tokenizer, questions[i].text));
    const auto outputs = answer(model, prompts, end_token, max_new_tokens);
    for (std::size_t i = begin; i < end; ++i) {
      const Question& question = questions[i];
      const std::string text = tokenizer.decode(outputs[i - begin], /*skip_special_tokens=*/false);
      const bool is_right = boxed_result(text) == question.result;
      accuracy.all.add(is_right);
      accuracy.by_steps.at(static_cast<std::size_t>(question.steps)).add(is_right);
      if (question.has_product)
        (question.product_seen ? accuracy.products_seen : accuracy.products_unseen).add(is_right);
      if (show) show(question, text, is_right);
    }
  }
  return accuracy;
}

Acceptance measure_acceptance(models::CausalLM& target, models::CausalLM& draft, const models::Tokenizer& tokenizer,
                              const std::vector<Question>& questions, std::int32_t gamma, std::int32_t max_new_tokens) {
  const std::unique_ptr<models::ChatTemplate> chat = models::make_chat_template(tokenizer);
  spec::DrafterOptions drafter_options;
  drafter_options.draft_model = &draft;
  drafter_options.target_model = &target;
  const auto drafter = spec::find_drafter("model").make(drafter_options);
  const auto verifier = spec::find_verifier("greedy").make();
  spec::Session speculative(target, &tokenizer, drafter.get(), *verifier);
  spec::Session plain(target, &tokenizer, nullptr, *verifier);
  spec::GenerateOptions options;
  options.max_new_tokens = max_new_tokens;
  options.gamma = gamma;
  if (tokenizer.eos_id().has_value()) options.end_tokens = {*tokenizer.eos_id()};
  Acceptance sum;
  for (const Question& question : questions) {
    const auto prompt = prompt_ids(*chat, tokenizer, question.text);
    const spec::GenerateResult drafted = speculative.generate(prompt, options);
    sum.proposed += drafted.stats.proposed;
    sum.accepted += drafted.stats.accepted;
    sum.tokens += static_cast<std::int64_t>(drafted.ids.size());
    sum.target_passes += drafted.stats.target_passes;
    if (plain.generate(prompt, options).ids != drafted.ids) ++sum.differences;
  }
  return sum;
}

}  // namespace minitorch::train_tiny_r1
