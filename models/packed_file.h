// Packed weight files: the panels of kernels/packed_matrix.h as they stand in memory, so that loading is reading.
//
// model.packed.safetensors is a safetensors file with
//   metadata  "format": "minitorch-packed", "version": "1", "packed_format": the format of all matrices ("int8"), and
//             under the name of every matrix its rows and columns, as "[4864, 896]"
//   matrices  u8 [packed_bytes(format, rows, cols)], named as weight_plan.h names the whole:
//             "...mlp.gate_up_proj.weight"
//   vectors   f32
// in the order of the plan, all matrices first. The data begins at a multiple of 4096 bytes, so every matrix does at
// one of 64. The file is the same for every instruction set and device, and holds whatever formats packed_matrix.h
// knows.
//
// What a file says is checked: format, version, names, sizes and shapes. What panels hold is not: no bits of theirs can
// make a kernel do anything but compute with them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "kernels/packed_matrix.h"
#include "minitorch/base/thread_pool.h"
#include "models/checkpoint.h"
#include "models/config.h"
#include "models/weight_plan.h"

namespace minitorch::models {

inline constexpr std::string_view kPackedFileName = "model.packed.safetensors";

// The format of a packed file's matrices. Throws IoError when it is no packed file, or one of another version.
[[nodiscard]] kernels::PackedFormat read_packed_format(const io::SafetensorsFile& file);

// Throws IoError when a tensor of the plan is missing or has another size, or when the file holds another tensor.
void check_packed_weights(const WeightPlan& plan, const io::SafetensorsFile& file, kernels::PackedFormat format);

// Reads all panels into the memory of the plan's matrices, which needs not be zeroed, on all threads; and the vectors.
void read_packed_weights(const WeightPlan& plan, const io::SafetensorsFile& file, ThreadPool& threads);

// What is done with a matrix after it is packed and before it is written and forgotten.
using PackedMatrixVisitor = std::function<void(const MatrixPlan& plan, const PackedMatrix& matrix)>;

// Packs the matrices of `source` one after the other and writes them to `path`, which appears when it is complete.
// Takes as much memory as the largest matrix, packed.
void write_packed_file(const std::filesystem::path& path, const Checkpoint& source, const ModelConfig& config,
                       kernels::PackedFormat format, ThreadPool& threads, const PackedMatrixVisitor& visit = {});

}  // namespace minitorch::models
