// bench_ops: single operations at given sizes, as one side of a comparison with another library.
//   bench_ops --threads 2       answers commands on stdin, one line of JSON each (bench/README.md)
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/common/limits.h"
#include "bench/common/program.h"
#include "bench/common/service.h"
#include "kernels/kernel_table.h"
#include "minitorch/base/memory.h"
#include "minitorch/base/philox.h"

namespace minitorch::bench {
namespace {

using nlohmann::ordered_json;
using Numbers = std::span<const std::int64_t>;

// Random numbers in [-1, 1) on huge pages.
class Floats {
 public:
  Floats(std::int64_t count, std::uint64_t seed) : memory_(static_cast<std::size_t>(count) * sizeof(float)) {
    PhiloxStream random(seed);
    for (float& value : std::span(data(), static_cast<std::size_t>(count))) value = random.uniform() * 2.0f - 1.0f;
  }
  [[nodiscard]] float* data() const { return reinterpret_cast<float*>(memory_.data()); }

 private:
  Buffer memory_;
};

class Ops {
 public:
  explicit Ops(ThreadPool& pool) : pool_(pool), table_(kernels::best_cpu_table()) {}

  ordered_json matmul(Numbers n) {
    const auto [rows, cols, inner, repeats] = std::tuple(n[0], n[1], n[2], n[3]);
    const Floats a(rows * inner, 1), b(inner * cols, 2), c(rows * cols, 3);
    const kernels::MatmulArgs args{.rows = rows,
                                   .cols = cols,
                                   .inner = inner,
                                   .a = a.data(),
                                   .a_row = inner,
                                   .a_col = 1,
                                   .b = b.data(),
                                   .b_row = cols,
                                   .b_col = 1,
                                   .c = c.data(),
                                   .c_row = cols};
    const Buffer scratch = touched_memory(kernels::matmul_scratch_bytes(args, pool_.size()));
    return timed(repeats, [&] { table_.matmul({.pool = pool_, .scratch = scratch.span()}, args); });
  }

  // x [M, K] f32 times weights [N, K] that were packed before.
  ordered_json linear(Numbers n, kernels::PackedFormat format) {
    const auto [rows, outputs, inputs, repeats] = std::tuple(n[0], n[1], n[2], n[3]);
    const Floats x(rows * inputs, 1), y(rows * outputs, 2), weight(outputs * inputs, 3);
    const Buffer panels(static_cast<std::size_t>(kernels::packed_bytes(format, outputs, inputs)));
    const kernels::PackedView view{format, outputs, inputs, panels.data()};
    kernels::pack_rows(view, 0, outputs, weight.data(), DType::kF32);
    const kernels::LinearArgs args{
        .x = x.data(), .x_stride = inputs, .rows = rows, .weight = view, .y = y.data(), .y_stride = outputs};
    const Buffer scratch(kernels::linear_scratch_bytes(args, pool_.size()));
    return timed(repeats, [&] { table_.linear({.pool = pool_, .scratch = scratch.span()}, args); });
  }

  ordered_json softmax(Numbers n) {
    const auto [rows, cols, repeats] = std::tuple(n[0], n[1], n[2]);
    const Floats x(rows * cols, 1), y(rows * cols, 2);
    const kernels::SoftmaxArgs args{
        .x = x.data(), .x_stride = cols, .y = y.data(), .y_stride = cols, .rows = rows, .cols = cols};
    return timed(repeats, [&] { table_.softmax({.pool = pool_}, args); });
  }

  ordered_json layer_norm(Numbers n) {
    const auto [rows, cols, repeats] = std::tuple(n[0], n[1], n[2]);
    const Floats x(rows * cols, 1), y(rows * cols, 2), weight(cols, 3), bias(cols, 4);
    const kernels::LayerNormArgs args{.x = x.data(),
                                      .x_stride = cols,
                                      .weight = weight.data(),
                                      .bias = bias.data(),
                                      .y = y.data(),
                                      .y_stride = cols,
                                      .rows = rows,
                                      .cols = cols,
                                      .eps = 1e-5f};
    return timed(repeats, [&] { table_.layer_norm({.pool = pool_}, args); });
  }

  ordered_json add(Numbers n) {
    const auto [rows, cols, repeats] = std::tuple(n[0], n[1], n[2]);
    const Floats a(rows * cols, 1), b(rows * cols, 2), out(rows * cols, 3);
    const kernels::ZipArgs args{.op = kernels::BinaryOp::kAdd,
                                .dims = 1,
                                .shape = {rows * cols},
                                .a = a.data(),
                                .a_strides = {1},
                                .b = b.data(),
                                .b_strides = {1},
                                .out = out.data(),
                                .out_strides = {1}};
    return timed(repeats, [&] { table_.zip({.pool = pool_}, args); });
  }

  ordered_json sum(Numbers n, bool of_rows) {
    const auto [rows, cols, repeats] = std::tuple(n[0], n[1], n[2]);
    const Floats x(rows * cols, 1), out(rows, 2);
    const kernels::ReduceArgs args{.op = kernels::ReduceOp::kSum,
                                   .kept_dims = of_rows ? 1 : 0,
                                   .reduced_dims = of_rows ? 1 : 2,
                                   .shape = {rows, cols},
                                   .x = x.data(),
                                   .x_strides = {cols, 1},
                                   .out = out.data()};
    return timed(repeats, [&] { table_.reduce({.pool = pool_}, args); });
  }

 private:
  // The first call warms up.
  template <typename Task>
  ordered_json timed(std::int64_t repeats, const Task& task) {
    task();
    return repeats_json(time_repeats(repeats, task));
  }

  ThreadPool& pool_;
  const kernels::KernelTable& table_;
};

std::vector<Command> op_commands(Ops& ops) {
  using kernels::PackedFormat;
  const std::string product = "M N K REPEATS", matrix = "ROWS COLS REPEATS";
  return {{"matmul", product, [&](Numbers n) { return ops.matmul(n); }},
          {"linear_bf16", product, [&](Numbers n) { return ops.linear(n, PackedFormat::kBF16); }},
          {"linear_int8", product, [&](Numbers n) { return ops.linear(n, PackedFormat::kInt8); }},
          {"softmax", matrix, [&](Numbers n) { return ops.softmax(n); }},
          {"layer_norm", matrix, [&](Numbers n) { return ops.layer_norm(n); }},
          {"add", matrix, [&](Numbers n) { return ops.add(n); }},
          {"sum", matrix, [&](Numbers n) { return ops.sum(n, /*of_rows=*/false); }},
          {"sum_rows", matrix, [&](Numbers n) { return ops.sum(n, /*of_rows=*/true); }}};
}

void run(int num_threads) {
  ThreadPool threads(num_threads > 0 ? num_threads : default_thread_count());
  Ops ops(threads);
  std::vector<Command> commands = machine_commands(threads);
  for (Command& command : op_commands(ops)) commands.push_back(std::move(command));
  serve({{"threads", threads.size()}, {"isa", kernels::best_cpu_table().name}}, commands);
}

}  // namespace
}  // namespace minitorch::bench

int main(int argc, char** argv) {
  using namespace minitorch::bench;
  int threads = 0;
  return run_program(
      "bench_ops", "Times single operations: answers commands from stdin, one line of JSON each.", argc, argv,
      [&](CLI::App& app) { add_threads_option(app, threads); }, [&] { run(threads); });
}
