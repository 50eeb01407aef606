// What can be typed in a conversation: every command, its values and what is refused.
#include "examples/run_spec_decoding/commands.h"

#include <doctest/doctest.h>

#include <cmath>  // std::signbit
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "minitorch/base/error.h"
#include "speculative/drafter.h"

namespace minitorch::test {
namespace {

using namespace run_spec_decoding;

template <typename Kind>
Kind command(std::string_view line) {
  CAPTURE(std::string(line));
  const std::optional<Command> result = parse_command(line);
  REQUIRE(result.has_value());
  REQUIRE(std::holds_alternative<Kind>(*result));
  return std::get<Kind>(*result);
}

// The message that refuses the line; "" when it is taken.
std::string refusal(std::string_view line) {
  try {
    static_cast<void>(parse_command(line));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string no_whole_number(std::string_view name, std::string_view from, std::string_view to, std::string_view got) {
  return fmt::format("{}: expected a whole number from {} to {}, got '{}'", name, from, to, got);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  CHECK(text == "");
  return lines;
}

}  // namespace

TEST_CASE("lines that do not begin with a slash are messages") {
  for (const char* line : {"", " ", "hello", " /quit", "quit", "1/2", "\\/quit", "\xFF"}) {
    CAPTURE(line);
    CHECK_FALSE(parse_command(line).has_value());
  }
}

TEST_CASE("two slashes begin a message with one") {
  CHECK(command<MessageCommand>("//quit").text == "/quit");
  CHECK(command<MessageCommand>("//").text == "/");
  CHECK(command<MessageCommand>("///etc is a folder ").text == "//etc is a folder ");
}

TEST_CASE("commands without a value are taken alone, and refused with one") {
  command<QuitCommand>("/quit");
  command<TargetCommand>("/target");
  command<ClearCommand>("/clear");
  command<HelpCommand>("/help");
  command<QuitCommand>("/quit \t\r");
  for (const std::string name : {"/quit", "/target", "/clear", "/help"}) {
    CHECK(refusal(name + " now") == name + ": expected no value, got 'now'");
  }
}

TEST_CASE("/gamma takes a whole number from 0 to 1024") {
  CHECK(command<GammaCommand>("/gamma 0").gamma == 0);
  CHECK(command<GammaCommand>("/gamma 8").gamma == 8);
  CHECK(command<GammaCommand>("/gamma \t1024 ").gamma == 1024);
  for (const std::string value : {"", "x", "-1", "1025", "4.5", "+4", "4 5", "99999999999999999999"}) {
    CHECK(refusal("/gamma " + value) == no_whole_number("/gamma", "0", "1024", value));
  }
  CHECK(refusal("/gamma") == no_whole_number("/gamma", "0", "1024", ""));
}

TEST_CASE("/length takes a whole number from 1") {
  CHECK(command<LengthCommand>("/length 1").max_new_tokens == 1);
  CHECK(command<LengthCommand>("/length 2147483647").max_new_tokens == std::numeric_limits<std::int32_t>::max());
  for (const std::string value : {"", "0", "-5", "2147483648", "ten", "1e3"}) {
    CHECK(refusal("/length " + value) == no_whole_number("/length", "1", "2147483647", value));
  }
}

TEST_CASE("/seed takes every whole number of 64 bits") {
  CHECK(command<SeedCommand>("/seed 0").seed == 0);
  CHECK(command<SeedCommand>("/seed 18446744073709551615").seed == std::numeric_limits<std::uint64_t>::max());
  for (const std::string value : {"", "-1", "18446744073709551616", "1 2", "0x1"}) {
    CHECK(refusal("/seed " + value) == no_whole_number("/seed", "0", "18446744073709551615", value));
  }
}

TEST_CASE("/temperature takes 0 and finite numbers above it") {
  CHECK(command<TemperatureCommand>("/temperature 0").temperature == 0.0);
  CHECK(command<TemperatureCommand>("/temperature 0.6").temperature == 0.6);
  CHECK(command<TemperatureCommand>("/temperature 1e2").temperature == 100.0);
  CHECK(command<TemperatureCommand>("/temperature .5").temperature == 0.5);
  CHECK_FALSE(std::signbit(command<TemperatureCommand>("/temperature -0.0").temperature));
  for (const std::string value :
       {"", "-0.1", "nan", "-nan", "inf", "infinity", "-inf", "1e999", "warm", "0.6x", "0,6", "0.6 0.7"}) {
    CHECK(refusal("/temperature " + value) ==
          fmt::format("/temperature: expected 0 or a finite number above it, got '{}'", value));
  }
}

TEST_CASE("/drafter takes the names of all drafters and refuses others with these names") {
  std::string names;
  for (const spec::DrafterInfo& info : spec::drafters()) {
    CHECK(command<DrafterCommand>(fmt::format("/drafter {}", info.name)).name == info.name);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  for (const std::string value : {"", "nobody", "ngram model", "Ngram"}) {
    CHECK(refusal("/drafter " + value) == fmt::format("/drafter: expected one of {}, got '{}'", names, value));
  }
}

TEST_CASE("an unknown command is refused by its name and says where the known ones are") {
  CHECK(refusal("/foo") == "unknown command '/foo' (see /help)");
  CHECK(refusal("/foo 3") == "unknown command '/foo' (see /help)");
  CHECK(refusal("/") == "unknown command '/' (see /help)");
  CHECK(refusal("/ quit") == "unknown command '/' (see /help)");
  CHECK(refusal("/QUIT") == "unknown command '/QUIT' (see /help)");
  CHECK(refusal("/gamma3") == "unknown command '/gamma3' (see /help)");
}

TEST_CASE("a refusal is one short line of valid text, whatever was typed") {
  for (const std::string line : {"/gamma \x1b[31m\xFF", "/\x1b[31m\xFF", "/drafter a\vb\x01", "/quit \x7F\x01"}) {
    CAPTURE(line);
    CHECK(refusal(line) != "");
    CHECK(refusal(line).find_first_of("\n\v\x1b\xFF\x01") == std::string::npos);
  }
  CHECK(refusal("/temperature " + std::string(10'000, '9') + "x").size() < 200);
  CHECK(refusal("/drafter " + std::string(10'000, '9')).size() < 200);
  CHECK(refusal("/" + std::string(10'000, '9')).size() < 200);
}

TEST_CASE("the help has a line for each command and no other") {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(kCommandHelp)) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
    names.push_back(line.substr(0, line.find("  ")));
    const std::string name = names.back().substr(0, names.back().find(' '));
    CHECK(refusal(name).find("unknown") == std::string::npos);
  }
  CHECK(names == std::vector<std::string>{"/quit", "/gamma N", "/drafter NAME", "/target", "/length N",
                                          "/temperature T", "/seed S", "/clear", "/help", "//TEXT"});
}

}  // namespace minitorch::test
