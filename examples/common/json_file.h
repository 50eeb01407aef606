// The results of a program as a JSON file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "minitorch/io/file.h"

namespace minitorch {

// Writes and completes the file. Bytes that are no UTF-8, as names of folders may hold, are replaced.
void write_json(io::OutputFile& file, const nlohmann::ordered_json& json);

}  // namespace minitorch
