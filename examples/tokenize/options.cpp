// The command line of tokenize: flags and what does not go together.
#include "examples/tokenize/options.h"

#include <CLI/CLI.hpp>

#include "examples/common/program.h"

namespace minitorch::tokenize {
namespace {

constexpr const char* kExamples = R"(Examples:
  tokenize MODEL "Hello, world!"                        ids, separated by commas
  tokenize MODEL -- "->"                                texts that begin with a dash stand behind --
  tokenize MODEL < file.txt                             ids of the whole file
  tokenize MODEL --decode 9707,11,1879,0                text of ids; one list per argument or line
  tokenize MODEL --jsonl < texts.jsonl                  {"text": ...} lines to {"ids": [...]} lines
  tokenize MODEL --jsonl --decode < ids.jsonl           {"ids": [...]} lines to {"text": ...} lines
  tokenize MODEL --chat chats.jsonl                     {"messages": [...], "add_generation_prompt": true} lines
                                                        to {"text": ..., "ids": [...]} lines

Exit codes: 0 ok, 1 error, 2 usage.)";

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  CLI::App app("Text to token ids and back, by the tokenizer of a model folder.", "tokenize");
  Options options;
  std::string folder, json;
  app.add_option("DIR", folder, "Folder with tokenizer.json, tokenizer_config.json, chat_template.jinja")->required();
  app.add_option("INPUT", options.inputs,
                 "Texts, or lists of ids with --decode, or files with --jsonl and --chat; standard input without any");
  app.add_flag("--add-special", options.add_special, "Put begin and end tokens around, as the tokenizer's rule says");
  app.add_flag("--decode", options.decode, "Ids to text");
  app.add_flag("--skip-special", options.skip_special, "Leave special tokens out of decoded text");
  app.add_flag("--jsonl", options.jsonl, "Read and write JSON lines");
  app.add_flag("--chat", options.chat, "Read conversations as JSON lines and render the chat template");
  app.add_option("--json", json, "Write all results to this file")->type_name("FILE");
  parse_command_line(app, argc, argv, kExamples);

  options.folder = folder;
  if (app.count("--json") > 0) options.json = json;
  if (options.json.has_value()) check_output_name("--json", *options.json);
  if (options.json.has_value() && (options.jsonl || options.chat)) {
    for (const std::string& input : options.inputs) check_different_files("INPUT", input, "--json", *options.json);
  }
  if (options.chat && options.decode) throw UsageError("--chat does not go together with --decode");
  if (options.chat && options.add_special) {
    throw UsageError("--chat does not go together with --add-special: the template writes the special tokens");
  }
  if (options.decode && options.add_special) throw UsageError("--decode does not go together with --add-special");
  if (options.skip_special && !options.decode) throw UsageError("--skip-special has no use without --decode");
  return options;
}

}  // namespace minitorch::tokenize
