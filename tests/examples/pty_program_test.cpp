// PtyProgram, by programs whose behaviour at a terminal is known.
#include "tests/examples/pty_program.h"

#include <doctest/doctest.h>

namespace minitorch::test {
namespace {

using std::chrono::milliseconds;

PtyProgram shell(const std::string& script) { return {"/bin/sh", {"-c", script}}; }

}  // namespace

TEST_CASE("a program at a terminal reads what is sent and shows what it writes, byte for byte") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram cat("/bin/cat", {});
  cat.send_line("hello");
  cat.expect("hello\n");
  cat.send("wor");
  cat.send("ld\n");
  cat.expect("world\n");
  cat.send_end_of_input();
  cat.expect_exit_code(0);
  CHECK(cat.output() == "hello\nworld\n");
}

TEST_CASE("stdin, stdout and stderr are the terminal") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program = shell("test -t 0 && test -t 1 && test -t 2 && echo terminal >&2");
  program.expect("terminal");
  program.expect_exit_code(0);
}

TEST_CASE("programs of this build run at a terminal") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program(built_program("tokenize"), {"--version"});
  program.expect("tokenize ");
  program.expect_exit_code(0);
}

TEST_CASE("what was waited for does not count again") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program = shell("printf 'one two one'; read line; printf 'three'");
  program.expect("two");
  program.expect("one");
  CHECK(program.unseen() == "");
  CHECK_FALSE(program.comes("one", milliseconds(20)));
  CHECK_FALSE(program.comes("three", milliseconds(20)));
  program.send_line("");
  program.expect("three");
}

TEST_CASE("text that is not coming is told after the time limit, or at once when the program has ended") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram waiting("/bin/cat", {});
  waiting.send_line("something else");
  const auto begin = PtyProgram::Clock::now();
  CHECK_FALSE(waiting.comes("hello", milliseconds(50)));
  CHECK(PtyProgram::Clock::now() - begin >= milliseconds(50));
  CHECK(waiting.unseen() == "something else\n");

  PtyProgram ended = shell("echo bye");
  CHECK_FALSE(ended.comes("hello"));
  CHECK(PtyProgram::Clock::now() - begin < PtyProgram::kTimeout);
  CHECK(ended.unseen() == "bye\n");
}

TEST_CASE("an interrupt typed at the terminal is the signal SIGINT") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram cat("/bin/cat", {});
  cat.send_line("ready");
  cat.expect("ready");
  cat.send_interrupt();
  cat.expect_exit_code(128 + SIGINT);

  PtyProgram caught = shell("trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.01; done");
  caught.expect("ready");
  caught.send_interrupt();
  caught.expect("caught");
  caught.expect_exit_code(5);
}

TEST_CASE("the exit code is the program's, with all its output read") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program = shell(
      "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
      "i=$((i+1)); done; exit 7");
  program.expect_exit_code(7);
  CHECK(program.output().size() == 3000 * 41);
}

TEST_CASE("a program that does not end in time is killed and has no exit code") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program = shell("trap '' INT HUP TERM; echo ready; while :; do sleep 0.01; done");
  program.expect("ready");
  program.send_interrupt();
  CHECK(program.exit_code(milliseconds(50)) == std::nullopt);
}

TEST_CASE("a program that is not there ends at once") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program("/no/such/program", {});
  CHECK(program.exit_code() == 255);
}

TEST_CASE("a function runs at a terminal as a program does") {
  MT_REQUIRE_PSEUDO_TERMINALS();
  PtyProgram program([] { return isatty(STDIN_FILENO) != 0 && write(STDOUT_FILENO, "hi", 2) == 2 ? 9 : 1; });
  program.expect("hi");
  program.expect_exit_code(9);
}

}  // namespace minitorch::test
