// The command line of run_spec_decoding: flags, defaults and what does not go together.
#include "examples/run_spec_decoding/options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "examples/common/program.h"
#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/embedded_pair.h"
#include "speculative/drafter.h"
#include "speculative/verifier.h"

namespace minitorch::run_spec_decoding {
namespace {

constexpr const char* kExamples = R"(Examples:
  run_spec_decoding                                  a sample prompt, decoded by the embedded pair of models
  run_spec_decoding --prompt "Mia had 5 pens. Mia lost 2 pens. How many pens does Mia have now?" --trace
  run_spec_decoding --interactive
  run_spec_decoding --target MODEL --prompt "What is 12 * 7 + 5?"
  run_spec_decoding --target MODEL --draft SMALLER_MODEL --gamma 6 --prompt "What is 12 * 7 + 5?"
  run_spec_decoding --target MODEL --raw --prompt "Once upon a time" --max-new-tokens 64 --json result.json
  run_spec_decoding --target MODEL --prompts questions.jsonl --warmup 1 --repeat 5
  run_spec_decoding --target MODEL --prompt "Name a colour." --temperature 0.8 --top-p 0.95 --seed 7

Counting: a target pass yields the draft tokens it accepts and one token of the target's own; both count in "tokens
per pass", draft tokens alone in the acceptance rate. An end token counts. The first token comes from the pass over the
prompt (prefill), which is timed apart and in no rate. What stands behind an end token, stop string or limit is not
counted.

Exit codes: 0 ok, 1 error, 2 usage, 3 the speculative text differs from plain decoding, 130 interrupted.)";

constexpr std::int32_t kMaxRuns = 1'000'000;

// Values as they are typed, before they are checked.
struct Raw {
  std::string target, draft, drafter, prompt, prompt_file, prompts_file, system, json;
  std::string dtype = "auto";
  std::string verifier = "auto";
  bool no_baseline = false;
};

template <typename... Args>
void expect(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

std::string drafter_help() {
  std::string help = "Who drafts:";
  for (const spec::DrafterInfo& info : spec::drafters()) help += fmt::format(" {} ({}),", info.name, info.summary);
  help.back() = '.';
  return help + " Default: model with --draft or the embedded pair, ngram with --target alone";
}

std::string verifier_help() {
  std::string help = "Who decides which draft tokens stand:";
  for (const spec::VerifierInfo& info : spec::verifiers()) help += fmt::format(" {} ({}),", info.name, info.summary);
  return help + " or auto: greedy at temperature 0, coupled above";
}

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  expect(error == std::errc() && end == text.data() + text.size(),
         "--seed: expected a whole number from 0 to 2^64 - 1, got '{}'", printable(text, 60));
  return seed;
}

// An option with a whole number as value.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::int32_t& value, std::int32_t min, std::int32_t max,
                        const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [=, &value](const std::string& text) { value = whole_number(name, text, min, max); }, help)
      ->type_name("N");
}

void add_input_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--target", raw.target,
                 "Folder of the model: config.json, tokenizer.json, *.safetensors; default: the embedded pair")
      ->type_name("DIR");
  app.add_option("--draft", raw.draft,
                 "Folder of a smaller model with the target's tokens, which drafts; goes with --target")
      ->type_name("DIR");
  app.add_option("--prompt", raw.prompt, "The prompt; without any, a sample prompt is decoded")->type_name("TEXT");
  app.add_option("--prompt-file", raw.prompt_file,
                 "Read the prompt from a file, - for stdin; a newline at its end is not part of it, all else is")
      ->type_name("FILE");
  app.add_option("--prompts", raw.prompts_file, "Many prompts: a file of lines {\"prompt\": TEXT}")
      ->type_name("FILE.jsonl");
  app.add_option("--system", raw.system, "System text of the conversation")->type_name("TEXT");
  app.add_flag("--raw", options.raw, "Continue the prompt as it is, without the chat template");
  app.add_flag("--interactive", options.interactive,
               "A conversation: messages and commands from standard input, /help lists the commands");
}

void add_decoding_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--drafter", raw.drafter, drafter_help())->type_name("NAME");
  add_number(app, "--gamma", options.gamma, 1, INT32_MAX,
             "Most draft tokens per target pass; --drafter none decodes plainly")
      ->default_str(std::to_string(options.gamma));
  add_number(app, "--max-new-tokens", options.max_new_tokens, 1, INT32_MAX,
             "Most tokens to generate, an end token included")
      ->default_str(std::to_string(options.max_new_tokens));
  app.add_option("--stop", options.stop_strings, "End the text before this string; may be given several times")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_flag("--ignore-eos", options.ignore_eos, "Do not end at end tokens");
}

// An option with a real number as value.
CLI::Option* add_real(CLI::App& app, const std::string& name, std::optional<double>& value, double max,
                      const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [=, &value](const std::string& text) { value = real_number(name, text, 0.0, max); }, help)
      ->type_name(name == "--temperature" ? "T" : "P");
}

void add_sampling_options(CLI::App& app, Options& options, Raw& raw) {
  add_real(app, "--temperature", options.temperature, std::numeric_limits<double>::max(),
           "0: the most likely token; above: sample from softmax(logits / T). Default of this and the next three: the "
           "model's generation_config.json, or else 0 and no restriction");
  app.add_option_function<std::string>(
         "--top-k", [&](const std::string& text) { options.top_k = whole_number("--top-k", text, 0); },
         "Sample among the K most likely tokens; 0: all")
      ->type_name("K");
  add_real(app, "--top-p", options.top_p, 1.0,
           "Sample among the fewest most likely tokens whose probabilities sum to P; 1: all");
  add_real(app, "--min-p", options.min_p, 1.0,
           "Sample among tokens at least P times as likely as the most likely one; 0: all");
  app.add_option_function<std::string>(
         "--seed", [&](const std::string& text) { options.seed = seed_of(text); },
         "The same seed gives the same text, drafted or not (default 0)")
      ->type_name("S");
  app.add_option("--verifier", raw.verifier, verifier_help())->type_name("NAME")->capture_default_str();
}

void add_run_options(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--dtype", raw.dtype,
                 "How matrices are held: auto (bf16 where stored so), f32, bf16, int8 or int4 (8.5 or 4.5 bits)")
      ->type_name("TYPE")
      ->capture_default_str();
  add_number(app, "--threads", options.threads, 1, 1024, "Threads; default: the cores this process may use");
  app.add_flag("--no-baseline", raw.no_baseline, "Do not decode plainly for comparison");
  add_number(app, "--repeat", options.repeat, 1, kMaxRuns,
             "Measured runs, speculative and plain in turn; medians are reported")
      ->default_str(std::to_string(options.repeat));
  add_number(app, "--warmup", options.warmup, 0, kMaxRuns, "Runs before them that are not measured")
      ->default_str(std::to_string(options.warmup));
  app.add_flag("--trace", options.trace,
               "Colour the text: accepted draft tokens green, corrections red, bonus tokens plain");
  app.add_option("--json", raw.json, "Write the results to this file")->type_name("FILE");
}

std::optional<std::string> given(const CLI::App& app, const char* name, const std::string& value) {
  return app.count(name) > 0 ? std::optional(value) : std::nullopt;
}

void check_drafter(const std::string& name) {
  option_value([&] { return &spec::find_drafter(name); });
}

void check_verifier(const std::string& name) {
  std::string known = "auto";
  for (const spec::VerifierInfo& info : spec::verifiers()) known += fmt::format(", {}", info.name);
  const bool found = name == "auto" || std::any_of(spec::verifiers().begin(), spec::verifiers().end(),
                                                   [&](const spec::VerifierInfo& info) { return info.name == name; });
  expect(found, "--verifier: expected one of {}, got '{}'", known, printable(name, 60));
}

void check_files(const Options& options) {
  if (!options.json.has_value()) return;
  check_output_name("--json", *options.json);
  check_outside_model("--json", *options.json, options.target);
  if (options.draft.has_value()) check_outside_model("--json", *options.json, *options.draft);
  if (options.interactive || options.prompt_file == "-" || options.prompts_file == "-")
    check_different_files("standard input", "/dev/stdin", "--json", *options.json);
  if (options.prompt_file.has_value())
    check_different_files("--prompt-file", *options.prompt_file, "--json", *options.json);
  if (options.prompts_file.has_value())
    check_different_files("--prompts", *options.prompts_file, "--json", *options.json);
}

void check_texts(const Options& options) {
  const int sources =
      int{options.prompt.has_value()} + int{options.prompt_file.has_value()} + int{options.prompts_file.has_value()};
  expect(sources <= 1, "expected one of --prompt, --prompt-file and --prompts, got several");
  expect(!options.interactive || sources == 0, "--interactive reads messages itself: expected no prompt beside it");
  expect(!options.raw || !options.system.has_value(), "--system has no place in a --raw prompt");
  expect(is_valid_utf8(options.system.value_or("")), "--system: expected UTF-8 text");
  for (const std::string& stop : options.stop_strings) {
    expect(!stop.empty() && is_valid_utf8(stop), "--stop: expected some UTF-8 text, got '{}'", stop);
  }
}

// Who drafts for whom, as far as the command line says so.
void choose_models(Options& options, const CLI::App& app, const Raw& raw) {
  const bool has_target = app.count("--target") > 0;
  const bool has_draft = app.count("--draft") > 0;
  for (const auto& [name, value] : {std::pair("--target", &raw.target), std::pair("--draft", &raw.draft)}) {
    expect(app.count(name) == 0 || !value->empty(), "{}: expected a model folder, got ''", name);
  }
  expect(has_target || !has_draft, "--draft: expected --target DIR too, got none");
  options.drafter = has_draft || !has_target ? "model" : "ngram";
  if (app.count("--drafter") > 0) options.drafter = raw.drafter;
  check_drafter(options.drafter);
  const bool is_model = options.drafter == "model";
  expect(!has_draft || is_model, "--draft: goes with --drafter model, got --drafter {}", options.drafter);
  expect(!has_target || has_draft || !is_model,
         "--drafter model: expected --draft DIR, the folder of a smaller model with the target's tokens, got none");
  options.target = raw.target;
  if (has_draft) options.draft = raw.draft;
}

// What choose_models left open: the last step, so that an absent pair hides no mistake in the command line.
void fill_in_embedded_pair(Options& options) {
  if (!options.target.empty()) return;
  try {
    const std::filesystem::path pair = models::find_embedded_pair();
    options.target = pair / "target";
    options.embedded_pair = true;
    if (options.drafter == "model") options.draft = pair / "draft";
  } catch (const Error& error) {
    fail<Error>("{}; --target DIR gives a model of your own", error.what());
  }
}

// CLI11 takes the argument behind "--prompt=" for its value. Split such options of texts that may be empty, so that
// they are.
std::vector<const char*> split_empty_values(int argc, const char* const* argv, std::vector<std::string>& names) {
  std::vector<const char*> arguments;
  names.reserve(static_cast<std::size_t>(argc));  // pointers into it stay valid
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--prompt=" || argument == "--system=" || argument == "--stop=") {
      arguments.push_back(names.emplace_back(argument.substr(0, argument.size() - 1)).c_str());
      arguments.push_back("");
    } else {
      arguments.push_back(argv[i]);
    }
  }
  return arguments;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  CLI::App app("Decodes a prompt speculatively and plainly, and compares texts and times.", "run_spec_decoding");
  Options options;
  Raw raw;
  add_input_options(app, options, raw);
  add_decoding_options(app, options, raw);
  add_sampling_options(app, options, raw);
  add_run_options(app, options, raw);
  std::vector<std::string> names;
  const std::vector<const char*> arguments = split_empty_values(argc, argv, names);
  parse_command_line(app, static_cast<int>(arguments.size()), arguments.data(),
                     std::string(kExamples) + "\n\n" + kEnvironmentHelp);

  options.prompt = given(app, "--prompt", raw.prompt);
  options.prompt_file = given(app, "--prompt-file", raw.prompt_file);
  options.prompts_file = given(app, "--prompts", raw.prompts_file);
  options.system = given(app, "--system", raw.system);
  options.json = given(app, "--json", raw.json);
  options.baseline = !raw.no_baseline;
  options.dtype = option_value([&] { return models::weight_dtype_of(raw.dtype); });
  check_verifier(raw.verifier);
  options.verifier = raw.verifier;
  choose_models(options, app, raw);
  check_texts(options);
  for (const char* option : {"--repeat", "--warmup"}) {
    expect(!options.interactive || app.count(option) == 0, "{}: has no place in --interactive", option);
  }
  check_files(options);
  fill_in_embedded_pair(options);
  return options;
}

}  // namespace minitorch::run_spec_decoding
