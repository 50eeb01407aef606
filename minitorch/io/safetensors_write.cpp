// Writing safetensors files.
#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/safetensors.h"
#include "minitorch/io/safetensors_names.h"

namespace minitorch::io {
namespace {

std::string_view safetensors_name(DType dtype) {
  const auto* const found = std::find_if(kSafetensorsDTypes.begin(), kSafetensorsDTypes.end(),
                                         [&](const auto& item) { return item.second == dtype; });
  return found->first;
}

void check_text(const std::string& file, const std::string& text) {
  MT_CHECK_AS(IoError, is_valid_utf8(text), "{}: expected names and metadata in UTF-8, got \"{}\"", file,
              replace_invalid_utf8(text));
}

nlohmann::ordered_json header_json(const std::string& file, const std::vector<SafetensorsItem>& items,
                                   const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto& [key, text] : metadata) {
    check_text(file, key);
    check_text(file, text);
    header[std::string(kMetadataKey)][key] = text;
  }
  std::uint64_t offset = 0;
  for (const SafetensorsItem& item : items) {
    check_text(file, item.name);
    MT_CHECK_AS(IoError, item.name != kMetadataKey, "{}: no tensor may be called {}", file, kMetadataKey);
    const std::uint64_t end = offset + static_cast<std::uint64_t>(item.shape.numel()) * size_of(item.dtype);
    header[item.name] = {{"dtype", safetensors_name(item.dtype)},
                         {"shape", std::vector<std::int64_t>(item.shape.begin(), item.shape.end())},
                         {"data_offsets", {offset, end}}};
    offset = end;
  }
  return header;
}

}  // namespace

std::string safetensors_head(const std::string& file, const std::vector<SafetensorsItem>& items,
                             const std::map<std::string, std::string>& metadata, std::size_t alignment) {
  constexpr std::size_t kLengthBytes = 8;
  const std::string header = header_json(file, items, metadata).dump();
  const std::size_t end = (kLengthBytes + header.size() + alignment - 1) / alignment * alignment;
  std::string head;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    head += static_cast<char>(static_cast<std::uint64_t>(end - kLengthBytes) >> (8 * i) & 0xFF);
  }
  head += header;
  head.resize(end, ' ');
  return head;
}

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsItem> items;
  for (const auto& [name, tensor] : tensors) {
    MT_CHECK(tensor.defined(), "{}: expected a defined tensor {}", path.string(), name);
    items.push_back({name, tensor.dtype(), tensor.shape()});
  }
  const std::string head = safetensors_head(path.string(), items, metadata);
  OutputFile file(path);
  file.write(std::as_bytes(std::span(head)));
  for (const auto& [name, tensor] : tensors) {
    const Tensor source = tensor.contiguous();
    const std::size_t bytes = static_cast<std::size_t>(source.numel()) * size_of(source.dtype());
    file.write({static_cast<const std::byte*>(source.raw_data()), bytes});
  }
  file.commit();
}

}  // namespace minitorch::io
