// Test data folders, .jsonl and .xz files.
#include "tests/support/data.h"

#include <lzma.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace minitorch::test {
namespace fs = std::filesystem;

fs::path golden_file(const std::string& name) { return fs::path(MINITORCH_SOURCE_DIR) / "tests/data" / name; }

fs::path data_folder() {
  if (const char* folder = std::getenv("MINITORCH_DATA"); folder != nullptr && *folder != '\0') return folder;
  return (fs::path(MINITORCH_SOURCE_DIR) / "../shared/data").lexically_normal();
}

bool have_data(const std::string& name) {
  if (fs::exists(data_folder() / name)) return true;
  note_skipped(fmt::format("no {} in the data folder {}", name, data_folder().string()));
  return false;
}

std::vector<nlohmann::json> read_jsonl(const fs::path& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error(fmt::format("cannot open {}", path.string()));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

std::string read_xz(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(fmt::format("cannot open {}", path.string()));
  const std::string packed{std::istreambuf_iterator<char>(stream), {}};
  lzma_stream decoder = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&decoder, UINT64_MAX, 0) != LZMA_OK) throw std::runtime_error("cannot start the xz decoder");
  decoder.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  decoder.avail_in = packed.size();
  std::string text;
  std::string block(1 << 20, '\0');
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    decoder.next_out = reinterpret_cast<std::uint8_t*>(block.data());
    decoder.avail_out = block.size();
    status = lzma_code(&decoder, LZMA_FINISH);
    text.append(block, 0, block.size() - decoder.avail_out);
  }
  lzma_end(&decoder);
  if (status != LZMA_STREAM_END) throw std::runtime_error(fmt::format("{} is not a complete xz file", path.string()));
  return text;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "minitorch_test_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const fs::path& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!stream) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
}

}  // namespace minitorch::test
