// Kernels that only move data, written once for all CPU tables.
#pragma once

#include "kernels/kernel_table.h"
#include "kernels/reference/reference.h"

namespace minitorch::kernels::portable {

void gather_rows(const Context& context, const GatherRowsArgs& args);
void kv_store(const Context& context, const KvStoreArgs& args);
void kv_move(const Context& context, const KvMoveArgs& args);
void copy(const Context& context, const CopyArgs& args);

// The f64 half of matmul.
void matmul_f64(const Context& context, const MatmulArgs& args);

}  // namespace minitorch::kernels::portable
