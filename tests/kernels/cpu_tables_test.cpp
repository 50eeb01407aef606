// The tables themselves: choice by name, completeness of the tests.
#include <doctest/doctest.h>

#include <cstdlib>  // setenv
#include <filesystem>
#include <string>

#include "kernels/kernel_table.h"
#include "minitorch/base/error.h"

namespace minitorch::test {
namespace {

TEST_CASE("cpu_tables holds a scalar table on every machine, named tables only, and no empty entry") {
  const auto tables = kernels::cpu_tables();
  REQUIRE(!tables.empty());
  CHECK(tables[0]->name == "scalar");
  for (const kernels::KernelTable* table : tables) {
    CHECK(&kernels::cpu_table(table->name) == table);
#define MT_KERNEL(function, Args) CHECK((table->function != nullptr));  // doctest cannot print a function
#include "kernels/kernel_list.def"
#undef MT_KERNEL
  }
}

TEST_CASE("cpu_table refuses an unknown name and says which there are") {
  CHECK_THROWS_WITH_AS(static_cast<void>(kernels::cpu_table("unknown")), doctest::Contains("got 'unknown'"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(kernels::cpu_table("unknown")), doctest::Contains("scalar"), Error);
  CHECK_THROWS_AS(static_cast<void>(kernels::cpu_table("")), Error);
  CHECK_THROWS_AS(static_cast<void>(kernels::cpu_table("reference")), Error);
}

TEST_CASE("MINITORCH_ISA chooses the table, and without it the fastest is taken") {
  const char* before = std::getenv("MINITORCH_ISA");
  const std::string kept = before != nullptr ? before : "";
  setenv("MINITORCH_ISA", "scalar", 1);
  CHECK(kernels::best_cpu_table().name == "scalar");
  setenv("MINITORCH_ISA", "unknown", 1);
  CHECK_THROWS_AS(static_cast<void>(kernels::best_cpu_table()), Error);
  setenv("MINITORCH_ISA", "", 1);
  CHECK(&kernels::best_cpu_table() == kernels::cpu_tables().back());
  unsetenv("MINITORCH_ISA");
  CHECK(&kernels::best_cpu_table() == kernels::cpu_tables().back());
  if (!kept.empty()) setenv("MINITORCH_ISA", kept.c_str(), 1);
}

TEST_CASE("on a machine of a known kind the fastest table is the one meant for it") {
  const char* expected = std::getenv("MINITORCH_EXPECTED_TABLE");  // set by scripts/test_portable.sh
  const std::string fastest(kernels::cpu_tables().back()->name);
  CHECK((expected == nullptr || fastest == expected));
  CHECK(fastest != "reference");
}

TEST_CASE("every kernel of the list has a test file") {
#define MT_KERNEL(function, Args) \
  CHECK(std::filesystem::exists(std::string(MINITORCH_SOURCE_DIR "/tests/kernels/") + #function + "_test.cpp"));
#include "kernels/kernel_list.def"
#undef MT_KERNEL
}

}  // namespace
}  // namespace minitorch::test
