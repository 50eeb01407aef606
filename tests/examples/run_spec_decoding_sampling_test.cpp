// run_spec_decoding above temperature 0: defaults, seeds, verifiers, and what its records say.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "examples/run_spec_decoding/sampling.h"
#include "tests/examples/spec_decoding_folders.h"
#include "tests/examples/tiny_r1_pair.h"

namespace minitorch::test {
namespace {

using nlohmann::json;

// A run of the embedded pair whose text has something to choose.
json pair_run(const Arguments& more) {
  Arguments arguments{"--prompt", "Mia had 5 pens. Tell me more.", "--max-new-tokens", "40", "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_to_json(arguments);
}

}  // namespace

TEST_CASE("with a seed the speculative text is that of plain sampling, also by another process and every drafter") {
  const Arguments sampled{"--temperature", "1.5", "--top-p", "0.95", "--seed", "11"};
  const auto with = [&](Arguments more) {
    more.insert(more.end(), sampled.begin(), sampled.end());
    return pair_run(more);
  };
  const json plain = with({"--drafter", "none"});
  CHECK(plain["verifier"] == "coupled");
  CHECK(plain["speculative"]["tokens"] > 20);
  for (const char* drafter : {"model", "ngram"}) {
    for (const char* gamma : {"1", "4", "8"}) {
      CAPTURE(drafter);
      CAPTURE(gamma);
      const json record = with({"--drafter", drafter, "--gamma", gamma, "--no-baseline"});
      CHECK(record["speculative"]["ids"] == plain["speculative"]["ids"]);
      CHECK(record["identical"].is_null());
    }
  }
  const json compared = with({});
  CHECK(compared["identical"] == true);
  CHECK(compared["same_text_as_plain"] == true);
  CHECK(compared["baseline"]["ids"] == plain["speculative"]["ids"]);
  CHECK(pair_run({"--temperature", "1.5", "--top-p", "0.95", "--seed", "12"})["speculative"]["ids"] !=
        plain["speculative"]["ids"]);
}

TEST_CASE("rejection promises the distribution only: identical is null, the exit code 0, and the report says why") {
  const Arguments sampled{"--temperature", "1.5", "--seed", "3", "--verifier", "rejection"};
  const json record = pair_run(sampled);
  CHECK(record["verifier"] == "rejection");
  CHECK(record["lossless"] == true);
  CHECK(record["same_text_as_plain"] == false);
  CHECK(record["identical"].is_null());
  CHECK(record["speedup"].is_number());
  CHECK(record["speculative"]["ids"] != record["baseline"]["ids"]);
  CHECK(pair_run(sampled)["speculative"]["ids"] == record["speculative"]["ids"]);
  // Plain sampling is one thing, whatever the verifier.
  CHECK(pair_run({"--temperature", "1.5", "--seed", "3"})["baseline"]["ids"] == record["baseline"]["ids"]);
  Arguments arguments{"--prompt", "Mia had 5 pens."};
  arguments.insert(arguments.end(), sampled.begin(), sampled.end());
  const ProgramResult result = run_program(kSpecDecoding, arguments);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("identical: n/a (verifier rejection keeps the distribution, not the text)\n") !=
        std::string::npos);
  CHECK(result.out.find("sampling: temperature 1.5, seed 3\nverifier: rejection\n") != std::string::npos);
}

TEST_CASE("at temperature 0 every verifier gives the greedy text, and keeps the promise of identity") {
  const json greedy = pair_run({"--drafter", "none"});
  for (const char* verifier : {"greedy", "coupled", "rejection"}) {
    CAPTURE(verifier);
    const json record = pair_run({"--verifier", verifier});
    CHECK(record["identical"] == true);
    CHECK(record["speculative"]["ids"] == greedy["speculative"]["ids"]);
  }
}

TEST_CASE("generation_config.json gives the defaults, the command line goes before it, and records hold both") {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), kTinySeed, kTinyIds);
  write_file(folder.path() / "generation_config.json",
             R"({"do_sample": true, "temperature": 0.6, "top_p": 0.95, "top_k": 7, "min_p": 0.01})");
  const Arguments base{"--target", folder.path().string(), "--raw", "--prompt", "abcab", "--max-new-tokens", "12"};
  const auto with = [&](const Arguments& more) {
    Arguments arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_to_json(arguments);
  };
  const json defaults = with({});
  CHECK(defaults["temperature"] == 0.6);
  CHECK(defaults["top_p"] == 0.95);
  CHECK(defaults["top_k"] == 7);
  CHECK(defaults["min_p"] == 0.01);
  CHECK(defaults["seed"] == 0);
  CHECK(defaults["verifier"] == "coupled");
  const json given = with({"--temperature", "2", "--top-p", "1", "--top-k", "0", "--min-p", "0", "--seed", "9"});
  CHECK(given["temperature"] == 2.0);
  CHECK(given["top_p"] == 1.0);
  CHECK(given["top_k"] == 0);
  CHECK(given["min_p"] == 0.0);
  CHECK(given["seed"] == 9);
  CHECK(with({"--temperature", "0"})["verifier"] == "greedy");
  // A greedy rule does not go with the sampling that the model asks for.
  Arguments arguments = base;
  arguments.insert(arguments.end(), {"--verifier", "greedy"});
  const ProgramResult refused = run_program(kSpecDecoding, arguments);
  CHECK(refused.exit_code == 2);
  CHECK(refused.err == "run_spec_decoding: --verifier greedy: expected temperature 0, got 0.6\n");
}

TEST_CASE(
    "a text in the JSON is also given as reasoning and answer, and a cut-off reasoning is said to be unfinished") {
  const Arguments question{"--prompt", "Mia had 5 pens. Mia lost 2 pens. How many pens does Mia have now?"};
  const json whole = run_to_json(question);
  CHECK(whole["speculative"]["text"] == "5 - 2 = 3\n</think>\nMia has \\boxed{3} pens now.");
  CHECK(whole["speculative"]["reasoning"] == "5 - 2 = 3");
  CHECK(whole["speculative"]["answer"] == "Mia has \\boxed{3} pens now.");
  CHECK(whole["speculative"]["unfinished_reasoning"] == false);
  CHECK(whole["baseline"]["answer"] == whole["speculative"]["answer"]);
  Arguments short_run = question;
  short_run.insert(short_run.end(), {"--max-new-tokens", "4"});
  const json cut = run_to_json(short_run);
  CHECK(cut["speculative"]["finish_reason"] == "length");
  CHECK(cut["speculative"]["answer"] == "");
  CHECK(cut["speculative"]["unfinished_reasoning"] == true);
}

}  // namespace minitorch::test
