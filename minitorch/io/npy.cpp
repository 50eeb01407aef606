// The .npy format: a magic string, a Python dict literal that describes the array, the elements.
#include "minitorch/io/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>  // fmt::join, from fmt 11 on

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/file.h"

namespace minitorch::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPreambleBytes = 8;  // magic, two bytes of version
constexpr std::size_t kDataAlignment = 64;

constexpr std::array<std::pair<std::string_view, DType>, 7> kDescriptions{{
    {"<f4", DType::kF32},
    {"<f8", DType::kF64},
    {"<f2", DType::kF16},
    {"<i4", DType::kI32},
    {"<i8", DType::kI64},
    {"|u1", DType::kU8},
    {"|b1", DType::kBool},
}};

// The header's dict, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, read without Python: exactly these
// three keys in any order.
class DictReader {
 public:
  DictReader(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  void read() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !dtype) {
        dtype = read_dtype();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = read_bool();
      } else if (key == "shape" && !shape) {
        shape = read_shape();
      } else {
        refuse(fmt::format("unexpected key '{}'", printable(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) refuse("text after the closing brace");
    if (!dtype || !fortran_order || !shape) refuse("expected the keys descr, fortran_order and shape");
  }

  std::optional<DType> dtype;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;

 private:
  [[noreturn]] void refuse(std::string_view problem) const { fail<IoError>("{}: npy header: {}", file_, problem); }

  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }

  bool accept(char c) {
    skip_space();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("expected '{}'", c));
  }

  std::string_view quoted() {
    skip_space();
    const char quote = text_.empty() ? '\0' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) refuse("expected a quoted text");
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }

  DType read_dtype() {
    const std::string_view text = quoted();
    for (const auto& [description, dtype_of_it] : kDescriptions) {
      if (text == description) return dtype_of_it;
    }
    refuse(fmt::format("expected a little-endian descr among <f4 <f8 <f2 <i4 <i8 |u1 |b1, got '{}'", printable(text)));
  }

  bool read_bool() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    refuse("expected fortran_order True or False");
  }

  Shape read_shape() {
    Shape sizes;
    expect('(');
    while (!accept(')')) {
      std::int64_t size = -1;
      skip_space();
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc{} || size < 0) refuse("expected a shape of whole numbers of at least 0");
      if (sizes.dims() == kMaxDims) refuse(fmt::format("expected at most {} dimensions", kMaxDims));
      sizes.push_back(size);
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string file_;
  std::string_view text_;
};

// The header's text and where the data begins.
struct NpyHeader {
  std::string text;
  std::uint64_t data_begin = 0;
};

NpyHeader read_header(const InputFile& file, std::uint64_t file_bytes) {
  const std::string name = file.path().string();
  std::array<std::byte, kPreambleBytes + 4> start{};
  const std::size_t available = static_cast<std::size_t>(std::min<std::uint64_t>(file_bytes, start.size()));
  file.read_at(0, std::span(start).first(available));
  const bool magic = std::equal(kMagic.begin(), kMagic.end(), start.begin(),
                                [](char a, std::byte b) { return static_cast<std::byte>(a) == b; });
  const int version = std::to_integer<int>(start[kMagic.size()]);
  MT_CHECK_AS(IoError, magic && version >= 1 && version <= 3, "{}: expected an npy file of version 1, 2 or 3", name);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i > 0; --i) {
    length = length << 8 | std::to_integer<std::uint64_t>(start[kPreambleBytes + i - 1]);
  }
  const std::uint64_t begin = kPreambleBytes + length_bytes;
  MT_CHECK_AS(IoError, begin + length <= file_bytes, "{}: expected a header of {} bytes, but the file has {}", name,
              length, file_bytes);
  NpyHeader header{.text = std::string(static_cast<std::size_t>(length), '\0'), .data_begin = begin + length};
  file.read_at(begin, std::as_writable_bytes(std::span(header.text)));
  return header;
}

// Magic, version 1.0, and the dict padded so that the data begins at a multiple of 64.
std::string preamble(const Tensor& tensor) {
  const auto* const found = std::find_if(kDescriptions.begin(), kDescriptions.end(),
                                         [&](const auto& item) { return item.second == tensor.dtype(); });
  std::string sizes = fmt::format("{}", fmt::join(tensor.shape().begin(), tensor.shape().end(), ", "));
  if (tensor.dims() == 1) sizes += ',';  // Python's tuple of one
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", found->first, sizes);
  const std::size_t used = kPreambleBytes + 2 + dict.size() + 1;
  dict.append((kDataAlignment - used % kDataAlignment) % kDataAlignment, ' ');
  dict += '\n';
  std::string text(kMagic);
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, dict.size() & 0xFF, dict.size() >> 8}) {
    text += static_cast<char>(byte);
  }
  return text + dict;
}

std::span<std::byte> bytes_of(const Tensor& tensor) {
  const auto size = static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype());
  return {static_cast<std::byte*>(tensor.raw_data()), size};
}

}  // namespace

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const Tensor source = (tensor.dtype() == DType::kBF16 ? tensor.to(DType::kF32) : tensor).contiguous();
  const std::string header = preamble(source);
  OutputFile file(path);
  file.write(std::as_bytes(std::span(header)));
  file.write(bytes_of(source));
  file.commit();
}

Tensor read_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  const std::string name = path.string();
  const std::uint64_t file_bytes = file.regular_size();
  const NpyHeader header = read_header(file, file_bytes);
  DictReader dict(name, header.text);
  dict.read();
  MT_CHECK_AS(IoError, !*dict.fortran_order || dict.shape->dims() <= 1, "{}: expected C order, got Fortran order",
              name);
  const std::uint64_t data_bytes = file_bytes - header.data_begin;
  std::int64_t expected = 0;
  bool fits = true;
  try {
    fits = !__builtin_mul_overflow(dict.shape->numel(), static_cast<std::int64_t>(size_of(*dict.dtype)), &expected);
  } catch (const ShapeError&) {
    fits = false;
  }
  MT_CHECK_AS(IoError, fits && static_cast<std::uint64_t>(expected) == data_bytes,
              "{}: expected the data of {} of dtype {}, got {} bytes", name, to_string(*dict.shape),
              name_of(*dict.dtype), data_bytes);
  Tensor tensor = Tensor::empty(*dict.shape, *dict.dtype);
  file.read_at(header.data_begin, bytes_of(tensor));
  if (*dict.dtype == DType::kBool) {
    std::ranges::replace_if(
        bytes_of(tensor), [](std::byte value) { return value != std::byte{0}; }, std::byte{1});
  }
  return tensor;
}

}  // namespace minitorch::io
