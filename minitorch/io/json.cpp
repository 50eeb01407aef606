// JSON text to values: depth limit, duplicate keys, and the parser's messages in one line.
#include "minitorch/io/json.h"

#include <algorithm>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/file.h"

namespace minitorch::io {
namespace {

using nlohmann::json;

// The parser itself is iterative, but code that walks a value is not: deep nesting must not exhaust the stack.
void check_depth(std::string_view text, std::string_view name) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      MT_CHECK_AS(IoError, ++depth <= kMaxJsonDepth,
                  "{}: expected JSON nested at most {} levels deep, got more at byte {}", name, kMaxJsonDepth, i);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

// Without the library's own prefix, "[json.exception.parse_error.101] ", and in a text of one line without the number
// of that line: the name in front may have another one.
std::string message_of(const json::exception& error, std::string_view parsed) {
  std::string_view text = error.what();
  if (const std::size_t bracket = text.find("] "); bracket != std::string_view::npos) text.remove_prefix(bracket + 2);
  constexpr std::string_view kPlace = "parse error at line 1, ";
  const bool one_line = parsed.find('\n') == std::string_view::npos;
  if (one_line && text.starts_with(kPlace)) return "parse error at " + printable(text.substr(kPlace.size()));
  return printable(text);
}

// `expected` bytes are likely to come.
std::string read_to_end(InputFile& file, std::size_t expected) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
  std::string content;
  content.resize(expected + 1);  // one more, to see the end
  std::size_t used = 0;
  while (true) {
    MT_CHECK_AS(IoError, used <= kMaxBytes, "{}: expected at most {} bytes, got more", file.path().string(), kMaxBytes);
    if (content.size() == used) content.resize(std::max(2 * used, kBlock));
    const std::size_t count = file.read_some(std::as_writable_bytes(std::span(content).subspan(used)));
    if (count == 0) break;
    used += count;
  }
  content.resize(used);
  return content;
}

// A parser callback that refuses an object with the same key twice.
class KeyGuard {
 public:
  explicit KeyGuard(std::string_view name) : name_(name) {}

  bool operator()(int /*depth*/, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      MT_CHECK_AS(IoError, keys_.back().insert(key).second, "{}: key \"{}\" appears twice", name_, printable(key));
    }
    return true;
  }

 private:
  std::string_view name_;
  std::vector<std::set<std::string>> keys_;  // of the objects being read, outermost first
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  InputFile file(path);
  return read_to_end(file, static_cast<std::size_t>(file.regular_size()));
}

std::string read_input(const std::filesystem::path& path) {
  InputFile file = path == "-" ? InputFile::standard_input() : InputFile(path, Accept::kPipesAndDevices);
  return read_to_end(file, 0);
}

std::string name_of_input(const std::filesystem::path& path) { return path == "-" ? "standard input" : path.string(); }

json parse_json(std::string_view text, std::string_view name) {
  check_depth(text, name);
  try {
    return json::parse(text, [guard = KeyGuard(name)](int depth, json::parse_event_t event, json& value) mutable {
      return guard(depth, event, value);
    });
  } catch (const json::exception& error) {
    fail<IoError>("{}: malformed JSON: {}", name, message_of(error, text));
  }
}

json read_json(const std::filesystem::path& path) { return parse_json(read_file(path), path.string()); }

}  // namespace minitorch::io
