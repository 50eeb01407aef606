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

// Without the library's own prefix, "[json.exception.parse_error.101] ".
std::string message_of(const json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t bracket = text.find("] ");
  return printable(bracket == std::string_view::npos ? text : text.substr(bracket + 2));
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
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  InputFile file(path);
  std::error_code no_size;  // pipes and devices have none
  const auto expected = std::filesystem::is_regular_file(path, no_size) ? std::filesystem::file_size(path, no_size) : 0;
  std::string content;
  std::size_t used = 0;
  if (!no_size) content.resize(static_cast<std::size_t>(expected) + 1);  // one more, to see the end
  while (true) {
    if (content.size() == used) content.resize(std::max(2 * used, kBlock));
    const std::size_t count = file.read_some(std::as_writable_bytes(std::span(content).subspan(used)));
    if (count == 0) break;
    used += count;
  }
  content.resize(used);
  return content;
}

json parse_json(std::string_view text, std::string_view name, DuplicateKeys duplicates) {
  check_depth(text, name);
  try {
    if (duplicates == DuplicateKeys::kLastWins) return json::parse(text);
    return json::parse(text, [guard = KeyGuard(name)](int depth, json::parse_event_t event, json& value) mutable {
      return guard(depth, event, value);
    });
  } catch (const json::exception& error) {
    fail<IoError>("{}: malformed JSON: {}", name, message_of(error));
  }
}

json read_json(const std::filesystem::path& path) { return parse_json(read_file(path), path.string()); }

}  // namespace minitorch::io
