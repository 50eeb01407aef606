// run_spec_decoding end to end: texts, figures, JSON and exit codes.
#include <doctest/doctest.h>

#include <sys/wait.h>  // WEXITSTATUS

#include <algorithm>
#include <chrono>
#include <cstdlib>  // std::system
#include <filesystem>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "examples/run_spec_decoding/record.h"
#include "tests/examples/spec_decoding_folders.h"

using namespace minitorch::test;
using nlohmann::json;

namespace {

using Ids = std::vector<int>;

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

bool contains_all(const std::set<std::string>& keys, const std::set<std::string>& wanted) {
  return std::includes(keys.begin(), keys.end(), wanted.begin(), wanted.end());
}

const std::set<std::string> kResultKeys{
    "ids",           "text",     "finish_reason", "prompt_tokens",   "tokens",
    "target_passes", "proposed", "accepted",      "acceptance_rate", "tokens_per_pass",
    "prefill_s",     "decode_s", "tokens_per_s",  "draft_s",         "verify_s",
    "rows"};
const std::set<std::string> kRecordKeys{"speculative",  "baseline", "speedup", "identical", "verifier", "lossless",
                                        "reproducible", "seed",     "threads", "isa",       "build",    "cost_curve"};

}  // namespace

TEST_CASE("stories260K: 64 tokens behind a prompt are the golden ones, for every draft length and with none") {
  MT_REQUIRE_DATA("models/stories260K/golden.json");
  const json golden = json::parse(content_of(data_folder() / "models/stories260K/golden.json"));
  const Arguments base{"--target", stories_model(), "--raw", "--prompt", golden["prompt"], "--max-new-tokens",
                       "64",       "--temperature", "0"};
  for (const Arguments& more : {Arguments{"--drafter", "ngram"}, Arguments{"--drafter", "ngram", "--gamma", "1"},
                                Arguments{"--drafter", "ngram", "--gamma", "16"}, Arguments{"--drafter", "none"}}) {
    Arguments arguments = base;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json record = run_to_json(arguments);
    CHECK(record["speculative"]["ids"] == golden["new_ids"]);
    CHECK(record["speculative"]["text"] == golden["new_text"]);
    CHECK(record["speculative"]["prompt_tokens"] == golden["prompt_ids"].size());
    CHECK(record["baseline"]["ids"] == golden["new_ids"]);
    CHECK(record["identical"] == true);
    CHECK(golden["all_ids"].size() == golden["prompt_ids"].size() + golden["new_ids"].size());
  }
}

TEST_CASE("stories260K: an empty raw prompt begins with the begin token and gives the golden 256 tokens") {
  MT_REQUIRE_DATA("models/stories260K/golden_256.json");
  const json golden = json::parse(content_of(data_folder() / "models/stories260K/golden_256.json"));
  const Ids ids = golden["ids"];
  const json record = run_to_json({"--target", stories_model(), "--raw", "--prompt", "", "--max-new-tokens",
                                   std::to_string(ids.size() - 1), "--no-baseline"});
  CHECK(record["speculative"]["prompt_tokens"] == golden["start_ids"].size());
  CHECK(record["speculative"]["ids"].get<Ids>() == Ids(ids.begin() + 1, ids.end()));
  CHECK(record["speculative"]["text"] == golden["text"]);
}

TEST_CASE("the human output has both sections with text and figures, the speed-up and the verdict") {
  const ProgramResult result = run_program(kSpecDecoding, tiny_run({"--prompt", "abcab", "--ignore-eos"}));
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  std::size_t at = 0;
  for (const char* part :
       {"Speculative\n", "acceptance rate ", "tokens per pass ", "throughput ", " tokens/s", "prefill ",
        "finish          length\n", "Target AR\n", "throughput ", " tokens/s", "speed-up: ", "identical: yes\n"}) {
    CAPTURE(part);
    const std::size_t found = result.out.find(part, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
}

TEST_CASE("the JSON record has every promised field with consistent figures") {
  const json record = run_to_json(tiny_run({"--prompt", "abcab", "--ignore-eos", "--threads", "1"}));
  CHECK(contains_all(keys_of(record), kRecordKeys));
  for (const char* side : {"speculative", "baseline"}) {
    const json& result = record[side];
    CAPTURE(side);
    CHECK(contains_all(keys_of(result), kResultKeys));
    CHECK(result["ids"].size() == 12);
    CHECK(result["tokens"] == 12);
    CHECK(result["finish_reason"] == "length");
    CHECK(result["tokens_per_pass"].get<double>() == doctest::Approx(11.0 / result["target_passes"].get<double>()));
    CHECK(result["rows"].get<int>() == result["target_passes"].get<int>() + result["proposed"].get<int>());
    CHECK(result["nodes_per_pass"].get<double>() ==
          doctest::Approx(result["proposed"].get<double>() / result["target_passes"].get<double>()));
    CHECK(result["depth_per_pass"].get<double>() <= result["nodes_per_pass"].get<double>());
    CHECK(result["tokens_per_s"].get<double>() == doctest::Approx(11.0 / result["decode_s"].get<double>()));
  }
  CHECK(record["baseline"]["target_passes"] == 11);
  CHECK(record["baseline"]["proposed"] == 0);
  CHECK(record["baseline"]["acceptance_rate"].is_null());
  CHECK(record["baseline"]["tokens_per_pass"] == 1.0);
  CHECK(record["speedup"].get<double>() == doctest::Approx(record["baseline"]["decode_s"].get<double>() /
                                                           record["speculative"]["decode_s"].get<double>()));
  CHECK(record["identical"] == true);
  CHECK(record["verifier"] == "greedy");
  CHECK(record["lossless"] == true);
  CHECK(record["reproducible"] == true);
  CHECK(record["seed"] == 0);
  CHECK(record["threads"] == 1);
  CHECK_FALSE(record["isa"].get<std::string>().empty());
  CHECK_FALSE(record["build"].get<std::string>().empty());
  const json& curve = record["cost_curve"]["target"];
  CHECK(record["cost_curve"]["draft"].is_null());
  CHECK(curve.size() == 7);
  CHECK(curve[0]["rows"] == 1);
  CHECK(curve[6]["rows"] == 64);
  for (const json& point : curve) CHECK(point["ms"].get<double>() > 0.0);
}

TEST_CASE("one new token needs no pass: rates are null and the JSON is valid") {
  const json record = run_to_json(tiny_run({"--prompt", "a", "--max-new-tokens", "1"}));
  for (const char* rate : {"acceptance_rate", "tokens_per_pass", "tokens_per_s"}) {
    CHECK(record["speculative"][rate].is_null());
  }
  CHECK(record["speedup"].is_null());
  CHECK(record["identical"] == true);
}

TEST_CASE("--no-baseline decodes once: no verdict, no speed-up") {
  const json record = run_to_json(tiny_run({"--prompt", "abab", "--no-baseline"}));
  CHECK(record["baseline"].is_null());
  CHECK(record["speedup"].is_null());
  CHECK(record["identical"].is_null());
  const ProgramResult result = run_program(kSpecDecoding, tiny_run({"--prompt", "abab", "--no-baseline"}));
  CHECK(result.out.find("Target AR") == std::string::npos);
  CHECK(result.out.find("identical") == std::string::npos);
}

TEST_CASE("--repeat and --warmup report medians and show each text once") {
  const Arguments arguments = tiny_run({"--prompt", "abab", "--repeat", "3", "--warmup", "2"});
  const ProgramResult result = run_program(kSpecDecoding, arguments);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("medians of 3 runs") != std::string::npos);
  CHECK(result.out.find("Speculative\n") == result.out.rfind("Speculative\n"));
  const json record = run_to_json(arguments);
  CHECK(record["repeat"] == 3);
  CHECK(record["warmup"] == 2);
  CHECK(record["identical"] == true);
  CHECK(record["speculative"]["prefill_s"].get<double>() > 0.0);  // every run computes the whole prompt
}

TEST_CASE("--drafter, --gamma and --dtype change what they say") {
  const auto speculative = [](const Arguments& more) {
    Arguments arguments = tiny_run({"--prompt", "abababab", "--ignore-eos", "--max-new-tokens", "30"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_to_json(arguments);
  };
  CHECK(speculative({"--drafter", "none"})["speculative"]["proposed"] == 0);
  CHECK(speculative({"--drafter", "none"})["speculative"]["target_passes"] == 29);
  const json one = speculative({"--gamma", "1"});
  const json eight = speculative({"--gamma", "8"});
  CHECK(one["speculative"]["proposed"].get<int>() < eight["speculative"]["proposed"].get<int>());
  CHECK(one["speculative"]["ids"] == eight["speculative"]["ids"]);
  // Rounded weights give other tokens somewhere in 30; were they the same, --dtype would do nothing.
  CHECK(speculative({"--dtype", "bf16"})["speculative"]["ids"] != one["speculative"]["ids"]);
  CHECK(speculative({"--dtype", "f32"})["speculative"]["ids"] == one["speculative"]["ids"]);
}

TEST_CASE("--stop ends the text before the string, also given several times and in brackets") {
  const std::string whole =
      run_to_json(tiny_run({"--prompt", "abc", "--ignore-eos", "--max-new-tokens", "40"}))["speculative"]["text"];
  REQUIRE(whole.size() > 12);
  // Two whole characters from the middle; the text has characters of four bytes.
  std::size_t begin = whole.size() / 2;
  while ((static_cast<unsigned char>(whole[begin]) & 0xC0) == 0x80) ++begin;
  std::size_t end = begin + 2;
  while (end < whole.size() && (static_cast<unsigned char>(whole[end]) & 0xC0) == 0x80) ++end;
  const std::string stop = whole.substr(begin, end - begin);
  const json record = run_to_json(
      tiny_run({"--prompt", "abc", "--ignore-eos", "--max-new-tokens", "40", "--stop", "[x,y]", "--stop", stop}));
  CHECK(record["speculative"]["text"] == whole.substr(0, whole.find(stop)));
  CHECK(record["speculative"]["finish_reason"] == "stop");
  CHECK(record["identical"] == true);
}

TEST_CASE("end tokens come from config.json, generation_config.json and the tokenizer, and --ignore-eos ignores them") {
  const TinyModelFolder folder;
  const auto run = [&](const Arguments& more) {
    Arguments arguments{"--target", folder.path().string(), "--raw", "--prompt", "abc", "--max-new-tokens", "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_to_json(arguments)["speculative"];
  };
  const Ids all = run({"--ignore-eos"})["ids"];
  REQUIRE(all.size() == 40);
  const auto cut = [&](const json& result, int end_token) {
    const auto place = std::find(all.begin(), all.end(), end_token);
    CHECK(result["finish_reason"] == "stop");
    CHECK(result["ids"].get<Ids>() == Ids(all.begin(), place + 1));
  };
  int unused = 1;  // an end token that does not occur before the tenth token
  while (std::find(all.begin(), all.begin() + 10, unused) != all.begin() + 10) ++unused;
  write_file(folder.path() / "generation_config.json", json{{"eos_token_id", {unused, all[9]}}}.dump());
  cut(run({}), all[9]);
  write_file(folder.path() / "generation_config.json", json{{"eos_token_id", unused}}.dump());
  json config = json::parse(content_of(folder.path() / "config.json"));
  config["eos_token_id"] = all[5];
  write_file(folder.path() / "config.json", config.dump());
  cut(run({}), all[5]);
  CHECK(run({"--ignore-eos"})["ids"].get<Ids>() == all);
}

TEST_CASE("a context that fills up ends the text with the reason context") {
  const json record = run_to_json(tiny_run({"--prompt", "abc", "--ignore-eos", "--max-new-tokens", "1000"}));
  const json& result = record["speculative"];
  CHECK(result["finish_reason"] == "context");
  CHECK(result["prompt_tokens"].get<int>() + result["tokens"].get<int>() == 64);
  CHECK(record["identical"] == true);
}

TEST_CASE("--prompt, --prompt-file and standard input give the same, without the newline at the end of a file") {
  const TemporaryFolder folder;
  write_file(folder.path() / "prompt.txt", "abcab\n");
  const json expected = run_to_json(tiny_run({"--prompt", "abcab"}))["speculative"]["ids"];
  CHECK(run_to_json(tiny_run({"--prompt-file", (folder.path() / "prompt.txt").string()}))["speculative"]["ids"] ==
        expected);
  CHECK(run_to_json(tiny_run({"--prompt-file", "-"}), "abcab")["speculative"]["ids"] == expected);
  CHECK(run_to_json(tiny_run({"--prompt=abcab"}))["prompt"] == "abcab");
}

TEST_CASE("a prompt may look like an option or a list") {
  for (const std::string prompt : {"-a", "--raw", "[a,b]", "{}", "%%"}) {
    CAPTURE(prompt);
    CHECK(run_to_json(tiny_run({"--prompt", prompt, "--max-new-tokens", "2"}))["prompt"] == prompt);
  }
}

TEST_CASE("--prompts gives one record per line, equal to single runs, and totals") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "prompts.jsonl").string();
  write_file(file, "{\"prompt\": \"abcab\"}\n\n{\"id\": 7, \"prompt\": \"cdcdc\"}\r\n{\"prompt\": \"f\"}");
  const json result = run_to_json(tiny_run({"--prompts", file, "--repeat", "3", "--ignore-eos"}));
  REQUIRE(result["records"].size() == 3);
  const std::vector<std::string> prompts{"abcab", "cdcdc", "f"};
  std::int64_t tokens = 0;
  std::int64_t proposed = 0;
  double spec_decode_s = 0.0;
  double plain_decode_s = 0.0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const json& record = result["records"][i];
    spec_decode_s += record["speculative"]["decode_s"].get<double>();
    plain_decode_s += record["baseline"]["decode_s"].get<double>();
    CHECK(contains_all(keys_of(record), kRecordKeys));
    CHECK(record["prompt"] == prompts[i]);
    CHECK(record["speculative"]["ids"] ==
          run_to_json(tiny_run({"--prompt", prompts[i], "--ignore-eos"}))["speculative"]["ids"]);
    tokens += record["speculative"]["tokens"].get<std::int64_t>();
    proposed += record["speculative"]["proposed"].get<std::int64_t>();
  }
  const json& totals = result["totals"];
  CHECK(totals["prompts"] == 3);
  CHECK(totals["speculative"]["tokens"] == tokens);
  CHECK(totals["speculative"]["proposed"] == proposed);
  CHECK(totals["speculative"]["tokens_per_pass"].get<double>() ==
        doctest::Approx(double(tokens - 3) / totals["speculative"]["target_passes"].get<double>()));
  CHECK(totals["identical"] == true);
  CHECK(totals["identical_prompts"] == 3);
  CHECK(totals["speculative"]["decode_s"].get<double>() == doctest::Approx(spec_decode_s));
  CHECK(totals["baseline"]["decode_s"].get<double>() == doctest::Approx(plain_decode_s));
  CHECK(totals["speedup"].get<double>() == doctest::Approx(plain_decode_s / spec_decode_s));
  CHECK(totals["speculative"]["acceptance_rate"].get<double>() ==
        doctest::Approx(totals["speculative"]["accepted"].get<double>() / double(proposed)));
  const ProgramResult shown = run_program(kSpecDecoding, tiny_run({"--prompts", file, "--repeat", "3"}));
  CHECK(shown.out.find("Prompt 2 of 3") != std::string::npos);
  const std::string shown_totals = shown.out.substr(shown.out.find("Totals of 3 prompts"));
  for (const char* part : {"sums over the prompts of medians of 3 runs", "acceptance rate ",
                           "decode time: speculative ", ", plain ", "speed-up: ", "identical: yes"}) {
    CAPTURE(part);
    CHECK(shown_totals.find(part) != std::string::npos);
  }
}

TEST_CASE("--trace colours accepted tokens green and corrections red, in the speculative section only") {
  const Arguments arguments = tiny_run({"--prompt", "abababab", "--ignore-eos", "--max-new-tokens", "40"});
  const std::string plain = run_program(kSpecDecoding, arguments).out;
  CHECK(plain.find('\033') == std::string::npos);
  Arguments traced_arguments = arguments;
  traced_arguments.push_back("--trace");
  const std::string traced = run_program(kSpecDecoding, traced_arguments).out;
  CHECK(traced.find("\033[32m") != std::string::npos);
  CHECK(traced.find("\033[31m") != std::string::npos);
  CHECK(traced.find('\033', traced.find("Target AR")) == std::string::npos);
}

TEST_CASE("--help names every option and --version the build, both with exit code 0") {
  const ProgramResult help = run_program(kSpecDecoding, {"--help"});
  CHECK(help.exit_code == 0);
  for (const char* option :
       {"--target", "--draft ", "--drafter",        "--gamma",    "--prompt",     "--prompt-file", "--prompts",
        "--system", "--raw",    "--max-new-tokens", "--stop",     "--ignore-eos", "--temperature", "--top-k",
        "--top-p",  "--min-p",  "--seed",           "--verifier", "--dtype",      "--threads",     "--no-baseline",
        "--repeat", "--warmup", "--trace",          "--json",     "--version",    "MINITORCH_ISA"}) {
    CAPTURE(option);
    CHECK(help.out.find(option) != std::string::npos);
  }
  const ProgramResult version = run_program(kSpecDecoding, {"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out.starts_with("run_spec_decoding "));
}

TEST_CASE("an existing result file is replaced through its link, and a device is written to, not replaced") {
  const TemporaryFolder folder;
  write_file(folder.path() / "real.json", "old");
  std::filesystem::create_symlink("real.json", folder.path() / "link.json");
  CHECK(run_program(kSpecDecoding, tiny_run({"--prompt", "a", "--json", (folder.path() / "link.json").string()}))
            .exit_code == 0);
  CHECK(std::filesystem::is_symlink(folder.path() / "link.json"));
  CHECK(json::parse(content_of(folder.path() / "real.json"))["identical"] == true);
  CHECK(run_program(kSpecDecoding, tiny_run({"--prompt", "a", "--json", "/dev/null"})).exit_code == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a standard stream that is closed is not mistaken for a result file") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "result.json";
  // What a shell makes of the command, with its standard streams closed as `closed` says.
  const auto exit_code = [&](const std::string& options, const std::string& closed) {
    std::filesystem::remove(file);
    const std::string program = MINITORCH_BINARY_DIR "/bin/run_spec_decoding";
    const int status = std::system(
        fmt::format("'{}' --max-new-tokens 4 {} --json '{}' {}", program, options, file.string(), closed).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  CHECK(exit_code("", ">&- 2>/dev/null") == 1);  // the report cannot be written
  CHECK(json::parse(content_of(file))["identical"] == true);
  CHECK(exit_code("", ">/dev/null 2>&-") == 0);
  CHECK(json::parse(content_of(file))["identical"] == true);
  CHECK(exit_code("--interactive", "<&- >/dev/null") == 0);
  CHECK(json::parse(content_of(file))["records"].empty());
  CHECK(exit_code("", "<&- >&- 2>&-") == 1);
  CHECK(json::parse(content_of(file))["identical"] == true);
}

TEST_CASE("Ctrl-C ends the run with code 130 and keeps what there is") {
  const TemporaryFolder folder;
  constexpr std::size_t kLines = 100000;  // far more than are decoded before the signal comes
  std::string lines;
  for (std::size_t i = 0; i < kLines; ++i) lines += "{\"prompt\": \"abcab\"}\n";
  write_file(folder.path() / "prompts.jsonl", lines);
  const std::filesystem::path file = folder.path() / "result.json";
  Program program(kSpecDecoding, tiny_run({"--prompts", (folder.path() / "prompts.jsonl").string(), "--repeat", "2",
                                           "--ignore-eos", "--json", file.string()}));
  while (program.out_so_far().find("Prompt 2 of") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  program.send(SIGINT);
  const ProgramResult result = program.wait();
  CHECK(result.exit_code == 130);
  CHECK(result.err == "");
  CHECK(result.out.find("Totals of ") != std::string::npos);
  const json written = json::parse(content_of(file));
  const std::size_t records = written["records"].size();
  CHECK(records >= 1);
  CHECK(records < kLines);
  CHECK(written["totals"]["prompts"] == records);
  CHECK(written["totals"]["identical"] == true);
  CHECK(written["totals"]["compared_prompts"].get<std::size_t>() >= records - 1);
}

TEST_CASE("a promised identity that is broken gives exit code 3, an absent verdict does not") {
  using minitorch::run_spec_decoding::exit_code_of;
  CHECK(exit_code_of(/*identity_promised=*/true, true) == 0);
  CHECK(exit_code_of(/*identity_promised=*/true, std::nullopt) == 0);
  CHECK(exit_code_of(/*identity_promised=*/true, false) == 3);
  CHECK(exit_code_of(/*identity_promised=*/false, false) == 0);
}
