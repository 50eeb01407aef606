// Checkpoint: opening one safetensors file or the shards of an index.
#include "models/checkpoint.h"

#include <set>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/io/json.h"
#include "models/json_fields.h"
#include "models/model_folder.h"
#include "models/packed_file.h"  // kPackedFileName

namespace minitorch::models {
namespace fs = std::filesystem;

Checkpoint::Checkpoint(const fs::path& directory) {
  constexpr const char* kSingle = "model.safetensors";
  constexpr const char* kIndex = "model.safetensors.index.json";
  const fs::path packed = directory / kPackedFileName;
  is_packed_ = !io::is_absent(packed);
  if (is_packed_) {
    path_ = packed;
    add_file(packed);
    return;
  }
  check_model_folder(directory, {kSingle, kIndex});
  const fs::path single = directory / kSingle;
  if (!io::is_absent(single)) {
    path_ = single;
    add_file(single);
  } else {
    path_ = directory / kIndex;
    open_shards(directory);
  }
}

void Checkpoint::add_file(const fs::path& path) {
  const io::SafetensorsFile& file = files_.emplace_back(path);
  for (const auto& [name, entry] : file.entries()) {
    const auto [place, is_new] = tensors_.emplace(name, files_.size() - 1);
    MT_CHECK_AS(IoError, is_new, "{}: tensor \"{}\" is also in {}", path.string(), name,
                files_[place->second].path().string());
  }
}

// The index maps every tensor to its shard: {"weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors"}}.
void Checkpoint::open_shards(const fs::path& directory) {
  const nlohmann::json json = io::read_json(path_);
  const JsonFields index(json, path_.string());
  const nlohmann::json* map = index.find("weight_map");
  if (map == nullptr || !map->is_object() || map->empty()) index.refuse("weight_map", "an object {tensor: file}");
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    // A plain file name: an index does not lead out of its folder.
    const bool plain = shard.is_string() && fs::path(shard.get<std::string>()).filename() == shard.get<std::string>() &&
                       shard != "" && shard != "." && shard != "..";
    if (!plain) JsonFields(*map, path_.string() + ": weight_map").refuse(tensor, "the name of a file in this folder");
    shards.insert(shard.get<std::string>());
  }
  for (const std::string& shard : shards) add_file(directory / shard);
  for (const auto& [tensor, shard] : map->items()) {
    const fs::path path = directory / shard.get<std::string>();
    const auto found = tensors_.find(tensor);
    MT_CHECK_AS(IoError, found != tensors_.end() && files_[found->second].path() == path,
                "{}: weight_map: expected tensor \"{}\" in {}, but it is {}", path_.string(), tensor, path.string(),
                found == tensors_.end() ? "nowhere" : "in " + files_[found->second].path().string());
  }
}

const io::SafetensorsFile& Checkpoint::file_of(const std::string& name) const {
  const auto found = tensors_.find(name);
  MT_CHECK_AS(IoError, found != tensors_.end(), "{}: no tensor \"{}\"", path_.string(), name);
  return files_[found->second];
}

}  // namespace minitorch::models
