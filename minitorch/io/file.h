// Files by descriptor: complete reads at an offset, and writes that appear under their name only when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace minitorch::io {

// A file open for reading. All functions throw IoError that names the path.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Bytes of a regular file; throws for folders, pipes and devices.
  [[nodiscard]] std::uint64_t regular_size() const;
  // Fills `destination` from `offset` on; a file that ends before is an error. Safe from several threads.
  void read_at(std::uint64_t offset, std::span<std::byte> destination) const;
  // Reads what comes next, at most destination.size() bytes; 0 at the end.
  [[nodiscard]] std::size_t read_some(std::span<std::byte> destination);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// A new file that takes the place of `path` at commit(); without it nothing remains.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // in the same folder
  int descriptor_ = -1;
};

}  // namespace minitorch::io
