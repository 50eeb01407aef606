// Safetensors files: a checked index of a file's tensors, and reading them.
//
// Format: 8 bytes little-endian header length, a JSON object {name: {dtype, shape, data_offsets}}, then the data.
// Everything in the header is treated as hostile: sizes are checked without overflow, tensors may neither overlap nor
// leave unused bytes, and the file must end where the last tensor does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "minitorch/core/tensor.h"
#include "minitorch/io/file.h"

namespace minitorch::io {

struct SafetensorsEntry {
  DType dtype = DType::kF32;
  Shape shape;
  std::uint64_t offset = 0;  // from the start of the file
  std::uint64_t bytes = 0;
};

class SafetensorsFile {
 public:
  // Opens the file and checks its header. Throws IoError that names the file and the faulty tensor or field.
  explicit SafetensorsFile(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }
  [[nodiscard]] const std::map<std::string, SafetensorsEntry>& entries() const { return entries_; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  [[nodiscard]] bool contains(const std::string& name) const { return entries_.contains(name); }
  // Throws IoError when there is no such tensor.
  [[nodiscard]] const SafetensorsEntry& entry(const std::string& name) const;

  // The whole tensor as stored; bytes of a bool tensor other than 0 become 1.
  [[nodiscard]] Tensor read(const std::string& name) const;
  // Part of a tensor's bytes: [byte_begin, byte_begin + destination.size()). Safe from several threads.
  void read_bytes(const std::string& name, std::uint64_t byte_begin, std::span<std::byte> destination) const;

 private:
  InputFile file_;
  std::map<std::string, SafetensorsEntry> entries_;
  std::map<std::string, std::string> metadata_;
};

// A tensor whose bytes are written by someone else.
struct SafetensorsItem {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
};

// What a file begins with: everything before the data of `items`, which follow each other without gaps in this order.
// The data begins at a multiple of `alignment` bytes. `file` begins the message of the errors thrown for names and
// metadata that a file cannot hold.
[[nodiscard]] std::string safetensors_head(const std::string& file, const std::vector<SafetensorsItem>& items,
                                           const std::map<std::string, std::string>& metadata,
                                           std::size_t alignment = 8);

// Writes tensors (made contiguous) in name order. The file appears under its name only when complete.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace minitorch::io
