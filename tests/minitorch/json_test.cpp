// Reading JSON: values, and one-line errors that name the file.
#include "minitorch/io/json.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "minitorch/base/error.h"
#include "minitorch/base/utf8.h"
#include "tests/support/data.h"

namespace minitorch::io {
namespace {

using test::TemporaryFolder;
using test::write_file;

std::string error_of(const std::string& text) {
  try {
    (void)parse_json(text, "config.json");
  } catch (const IoError& error) {
    return error.what();
  }
  return "nothing thrown";
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

TEST_CASE("a JSON file is read whole") {
  const TemporaryFolder folder;
  write_file(folder.path() / "a.json", R"({"a": [1, 2.5, "x\u00e9"], "b": null})");
  const nlohmann::json value = read_json(folder.path() / "a.json");
  CHECK(value.at("a").at(1) == 2.5);
  CHECK(value.at("a").at(2) == "x\xC3\xA9");
  CHECK(value.at("b").is_null());
}

TEST_CASE("every byte of small, empty and large files is read, and of pipes where they are accepted") {
  const TemporaryFolder folder;
  for (const std::size_t size : {0UL, 1UL, 65535UL, 65536UL, 65537UL, 3000000UL}) {
    std::string content(size, 'x');
    if (size > 1) content[size / 2] = '\0';
    write_file(folder.path() / "file", content);
    CHECK(read_file(folder.path() / "file") == content);
    CHECK(read_input(folder.path() / "file") == content);
  }
  const auto pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string sent(200000, 'p');
  std::thread writer([&] { std::ofstream(pipe) << sent; });
  CHECK(read_input(pipe) == sent);
  writer.join();
  // Nobody writes to it any more: waiting for that would be for ever.
  CHECK_THROWS_WITH_AS((void)read_file(pipe),
                       (pipe.string() + ": expected a regular file, got a pipe or device").c_str(), IoError);
  CHECK_THROWS_AS((void)read_file("/dev/zero"), IoError);
}

TEST_CASE("missing files and folders are errors that name the path") {
  const TemporaryFolder folder;
  const std::string missing = (folder.path() / "none.json").string();
  CHECK_THROWS_WITH_AS((void)read_json(missing), (missing + ": cannot open: No such file or directory").c_str(),
                       IoError);
  CHECK_THROWS_WITH_AS((void)read_file(folder.path()),
                       (folder.path().string() + ": expected a regular file, got a folder").c_str(), IoError);
}

TEST_CASE("malformed JSON is an error of one line that names the file and the place") {
  for (const char* text : {"", "{", "{\"a\": }", "[1, 2", "nul", "{\"a\" 1}", "[1] x", "\"a\nb\"", "{'a': 1}",
                           "[1e999]", "\"\xFF\"", "[01]"}) {
    CAPTURE(text);
    const std::string message = error_of(text);
    CHECK(message.starts_with("config.json: malformed JSON: "));
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.find("json.exception") == std::string::npos);
    CHECK(is_valid_utf8(message));
  }
  CHECK(error_of("{\n  \"a\": }").find("line 2") != std::string::npos);
  CHECK(error_of("{\"a\": }").find("parse error at column 7") != std::string::npos);  // the name may have a line
}

TEST_CASE("the error for a long malformed text stays short") {
  CHECK(error_of('"' + std::string(1000000, 'a')).size() < 300);
}

TEST_CASE("nesting beyond 256 levels is refused and brackets in strings do not count") {
  CHECK(error_of(nested(256)) == "nothing thrown");
  CHECK(error_of(nested(257)) == "config.json: expected JSON nested at most 256 levels deep, got more at byte 256");
  CHECK(error_of(std::string(10000000, '[')).find("256 levels") != std::string::npos);
  CHECK(error_of('"' + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + '"') == "nothing thrown");
}

TEST_CASE("a key that appears twice is refused, per object") {
  const std::string twice = R"({"a": {"k": 1}, "b": {"k": 2}, "a": 3})";
  CHECK(error_of(twice) == "config.json: key \"a\" appears twice");
  CHECK(error_of(R"({"a": [{"k": 1, "k": 2}]})") == "config.json: key \"k\" appears twice");
  CHECK(error_of(R"({"a": {"k": 1}, "b": {"k": [{"k": 2}]}})") == "nothing thrown");
  CHECK(error_of(R"({"\u0061": 1, "a": 2})") == "config.json: key \"a\" appears twice");
}

}  // namespace
}  // namespace minitorch::io
