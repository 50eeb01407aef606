// Reading safetensors files: the header's checks, then bytes at offsets.
#include "minitorch/io/safetensors.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/json.h"
#include "minitorch/io/safetensors_names.h"

namespace minitorch::io {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's own implementation

// The checks of one file's header. Data offsets in the JSON count from the end of the header.
class HeaderReader {
 public:
  HeaderReader(const InputFile& file, std::map<std::string, SafetensorsEntry>& entries,
               std::map<std::string, std::string>& metadata)
      : file_(file), name_(file.path().string()), entries_(entries), metadata_(metadata) {}

  void read() {
    const std::string text = read_text();
    const json header = parse_json(text, name_ + ": header");
    MT_CHECK_AS(IoError, header.is_object(), "{}: expected the header to be a JSON object, got {}", name_,
                header.type_name());
    for (const auto& [key, value] : header.items()) {
      if (key == kMetadataKey) {
        read_metadata(value);
      } else {
        entries_.emplace(key, read_entry(printable(key), value));
      }
    }
    check_coverage();
  }

 private:
  // Reads and checks the length, then the header itself; never takes more memory than the file holds.
  std::string read_text() {
    const std::uint64_t file_bytes = file_.regular_size();
    MT_CHECK_AS(IoError, file_bytes >= kLengthBytes, "{}: expected a safetensors file of at least {} bytes, got {}",
                name_, kLengthBytes, file_bytes);
    std::array<std::byte, kLengthBytes> length_bytes{};
    file_.read_at(0, length_bytes);
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i > 0; --i)
      length = length << 8 | std::to_integer<std::uint64_t>(length_bytes[i - 1]);
    const std::uint64_t available = file_bytes - kLengthBytes;
    MT_CHECK_AS(IoError, length > 0 && length <= std::min(available, kMaxHeaderBytes),
                "{}: expected a safetensors file with a header of 1 to {} bytes, got the header length {}", name_,
                std::min(available, kMaxHeaderBytes), length);
    std::string text(static_cast<std::size_t>(length), '\0');
    file_.read_at(kLengthBytes, std::as_writable_bytes(std::span(text)));
    data_begin_ = kLengthBytes + length;
    data_bytes_ = available - length;
    return text;
  }

  void read_metadata(const json& value) {
    MT_CHECK_AS(IoError, value.is_object(), "{}: expected {} to be an object, got {}", name_, kMetadataKey,
                value.type_name());
    for (const auto& [key, text] : value.items()) {
      MT_CHECK_AS(IoError, text.is_string(), "{}: expected {}.{} to be a string, got {}", name_, kMetadataKey,
                  printable(key), text.type_name());
      metadata_.emplace(key, text.get<std::string>());
    }
  }

  SafetensorsEntry read_entry(const std::string& tensor, const json& value) const {
    MT_CHECK_AS(IoError, value.is_object(), "{}: tensor {}: expected an object, got {}", name_, tensor,
                value.type_name());
    SafetensorsEntry entry;
    entry.dtype = read_dtype(tensor, field(tensor, value, "dtype"));
    entry.shape = read_shape(tensor, field(tensor, value, "shape"));
    const auto [begin, end] = read_offsets(tensor, field(tensor, value, "data_offsets"));
    entry.offset = data_begin_ + begin;
    entry.bytes = end - begin;
    check_size(tensor, entry);
    return entry;
  }

  const json& field(const std::string& tensor, const json& value, const char* key) const {
    const auto found = value.find(key);
    MT_CHECK_AS(IoError, found != value.end(), "{}: tensor {}: expected a field {}, got none", name_, tensor, key);
    return *found;
  }

  DType read_dtype(const std::string& tensor, const json& value) const {
    std::string known;
    for (const auto& [text, dtype] : kSafetensorsDTypes) {
      if (value.is_string() && value.get_ref<const std::string&>() == text) return dtype;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", text);
    }
    fail<IoError>("{}: tensor {}: expected one of the dtypes {}, got {}", name_, tensor, known, shown(value));
  }

  Shape read_shape(const std::string& tensor, const json& value) const {
    MT_CHECK_AS(IoError, value.is_array() && value.size() <= kMaxDims,
                "{}: tensor {}: expected a shape of at most {} extents, got {}", name_, tensor, kMaxDims, shown(value));
    Shape shape;
    for (const json& extent : value) {
      const bool fits = extent.is_number_unsigned() && extent.get<std::uint64_t>() <= INT64_MAX;
      MT_CHECK_AS(IoError, fits, "{}: tensor {}: expected shape extents that are whole numbers of at least 0, got {}",
                  name_, tensor, shown(value));
      shape.push_back(extent.get<std::int64_t>());
    }
    return shape;
  }

  std::pair<std::uint64_t, std::uint64_t> read_offsets(const std::string& tensor, const json& value) const {
    const bool is_pair =
        value.is_array() && value.size() == 2 && value[0].is_number_unsigned() && value[1].is_number_unsigned();
    MT_CHECK_AS(IoError, is_pair, "{}: tensor {}: expected data_offsets to be two whole numbers of at least 0, got {}",
                name_, tensor, shown(value));
    const auto begin = value[0].get<std::uint64_t>();
    const auto end = value[1].get<std::uint64_t>();
    MT_CHECK_AS(IoError, begin <= end && end <= data_bytes_,
                "{}: tensor {}: expected data_offsets [begin, end] with begin <= end <= {} (bytes of data), got {}",
                name_, tensor, data_bytes_, shown(value));
    return {begin, end};
  }

  void check_size(const std::string& tensor, const SafetensorsEntry& entry) const {
    std::uint64_t bytes = size_of(entry.dtype);
    bool overflow = false;
    bool empty = false;
    for (const std::int64_t extent : entry.shape) {
      empty = empty || extent == 0;
      // Zeros are left out, as in Shape::numel: the strides of an empty tensor must not overflow either.
      const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
      overflow = overflow || __builtin_mul_overflow(bytes, factor, &bytes);
    }
    overflow = overflow || bytes > INT64_MAX;
    MT_CHECK_AS(IoError, !overflow && (empty ? 0 : bytes) == entry.bytes,
                "{}: tensor {}: data_offsets span {} bytes, which does not fit {} of dtype {}", name_, tensor,
                entry.bytes, to_string(entry.shape), name_of(entry.dtype));
  }

  // The tensors, in the order of their data, must follow each other without gap or overlap and fill the file.
  void check_coverage() const {
    std::vector<const std::pair<const std::string, SafetensorsEntry>*> order;
    for (const auto& item : entries_) order.push_back(&item);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return std::pair(a->second.offset, a->second.bytes) < std::pair(b->second.offset, b->second.bytes);
    });
    std::uint64_t position = data_begin_;
    for (const auto* item : order) {
      const SafetensorsEntry& entry = item->second;
      MT_CHECK_AS(IoError, entry.offset == position,
                  "{}: tensor {}: expected its data at offset {} of the data, got {} ({})", name_,
                  printable(item->first), position - data_begin_, entry.offset - data_begin_,
                  entry.offset < position ? "tensors overlap" : "unused bytes before it");
      position += entry.bytes;
    }
    MT_CHECK_AS(IoError, position == data_begin_ + data_bytes_, "{}: expected {} bytes of data for all tensors, got {}",
                name_, position - data_begin_, data_bytes_);
  }

  static std::string shown(const json& value) {
    constexpr std::size_t kLongestList = 16;
    if (value.is_structured() && value.size() > kLongestList) return fmt::format("{} values", value.size());
    return printable(value.dump());
  }

  const InputFile& file_;
  std::string name_;
  std::map<std::string, SafetensorsEntry>& entries_;
  std::map<std::string, std::string>& metadata_;
  std::uint64_t data_begin_ = 0;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  HeaderReader(file_, entries_, metadata_).read();
}

const SafetensorsEntry& SafetensorsFile::entry(const std::string& name) const {
  const auto found = entries_.find(name);
  MT_CHECK_AS(IoError, found != entries_.end(), "{}: expected a tensor {}, got none of that name", path().string(),
              name);
  return found->second;
}

Tensor SafetensorsFile::read(const std::string& name) const {
  const SafetensorsEntry& found = entry(name);
  Tensor tensor = Tensor::empty(found.shape, found.dtype);
  const std::span bytes(static_cast<std::byte*>(tensor.raw_data()), static_cast<std::size_t>(found.bytes));
  file_.read_at(found.offset, bytes);
  if (found.dtype == DType::kBool) {
    std::replace_if(
        bytes.begin(), bytes.end(), [](std::byte value) { return value != std::byte{0}; }, std::byte{1});
  }
  return tensor;
}

void SafetensorsFile::read_bytes(const std::string& name, std::uint64_t byte_begin,
                                 std::span<std::byte> destination) const {
  const SafetensorsEntry& found = entry(name);
  MT_CHECK_AS(IoError, byte_begin <= found.bytes && destination.size() <= found.bytes - byte_begin,
              "{}: tensor {}: expected a range within its {} bytes, got {} bytes from {}", path().string(), name,
              found.bytes, destination.size(), byte_begin);
  file_.read_at(found.offset + byte_begin, destination);
}

}  // namespace minitorch::io
