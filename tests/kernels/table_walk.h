// The tables under test, and the count of conformance cases each of them went through.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel_table.h"
#include "tests/support/data.h"

namespace minitorch::test {

// Counts cases per table and kernel; prints them when the program ends.
class CaseCounter {
 public:
  static CaseCounter& instance() {
    static CaseCounter counter;
    return counter;
  }
  ~CaseCounter() {
    for (const auto& [kernel, tables] : cases_) {
      std::string line;
      for (const auto& [table, count] : tables) line += fmt::format("{} {} {}", line.empty() ? "" : ",", table, count);
      fmt::print("conformance cases of {}:{}\n", kernel, line);
    }
  }
  void add(std::string_view kernel, std::string_view table) { ++cases_[std::string(kernel)][std::string(table)]; }

 private:
  std::map<std::string, std::map<std::string, int>> cases_;
};

// Runs one conformance case on every table, the reference included: it checks the case itself.
template <typename Check>
void on_every_table(std::string_view kernel, const Check& check) {
  std::vector<const kernels::KernelTable*> tables{&kernels::reference_table()};
  for (const kernels::KernelTable* table : kernels::cpu_tables()) tables.push_back(table);
  for (const kernels::KernelTable* table : tables) {
    CAPTURE(table->name);
    check(*table);
    CaseCounter::instance().add(kernel, table->name);
  }
}

// The tables with multiply-add, which agree bit for bit. With fewer than two, the current test is noted as skipped.
inline std::vector<const kernels::KernelTable*> tables_with_fma() {
  std::vector<const kernels::KernelTable*> tables;
  for (const kernels::KernelTable* table : kernels::cpu_tables()) {
    if (table->name != "scalar") tables.push_back(table);
  }
  if (tables.size() < 2) note_skipped("this machine runs fewer than two tables with multiply-add");
  return tables;
}

}  // namespace minitorch::test
