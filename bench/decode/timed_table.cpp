// One timing function for each line of kernel_list.def.
#include "bench/decode/timed_table.h"

#include <chrono>

namespace minitorch::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Total {
  Clock::duration time{};
  std::int64_t calls = 0;
};
struct Totals {
#define MT_KERNEL(function, Args) Total function;
#include "kernels/kernel_list.def"
#undef MT_KERNEL
};

const kernels::KernelTable* inner_table = nullptr;
Totals totals;

#define MT_KERNEL(function, Args)                                                     \
  void timed_##function(const kernels::Context& context, const kernels::Args& args) { \
    const auto start = Clock::now();                                                  \
    inner_table->function(context, args);                                             \
    totals.function.time += Clock::now() - start;                                     \
    ++totals.function.calls;                                                          \
  }
#include "kernels/kernel_list.def"
#undef MT_KERNEL

}  // namespace

const kernels::KernelTable& timed_table(const kernels::KernelTable& inner) {
  static const kernels::KernelTable table{
      "timed",
#define MT_KERNEL(function, Args) &timed_##function,
#include "kernels/kernel_list.def"
#undef MT_KERNEL
  };
  inner_table = &inner;
  return table;
}

std::vector<KernelTime> kernel_times() {
  const auto time_of = [](std::string_view name, const Total& total) {
    return KernelTime{name, std::chrono::duration<double>(total.time).count(), total.calls};
  };
  return {
#define MT_KERNEL(function, Args) time_of(#function, totals.function),
#include "kernels/kernel_list.def"
#undef MT_KERNEL
  };
}

void reset_kernel_times() { totals = {}; }

}  // namespace minitorch::bench
