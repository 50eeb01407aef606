// The command line of inspect_model: flags and what does not go together.
#include "examples/inspect_model/options.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "examples/common/program.h"

namespace minitorch::inspect_model {
namespace {

constexpr const char* kExamples = R"(Examples:
  inspect_model MODEL
  inspect_model MODEL --ids 1,403,407 --logits logits.npy
  inspect_model MODEL --time --threads 2 --json model.json

Exit codes: 0 ok, 1 error, 2 usage.)";

std::vector<std::int32_t> ids_of(std::string_view list) {
  std::vector<std::int32_t> ids;
  while (true) {
    const std::size_t comma = list.find(',');
    ids.push_back(whole_number("--ids", list.substr(0, comma), INT32_MIN));
    if (comma == std::string_view::npos) return ids;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  CLI::App app("Shows what a model folder holds: architecture, tensors, memory, and the logits of given ids.",
               "inspect_model");
  Options options;
  std::string folder, ids, dtype = "auto", threads, logits, json;
  app.add_option("DIR", folder, "Folder of the model: config.json, *.safetensors")->required();
  app.add_flag("--tensors", options.tensors, "List every tensor");
  app.add_option("--ids", ids, "Run these token ids and print the likeliest next id of every position")
      ->type_name("ID,ID,...");
  app.add_option("--logits", logits,
                 "Write the f32 logits of every position of --ids, an array [positions, vocabulary]")
      ->type_name("FILE.npy");
  app.add_flag("--time", options.time, "Time loading, passes over 1 to 16 rows and a prefill of 256 rows");
  app.add_option("--dtype", dtype,
                 "How matrices are held: auto (bf16 where stored so), f32, bf16, int8 or int4 (8.5 or 4.5 bits)")
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_option("--threads", threads, "Threads; default: the cores this process may use")->type_name("N");
  app.add_option("--json", json, "Write the results to this file")->type_name("FILE");
  parse_command_line(app, argc, argv, std::string(kExamples) + "\n\n" + kEnvironmentHelp);

  options.folder = folder;
  options.dtype = option_value([&] { return models::weight_dtype_of(dtype); });
  if (app.count("--ids") > 0) options.ids = ids_of(ids);
  if (app.count("--threads") > 0) options.threads = whole_number("--threads", threads, 1, 1024);
  if (app.count("--logits") > 0) options.logits = logits;
  if (app.count("--json") > 0) options.json = json;
  if (options.logits.has_value() && options.ids.empty()) throw UsageError("--logits has no use without --ids");
  if (options.json.has_value()) {
    check_output_name("--json", *options.json);
    check_outside_model("--json", *options.json, options.folder);
  }
  if (options.logits.has_value()) check_output_name("--logits", *options.logits);
  if (options.json.has_value() && options.logits.has_value()) {
    check_different_files("--json", *options.json, "--logits", *options.logits);
  }
  return options;
}

}  // namespace minitorch::inspect_model
