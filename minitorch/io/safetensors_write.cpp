// Writing safetensors files.
#include <algorithm>
#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/safetensors.h"
#include "minitorch/io/safetensors_names.h"

namespace minitorch::io {
namespace {

std::uint64_t bytes_of(const Tensor& tensor) {
  return static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype());
}

std::string_view safetensors_name(DType dtype) {
  const auto* const found = std::find_if(kSafetensorsDTypes.begin(), kSafetensorsDTypes.end(),
                                         [&](const auto& item) { return item.second == dtype; });
  return found->first;
}

std::string header_text(const std::string& file, const std::map<std::string, Tensor>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  const auto check_text = [&](const std::string& text) {
    MT_CHECK_AS(IoError, is_valid_utf8(text), "{}: expected names and metadata in UTF-8, got \"{}\"", file,
                replace_invalid_utf8(text));
  };
  for (const auto& [key, text] : metadata) {
    check_text(key);
    check_text(text);
    header[std::string(kMetadataKey)][key] = text;
  }
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    check_text(name);
    MT_CHECK_AS(IoError, name != kMetadataKey, "{}: no tensor may be called {}", file, kMetadataKey);
    MT_CHECK(tensor.defined(), "{}: expected a defined tensor {}", file, name);
    const std::uint64_t end = offset + bytes_of(tensor);
    header[name] = {{"dtype", safetensors_name(tensor.dtype())},
                    {"shape", std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins at a multiple of 8
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_text(path.string(), tensors, metadata);
  std::array<std::byte, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::byte>(header.size() >> (8 * i));
  OutputFile file(path);
  file.write(length);
  file.write(std::as_bytes(std::span(header)));
  for (const auto& [name, tensor] : tensors) {
    const Tensor source = tensor.contiguous();
    file.write({static_cast<const std::byte*>(source.raw_data()), static_cast<std::size_t>(bytes_of(source))});
  }
  file.commit();
}

}  // namespace minitorch::io
