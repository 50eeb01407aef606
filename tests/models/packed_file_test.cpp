// Packed weight files: what is loaded from one equals, bit for bit, what is packed on loading, and spoilt ones are
// refused by name.
#include "models/packed_file.h"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "minitorch/base/error.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/json.h"
#include "models/load.h"
#include "models/save.h"
#include "tests/support/data.h"
#include "tests/support/random_model.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;
using kernels::PackedFormat;
using models::CausalLM;
using models::LoadOptions;

Runtime runtime(int num_threads = 2) {
  static ThreadPool one(1);
  static ThreadPool two(2);
  return {&kernels::best_cpu_table(), num_threads == 1 ? &one : &two};
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A folder with config.json and the weights of `source`, packed.
void pack_folder(const fs::path& source, const fs::path& folder, PackedFormat format) {
  fs::create_directories(folder);
  fs::copy_file(source / "config.json", folder / "config.json");
  models::write_packed_file(folder / models::kPackedFileName, models::Checkpoint(source),
                            models::read_model_config(source), format, *runtime().threads);
}

std::vector<float> logits_of(CausalLM& model, const std::vector<std::int32_t>& ids) {
  models::KVCache cache = model.make_cache(64);
  models::Batch batch;
  batch.caches = {&cache};
  batch.add_chain(0, ids);
  models::Outputs outputs;
  outputs.want.assign(ids.size(), models::Want::kLogits);
  model.forward(batch, outputs);
  const auto* values = outputs.logits.data<float>();
  return {values, values + outputs.logits.numel()};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Every format, one and two threads: packed when it is loaded, and loaded packed.
void check_equal_logits(const fs::path& source, const std::vector<std::int32_t>& ids) {
  for (const auto& [name, format] : models::packed_formats()) {
    CAPTURE(name);
    const TemporaryFolder folder;
    pack_folder(source, folder.path() / "packed", format);
    const models::WeightDType dtype = models::weight_dtype_of(name);
    const auto made = models::load_causal_lm(source, runtime(), {.dtype = dtype});
    const std::vector<float> expected = logits_of(*made, ids);
    REQUIRE(expected.size() == ids.size() * static_cast<std::size_t>(made->vocab_size()));
    for (const int threads : {1, 2}) {
      for (const models::WeightDType asked : {models::WeightDType::kAuto, dtype}) {
        CAPTURE(threads);
        const auto read = models::load_causal_lm(folder.path() / "packed", runtime(threads), {.dtype = asked});
        CHECK(same_bits(logits_of(*read, ids), expected));
        CHECK(models::weight_bytes(*read) == models::weight_bytes(*made));
      }
    }
  }
}

TEST_CASE("a packed folder gives the same logits as packing on loading: odd sizes, biases, own and tied heads") {
  for (const char* name : {"qwen2_odd", "llama_tied", "llama_biases", "qwen2_bf16_sharded", "llama_f16"}) {
    CAPTURE(name);
    check_equal_logits(golden_file(std::string("models/") + name), {1, 3, 5, 7, 2, 9, 11});
  }
}

TEST_CASE("a packed folder gives the same logits as packing on loading: the embedded pair") {
  for (const char* name : {"target", "draft"}) {
    CAPTURE(name);
    check_equal_logits(fs::path(MINITORCH_SOURCE_DIR) / "models/tiny_r1" / name, {1, 30, 500, 7, 2, 9, 1100});
  }
}

TEST_CASE("a packed folder gives the same logits as packing on loading: stories260K") {
  MT_REQUIRE_DATA("models/stories260K");
  check_equal_logits(data_folder() / "models/stories260K", {1, 403, 407, 30, 5, 9, 11});
}

// A packed folder of odd sizes whose file tests may spoil.
class Packed {
 public:
  explicit Packed(const char* format = "int8") {
    pack_folder(golden_file("models/qwen2_odd"), path(), models::packed_formats().at(format));
    const io::SafetensorsFile whole(file());
    metadata = whole.metadata();
    for (const auto& [name, entry] : whole.entries()) tensors[name] = whole.read(name);
  }

  [[nodiscard]] const fs::path& path() const { return folder_.path(); }
  [[nodiscard]] fs::path file() const { return path() / models::kPackedFileName; }
  void save() const { io::write_safetensors(file(), tensors, metadata); }

  [[nodiscard]] std::string refusal(const LoadOptions& options = {}) const {
    try {
      static_cast<void>(models::load_causal_lm(path(), runtime(), options));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  // The message after `spoil`, which is one line and names the file.
  [[nodiscard]] std::string refusal_after(const std::function<void(Packed&)>& spoil) const {
    Packed copy;
    copy.tensors = tensors;
    copy.metadata = metadata;
    spoil(copy);
    copy.save();
    const std::string message = copy.refusal();
    CHECK(message.starts_with(copy.file().string() + ": "));
    CHECK(!holds(message, "\n"));
    return message;
  }

  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;

 private:
  TemporaryFolder folder_;
};

TEST_CASE("the data of a packed file begins at a whole page, and every matrix at 64 bytes") {
  const Packed packed;
  const io::SafetensorsFile file(packed.file());
  std::uint64_t first = UINT64_MAX;
  for (const auto& [name, entry] : file.entries()) {
    CAPTURE(name);
    first = std::min(first, entry.offset);
    if (entry.dtype == DType::kU8) CHECK(entry.offset % 64 == 0);
  }
  CHECK(first % 4096 == 0);
  CHECK(file.metadata().at("packed_format") == "int8");
  CHECK(file.metadata().at("model.layers.0.mlp.gate_up_proj.weight") == "[102, 45]");
}

TEST_CASE("the same checkpoint gives the same packed file, byte for byte, on any number of threads") {
  const fs::path source = golden_file("models/llama_biases");
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (const int threads : {1, 2}) {
    const fs::path file = folder.path() / std::to_string(threads);
    models::write_packed_file(file, models::Checkpoint(source), models::read_model_config(source), PackedFormat::kInt8,
                              *runtime(threads).threads);
    files.push_back(io::read_file(file));
  }
  CHECK(files[0] == files[1]);
}

TEST_CASE("tensors in another order load likewise") {
  Packed packed;
  const std::vector<std::int32_t> ids{1, 2, 3};
  const auto before = logits_of(*models::load_causal_lm(packed.path(), runtime()), ids);
  packed.save();  // by name, not by the plan
  CHECK(same_bits(logits_of(*models::load_causal_lm(packed.path(), runtime()), ids), before));
}

TEST_CASE("a packed file of another format or version is refused with what it holds") {
  const Packed packed;
  const auto with = [&](const char* key, const char* text) {
    return packed.refusal_after([&](Packed& copy) { copy.metadata[key] = text; });
  };
  const auto without = [&](const char* key) {
    return packed.refusal_after([&](Packed& copy) { copy.metadata.erase(key); });
  };
  CHECK(holds(with("format", "pt"), "metadata: format: expected \"minitorch-packed\", got \"pt\""));
  CHECK(holds(without("format"), "metadata: format: expected \"minitorch-packed\", got nothing"));
  CHECK(holds(with("version", "2"), "metadata: version: expected \"1\", got \"2\""));
  CHECK(holds(with("version", "1\n"), "metadata: version: expected \"1\", got \"1"));
  CHECK(holds(without("version"), "metadata: version: expected \"1\", got nothing"));
  CHECK(holds(with("packed_format", "int3"), "int8, got \"int3\""));
  CHECK(holds(with("packed_format", ""), "metadata: packed_format: expected one of bf16, f32, "));
  CHECK(holds(with("packed_format", "?"), "got \"?\""));
  CHECK(holds(without("packed_format"), "metadata: packed_format: expected one of "));
  CHECK(holds(with("packed_format", "bf16"), "tensor \"model.embed_tokens.weight\": expected u8 ["));
}

TEST_CASE("missing, superfluous and misshapen tensors of a packed file are refused by name") {
  const Packed packed;
  for (const auto& [name, tensor] : packed.tensors) {
    CAPTURE(name);
    const std::string lacking = packed.refusal_after([&](Packed& copy) { copy.tensors.erase(name); });
    CHECK(holds(lacking, "expected a tensor \"" + name + "\" of "));
    const std::string shorter =
        packed.refusal_after([&](Packed& copy) { copy.tensors[name] = tensor.slice(0, {.stop = tensor.numel() - 1}); });
    CHECK(holds(shorter, "tensor \"" + name + "\": expected " + std::string(name_of(tensor.dtype())) + " " +
                             to_string(tensor.shape()) + ", got "));
    const std::string other =
        packed.refusal_after([&](Packed& copy) { copy.tensors[name] = Tensor::zeros(tensor.shape(), DType::kBool); });
    CHECK(holds(other, "tensor \"" + name + "\": expected "));
    CHECK(holds(other, ", got bool "));
  }
  const std::string extra =
      packed.refusal_after([](Packed& copy) { copy.tensors["model.extra.weight"] = Tensor::zeros({3}); });
  CHECK(holds(extra, "tensor \"model.extra.weight\" is not part of this model"));
}

TEST_CASE("rows and columns are checked where panels would hide the difference") {
  const Packed packed;
  const std::string name = "lm_head.weight";
  const auto with = [&](const char* shape) {
    return packed.refusal_after([&](Packed& copy) { copy.metadata[name] = shape; });
  };
  // 97 rows are seven panels, as 98 are; 45 columns are twelve quads, as 46 are.
  const std::string expected = "tensor \"lm_head.weight\": expected the rows and columns \"[97, 45]\", got ";
  CHECK(holds(with("[98, 45]"), expected + "\"[98, 45]\""));
  CHECK(holds(with("[97, 46]"), expected + "\"[97, 46]\""));
  CHECK(holds(with("-"), expected + "\"-\""));
  CHECK(holds(packed.refusal_after([&](Packed& copy) { copy.metadata.erase(name); }), expected + "nothing"));
}

TEST_CASE("truncated and prolonged packed files are refused") {
  const Packed packed;
  const std::string whole = io::read_file(packed.file());
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, std::size_t{4096}, whole.size() - 1}) {
    CAPTURE(size);
    write_file(packed.file(), std::string_view(whole).substr(0, size));
    CHECK(packed.refusal().starts_with(packed.file().string() + ": "));
  }
  write_file(packed.file(), whole + "x");
  CHECK(packed.refusal().starts_with(packed.file().string() + ": "));
  write_file(packed.file(), whole);
  CHECK(packed.refusal().empty());
}

TEST_CASE("another dtype than the packed one is refused with the one that the file holds") {
  const Packed packed;
  const std::string message = packed.refusal({.dtype = models::WeightDType::kBF16});
  CHECK(message == "dtype: expected auto or int8, in which " + packed.file().string() + " is packed, got bf16");
  CHECK(packed.refusal({.dtype = models::WeightDType::kInt8}).empty());
}

TEST_CASE("panels full of any bits load and compute") {
  Packed packed;
  for (auto& [name, tensor] : packed.tensors) {
    if (tensor.dtype() != DType::kU8) continue;
    std::memset(tensor.raw_data(), 0xFF, static_cast<std::size_t>(tensor.numel()));  // scales are NaN
  }
  packed.save();
  const auto model = models::load_causal_lm(packed.path(), runtime());
  CHECK_THROWS_WITH_AS(static_cast<void>(logits_of(*model, {1, 2})), doctest::Contains("NaN"), Error);
}

TEST_CASE("packed weights are neither packed again nor trained") {
  const Packed packed;
  const std::string expected = packed.file().string() + ": expected weights that are not packed, got packed ones";
  CHECK_THROWS_WITH_AS(static_cast<void>(models::read_checkpoint_tensors(packed.path())), expected.c_str(), Error);
  CHECK_THROWS_WITH_AS(
      models::write_packed_file(packed.path() / "again", models::Checkpoint(packed.path()),
                                models::read_model_config(packed.path()), PackedFormat::kInt8, *runtime().threads),
      expected.c_str(), Error);
  CHECK(!fs::exists(packed.path() / "again"));
}

TEST_CASE("weights that a format cannot hold are refused with their tensor, and no file remains") {
  const TemporaryFolder folder;
  write_random_checkpoint(folder.path(), {}, 1);
  auto tensors = models::read_checkpoint_tensors(folder.path());
  tensors.at("model.layers.1.self_attn.k_proj.weight").data<float>()[0] = std::numeric_limits<float>::infinity();
  io::write_safetensors(folder.path() / "model.safetensors", tensors);
  const auto pack = [&] {
    models::write_packed_file(folder.path() / models::kPackedFileName, models::Checkpoint(folder.path()),
                              models::read_model_config(folder.path()), PackedFormat::kInt8, *runtime().threads);
  };
  CHECK_THROWS_WITH_AS(
      pack(), doctest::Contains("model.safetensors: tensor \"model.layers.1.self_attn.k_proj.weight\": pack_rows: "),
      Error);
  CHECK(!fs::exists(folder.path() / models::kPackedFileName));
}

}  // namespace
}  // namespace minitorch::test
