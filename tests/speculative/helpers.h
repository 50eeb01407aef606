// What the tests of the speculative layer share: drafters from a lambda, runs in one line, random trees.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "minitorch/base/philox.h"
#include "models/causal_lm.h"
#include "speculative/session.h"

namespace minitorch::test {

using Ids = std::vector<std::int32_t>;

class FunctionDrafter : public spec::Drafter {
 public:
  using Propose = std::function<void(std::span<const std::int32_t> history, std::int32_t budget, spec::Draft& draft)>;
  explicit FunctionDrafter(Propose propose) : propose_(std::move(propose)) {}

  [[nodiscard]] std::string_view name() const override { return "function"; }
  void reset() override {}
  void propose(const spec::DraftRequest& request, spec::Draft& draft) override {
    propose_(request.history, request.budget, draft);
  }
  void observe(std::span<const std::int32_t> /*history*/, const spec::Draft& /*draft*/,
               const spec::Verdict& /*verdict*/) override {}

 private:
  Propose propose_;
};

// The names of a registry, as error messages list them.
template <typename Info>
std::string names_of(std::span<const Info> entries) {
  std::string names;
  for (const Info& entry : entries) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

inline const spec::Verifier& greedy() {
  static const std::unique_ptr<spec::Verifier> verifier = spec::find_verifier("greedy").make();
  return *verifier;
}

inline spec::GenerateOptions options_of(std::int32_t max_new_tokens, std::int32_t gamma) {
  spec::GenerateOptions options;
  options.max_new_tokens = max_new_tokens;
  options.gamma = gamma;
  return options;
}

// One request on a fresh session.
inline spec::GenerateResult run(models::CausalLM& model, spec::Drafter* drafter, const Ids& prompt,
                                const spec::GenerateOptions& options, const spec::Verifier& verifier = greedy()) {
  return spec::Session(model, nullptr, drafter, verifier).generate(prompt, options);
}

inline spec::Draft chain(const Ids& tokens) {
  spec::Draft draft;
  std::int32_t parent = spec::Draft::kRoot;
  for (const std::int32_t token : tokens) parent = draft.add(token, parent);
  return draft;
}

inline bool has_child(const spec::Draft& draft, std::int32_t parent, std::int32_t token) {
  for (std::size_t node = 0; node < draft.tokens.size(); ++node) {
    if (draft.parent[node] == parent && draft.tokens[node] == token) return true;
  }
  return false;
}

// A random tree of up to `nodes` nodes that holds the first tokens of `continuation` as a path at random places among
// decoys, often not the first branch.
inline spec::Draft random_tree(PhiloxStream& random, std::span<const std::int32_t> continuation, std::int32_t nodes,
                               std::int32_t vocab_size) {
  spec::Draft draft;
  std::int32_t path_end = spec::Draft::kRoot;
  std::size_t path_size = 0;
  const std::size_t wanted = random.below(static_cast<std::uint32_t>(continuation.size()) + 1);
  while (draft.size() < nodes) {
    if (path_size < wanted && random.below(3) == 0) {
      path_end = draft.add(continuation[path_size++], path_end);
      continue;
    }
    const auto parent = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(draft.size()) + 1)) - 1;
    const auto token = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocab_size)));
    const bool next_of_path = parent == path_end && path_size < wanted && token == continuation[path_size];
    if (next_of_path || has_child(draft, parent, token)) {
      if (random.below(8) == 0) break;  // small vocabularies run out of tokens
      continue;
    }
    draft.add(token, parent);
  }
  return draft;
}

// The nodes of `draft` that follow `continuation`: what a correct verifier accepts.
inline std::size_t matching_depth(const spec::Draft& draft, std::span<const std::int32_t> continuation) {
  std::int32_t last = spec::Draft::kRoot;
  std::size_t depth = 0;
  for (std::int32_t node = 0; node < draft.size() && depth < continuation.size(); ++node) {
    const auto at = static_cast<std::size_t>(node);
    if (draft.parent[at] != last || draft.tokens[at] != continuation[depth]) continue;
    last = node;
    ++depth;
  }
  return depth;
}

// Trees for every round of a request whose plain output is `plain`, for the replay drafter.
inline std::vector<spec::Draft> plan_trees(PhiloxStream& random, std::span<const std::int32_t> plain,
                                           std::int32_t gamma, std::int32_t vocab_size) {
  std::vector<spec::Draft> trees;
  std::size_t done = 1;  // prefill yields the first token
  while (done < plain.size()) {
    const auto rest = plain.subspan(done);
    const auto nodes = std::min<std::int32_t>(gamma, static_cast<std::int32_t>(rest.size()) - 1);
    trees.push_back(random_tree(random, rest, nodes, vocab_size));
    done += matching_depth(trees.back(), rest) + 1;
  }
  return trees;
}

}  // namespace minitorch::test
