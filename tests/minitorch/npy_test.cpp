// .npy files: round trips, files as NumPy writes them, and malformed ones refused.
#include "minitorch/io/npy.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/io/json.h"
#include "tests/support/data.h"

namespace minitorch::io {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::write_file;
using Values = std::vector<double>;

std::string npy(const std::string& dict, const std::string& data, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i) file += static_cast<char>(dict.size() >> (8 * i));
  return file + dict + data;
}

std::string dict_of(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Tensor read_content(const std::string& content) {
  const TemporaryFolder folder;
  write_file(folder.path() / "a.npy", content);
  return read_npy(folder.path() / "a.npy");
}

bool refused(const std::string& content, const std::string& part_of_message) {
  try {
    (void)read_content(content);
  } catch (const IoError& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(message.find("a.npy: ") != std::string::npos);
    CHECK(message.find(part_of_message) != std::string::npos);
    return true;
  }
  return false;
}

TEST_CASE("arrays of every dtype and shape survive writing and reading") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npy";
  for (const DType dtype :
       {DType::kF32, DType::kF64, DType::kF16, DType::kI32, DType::kI64, DType::kU8, DType::kBool}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape{2, 1, 2, 1, 1, 1, 1, 3}}) {
      CAPTURE(std::string(name_of(dtype)));
      CAPTURE(to_string(shape));
      const Tensor tensor = Tensor::arange(shape.numel(), dtype).view(shape);
      write_npy(path, tensor);
      const Tensor back = read_npy(path);
      CHECK(back.dtype() == dtype);
      CHECK(back.shape() == shape);
      CHECK(back.to_vector() == tensor.to_vector());
    }
  }
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("bf16 is widened and views are written in logical order") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npy";
  write_npy(path, Tensor::arange(6, DType::kBF16).view({2, 3}).transpose(0, 1));
  CHECK(read_npy(path).dtype() == DType::kF32);
  CHECK(read_npy(path).to_vector() == Values{0, 3, 1, 4, 2, 5});
}

TEST_CASE("the file written is the one NumPy writes") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npy";
  write_npy(path, Tensor::full({1, 2}, 1.0));
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  dict += std::string(128 - 10 - dict.size() - 1, ' ') + '\n';
  const std::string one("\0\0\x80\x3F", 4);
  CHECK(read_file(path) == npy(dict, one + one));
  write_npy(path, Tensor::full({2}, 1.0));
  CHECK(read_file(path).find("'shape': (2,), }") != std::string::npos);
  write_npy(path, Tensor::full({}, 1.0));
  CHECK(read_file(path).find("'shape': (), }") != std::string::npos);
}

TEST_CASE("versions 2 and 3, other key orders and quotes are read") {
  const std::string data("\1\0\0\0\2\0\0\0", 8);
  CHECK(read_content(npy(dict_of("<i4", "(2,)"), data, 2)).to_vector() == Values{1, 2});
  CHECK(read_content(npy(dict_of("<i4", "(2, 1)"), data, 3)).shape() == Shape{2, 1});
  CHECK(read_content(npy("{\"shape\":(2,),'fortran_order':False,'descr':'<i4'}", data)).to_vector() == Values{1, 2});
  // One dimension: the same order.
  CHECK(read_content(npy(dict_of("<i4", "(2,)", "True"), data)).to_vector() == Values{1, 2});
  CHECK(read_content(npy(dict_of("|b1", "(3,)"), std::string("\0\1\7", 3))).to_vector() == Values{0, 1, 1});
}

TEST_CASE("malformed files are refused with the file's name") {
  const std::string data(8, '\0');
  const std::string good = npy(dict_of("<f4", "(2,)"), data);
  CHECK_FALSE(refused(good, ""));
  for (std::size_t cut = 0; cut < good.size(); ++cut) CHECK(refused(good.substr(0, cut), ""));
  CHECK(refused(good + "x", "got 9 bytes"));
  CHECK(refused("not numpy at all, but long enough", "npy file of version"));
  CHECK(refused(npy(dict_of("<f4", "(2,)"), data, 4), "npy file of version"));
  CHECK(refused(npy(dict_of(">f4", "(2,)"), data), "little-endian descr"));
  CHECK(refused(npy(dict_of("<c8", "(1,)"), data), "got '<c8'"));
  CHECK(refused(npy(dict_of("|O", "(1,)"), data), "got '|O'"));
  CHECK(refused(npy(dict_of("<f4", "(1, 2)", "True"), data), "Fortran order"));
  CHECK(refused(npy(dict_of("<f4", "(2,)", "Maybe"), data), "fortran_order True or False"));
  CHECK(refused(npy(dict_of("<f4", "(-2,)"), data), "whole numbers"));
  CHECK(refused(npy(dict_of("<f4", "(2"), data), "whole numbers"));
  CHECK(refused(npy(dict_of("<f4", "(2 3)"), data), "expected ')'"));
  CHECK(refused(npy(dict_of("<f4", "2"), data), "expected '('"));
  CHECK(refused(npy(dict_of("<f4", "(3,)"), data), "got 8 bytes"));
  CHECK(refused(npy(dict_of("<f4", "(1,1,1,1,1,1,1,1,2)"), data), "at most 8"));
  CHECK(refused(npy(dict_of("<f4", "(4294967296, 4294967296)"), data), "expected the data"));
  CHECK(refused(npy(dict_of("<f4", "(99999999999999999999,)"), data), "whole numbers"));
  CHECK(refused(npy("{'descr': '<f4', 'shape': (2,)}", data), "expected the keys"));
  CHECK(refused(npy("{'descr': '<f4', 'descr': '<f4'}", data), "unexpected key 'descr'"));
  CHECK(refused(npy("{'extra': 1}", data), "unexpected key 'extra'"));
  CHECK(refused(npy(dict_of("<f4", "(2,)") + "x", data), "after the closing brace"));
  CHECK(refused(npy("", data), "expected '{'"));
}

TEST_CASE("missing files and folders are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS((void)read_npy(folder.path() / "none.npy"), IoError);
  CHECK_THROWS_AS((void)read_npy(folder.path()), IoError);
  CHECK_THROWS_AS(write_npy(folder.path() / "none" / "a.npy", Tensor::arange(1)), IoError);
  CHECK_THROWS_AS(write_npy(folder.path() / "a.npy", Tensor()), Error);
}

}  // namespace
}  // namespace minitorch::io
