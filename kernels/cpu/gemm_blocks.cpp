// Scratch memory of matmul and causal_attention.
#include "kernels/cpu/gemm_blocks.h"

#include <algorithm>
#include <string_view>

#include "minitorch/base/check.h"

namespace minitorch::kernels {
namespace {

std::int64_t whole_vectors(std::int64_t floats) { return (floats + 15) / 16 * 16; }

float* checked_scratch(const Context& context, std::string_view op, std::size_t needed) {
  MT_CHECK(context.scratch.size() >= needed, "{}: expected {} bytes of scratch memory, got {}", op, needed,
           context.scratch.size());
  return reinterpret_cast<float*>(context.scratch.data());
}

}  // namespace

std::int64_t matmul_left_floats(const MatmulArgs& args) {
  return args.a_col == 1 ? 0 : std::min(args.inner, MatmulBlocks::kInnerPacked) * 16;
}

std::int64_t matmul_right_floats(const MatmulArgs& args) {
  const std::int64_t inner = args.a_col == 1 ? MatmulBlocks::kInner : MatmulBlocks::kInnerPacked;
  return whole_vectors(std::min(args.cols, MatmulBlocks::kCols)) * std::min(args.inner, inner);
}

std::size_t matmul_scratch_bytes(const MatmulArgs& args, int num_threads) {
  if (args.dtype != DType::kF32) return 0;
  const std::int64_t floats = matmul_left_floats(args) + matmul_right_floats(args);
  return static_cast<std::size_t>(floats * num_threads) * sizeof(float);
}

float* matmul_scratch(const Context& context, const MatmulArgs& args) {
  MT_CHECK(args.dtype == DType::kF32 || args.dtype == DType::kF64, "matmul: expected f32 or f64, got {}",
           name_of(args.dtype));
  return checked_scratch(context, "matmul", matmul_scratch_bytes(args, context.pool.size()));
}

CausalSizes::CausalSizes(std::int64_t length, std::int64_t head_dim)
    : keys_by_dim(whole_vectors(length) * head_dim),
      dims_by_key(length * whole_vectors(head_dim)),
      score_stride(whole_vectors(length) | 16),
      query_rows(kCausalRows * whole_vectors(head_dim)),
      per_thread(2 * keys_by_dim + dims_by_key + 2 * kCausalRows * score_stride + 2 * query_rows) {}

std::int64_t longest_sequence(const CausalAttentionArgs& args) {
  std::int64_t longest = 0;
  for (std::int64_t s = 0; s < args.sequences; ++s) {
    longest = std::max<std::int64_t>(longest, args.begins[s + 1] - args.begins[s]);
  }
  return longest;
}

std::size_t causal_attention_scratch_bytes(const CausalAttentionArgs& args, int num_threads) {
  const CausalSizes sizes(longest_sequence(args), args.head_dim);
  return static_cast<std::size_t>(sizes.per_thread * num_threads) * sizeof(float);
}

float* causal_attention_scratch(const Context& context, const CausalAttentionArgs& args) {
  return checked_scratch(context, "causal_attention", causal_attention_scratch_bytes(args, context.pool.size()));
}

}  // namespace minitorch::kernels
