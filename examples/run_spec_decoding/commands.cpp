// A table of commands, each with the function that reads its value.
#include "examples/run_spec_decoding/commands.h"

#include <algorithm>
#include <charconv>
#include <cmath>  // std::isfinite
#include <limits>
#include <system_error>  // std::errc

#include "examples/common/program.h"
#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "speculative/drafter.h"

namespace minitorch::run_spec_decoding {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
constexpr std::int32_t kMaxGamma = 1024;
constexpr std::size_t kShownBytes = 60;

// The number that is all of the text; nothing when there is none, or it has no place in the type.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

double read_temperature(std::string_view name, std::string_view value) {
  const std::optional<double> number = number_in<double>(value);
  MT_CHECK(number.has_value() && std::isfinite(*number) && *number >= 0,
           "{}: expected 0 or a finite number above it, got '{}'", name, printable(value, kShownBytes));
  return *number + 0.0;  // -0 becomes 0
}

std::uint64_t read_seed(std::string_view name, std::string_view value) {
  const std::optional<std::uint64_t> number = number_in<std::uint64_t>(value);
  MT_CHECK(number.has_value(), "{}: expected a whole number from 0 to {}, got '{}'", name,
           std::numeric_limits<std::uint64_t>::max(), printable(value, kShownBytes));
  return *number;
}

std::string read_drafter(std::string_view value) {
  try {
    return std::string(spec::find_drafter(printable(value, kShownBytes)).name);
  } catch (const Error& error) {
    fail<Error>("/{}", error.what());
  }
}

template <typename Bare>
Command read_bare(std::string_view name, std::string_view value) {
  MT_CHECK(value.empty(), "{}: expected no value, got '{}'", name, printable(value, kShownBytes));
  return Bare{};
}

struct Entry {
  std::string_view name;
  Command (*read)(std::string_view name, std::string_view value);
};

constexpr Entry kEntries[] = {
    {"/quit", read_bare<QuitCommand>},
    {"/gamma",
     [](std::string_view name, std::string_view value) -> Command {
       return GammaCommand{whole_number(name, value, 0, kMaxGamma)};
     }},
    {"/drafter",
     [](std::string_view, std::string_view value) -> Command { return DrafterCommand{read_drafter(value)}; }},
    {"/target", read_bare<TargetCommand>},
    {"/length",
     [](std::string_view name, std::string_view value) -> Command {
       return LengthCommand{whole_number(name, value, 1)};
     }},
    {"/temperature",
     [](std::string_view name, std::string_view value) -> Command {
       return TemperatureCommand{read_temperature(name, value)};
     }},
    {"/seed",
     [](std::string_view name, std::string_view value) -> Command { return SeedCommand{read_seed(name, value)}; }},
    {"/clear", read_bare<ClearCommand>},
    {"/help", read_bare<HelpCommand>},
};

std::string_view trimmed(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
  return text.substr(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
}

}  // namespace

std::optional<Command> parse_command(std::string_view line) {
  if (!line.starts_with('/')) return std::nullopt;
  if (line.starts_with("//")) return MessageCommand{std::string(line.substr(1))};
  const std::string_view name = line.substr(0, line.find_first_of(kWhiteSpace));
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.read(name, trimmed(line.substr(name.size())));
  }
  fail<Error>("unknown command '{}' (see /help)", printable(name, kShownBytes));
}

}  // namespace minitorch::run_spec_decoding
