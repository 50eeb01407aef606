// run_spec_decoding: the text as it stands behind the prompt, and the report without a drafter.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "minitorch/base/thread_pool.h"
#include "tests/examples/spec_decoding_folders.h"

using namespace minitorch::test;
using nlohmann::json;

TEST_CASE("stories260K: the text stands behind the prompt as decoding both together gives it, its blank included") {
  MT_REQUIRE_DATA("models/stories260K");
  const auto tokenizer = minitorch::models::Tokenizer::from_directory(stories_model());
  for (const std::string prompt : {"Once", "Once upon a", "Lily ", ""}) {
    CAPTURE(prompt);
    const Arguments arguments{"--target", stories_model(), "--raw", "--prompt", prompt, "--max-new-tokens", "12"};
    const json record = run_to_json(arguments);
    auto ids = tokenizer.encode(prompt, /*add_special_tokens=*/true);
    for (const std::int32_t id : record["speculative"]["ids"]) ids.push_back(id);
    const std::string text = record["speculative"]["text"];
    CHECK(prompt + text == tokenizer.decode(ids, /*skip_special_tokens=*/true));
    CHECK(record["baseline"]["text"] == text);
    CHECK(run_program(kSpecDecoding, arguments).out.find("Target AR\n---------\n" + text) != std::string::npos);
    if (prompt == "Once") CHECK(text.starts_with(" upon a time"));
  }
}

TEST_CASE("stories260K: a stop string that begins with the blank behind the prompt ends the text there") {
  MT_REQUIRE_DATA("models/stories260K");
  const json record = run_to_json({"--target", stories_model(), "--raw", "--prompt", "Once", "--stop", " upon"});
  CHECK(record["speculative"]["text"] == "");
  CHECK(record["speculative"]["finish_reason"] == "stop");
  CHECK(record["baseline"]["text"] == "");
}

TEST_CASE("--drafter none decodes plainly, once: one section, no speed-up, and both JSON keys with the same runs") {
  const ProgramResult result = run_program(kSpecDecoding, tiny_run({"--prompt", "abcab", "--drafter", "none"}));
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("Target AR\n"));
  for (const char* part : {"Speculative", "acceptance", "speed-up", "identical"}) {
    CAPTURE(part);
    CHECK(result.out.find(part) == std::string::npos);
  }
  const json record = run_to_json(tiny_run({"--prompt", "abcab", "--drafter", "none", "--repeat", "3"}));
  CHECK(record["speculative"] == record["baseline"]);
  CHECK(record["speculative"]["proposed"] == 0);
  CHECK(record["speedup"].is_null());
  CHECK(record["identical"] == true);
  const json drafted = run_to_json(tiny_run({"--prompt", "abcab"}));
  CHECK(record["speculative"]["ids"] == drafted["speculative"]["ids"]);
  const json alone = run_to_json(tiny_run({"--prompt", "abcab", "--drafter", "none", "--no-baseline"}));
  CHECK(alone["speculative"]["ids"] == drafted["speculative"]["ids"]);
  CHECK(alone["baseline"].is_null());
  CHECK(alone["identical"].is_null());
}

TEST_CASE("--drafter none over many prompts: totals of the plain runs, no speed-up") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "prompts.jsonl").string();
  write_file(file, "{\"prompt\": \"abcab\"}\n{\"prompt\": \"f\"}\n");
  const Arguments arguments = tiny_run({"--prompts", file, "--drafter", "none"});
  const json totals = run_to_json(arguments)["totals"];
  CHECK(totals["speculative"] == totals["baseline"]);
  CHECK(totals["speedup"].is_null());
  CHECK(totals["identical"] == true);
  const std::string shown = run_program(kSpecDecoding, arguments).out;
  CHECK(shown.find("Totals of 2 prompts\n\nTarget AR\n") != std::string::npos);
  CHECK(shown.find("Speculative") == std::string::npos);
  CHECK(shown.find("speed-up") == std::string::npos);
}

TEST_CASE("the report names the kernels and threads, and more threads than cores are noted on stderr") {
  const int usable = minitorch::default_thread_count();
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "result.json").string();
  const auto run = [&](int threads) {
    return run_program(kSpecDecoding,
                       tiny_run({"--prompt", "a", "--threads", std::to_string(threads), "--json", file}));
  };
  const ProgramResult one = run(1);
  CHECK(one.err == "");
  const std::string isa = json::parse(content_of(file))["isa"];
  CHECK(one.out.ends_with("\nkernels: " + isa + ", 1 thread\n"));
  const ProgramResult many = run(usable + 1);
  CHECK(many.exit_code == 0);
  CHECK(json::parse(content_of(file))["threads"] == usable + 1);
  CHECK(many.err.find("more than the " + std::to_string(usable) + " usable cores") != std::string::npos);
  CHECK(many.out.ends_with("\nkernels: " + isa + ", " + std::to_string(usable + 1) + " threads\n"));
}

TEST_CASE("Ctrl-C during many runs reports the complete ones and their number") {
  const TemporaryFolder folder;
  write_file(folder.path() / "prompts.jsonl", "{\"prompt\": \"abcab\"}\n{\"prompt\": \"f\"}\n");
  const std::filesystem::path file = folder.path() / "result.json";
  constexpr int kRuns = 1000000;  // far more than are made before the signal comes
  Program program(kSpecDecoding, tiny_run({"--prompts", (folder.path() / "prompts.jsonl").string(), "--repeat",
                                           std::to_string(kRuns), "--ignore-eos", "--json", file.string()}));
  while (program.out_so_far().find("Prompt 1 of 2") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));  // for some runs
  program.send(SIGINT);
  const ProgramResult result = program.wait();
  CHECK(result.exit_code == 130);
  const json records = json::parse(content_of(file))["records"];
  REQUIRE(records.size() == 1);
  const int repeat = records[0]["repeat"];
  CHECK(repeat >= 1);
  CHECK(repeat < kRuns);
  CHECK(records[0]["identical"] == true);
  for (const char* side : {"speculative", "baseline"}) {
    CAPTURE(side);
    CHECK(records[0][side]["finish_reason"] == "length");
    CHECK(records[0][side]["ids"].size() == 12);
  }
}
