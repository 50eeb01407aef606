// The command line of quantize: flags and what does not go together.
#include "examples/quantize/options.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "examples/common/program.h"
#include "minitorch/base/utf8.h"
#include "models/weights.h"

namespace minitorch::quantize {
namespace {

constexpr const char* kExamples = R"(Examples:
  quantize MODEL MODEL-int8 --dtype int8
  quantize MODEL MODEL-int8 --dtype int8 --text article.txt --json report.json
  quantize MODEL MODEL-packed --dtype bf16 --threads 2 --force

Exit codes: 0 ok, 1 error, 2 usage, 130 interrupted.)";

std::string format_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, format] : models::packed_formats()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

kernels::PackedFormat format_of(const std::string& name) {
  const auto formats = models::packed_formats();
  const auto found = formats.find(name);
  if (found != formats.end()) return found->second;
  throw UsageError(fmt::format("--dtype: expected one of {}, got '{}'", format_names(), printable(name, 60)));
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  CLI::App app(
      "Writes a model folder whose weights are packed once, to be loaded as they are, and says what that costs.",
      "quantize");
  Options options;
  std::string source, output, dtype, threads, text, json;
  app.add_option("SOURCE", source, "Folder of the model: config.json, *.safetensors")->required();
  app.add_option("OUTPUT", output, "Folder to make; must not exist or be empty")->required();
  app.add_option("--dtype", dtype, fmt::format("How matrices are packed: {}", format_names()))
      ->type_name("TYPE")
      ->required();
  app.add_flag("--force", options.force, "Replace OUTPUT where it is a packed model already");
  app.add_option("--text", text, "Compare the packed model with SOURCE on this text; '-' is standard input")
      ->type_name("FILE");
  app.add_option("--threads", threads, "Threads; default: the cores this process may use")->type_name("N");
  app.add_option("--json", json, "Write the results to this file")->type_name("FILE");
  parse_command_line(app, argc, argv, std::string(kExamples) + "\n\n" + kEnvironmentHelp);

  options.source = source;
  options.output = output;
  options.format = format_of(dtype);
  if (app.count("--threads") > 0) options.threads = whole_number("--threads", threads, 1, 1024);
  if (app.count("--text") > 0) options.text = text;
  if (app.count("--json") > 0) options.json = json;
  if (options.json.has_value()) {
    check_output_name("--json", *options.json);
    check_outside_model("--json", *options.json, options.source);
    check_outside_model("--json", *options.json, options.output);
  }
  if (options.json.has_value() && options.text.has_value() && *options.text != "-") {
    check_different_files("--text", *options.text, "--json", *options.json);
  }
  return options;
}

}  // namespace minitorch::quantize
