// Choice of the CPU table at run time.
#include <array>
#include <cstdlib>  // std::getenv
#include <string>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>  // getauxval
#endif

#include "kernels/cpu/tables.h"
#include "minitorch/base/check.h"

namespace minitorch::kernels {
namespace {

struct Variant {
  std::string_view name;
  bool (*runs_here)();
  const KernelTable& (*table)();
};

bool runs_everywhere() { return true; }

#if MINITORCH_X86_TABLES
// The compiler's run-time library also asks the operating system (XGETBV) whether it saves the wide registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
bool has_avx512vnni() { return has_avx512() && __builtin_cpu_supports("avx512vnni") != 0; }
#endif

#if MINITORCH_ARM_TABLES
bool has_neondot() {
#if defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return false;  // how to ask is known for Linux only
#endif
}
#endif

// Every variant of this build, slowest first.
constexpr Variant kVariants[] = {
    {"scalar", &runs_everywhere, &scalar::table},
#if MINITORCH_X86_TABLES
    {"avx2", &has_avx2, &avx2::table},
    {"avx512", &has_avx512, &avx512::table},
    {"avx512vnni", &has_avx512vnni, &avx512vnni::table},
#endif
#if MINITORCH_ARM_TABLES
    {"neon", &runs_everywhere, &neon::table},
    {"neondot", &has_neondot, &neondot::table},
#endif
};

struct RunnableTables {
  std::array<const KernelTable*, std::size(kVariants)> tables{};
  std::size_t count = 0;
};

const RunnableTables& runnable_tables() {
  static const RunnableTables runnable = [] {
    RunnableTables found;
    for (const Variant& variant : kVariants) {
      if (variant.runs_here()) found.tables[found.count++] = &variant.table();
    }
    return found;
  }();
  return runnable;
}

std::string names_of(std::span<const KernelTable* const> tables) {
  std::string names;
  for (const KernelTable* table : tables) names += fmt::format("{}{}", names.empty() ? "" : ", ", table->name);
  return names;
}

}  // namespace

std::span<const KernelTable* const> cpu_tables() {
  const RunnableTables& runnable = runnable_tables();
  return {runnable.tables.data(), runnable.count};
}

const KernelTable& cpu_table(std::string_view name) {
  const auto tables = cpu_tables();
  for (const KernelTable* table : tables) {
    if (table->name == name) return *table;
  }
  for (const Variant& variant : kVariants) {
    MT_CHECK(variant.name != name, "MINITORCH_ISA: this machine lacks the instructions of '{}', it can run {}", name,
             names_of(tables));
  }
  fail("MINITORCH_ISA: expected one of {}, got '{}'", names_of(tables), name);
}

const KernelTable& best_cpu_table() {
  const char* name = std::getenv("MINITORCH_ISA");
  if (name != nullptr && *name != '\0') return cpu_table(name);
  return *cpu_tables().back();
}

}  // namespace minitorch::kernels
