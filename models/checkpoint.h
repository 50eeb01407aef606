// Checkpoint: all tensors of a model folder, in one safetensors file or in shards named by an index; or packed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "minitorch/io/safetensors.h"

namespace minitorch::models {

class Checkpoint {
 public:
  // Opens model.packed.safetensors, else model.safetensors, else the shards of model.safetensors.index.json. Throws
  // IoError that names the file and the tensor: no such file, a malformed one, a tensor in two shards, a tensor that is
  // not in the shard the index names.
  explicit Checkpoint(const std::filesystem::path& directory);

  // The file users know it by: model.packed.safetensors, model.safetensors or the index.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Whether files() is one packed file (packed_file.h), whose tensors are whole weights as panels.
  [[nodiscard]] bool is_packed() const { return is_packed_; }
  [[nodiscard]] std::span<const io::SafetensorsFile> files() const { return files_; }
  // Every tensor's file, as an index into files().
  [[nodiscard]] const std::map<std::string, std::size_t>& tensors() const { return tensors_; }
  [[nodiscard]] bool contains(const std::string& name) const { return tensors_.contains(name); }

  // Throw IoError when there is no such tensor.
  [[nodiscard]] const io::SafetensorsFile& file_of(const std::string& name) const;
  [[nodiscard]] const io::SafetensorsEntry& entry(const std::string& name) const { return file_of(name).entry(name); }

 private:
  void open_shards(const std::filesystem::path& directory);
  void add_file(const std::filesystem::path& path);

  std::filesystem::path path_;
  bool is_packed_ = false;
  std::vector<io::SafetensorsFile> files_;
  std::map<std::string, std::size_t> tensors_;
};

}  // namespace minitorch::models
