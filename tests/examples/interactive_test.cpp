// run_spec_decoding --interactive: at a terminal, through pipes, and its conversation from inside.
#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

#include "examples/run_spec_decoding/conversation.h"
#include "minitorch/base/error.h"
#include "tests/examples/pty_program.h"
#include "tests/examples/spec_decoding_folders.h"
#include "tests/examples/tiny_r1_pair.h"

namespace minitorch::test {
namespace {

using run_spec_decoding::Conversation;
using run_spec_decoding::ModelPair;
using run_spec_decoding::Options;
using run_spec_decoding::Record;

constexpr const char* kQuestion = "Mia had 5 pens. Mia lost 2 pens. How many pens does Mia have now?";
constexpr const char* kOther = "Sam had 12 books. Sam bought 7 books. How many books does Sam have now?";

Options pair_options() {
  Options options;
  options.target = pair_folder() / "target";
  options.draft = pair_folder() / "draft";
  options.drafter = "model";
  return options;
}

ModelPair& loaded_pair() {
  static ModelPair models = run_spec_decoding::load_models(pair_options(), default_runtime());
  return models;
}

std::string text_of(const Conversation::Input& input) {
  return loaded_pair().target.tokenizer.decode(input.ids, /*skip_special_tokens=*/false);
}

Record ask(Conversation& conversation, const std::string& message) {
  const Conversation::Input input = conversation.input_of(message);
  Record record = conversation.answer(input, {});
  conversation.add_plain_run(input, record);
  return record;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("at a terminal: answers in colour, commands between them, and the end of input ends the program") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program(built_program(kSpecDecoding), {"--interactive", "--threads", "1"});
  program.expect("> ");
  program.send_line(kQuestion);
  program.expect("reasoning:\n");
  program.expect("\033[32m");  // an accepted draft token
  program.expect("answer:\n");
  program.expect(", stop]\n");
  program.expect("> ");
  program.send_line("/gamma 7");
  program.expect("gamma 7\n> ");
  program.send_line("/target");
  program.expect("plain runs of the target: on\n> ");
  program.send_line(kOther);
  program.expect("answer:\n");
  program.expect("[target alone: ");
  program.expect("identical: yes]\n> ");
  program.send_line("/help");
  program.expect("/temperature T");
  program.expect("> ");
  program.send_line("/nonsense");
  program.expect("unknown command '/nonsense'");
  program.expect("> ");
  program.send_end_of_input();
  program.expect_exit_code(0);
}

TEST_CASE("B52: Ctrl-C in an answer ends the answer and keeps the session, Ctrl-C at the prompt ends the program") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program(built_program(kSpecDecoding),
                     {"--interactive", "--ignore-eos", "--max-new-tokens", "900", "--threads", "1"});
  program.expect("> ");
  for (int time = 0; time < 2; ++time) {
    program.send_line(kQuestion);
    program.expect("reasoning:\n");
    program.send_interrupt();
    program.expect(", aborted]\n");
    program.expect("> ");
  }
  program.send_line("/length 5");
  program.expect("at most 5 tokens\n> ");
  program.send_line(kQuestion);
  program.expect("[5 tokens");
  program.expect(", length]\n");
  program.expect("> ");
  program.send_interrupt();
  program.expect_exit_code(130);
}

TEST_CASE("a program that was started with Ctrl-C ignored goes on ignoring it") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program([] {
    std::signal(SIGINT, SIG_IGN);
    const std::string path = built_program(kSpecDecoding).string();
    return execl(path.c_str(), path.c_str(), "--interactive", nullptr);
  });
  program.expect("> ");
  program.send_interrupt();
  program.send_line("/gamma 2");
  program.expect("gamma 2\n> ");
  program.send_end_of_input();
  program.expect_exit_code(0);
}

TEST_CASE("Ctrl-C in the plain run of a comparison ends that alone") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program(built_program(kSpecDecoding),
                     {"--interactive", "--ignore-eos", "--max-new-tokens", "900", "--threads", "1"});
  program.expect("> ");
  program.send_line("/target");
  program.expect("> ");
  program.send_line(kQuestion);
  program.expect(", length]\n");  // of the answer
  program.send_interrupt();
  program.expect("[target alone: stopped]\n> ");
  program.send_end_of_input();
  program.expect_exit_code(0);
}

TEST_CASE("/quit ends the program with exit code 0") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program(built_program(kSpecDecoding), {"--interactive"});
  program.expect("> ");
  program.send_line("/quit");
  program.expect_exit_code(0);
}

TEST_CASE("B52: without input nothing is said, and a line with or without a newline gets one answer") {
  const auto run_with = [](std::string_view input) {
    return run_program(kSpecDecoding, {"--interactive", "--max-new-tokens", "8"}, input);
  };
  const ProgramResult nothing = run_with("");
  CHECK(nothing.exit_code == 0);
  CHECK(nothing.out == "");
  const ProgramResult line = run_with("hi\n");
  CHECK(line.exit_code == 0);
  CHECK(contains(line.out, "tokens"));
  CHECK(line.out.find('[') == line.out.rfind('['));
  CHECK(line.out.substr(0, line.out.find('[')) == run_with("hi").out.substr(0, line.out.find('[')));
  const ProgramResult blank = run_with("\n   \n\n");
  CHECK(blank.out == "");
  CHECK(blank.exit_code == 0);
  const ProgramResult broken = run_with("\xFF\xFE\nhi\n");
  CHECK(broken.exit_code == 0);
  CHECK(broken.err == "expected UTF-8 text, byte 0 of the line is not valid\n");
  CHECK(contains(broken.out, "tokens"));
}

TEST_CASE("a message that finds no room in the context gets one line, and the conversation goes on") {
  const ProgramResult result =
      run_program(kSpecDecoding, tiny_run({"--interactive"}), std::string(200, 'x') + "\nabcab\n");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "the conversation: the prompt has 200 tokens, the model's context of 64 has room for 63"));
  CHECK(contains(result.out, "[12 tokens"));
}

TEST_CASE("B22: the next turn's prompt holds the answer and not the reasoning, and its prefix is not computed again") {
  Conversation conversation(loaded_pair(), pair_options(), {});
  const Conversation::Input first = conversation.input_of(kQuestion);
  CHECK(first.in_reasoning);
  const Record record = conversation.answer(first, {});
  CHECK(contains(record.speculative.text, "5 - 2 = 3\n</think>"));
  CHECK(conversation.num_turns() == 1);
  const Conversation::Input second = conversation.input_of(kOther);
  CHECK(contains(text_of(second), "Mia has \\boxed{3} pens now."));
  CHECK_FALSE(contains(text_of(second), "5 - 2 = 3"));
  CHECK(conversation.answer(second, {}).speculative.stats.reused_tokens > 10);
  conversation.clear();
  CHECK(conversation.num_turns() == 0);
  CHECK(conversation.input_of(kQuestion).ids == first.ids);
  CHECK(ask(conversation, kQuestion).speculative.ids == record.speculative.ids);
}

TEST_CASE("a turn that ends inside the reasoning is not remembered") {
  Conversation conversation(loaded_pair(), pair_options(), {});
  conversation.set_max_new_tokens(3);
  const Record record = ask(conversation, kQuestion);
  CHECK(record.speculative.ids.size() == 3);
  CHECK(conversation.num_turns() == 0);
  CHECK_FALSE(contains(text_of(conversation.input_of(kOther)), kQuestion));
}

TEST_CASE("settings act from the next turn on, and what makes no sense is refused and changes nothing") {
  Options options = pair_options();
  Conversation conversation(loaded_pair(), options, {.temperature = 0.0, .top_p = 0.9});
  CHECK(conversation.settings().verifier == "greedy");
  CHECK(ask(conversation, kQuestion).speculative.stats.proposed > 0);
  conversation.clear();
  conversation.set_temperature(1.5);
  conversation.set_seed(4);
  CHECK(conversation.settings().verifier == "coupled");
  CHECK(conversation.settings().sampling.top_p == 0.9);
  const Record seed_4 = ask(conversation, kQuestion);
  CHECK(seed_4.settings->sampling.seed == 4);
  conversation.clear();
  conversation.set_drafter("none");
  CHECK(ask(conversation, kQuestion).speculative.ids == seed_4.speculative.ids);
  CHECK(conversation.settings().drafter == "none");
  conversation.clear();
  conversation.set_drafter("model");
  conversation.set_gamma(0);
  const Record undrafted = ask(conversation, kQuestion);
  CHECK(undrafted.speculative.stats.proposed == 0);
  CHECK(undrafted.speculative.ids == seed_4.speculative.ids);

  options.verifier = "greedy";
  Conversation greedy_only(loaded_pair(), options, {});
  CHECK_THROWS_AS(greedy_only.set_temperature(0.5), Error);
  CHECK(greedy_only.settings().sampling.temperature == 0.0);
  ModelPair alone{.target = models::load_model(pair_folder() / "target", default_runtime()), .draft = {}};
  options = {};
  options.target = pair_folder() / "target";
  options.drafter = "ngram";
  Conversation without_draft(alone, options, {});
  CHECK_THROWS_WITH_AS(without_draft.set_drafter("model"),
                       "/drafter model: no draft model is loaded; --draft DIR names one when the program starts",
                       Error);
  CHECK(without_draft.settings().drafter == "ngram");
}

TEST_CASE("with plain runs on, the same text is promised and compared, but not under rejection") {
  Options options = pair_options();
  for (const char* verifier : {"auto", "rejection"}) {
    CAPTURE(verifier);
    options.verifier = verifier;
    Conversation conversation(loaded_pair(), options, {.temperature = 1.0, .seed = 2});
    CHECK(conversation.toggle_plain());
    const Record record = ask(conversation, kQuestion);
    REQUIRE(record.baseline.has_value());
    CHECK(record.identical == (options.verifier == "auto" ? std::optional(true) : std::nullopt));
    CHECK(record.speedup.has_value());
    conversation.set_drafter("none");
    CHECK_FALSE(ask(conversation, kQuestion).speedup.has_value());
    CHECK_FALSE(conversation.toggle_plain());
    CHECK_FALSE(ask(conversation, kQuestion).baseline.has_value());
  }
}

TEST_CASE("--json has a record for every answer, each with the settings it was made with") {
  const nlohmann::json json =
      run_to_json({"--interactive"}, std::string(kQuestion) + "\n/gamma 2\n/temperature 0.5\n/clear\n" + kOther + "\n");
  REQUIRE(json["records"].size() == 2);
  CHECK(json["records"][0]["gamma"] == 4);
  CHECK(json["records"][0]["verifier"] == "greedy");
  CHECK(json["records"][0]["speculative"]["reasoning"] == "5 - 2 = 3");
  CHECK(json["records"][0]["speculative"]["answer"] == "Mia has \\boxed{3} pens now.");
  CHECK(json["records"][0]["speculative"]["unfinished_reasoning"] == false);
  CHECK(json["records"][1]["gamma"] == 2);
  CHECK(json["records"][1]["temperature"] == 0.5);
  CHECK(json["records"][1]["verifier"] == "coupled");
  CHECK(json["totals"]["prompts"] == 2);
}

}  // namespace minitorch::test
