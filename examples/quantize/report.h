// What quantize found, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "examples/quantize/divergence.h"
#include "examples/quantize/weight_error.h"
#include "kernels/packed_matrix.h"

namespace minitorch::quantize {

struct Report {
  kernels::PackedFormat format = kernels::PackedFormat::kInt8;
  std::string reference;             // the format of the unpacked model that `divergence` compares with
  std::vector<WeightError> tensors;  // of all matrices, embedding and head included
  std::int64_t matrix_bytes = 0;     // packed
  std::int64_t stored_bytes = 0;     // all weights of the source
  std::int64_t packed_bytes = 0;     // the packed file
  std::optional<Divergence> divergence;

  [[nodiscard]] double bits_per_weight() const;
  // All matrices as one.
  [[nodiscard]] WeightError total() const;
};

void print(const Report& report);
[[nodiscard]] nlohmann::ordered_json to_json(const Report& report);

}  // namespace minitorch::quantize
