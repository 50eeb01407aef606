// OutputFile: what stands at its name before and after, for files, links, permissions and pipes.
#include <doctest/doctest.h>
#include <sys/stat.h>  // mkfifo

#include <filesystem>
#include <span>
#include <string>
#include <thread>

#include "minitorch/base/error.h"
#include "minitorch/io/file.h"
#include "minitorch/io/json.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;

void write_text(io::OutputFile& file, const std::string& text) { file.write(std::as_bytes(std::span(text))); }

TEST_CASE("an output file appears when complete, and nothing remains without commit") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out";
  {
    io::OutputFile file(path);
    write_text(file, "lost");
  }
  CHECK(fs::is_empty(folder.path()));
  io::OutputFile file(path);
  write_text(file, "kept");
  CHECK_FALSE(fs::exists(path));
  file.commit();
  CHECK(io::read_file(path) == "kept");
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a link stays and the file it names is replaced, with its permissions") {
  const TemporaryFolder folder;
  write_file(folder.path() / "real", "old");
  fs::permissions(folder.path() / "real", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", folder.path() / "link");
  io::OutputFile file(folder.path() / "link");
  write_text(file, "new");
  file.commit();
  CHECK(fs::is_symlink(folder.path() / "link"));
  CHECK(io::read_file(folder.path() / "real") == "new");
  CHECK(fs::status(folder.path() / "real").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a pipe is written to and stays a pipe") {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] { received = io::read_input(pipe); });
  io::OutputFile file(pipe);
  write_text(file, "text");
  file.commit();
  reader.join();
  CHECK(received == "text");
  CHECK(fs::is_fifo(pipe));
}

TEST_CASE("a folder, no name and a name in a missing folder are refused at once") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(io::OutputFile{folder.path()}, IoError);
  CHECK_THROWS_AS(io::OutputFile{fs::path()}, IoError);
  CHECK_THROWS_AS(io::OutputFile{folder.path() / "no/out"}, IoError);
}

}  // namespace
}  // namespace minitorch::test
