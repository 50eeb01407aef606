// Files by descriptor: complete reads at an offset, and writes that appear under their name only when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

namespace minitorch::io {

// What may be read. Pipes can keep a reader waiting for ever and devices have no end, so both must be asked for.
enum class Accept : std::uint8_t { kRegularFiles, kPipesAndDevices };

// A file open for reading. All functions throw IoError that names the path.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path, Accept accept = Accept::kRegularFiles);
  [[nodiscard]] static InputFile standard_input();
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
  InputFile(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::filesystem::path path_;
  int descriptor_ = -1;
};

// Whether a path is not taken at all. A link that leads nowhere is there, and opening it says what is wrong.
[[nodiscard]] bool is_absent(const std::filesystem::path& path);

// A new file that takes the place of `path` at commit(); without it nothing remains. A link stays and the file it names
// is replaced, with its permissions. Pipes and devices, and the file that is standard output, are written to directly.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  void open_directly();
  void open_beside();
  [[nodiscard]] bool publish(int descriptor) const;

  std::filesystem::path path_;
  std::filesystem::path real_;       // where links lead
  std::filesystem::path temporary_;  // in the same folder; empty when written directly
  bool has_name_ = false;            // the temporary file has its name already
  int descriptor_ = -1;
};

}  // namespace minitorch::io
