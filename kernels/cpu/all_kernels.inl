// The kernels of one table, compiled once per instruction set inside a namespace of its own; a vec_*.h comes before.
// A kernel that a table does not have itself is one `using` line, of portable:: or reference::.

#if defined(__GNUC__) && !defined(__clang__) && defined(__SANITIZE_ADDRESS__)
#pragma GCC optimize("O1")  // GCC takes ten minutes for the instrumented tiles of linear at -O3
#endif

#include "kernels/cpu/common.inl"

// Parts of the larger ones.
#include "kernels/cpu/attention_block.inl"
#include "kernels/cpu/gemm_tile.inl"
#include "kernels/cpu/linear_tile.inl"
#include "kernels/cpu/math.inl"

// Parts over those.
#include "kernels/cpu/exp_sum.inl"
#include "kernels/cpu/functions.inl"
#include "kernels/cpu/lanes.inl"
#include "kernels/cpu/linear_quantised.inl"
#include "kernels/cpu/linear_rows.inl"
#include "kernels/cpu/lines.inl"

// One file per kernel.
#include "kernels/cpu/adamw.inl"
#include "kernels/cpu/argmax.inl"
#include "kernels/cpu/attention.inl"
#include "kernels/cpu/causal_attention.inl"
#include "kernels/cpu/cross_entropy.inl"
#include "kernels/cpu/index.inl"
#include "kernels/cpu/layer_norm.inl"
#include "kernels/cpu/linear.inl"
#include "kernels/cpu/matmul.inl"
#include "kernels/cpu/pointwise.inl"
#include "kernels/cpu/reduce.inl"
#include "kernels/cpu/rms_norm.inl"
#include "kernels/cpu/rope.inl"
#include "kernels/cpu/silu_mul.inl"
#include "kernels/cpu/softmax.inl"
#include "kernels/cpu/top_k.inl"

// Kernels that only move data.
using portable::copy;
using portable::gather_rows;
using portable::kv_move;
using portable::kv_store;
