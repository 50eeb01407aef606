// Lines in, answers out.
#include "examples/run_spec_decoding/interactive.h"

#include <unistd.h>  // isatty

#include <algorithm>  // std::min
#include <cstdio>
#include <optional>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "examples/common/interrupt.h"
#include "examples/common/line_reader.h"
#include "examples/run_spec_decoding/commands.h"
#include "examples/run_spec_decoding/report.h"
#include "examples/run_spec_decoding/sampling.h"
#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/chat_template/reasoning_splitter.h"

namespace minitorch::run_spec_decoding {
namespace {

constexpr std::size_t kMaxErrorBytes = 2000;

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void complain(std::string_view message) {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", printable(message, kMaxErrorBytes));
}

// Writes one answer as it comes: the reasoning, then under a title of its own the answer.
class AnswerWriter {
 public:
  AnswerWriter(bool in_reasoning, bool coloured) : splitter_(in_reasoning), coloured_(coloured) {}

  void token(const spec::TokenEvent& event) {
    seen_bytes_ += event.text.size();
    write(splitter_.push(event.text), coloured_ ? colour_of(event.origin) : std::string_view());
  }
  // Completes the text by what was held back until an abort.
  void finish(const std::string& text) {
    write(splitter_.push(std::string_view(text).substr(std::min(seen_bytes_, text.size()))), {});
    write(splitter_.finish(), {});
    if (!at_line_start_) put("\n", {});
  }
  [[nodiscard]] bool unfinished() const { return splitter_.unfinished(); }

 private:
  void write(const models::ReasoningSplitter::Delta& delta, std::string_view colour) {
    if (delta.was_reasoning) put("\n(this was the reasoning)\n", {});
    if (!delta.reasoning.empty() && !reasoning_) {
      reasoning_ = true;
      put("reasoning:\n", {});
    }
    put(delta.reasoning, colour);
    if (!delta.answer.empty() && !answer_) {
      answer_ = true;
      if (reasoning_ || delta.was_reasoning) put(at_line_start_ ? "\nanswer:\n" : "\n\nanswer:\n", {});
    }
    put(delta.answer, colour);
  }

  void put(std::string_view text, std::string_view colour) {
    if (text.empty()) return;
    at_line_start_ = text.back() == '\n';
    say(coloured(text, colour));
  }

  models::ReasoningSplitter splitter_;
  bool coloured_;
  bool reasoning_ = false;  // its title stands
  bool answer_ = false;
  bool at_line_start_ = true;
  std::size_t seen_bytes_ = 0;
};

class Dialogue {
 public:
  Dialogue(Conversation& conversation, std::vector<Record>& records)
      : conversation_(conversation),
        records_(records),
        typed_(isatty(STDIN_FILENO) != 0),
        coloured_(conversation.options().trace || isatty(STDOUT_FILENO) != 0) {}

  // True: Ctrl-C ended it.
  bool run() {
    LineReader reader(STDIN_FILENO, "standard input", interrupt_descriptor());
    if (typed_) say("A message, or a command: /help lists them, /quit ends.\n");
    if (typed_ && conversation_.options().embedded_pair && !conversation_.options().raw) {
      say("The embedded pair was trained on single questions: /clear before each new one.\n");
    }
    while (!quit_) {
      if (typed_) say("> ");
      const LineResult input = reader.read_line();
      if (input.status != LineStatus::kLine) {
        if (typed_) say("\n");
        return input.status == LineStatus::kInterrupted;
      }
      take(input.line);
    }
    return false;
  }

 private:
  void take(const std::string& line) {
    try {
      MT_CHECK(is_valid_utf8(line), "expected UTF-8 text, byte {} of the line is not valid", valid_utf8_prefix(line));
      if (line.find_first_not_of(" \t\r") == std::string::npos) return;
      if (const std::optional<Command> command = parse_command(line); command.has_value()) {
        std::visit([this](const auto& given) { obey(given); }, *command);
      } else {
        answer(line);
      }
    } catch (const Error& error) {
      complain(error.what());
    }
    if (interrupted()) clear_interrupt();  // it was for the answer
  }

  void obey(const QuitCommand& /*command*/) { quit_ = true; }
  void obey(const GammaCommand& command) {
    conversation_.set_gamma(command.gamma);
    say(fmt::format("gamma {}\n", command.gamma));
  }
  void obey(const DrafterCommand& command) {
    conversation_.set_drafter(command.name);
    say(fmt::format("drafter {}\n", command.name));
  }
  void obey(const TargetCommand& /*command*/) {
    say(fmt::format("plain runs of the target: {}\n", conversation_.toggle_plain() ? "on" : "off"));
  }
  void obey(const LengthCommand& command) {
    conversation_.set_max_new_tokens(command.max_new_tokens);
    say(fmt::format("at most {} tokens\n", command.max_new_tokens));
  }
  void obey(const TemperatureCommand& command) {
    conversation_.set_temperature(command.temperature);
    const Settings settings = conversation_.settings();
    say(fmt::format("{}, verifier {}\n", to_string(settings.sampling), settings.verifier));
  }
  void obey(const SeedCommand& command) {
    conversation_.set_seed(command.seed);
    say(fmt::format("seed {}\n", command.seed));
  }
  void obey(const ClearCommand& /*command*/) {
    conversation_.clear();
    say("the conversation is forgotten\n");
  }
  void obey(const HelpCommand& /*command*/) { say(kCommandHelp); }
  void obey(const MessageCommand& command) { answer(command.text); }

  void answer(const std::string& message) {
    const Conversation::Input input = conversation_.input_of(message);
    const std::size_t turns_before = conversation_.num_turns();
    AnswerWriter writer(input.in_reasoning, coloured_);
    Record record = conversation_.answer(input, [&](const spec::TokenEvent& event) {
      writer.token(event);
      return true;
    });
    writer.finish(record.speculative.text);
    if (writer.unfinished()) say("(the reasoning is unfinished)\n");
    say(fmt::format("[{}]\n", summary_of(record.speculative)));
    if (!conversation_.options().raw && conversation_.num_turns() == turns_before) {
      say("(without an answer this turn is not remembered)\n");
    }
    conversation_.add_plain_run(input, record);
    if (record.baseline.has_value()) say_plain(record);
    records_.push_back(record);
  }

  void say_plain(const Record& record) const {
    if (record.baseline->finish_reason == spec::FinishReason::kAborted) return say("[target alone: stopped]\n");
    if (record.baseline->ids != record.speculative.ids) say(fmt::format("target alone:\n{}\n", record.baseline->text));
    const std::string speedup = record.speedup.has_value() ? fmt::format("{:.2f}x", *record.speedup) : "n/a";
    say(fmt::format("[target alone: {}; speed-up {}; identical: {}]\n", summary_of(*record.baseline), speedup,
                    !record.identical.has_value() ? "n/a"
                    : *record.identical           ? "yes"
                                                  : "no"));
  }

  Conversation& conversation_;
  std::vector<Record>& records_;
  bool typed_;  // somebody sits at the input
  bool coloured_;
  bool quit_ = false;
};

}  // namespace

bool converse(Conversation& conversation, std::vector<Record>& records) {
  return Dialogue(conversation, records).run();
}

}  // namespace minitorch::run_spec_decoding
