// The folder that quantize makes: it appears under its name when it is complete.
#pragma once

#include <filesystem>

namespace minitorch::quantize {

class OutputFolder {
 public:
  // Makes an empty folder beside `path`, to be filled. Throws IoError when `path` is something else than a new or empty
  // folder, or with `replace` a folder that holds what quantize writes and nothing else.
  OutputFolder(const std::filesystem::path& path, bool replace);
  // Removes the folder beside `path` unless it was published.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // The folder to fill.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }
  // Copies config and tokenizer of a model folder, as far as they are there.
  void copy_model_files(const std::filesystem::path& source) const;
  // Gives the folder its name, in one step where the system can.
  void publish();

 private:
  void take_place_of_former() const;

  bool replace_;
  std::filesystem::path real_;  // where links lead
  std::filesystem::path temporary_;
  bool published_ = false;
};

}  // namespace minitorch::quantize
