// tokenize as a user runs it: ids, text, JSON lines, conversations, and errors.
#include <nlohmann/json.hpp>

#include "tests/examples/run_program.h"

namespace minitorch::test {
namespace {

using nlohmann::json;

std::string stories() { return (data_folder() / "models/stories260K").string(); }

ProgramResult tokenize(const Arguments& arguments, std::string_view input = {}) {
  return run_program("tokenize", arguments, input);
}

// A folder with the R1-distill tokenizer, unpacked.
class R1Folder {
 public:
  R1Folder() {
    const std::filesystem::path source = data_folder() / "tokenizers/deepseek_r1_distill_qwen";
    write_file(folder_.path() / "tokenizer.json", read_xz(source / "tokenizer.json.xz"));
    for (const char* name : {"tokenizer_config.json", "chat_template.jinja"}) {
      write_file(folder_.path() / name, content_of(source / name));
    }
  }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(json::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("tokenize prints the ids of its arguments, a line for each") {
  MT_REQUIRE_DATA("models/stories260K");
  const ProgramResult result = tokenize({stories(), "Once upon a time", "", "<s>a"});
  CHECK(result.exit_code == 0);
  CHECK(result.out == "403,407,261,378\n\n1,261\n");
  CHECK(result.err == "");
}

TEST_CASE("tokenize takes everything behind -- as text") {
  MT_REQUIRE_DATA("models/stories260K");
  CHECK(tokenize({stories(), "--add-special", "--", "--help"}).out ==
        tokenize({stories(), "--add-special"}, "--help").out);
}

TEST_CASE("tokenize takes standard input as one text, newlines included") {
  MT_REQUIRE_DATA("models/stories260K");
  CHECK(tokenize({stories()}, "Once upon a time").out == "403,407,261,378\n");
  CHECK(tokenize({stories()}, "a\n").out == "261,13\n");
  CHECK(tokenize({stories()}, "").out == "\n");
}

TEST_CASE("tokenize --add-special puts the begin token in front") {
  MT_REQUIRE_DATA("models/stories260K");
  CHECK(tokenize({stories(), "--add-special", "Once upon a time", ""}).out == "1,403,407,261,378\n1\n");
}

TEST_CASE("tokenize --decode gives the text of ids in arguments or lines") {
  MT_REQUIRE_DATA("models/stories260K");
  CHECK(tokenize({stories(), "--decode", "1,403,407 261, 378", "[261]"}).out == "<s> Once upon a time\na\n");
  CHECK(tokenize({stories(), "--decode", "--skip-special", "1,403,407,261,378"}).out == "Once upon a time\n");
  CHECK(tokenize({stories(), "--decode"}, "403\n407,261\n").out == "Once\nupon a\n");
}

TEST_CASE("tokenize --jsonl answers every golden line, and --jsonl --decode goes back") {
  MT_REQUIRE_DATA("goldens/tokenize/stories260K.jsonl");
  const auto goldens = read_jsonl(data_folder() / "goldens/tokenize/stories260K.jsonl");
  std::string texts, ids;
  for (const json& golden : goldens) {
    texts += json{{"text", golden.at("text")}}.dump() + "\n";
    ids += json{{"ids", golden.at("ids")}}.dump() + "\n";
  }
  const auto encoded = lines_of(tokenize({stories(), "--jsonl"}, texts).out);
  const auto decoded = lines_of(tokenize({stories(), "--jsonl", "--decode"}, ids).out);
  REQUIRE(encoded.size() == goldens.size());
  REQUIRE(decoded.size() == goldens.size());
  for (std::size_t i = 0; i < goldens.size(); ++i) {
    CAPTURE(i);
    CHECK(encoded[i] == json{{"ids", goldens[i].at("ids")}});
    CHECK(decoded[i] == json{{"text", goldens[i].value("decoded", goldens[i].at("text").get<std::string>())}});
  }
}

TEST_CASE("tokenize --jsonl reads files too, and skips empty lines") {
  MT_REQUIRE_DATA("models/stories260K");
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "texts.jsonl").string();
  write_file(file, "{\"text\": \"a\"}\n\n{\"text\": \"\"}\r\n");
  CHECK(tokenize({stories(), "--jsonl", file, file}).out ==
        "{\"ids\":[261]}\n{\"ids\":[]}\n{\"ids\":[261]}\n{\"ids\":[]}\n");
}

TEST_CASE("tokenize --chat gives text and ids of every golden conversation") {
  MT_REQUIRE_DATA("goldens/chat/deepseek_r1_distill_qwen.jsonl");
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const R1Folder folder;
  const auto goldens = read_jsonl(data_folder() / "goldens/chat/deepseek_r1_distill_qwen.jsonl");
  std::string input;
  for (const json& golden : goldens) {
    input += json{{"messages", golden.at("messages")},
                  {"add_generation_prompt", golden.at("kwargs").at("add_generation_prompt")}}
                 .dump() +
             "\n";
  }
  const auto lines = lines_of(tokenize({folder.path(), "--chat"}, input).out);
  REQUIRE(lines.size() == goldens.size());
  for (std::size_t i = 0; i < goldens.size(); ++i) {
    CAPTURE(goldens[i].at("name").get<std::string>());
    CHECK(lines[i] == json{{"text", goldens[i].at("text")}, {"ids", goldens[i].at("ids")}});
  }
}

TEST_CASE("tokenize --json writes all results to a file, or leaves none behind on an error") {
  MT_REQUIRE_DATA("models/stories260K");
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "result.json";
  CHECK(tokenize({stories(), "--json", file.string(), "a", "é"}).exit_code == 0);
  const json result = json::parse(content_of(file));
  CHECK(result.at("tokenizer") == stories());
  CHECK(result.at("build").get<std::string>() != "");
  CHECK(result.at("results").size() == 2);
  CHECK(result.at("results")[0] == json{{"text", "a"}, {"ids", {261}}});
  CHECK(tokenize({stories(), "--json", (folder.path() / "other.json").string(), "a", "\xFF"}).exit_code == 1);
  CHECK(!std::filesystem::exists(folder.path() / "other.json"));
  CHECK(tokenize({stories(), "--json", file.string(), "--jsonl"}, "").exit_code == 0);
  CHECK(json::parse(content_of(file)).at("results").empty());
}

TEST_CASE("tokenize gives one line about bad input, with the place, and what came before it is not lost") {
  MT_REQUIRE_DATA("models/stories260K");
  const auto refused = [](const Arguments& arguments, std::string_view input = {}) {
    const ProgramResult result = tokenize(arguments, input);
    CHECK(result.exit_code == 1);
    CHECK(result.err.starts_with("tokenize: "));
    CHECK(result.err.find('\n') == result.err.size() - 1);
    return result.err;
  };
  const auto contains = [](const std::string& text, std::string_view part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(refused({"/nowhere", "a"}), "/nowhere: expected a model folder"));
  CHECK(contains(refused({stories() + "/tokenizer.json", "a"}), "got a file; its folder is " + stories()));
  CHECK(contains(refused({"/", "a"}), "/ is not a model folder (no tokenizer.json)"));
  CHECK(contains(refused({stories(), "--decode", "403,9999"}),
                 "argument 1: no token has the id 9999 (ids go from 0 to 511)"));
  CHECK(contains(refused({stories(), "--decode"}, "403\n-1\n"), "standard input: line 2: no token has the id -1"));
  CHECK(contains(refused({stories(), "--jsonl", "--decode"}, "{\"ids\": [512]}"), "line 1: no token has the id 512"));
  CHECK(contains(refused({stories(), "ok", "\xFF"}), "argument 2: encode: expected valid UTF-8"));
  CHECK(contains(refused({stories()}, "abc\xC3"),
                 "standard input: encode: expected valid UTF-8, got an invalid sequence at byte 3"));
  CHECK(contains(refused({stories(), "--jsonl"}, "{\"text\": \"a\"}\n{\"text\": \"\xFF\"}\n"),
                 "standard input: line 2: "));
  CHECK(contains(refused({stories(), "--jsonl"}, "{\"text\": 3}"), "standard input: line 1: text: expected a string"));
  CHECK(contains(refused({stories(), "--jsonl"}, "[]"), "standard input: line 1: expected a JSON object"));
  CHECK(contains(refused({stories(), "--jsonl", "/nowhere.jsonl"}), "/nowhere.jsonl: cannot be read"));
  CHECK(contains(refused({stories(), "--jsonl", "/"}), "/: cannot be read"));
  CHECK(contains(refused({stories(), "--jsonl", "--decode"}, "{\"ids\": [1.5]}"), "line 1: ids: expected integers"));
  CHECK(contains(refused({stories(), "--decode", "1,x"}), "argument 1: expected ids separated by commas"));
  CHECK(contains(refused({stories(), "--decode", "99999999999"}), "argument 1: expected ids"));
  CHECK(contains(refused({stories(), "--chat"}, "{}"), "chat template: the tokenizer came without one\n"));
  CHECK(contains(refused({stories(), "--json", "/nowhere/x.json", "a"}), "/nowhere/x.json"));
  CHECK(tokenize({stories(), "--jsonl"}, "{\"text\": \"a\"}\n{").out == "{\"ids\":[261]}\n");
}

TEST_CASE("tokenize writes results through a link, refuses to read and write one file, and lets nothing remain") {
  MT_REQUIRE_DATA("models/stories260K");
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "real").string();
  write_file(file, "{\"text\": \"a\"}\n");
  const ProgramResult same = tokenize({stories(), "--jsonl", file, "--json", file});
  CHECK(same.exit_code == 2);
  CHECK(same.err.find("INPUT and --json name the same file") != std::string::npos);
  std::filesystem::create_symlink("real", folder.path() / "link");
  CHECK(tokenize({stories(), "a", "--json", (folder.path() / "link").string()}).exit_code == 0);
  CHECK(std::filesystem::is_symlink(folder.path() / "link"));
  CHECK(json::parse(content_of(file)).at("results").size() == 1);
}

TEST_CASE("tokenize --chat names the line and the message it cannot use") {
  MT_REQUIRE_DATA("tokenizers/deepseek_r1_distill_qwen");
  const R1Folder folder;
  const auto error = [&](std::string_view input) { return tokenize({folder.path(), "--chat"}, input).err; };
  CHECK(error("{}").find("standard input: line 1: messages: expected an array") != std::string::npos);
  CHECK(error("{\"messages\": []}\n{\"messages\": [{\"content\": \"a\"}]}")
            .find("line 2: messages[0]: role: expected a string") != std::string::npos);
  CHECK(error("{\"messages\": [{\"role\": \"user\"}]}")
            .find("line 1: chat: message 0: expected a role \"user\" to have content") != std::string::npos);
}

TEST_CASE("tokenize exits with 2 on a command line that makes no sense, and says why in one line") {
  for (const Arguments& arguments : {Arguments{},
                                     {"x", "--nonsense"},
                                     {"x", "--chat", "--decode"},
                                     {"x", "--chat", "--add-special"},
                                     {"x", "--decode", "--add-special"},
                                     {"x", "--skip-special"},
                                     {"x", "--json"}}) {
    const ProgramResult result = tokenize(arguments);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.starts_with("tokenize: "));
    CHECK(result.err.find('\n') == result.err.size() - 1);
    CHECK(result.out == "");
  }
}

TEST_CASE("tokenize --help shows examples, and --version the build") {
  const ProgramResult help = tokenize({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.out.find("Examples:") != std::string::npos);
  CHECK(help.out.find("--add-special") != std::string::npos);
  CHECK(help.err == "");
  const ProgramResult version = tokenize({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out.starts_with("tokenize "));
}

}  // namespace minitorch::test
