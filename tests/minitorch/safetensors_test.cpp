// Safetensors: round trips, partial reads, large files, and every malformed file refused (case B28).
#include "minitorch/io/safetensors.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "minitorch/base/error.h"
#include "tests/support/data.h"

namespace minitorch::io {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::write_file;

std::string length_prefix(std::uint64_t length) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(length >> (8 * i));
  return bytes;
}

std::string file_of(const std::string& header, std::size_t data_bytes) {
  return length_prefix(header.size()) + header + std::string(data_bytes, '\1');
}

// A header with one tensor "t".
std::string header_of(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"t":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

// The error of opening a file with this content, without the path it must begin with.
std::string error_of(const std::string& content) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "bad.safetensors";
  write_file(path, content);
  try {
    const SafetensorsFile file(path);
  } catch (const IoError& error) {
    const std::string message = error.what();
    const std::string prefix = path.string() + ": ";
    CHECK(message.starts_with(prefix));
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < 600);
    return message.substr(prefix.size());
  }
  return "nothing thrown";
}

// A figure of /proc/self/status in bytes.
std::int64_t memory_figure(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

bool refused(const std::string& content, const std::string& part_of_message) {
  const std::int64_t size_before = memory_figure("VmSize");
  const auto start = std::chrono::steady_clock::now();
  const std::string message = error_of(content);
  CAPTURE(message);
  CHECK(message.find(part_of_message) != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  CHECK(memory_figure("VmPeak") - size_before < 200'000'000);  // address space: counts what is never touched, too
  return message != "nothing thrown";
}

TEST_CASE("tensors of every dtype and shape survive writing and reading, with metadata") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.safetensors";
  std::map<std::string, Tensor> tensors;
  for (const DType dtype :
       {DType::kF32, DType::kF64, DType::kBF16, DType::kF16, DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    tensors[std::string(name_of(dtype))] = Tensor::arange(6, dtype).view({2, 3});
  }
  tensors["scalar"] = Tensor::full({}, 2.5);
  tensors["empty"] = Tensor::zeros({0, 4});
  tensors["view"] = Tensor::arange(6).view({2, 3}).transpose(0, 1);
  tensors["na\xC3\xAFve \"name\""] = Tensor::arange(2);
  write_safetensors(path, tensors, {{"format", "pt"}, {"note", "x"}});
  const SafetensorsFile file(path);
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"note", "x"}});
  CHECK(file.entries().size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name);
    const Tensor back = file.read(name);
    CHECK(back.dtype() == tensor.dtype());
    CHECK(back.shape() == tensor.shape());
    CHECK(back.to_vector() == tensor.to_vector());
    CHECK(file.entry(name).bytes == static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype()));
  }
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);  // no temporary file is left
}

TEST_CASE("a file without tensors is valid") {
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "none", {});
  CHECK(SafetensorsFile(folder.path() / "none").entries().empty());
  write_file(folder.path() / "spaces", file_of("{}      ", 0));
  CHECK(SafetensorsFile(folder.path() / "spaces").entries().empty());
}

TEST_CASE("parts of a tensor are read by byte range") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  write_safetensors(path, {{"first", Tensor::full({5}, 9, DType::kU8)}, {"second", Tensor::arange(100, DType::kU8)}});
  const SafetensorsFile file(path);
  std::vector<std::byte> part(10);
  file.read_bytes("second", 42, part);
  for (std::size_t i = 0; i < part.size(); ++i) CHECK(part[i] == static_cast<std::byte>(42 + i));
  file.read_bytes("second", 90, part);
  CHECK(part[9] == std::byte{99});
  file.read_bytes("second", 100, {});
  CHECK_THROWS_AS(file.read_bytes("second", 91, part), IoError);
  CHECK_THROWS_AS(file.read_bytes("second", UINT64_MAX, part), IoError);
  CHECK_THROWS_AS(file.read_bytes("second", UINT64_MAX - 4, part), IoError);
}

TEST_CASE("an open file can be moved") {
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "a", {{"t", Tensor::arange(3)}});
  write_safetensors(folder.path() / "b", {{"t", Tensor::arange(2)}});
  SafetensorsFile first(folder.path() / "a");
  SafetensorsFile second(std::move(first));
  CHECK(second.read("t").numel() == 3);
  second = SafetensorsFile(folder.path() / "b");
  CHECK(second.read("t").numel() == 2);
  CHECK(second.path().filename() == "b");
}

TEST_CASE("a missing tensor is an error that names file and tensor") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  write_safetensors(path, {{"t", Tensor::arange(3)}});
  const SafetensorsFile file(path);
  CHECK(file.contains("t"));
  CHECK_FALSE(file.contains("u"));
  CHECK_THROWS_WITH_AS((void)file.read("u"), (path.string() + ": expected a tensor u, got none of that name").c_str(),
                       IoError);
}

TEST_CASE("files that are missing, folders or pipes are refused without waiting") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(SafetensorsFile(folder.path() / "none"), IoError);
  CHECK_THROWS_AS(SafetensorsFile(folder.path()), IoError);
  CHECK_THROWS_AS(SafetensorsFile("/dev/null"), IoError);
}

TEST_CASE("malformed lengths are refused (case B28)") {
  CHECK(refused("", "at least 8 bytes, got 0"));
  CHECK(refused("1234567", "at least 8 bytes, got 7"));
  CHECK(refused(length_prefix(0), "header length 0"));
  CHECK(refused(length_prefix(UINT64_MAX) + "{}", "header length 18446744073709551615"));
  CHECK(refused(length_prefix(UINT64_MAX - 4) + "{}", "header length 18446744073709551611"));
  CHECK(refused(length_prefix(3) + "{}", "header of 1 to 2 bytes, got the header length 3"));
  CHECK(refused(length_prefix(100), "header length 100"));
}

TEST_CASE("headers that are no JSON objects are refused (case B28)") {
  CHECK(refused(file_of("hello", 0), "header: malformed JSON"));
  CHECK(refused(file_of("{\"t\":", 0), "header: malformed JSON"));
  CHECK(refused(file_of("[1,2]", 0), "JSON object, got array"));
  CHECK(refused(file_of("17", 0), "JSON object, got number"));
  CHECK(refused(file_of("null", 0), "JSON object, got null"));
  CHECK(refused(file_of("{}x", 0), "header: malformed JSON"));
  CHECK(refused(file_of(std::string(100000, '['), 0), "256 levels"));
}

TEST_CASE("offsets that do not fit the file are refused (case B28)") {
  CHECK(refused(file_of(header_of("F32", "[1]", "[8,4]"), 8), "begin <= end"));
  CHECK(refused(file_of(header_of("F32", "[2]", "[-8,0]"), 8), "whole numbers of at least 0"));
  CHECK(refused(file_of(header_of("F32", "[4]", "[0,16]"), 12), "end <= 12"));
  CHECK(refused(file_of(header_of("F32", "[2]", "[18446744073709551612,4]"), 8), "begin <= end"));
  CHECK(refused(file_of(header_of("F32", "[1]", "[4]"), 4), "two whole numbers"));
  CHECK(refused(file_of(header_of("F32", "[1]", "[0,4,4]"), 4), "two whole numbers"));
  CHECK(refused(file_of(header_of("F32", "[1]", "[0,4.0]"), 4), "two whole numbers"));
  CHECK(refused(file_of(header_of("F32", "[1]", "[0,1e30]"), 4), "two whole numbers"));
  CHECK(refused(file_of(header_of("F32", "[1]", "\"0,4\""), 4), "two whole numbers"));
}

TEST_CASE("shapes that do not fit their data are refused (case B28)") {
  CHECK(refused(file_of(header_of("F32", "[4]", "[0,12]"), 12), "12 bytes, which does not fit [4] of dtype f32"));
  CHECK(refused(file_of(header_of("F32", "[4294967296,4294967296,2]", "[0,0]"), 0), "does not fit"));
  CHECK(refused(file_of(header_of("F32", "[0,4294967296,4294967296]", "[0,0]"), 0), "does not fit"));
  CHECK(refused(file_of(header_of("U8", "[9223372036854775808]", "[0,0]"), 0), "whole numbers"));
  CHECK(refused(file_of(header_of("F32", "[-1]", "[0,4]"), 4), "whole numbers of at least 0"));
  CHECK(refused(file_of(header_of("F32", "[1.5]", "[0,6]"), 6), "whole numbers of at least 0"));
  CHECK(refused(file_of(header_of("F32", "[\"1\"]", "[0,4]"), 4), "whole numbers of at least 0"));
  CHECK(refused(file_of(header_of("F32", "4", "[0,16]"), 16), "shape of at most 8 extents"));
  CHECK(refused(file_of(header_of("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1), "shape of at most 8 extents"));
  CHECK(refused(file_of(header_of("F32", "[]", "[0,0]"), 0), "does not fit [] of dtype f32"));
}

TEST_CASE("unknown dtypes are refused whatever their offsets (case B28)") {
  CHECK(refused(file_of(header_of("F99", "[1]", "[0,1000000000000000000]"), 4), "got \"F99\""));
  CHECK(refused(file_of(R"({"t":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4), "got 7"));
}

TEST_CASE("entries with missing fields or of the wrong kind are refused") {
  CHECK(refused(file_of(R"({"t":{"shape":[1],"data_offsets":[0,4]}})", 4), "tensor t: expected a field dtype"));
  CHECK(refused(file_of(R"({"t":{"dtype":"F32","data_offsets":[0,4]}})", 4), "tensor t: expected a field shape"));
  CHECK(refused(file_of(R"({"t":{"dtype":"F32","shape":[1]}})", 4), "tensor t: expected a field data_offsets"));
  CHECK(refused(file_of(R"({"t":[1]})", 0), "tensor t: expected an object, got array"));
  CHECK(refused(file_of(R"({"__metadata__":[1]})", 0), "__metadata__ to be an object"));
  CHECK(refused(file_of(R"({"__metadata__":{"a":1}})", 0), "__metadata__.a to be a string"));
}

TEST_CASE("tensors that overlap, leave gaps or do not fill the file are refused (case B28)") {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + first +
           R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}";
  };
  CHECK(error_of(file_of(two("[0,8]", "[8,16]"), 16)) == "nothing thrown");
  CHECK(error_of(file_of(two("[8,16]", "[0,8]"), 16)) == "nothing thrown");
  CHECK(refused(file_of(two("[0,8]", "[4,12]"), 12),
                "tensor b: expected its data at offset 8 of the data, got 4 (tensors overlap)"));
  CHECK(refused(file_of(two("[0,8]", "[0,8]"), 8), "tensors overlap"));
  CHECK(refused(file_of(two("[0,8]", "[12,20]"), 20), "unused bytes before it"));
  CHECK(refused(file_of(two("[4,12]", "[12,20]"), 20), "unused bytes before it"));
  CHECK(refused(file_of(two("[0,8]", "[8,16]"), 20), "expected 16 bytes of data for all tensors, got 20"));
}

TEST_CASE("a tensor that appears twice is refused") {
  const std::string entry = R"("t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  CHECK(refused(file_of("{" + entry + "," + entry + "}", 1), "key \"t\" appears twice"));
}

TEST_CASE("names of unknown origin do not break the error line") {
  CHECK(refused(file_of("{\"a\\nb\":{}}", 0), "tensor a b: expected a field"));
  CHECK(refused(file_of("{\"" + std::string(5000, 'n') + "\":{}}", 0), "nnn...: expected a field"));
  CHECK(refused(file_of("{\"\xFF\":{}}", 0), "header: malformed JSON"));
}

TEST_CASE("a file cut anywhere is refused") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  write_safetensors(path, {{"t", Tensor::arange(3)}, {"u", Tensor::arange(2, DType::kI64)}});
  const auto size = fs::file_size(path);
  for (std::uintmax_t cut = 0; cut < size; ++cut) {
    CAPTURE(cut);
    fs::copy_file(path, folder.path() / "cut", fs::copy_options::overwrite_existing);
    fs::resize_file(folder.path() / "cut", cut);
    CHECK_THROWS_AS(SafetensorsFile(folder.path() / "cut"), IoError);
  }
}

TEST_CASE("a file that shrinks after it was opened gives an error and no garbage") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  write_safetensors(path, {{"t", Tensor::arange(1000)}});
  const SafetensorsFile file(path);
  fs::resize_file(path, 1000);
  CHECK_THROWS_AS((void)file.read("t"), IoError);
}

TEST_CASE("tensors beyond 4 GiB in a file are found") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "large";
  constexpr std::uint64_t kFirst = (std::uint64_t{5} << 30) + 8;
  const std::string header = R"({"a":{"dtype":"U8","shape":[5368709128],"data_offsets":[0,5368709128]},)"
                             R"("b":{"dtype":"U8","shape":[4],"data_offsets":[5368709128,5368709132]}})";
  write_file(path, length_prefix(header.size()) + header);
  fs::resize_file(path, 8 + header.size() + kFirst + 4);  // sparse: takes no room
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(pwrite(descriptor, "wxyz", 4, static_cast<off_t>(8 + header.size() + kFirst)) == 4);
  close(descriptor);
  const SafetensorsFile file(path);
  CHECK(file.read("b").to_vector() == std::vector<double>{'w', 'x', 'y', 'z'});
  std::vector<std::byte> tail(4);
  file.read_bytes("a", kFirst - 4, tail);
  CHECK(tail == std::vector<std::byte>(4));
}

TEST_CASE("bytes of bool tensors other than 0 and 1 are read as true") {
  const TemporaryFolder folder;
  const std::string header = header_of("BOOL", "[3]", "[0,3]");
  write_file(folder.path() / "a", length_prefix(header.size()) + header + std::string("\0\1\x80", 3));
  CHECK(SafetensorsFile(folder.path() / "a").read("t").to_vector() == std::vector<double>{0, 1, 1});
}

TEST_CASE("a failed write leaves the former file and nothing else") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  write_safetensors(path, {{"t", Tensor::arange(3)}});
  CHECK_THROWS_AS(write_safetensors(path, {{"t", Tensor()}}), Error);
  CHECK_THROWS_AS(write_safetensors(path, {{"__metadata__", Tensor::arange(1)}}), IoError);
  CHECK_THROWS_AS(write_safetensors(path, {{"\xFF", Tensor::arange(1)}}), IoError);
  CHECK_THROWS_AS(write_safetensors(path, {}, {{"k", "\xFF"}}), IoError);
  CHECK(SafetensorsFile(path).read("t").numel() == 3);
  fs::create_directory(folder.path() / "folder");
  CHECK_THROWS_AS(write_safetensors(folder.path() / "folder", {}), IoError);
  CHECK_THROWS_AS(write_safetensors(folder.path() / "none" / "a", {}), IoError);
  CHECK_THROWS_AS(write_safetensors("/dev/full/a", {}), IoError);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("data begins at a multiple of 8 and new files have the usual permissions") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a";
  const mode_t mask = umask(027);
  write_safetensors(path, {{"t", Tensor::arange(3)}});
  umask(mask);
  CHECK(SafetensorsFile(path).entry("t").offset % 8 == 0);
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

}  // namespace
}  // namespace minitorch::io
