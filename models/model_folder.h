// What a model folder must be, said in the same words by all that read one.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace minitorch::models {

// Throws IoError when `directory` is no folder, or holds none of `files`: any one of them will do.
void check_model_folder(const std::filesystem::path& directory, std::initializer_list<std::string_view> files);

}  // namespace minitorch::models
