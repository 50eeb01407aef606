// Indented by one, with a newline at the end.
#include "examples/common/json_file.h"

#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace minitorch {

void write_json(io::OutputFile& file, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) + "\n";
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace minitorch
