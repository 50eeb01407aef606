// tokenize: text to token ids and back, by the tokenizer of a model folder.
//   tokenize MODEL "Hello, world!"
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "examples/common/program.h"
#include "examples/tokenize/options.h"
#include "examples/tokenize/results.h"
#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/file.h"
#include "minitorch/io/json.h"
#include "models/chat_template/chat_json.h"
#include "models/chat_template/chat_template.h"
#include "models/json_fields.h"
#include "models/tokenizer/tokenizer.h"

namespace minitorch::tokenize {
namespace {

using Json = nlohmann::ordered_json;
using Ids = std::vector<std::int32_t>;
// `where` names the place in the input, for messages.
using Handle = std::function<void(const std::string& line, const std::string& where)>;

void each_line(std::istream& stream, const std::string& name, const Handle& handle) {
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos) handle(line, fmt::format("{}: line {}", name, number));
  }
  MT_CHECK_AS(IoError, !stream.bad(), "{}: cannot be read", name);
}

// As they come. std::cin takes a closed standard input for an empty one.
void each_line_of_stdin(const Handle& handle) {
  static_cast<void>(io::InputFile::standard_input());
  each_line(std::cin, "standard input", handle);
}

// The lines of all files, of standard input without any.
void each_line(const std::vector<std::string>& files, const Handle& handle) {
  if (files.empty()) return each_line_of_stdin(handle);
  for (const std::string& file : files) {
    if (file == "-") {
      each_line_of_stdin(handle);
      continue;
    }
    std::ifstream stream(file, std::ios::binary);
    MT_CHECK_AS(IoError, stream.is_open(), "{}: cannot be read", file);
    each_line(stream, file, handle);
  }
}

// Ids separated by commas or spaces.
Ids parse_ids(std::string_view text, const std::string& where) {
  Ids ids;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    if (*at == ',' || *at == ' ' || *at == '\t' || *at == '\r' || *at == '[' || *at == ']') {
      ++at;
      continue;
    }
    std::int32_t id = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), id);
    MT_CHECK(error == std::errc(), "{}: expected ids separated by commas, got \"{}\"", where, printable(text, 60));
    ids.push_back(id);
    at = end;
  }
  return ids;
}

Ids ids_of(const nlohmann::json& value, const std::string& where) {
  const bool is_array = value.is_object() && value.contains("ids") && value["ids"].is_array();
  MT_CHECK_AS(IoError, is_array, "{}: expected {{\"ids\": [...]}}", where);
  Ids ids;
  for (const nlohmann::json& id : value["ids"]) {
    const bool fits =
        id.is_number_integer() && id.get<std::int64_t>() >= INT32_MIN && id.get<std::int64_t>() <= INT32_MAX;
    MT_CHECK_AS(IoError, fits, "{}: ids: expected integers of 32 bits", where);
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

class Program {
 public:
  explicit Program(const Options& options)
      : options_(options),
        results_(options.folder, options.json),
        tokenizer_(models::Tokenizer::from_directory(options.folder)) {
    if (options.chat) template_ = models::make_chat_template(tokenizer_);
  }

  void run() {
    if (options_.chat) {
      each_line(options_.inputs, [&](const std::string& line, const std::string& where) { render(line, where); });
    } else if (options_.jsonl) {
      each_line(options_.inputs, [&](const std::string& line, const std::string& where) { convert_json(line, where); });
    } else if (options_.decode && options_.inputs.empty()) {
      each_line_of_stdin(
          [&](const std::string& line, const std::string& where) { decode(parse_ids(line, where), where); });
    } else if (options_.inputs.empty()) {
      encode(io::read_input("-"), "standard input");
    } else {
      for (std::size_t i = 0; i < options_.inputs.size(); ++i) {
        const std::string where = fmt::format("argument {}", i + 1);
        options_.decode ? decode(parse_ids(options_.inputs[i], where), where) : encode(options_.inputs[i], where);
      }
    }
    results_.finish();
  }

 private:
  // The name of the place in front of what encode complains about.
  Ids encoded(const std::string& text, bool add_special, const std::string& where) const {
    try {
      return tokenizer_.encode(text, add_special);
    } catch (const Error& error) {
      fail<Error>("{}: {}", where, error.what());
    }
  }

  void encode(const std::string& text, const std::string& where) {
    const Ids ids = encoded(text, options_.add_special, where);
    results_.add(fmt::format("{}", fmt::join(ids, ",")), {{"text", text}, {"ids", ids}});
  }

  // The library gives ids without a token no text; who types one is told.
  std::string decoded(const Ids& ids, const std::string& where) const {
    for (const std::int32_t id : ids) {
      MT_CHECK(tokenizer_.has_id(id), "{}: no token has the id {} (ids go from 0 to {})", where, id,
               tokenizer_.size() - 1);
    }
    return tokenizer_.decode(ids, options_.skip_special);
  }

  void decode(const Ids& ids, const std::string& where) {
    const std::string text = decoded(ids, where);
    results_.add(text, {{"ids", ids}, {"text", text}});
  }

  void convert_json(const std::string& line, const std::string& where) {
    const nlohmann::json value = io::parse_json(line, where);
    if (options_.decode) {
      const Ids ids = ids_of(value, where);
      const std::string text = decoded(ids, where);
      return results_.add(json_line({{"text", text}}), {{"ids", ids}, {"text", text}});
    }
    const models::JsonFields fields(value, where);
    const auto text = fields.text("text");
    if (!text) fields.refuse("text", "a string");
    const Ids ids = encoded(*text, options_.add_special, where);
    results_.add(json_line({{"ids", ids}}), {{"text", *text}, {"ids", ids}});
  }

  void render(const std::string& line, const std::string& where) {
    const nlohmann::json value = io::parse_json(line, where);
    const models::JsonFields fields(value, where);
    const nlohmann::json* messages = fields.find("messages");
    if (messages == nullptr) fields.refuse("messages", "an array of messages");
    const bool add_generation_prompt = fields.boolean("add_generation_prompt").value_or(false);
    std::string text;
    try {
      text = template_->render(models::parse_chat_messages(*messages, "messages"), add_generation_prompt);
    } catch (const Error& error) {
      fail<Error>("{}: {}", where, error.what());
    }
    const Json record = {{"text", text}, {"ids", encoded(text, /*add_special=*/false, where)}};
    results_.add(json_line(record), record);
  }

  const Options& options_;
  Results results_;
  models::Tokenizer tokenizer_;
  std::unique_ptr<models::ChatTemplate> template_;
};

int run(const Options& options) {
  std::ios::sync_with_stdio(false);
  Program(options).run();
  return kExitOk;
}

}  // namespace
}  // namespace minitorch::tokenize

int main(int argc, char** argv) {
  using namespace minitorch;
  return run_program("tokenize", [&] { return tokenize::run(tokenize::parse_options(argc, argv)); });
}
