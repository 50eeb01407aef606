// Loading the models, and checking that they speak the same tokens.
#include "examples/run_spec_decoding/loading.h"

#include <unistd.h>  // isatty

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"

namespace minitorch::run_spec_decoding {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTokenBytes = 60;  // of a token in an error message

models::LoadedModel load(const fs::path& folder, const Options& options, const Runtime& runtime) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "loading {} ...\n", folder.string());
  return models::load_model(folder, runtime, {.dtype = options.dtype, .cache_dtype = std::nullopt});
}

void check_same_tokens(const models::Tokenizer& target, const fs::path& target_folder, const models::Tokenizer& draft,
                       const fs::path& draft_folder) {
  std::int32_t first = -1;
  int num_common = 0;
  int num_different = 0;
  for (std::int32_t id = 0; id < std::min(target.size(), draft.size()); ++id) {
    if (!target.has_id(id) || !draft.has_id(id)) continue;
    ++num_common;
    if (target.token_of(id) == draft.token_of(id)) continue;
    if (num_different++ == 0) first = id;
  }
  MT_CHECK(num_different == 0,
           "{}: expected the tokens of {}, got '{}' for id {} instead of '{}' ({} of {} ids differ)",
           draft_folder.string(), target_folder.string(), printable(draft.token_of(first), kMaxTokenBytes), first,
           printable(target.token_of(first), kMaxTokenBytes), num_different, num_common);
}

}  // namespace

ModelPair load_models(const Options& options, const Runtime& runtime) {
  ModelPair pair{.target = load(options.target, options, runtime), .draft = std::nullopt};
  if (!options.draft.has_value()) return pair;
  pair.draft.emplace(load(*options.draft, options, runtime));
  check_same_tokens(pair.target.tokenizer, options.target, pair.draft->tokenizer, *options.draft);
  return pair;
}

}  // namespace minitorch::run_spec_decoding
