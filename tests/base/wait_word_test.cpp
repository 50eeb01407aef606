// WaitWord and SpinPolicy: no lost wake-up, and fewer spins where they are in vain.
#include "minitorch/base/wait_word.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace minitorch {
namespace {

int num_spins(SpinPolicy& policy, int waits, bool success) {
  int spins = 0;
  for (int i = 0; i < waits; ++i) {
    if (!policy.next()) continue;
    ++spins;
    policy.record(success);
  }
  return spins;
}

TEST_CASE("successful spins are repeated every time, vain ones ever more rarely") {
  SpinPolicy policy(true);
  CHECK(num_spins(policy, 100, true) == 100);
  CHECK(num_spins(policy, 62, false) == 5);    // skips of 1, 3, 7, 15 and 31 between them
  CHECK(num_spins(policy, 320, false) == 10);  // from then on one in 32
  CHECK(num_spins(policy, 1, false) == 1);
  CHECK(num_spins(policy, 131, true) == 100);  // skips 31, then succeeds every time
}

TEST_CASE("a policy that forbids spins never spins") {
  SpinPolicy policy(false);
  CHECK(num_spins(policy, 100, true) == 0);
}

TEST_CASE("a wait for another value returns at once") {
  WaitWord word;
  SpinPolicy spins(true);
  word.advance();
  CHECK(word.value() == 1);
  CHECK(word.wait_past(0, spins) == 1);
  CHECK(word.wait_past(7, spins) == 1);
}

TEST_CASE("two threads that wake each other in turn never lose a wake-up, spinning or sleeping") {
  for (const bool enabled : {true, false}) {
    CAPTURE(enabled);
    constexpr std::uint32_t kRounds = 20000;
    WaitWord ping;
    WaitWord pong;
    std::thread other([&] {
      SpinPolicy spins(enabled);
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        ping.wait_past(round, spins);
        pong.advance();
      }
    });
    SpinPolicy spins(enabled);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      ping.advance();
      pong.wait_past(round, spins);
    }
    other.join();
    CHECK(ping.value() == kRounds);
    CHECK(pong.value() == kRounds);
  }
}

TEST_CASE("one advance wakes all waiters") {
  WaitWord word;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&word] {
      SpinPolicy spins(false);
      word.wait_past(0, spins);
    });
  }
  word.advance();
  for (auto& waiter : waiters) waiter.join();
  CHECK(word.value() == 1);
}

}  // namespace
}  // namespace minitorch
