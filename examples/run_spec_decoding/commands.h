// What can be typed in a conversation beside messages: /quit, /gamma N, ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace minitorch::run_spec_decoding {

struct QuitCommand {};
struct GammaCommand {
  std::int32_t gamma = 0;  // 0 to 1024; 0: nothing is drafted
};
struct DrafterCommand {
  std::string name;  // one of spec::drafters(); whether it has the model it needs is not checked here
};
struct TargetCommand {};  // the plain run of the target: off when it is on, and on when it is off
struct LengthCommand {
  std::int32_t max_new_tokens = 1;
};
struct TemperatureCommand {
  double temperature = 0;  // finite, at least 0, never -0
};
struct SeedCommand {
  std::uint64_t seed = 0;
};
struct ClearCommand {};
struct HelpCommand {};
// A message that begins with a slash, typed with two.
struct MessageCommand {
  std::string text;
};

using Command = std::variant<QuitCommand, GammaCommand, DrafterCommand, TargetCommand, LengthCommand,
                             TemperatureCommand, SeedCommand, ClearCommand, HelpCommand, MessageCommand>;

// Nothing when the line is a message as it stands: it does not begin with "/". White space around a value does not
// count. Throws Error with one line, which begins with the command, when the command is unknown or its value is
// missing, superfluous or bad: "/gamma: expected a whole number from 0 to 1024, got 'x'".
[[nodiscard]] std::optional<Command> parse_command(std::string_view line);

// The answer to /help: a line for each command.
inline constexpr std::string_view kCommandHelp =
    R"(/quit           end the program; so do the end of input, and Ctrl-C where a message is expected
/gamma N        most draft tokens per target pass, 0 to 1024; 0: draft nothing
/drafter NAME   who drafts: the names of --drafter
/target         also decode plainly by the target alone, to compare; again: stop that
/length N       most tokens of an answer
/temperature T  0: the most likely token; above 0: draw, the more freely the higher
/seed S         whole number from which tokens are drawn
/clear          forget the conversation; settings stay
/help           this list
//TEXT          the message "/TEXT"; other lines are messages as they stand
)";

}  // namespace minitorch::run_spec_decoding
