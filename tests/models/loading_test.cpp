// Loading checkpoints: what is refused and how it is said, what is tolerated, and what is held in memory.
#include "models/load.h"

#include <functional>
#include <map>
#include <string>

#include "minitorch/base/error.h"
#include "minitorch/base/thread_pool.h"
#include "minitorch/io/json.h"
#include "minitorch/io/safetensors.h"
#include "tests/support/data.h"
#include "tests/support/random_model.h"

namespace minitorch::test {
namespace {

namespace fs = std::filesystem;
using models::LoadOptions;
using models::WeightDType;
using nlohmann::json;
using Tensors = std::map<std::string, Tensor>;

const Runtime& runtime() {
  static ThreadPool threads(2);
  static const Runtime runtime{&kernels::best_cpu_table(), &threads};
  return runtime;
}

// A model folder that tests may spoil: a committed checkpoint with all its tensors in hand.
class Folder {
 public:
  explicit Folder(const std::string& name) {
    fs::copy(golden_file("models/" + name), path());
    const io::SafetensorsFile file(path() / "model.safetensors");
    for (const auto& [tensor, entry] : file.entries()) tensors[tensor] = file.read(tensor);
  }

  [[nodiscard]] const fs::path& path() const { return folder_.path(); }
  void save() const { io::write_safetensors(path() / "model.safetensors", tensors); }
  // Two shards with an index, the tensors dealt out in turn; `spoil` may change the index.
  void save_shards(const std::function<void(json&)>& spoil = {}) const {
    Tensors shards[2];
    json map;
    for (const auto& [name, tensor] : tensors) {
      const std::size_t shard = map.size() % 2;
      shards[shard][name] = tensor;
      map[name] = shard == 0 ? "a.safetensors" : "b.safetensors";
    }
    fs::remove(path() / "model.safetensors");
    io::write_safetensors(path() / "a.safetensors", shards[0]);
    io::write_safetensors(path() / "b.safetensors", shards[1]);
    json index{{"weight_map", map}};
    if (spoil) spoil(index);
    write_file(path() / "model.safetensors.index.json", index.dump());
  }

  // The message of the error that loading gives; "" when there is none.
  [[nodiscard]] std::string refusal(const LoadOptions& options = {}) const {
    try {
      static_cast<void>(models::load_causal_lm(path(), runtime(), options));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  Tensors tensors;

 private:
  TemporaryFolder folder_;
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string file_text(const fs::path& path) { return io::read_file(path); }

TEST_CASE("the folder of the tests below loads, from one file and from shards") {
  Folder folder("llama_biases");
  CHECK(folder.refusal().empty());
  folder.save_shards();
  CHECK(folder.refusal().empty());
}

TEST_CASE("a folder without weights is named") {
  const Folder folder("llama_tied");
  fs::remove(folder.path() / "model.safetensors");
  const std::string message = folder.refusal();
  CHECK(holds(message, folder.path().string()));
  CHECK(holds(message, " is not a model folder (no model.safetensors or model.safetensors.index.json)"));
  fs::create_symlink("model.safetensors", folder.path() / "model.safetensors");  // a loop
  CHECK(holds(folder.refusal(), "model.safetensors: cannot open: Too many levels of symbolic links"));
}

TEST_CASE("a truncated, prolonged or spoilt weight file is named") {
  const Folder folder("llama_tied");
  const fs::path file = folder.path() / "model.safetensors";
  const std::string whole = file_text(file);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{100}, whole.size() - 1}) {
    CAPTURE(size);
    write_file(file, std::string_view(whole).substr(0, size));
    CHECK(holds(folder.refusal(), file.string()));
  }
  write_file(file, whole + "x");
  CHECK(holds(folder.refusal(), file.string()));
  std::string spoilt = whole;
  spoilt[20] = '\x01';
  write_file(file, spoilt);
  CHECK(holds(folder.refusal(), file.string()));
}

TEST_CASE("every missing tensor is named together with the file and its shape") {
  for (const char* checkpoint : {"llama_biases", "qwen2_odd"}) {
    const Folder whole(checkpoint);
    for (const auto& [name, tensor] : whole.tensors) {
      CAPTURE(name);
      Folder folder(checkpoint);
      folder.tensors.erase(name);
      folder.save();
      const std::string message = folder.refusal();
      CHECK(holds(message, (folder.path() / "model.safetensors").string()));
      CHECK(holds(message, "expected a tensor \"" + name + "\" of shape " + to_string(tensor.shape())));
    }
  }
}

TEST_CASE("a tensor that the architecture has no place for is refused by name") {
  Folder folder("llama_tied");
  const std::string bias = "model.layers.0.self_attn.q_proj.bias";
  folder.tensors[bias] = Tensor::zeros({44});
  folder.save();
  CHECK(holds(folder.refusal(), "tensor \"" + bias + "\" is not part of LlamaForCausalLM with this config.json"));
  folder.tensors.erase(bias);
  folder.tensors["model.layers.2.input_layernorm.weight"] = Tensor::zeros({44});
  folder.save();
  CHECK(holds(folder.refusal(), "model.layers.2.input_layernorm.weight"));
}

TEST_CASE("stored rotary frequencies and a head beside a tied embedding are ignored") {
  Folder folder("llama_tied");
  folder.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = Tensor::zeros({11});
  folder.tensors["lm_head.weight"] = folder.tensors["model.embed_tokens.weight"];
  folder.save();
  CHECK(folder.refusal().empty());
}

TEST_CASE("wrong shapes are refused with the tensor and both shapes") {
  const auto message = [](const std::string& name, const Tensor& tensor) {
    Folder folder("qwen2_odd");
    folder.tensors.at(name) = tensor;
    folder.save();
    return folder.refusal();
  };
  CHECK(holds(message("model.layers.1.mlp.down_proj.weight", Tensor::zeros({51, 45})),
              "tensor \"model.layers.1.mlp.down_proj.weight\": expected shape [45, 51], got [51, 45]"));
  CHECK(holds(message("model.layers.0.self_attn.k_proj.weight", Tensor::zeros({60, 45})), "expected shape [20, 45]"));
  CHECK(holds(message("model.layers.0.self_attn.k_proj.bias", Tensor::zeros({21})), "expected shape [20], got [21]"));
  CHECK(holds(message("model.norm.weight", Tensor::zeros({45, 1})), "expected shape [45], got [45, 1]"));
  CHECK(holds(message("lm_head.weight", Tensor::zeros({96, 45})), "expected shape [97, 45], got [96, 45]"));
  CHECK(holds(message("model.embed_tokens.weight", Tensor::zeros({97 * 45})), "expected shape [97, 45]"));
}

TEST_CASE("element types other than f32, bf16 and f16 are refused with the tensor") {
  for (const DType dtype : {DType::kI32, DType::kF64, DType::kU8}) {
    for (const char* name : {"model.layers.0.self_attn.o_proj.weight", "model.norm.weight"}) {
      CAPTURE(name_of(dtype));
      Folder folder("llama_tied");
      folder.tensors.at(name) = folder.tensors.at(name).to(dtype);
      folder.save();
      const std::string message = folder.refusal();
      CHECK(holds(message, std::string("tensor \"") + name + "\": expected dtype f32, bf16 or f16, got "));
      CHECK(holds(message, std::string(name_of(dtype))));
    }
  }
}

TEST_CASE("a tensor in two shards is refused with both files") {
  const Folder folder("llama_tied");
  folder.save_shards();
  io::write_safetensors(folder.path() / "b.safetensors", folder.tensors);
  const std::string message = folder.refusal();
  CHECK(holds(message, "b.safetensors: tensor \""));
  CHECK(holds(message, "is also in"));
  CHECK(holds(message, "a.safetensors"));
}

TEST_CASE("an index that names a missing shard, a wrong one or none is refused") {
  const Folder folder("llama_tied");
  const auto message = [&](const std::function<void(json&)>& spoil) {
    folder.save_shards(spoil);
    return folder.refusal();
  };
  CHECK(message({}).empty());
  const std::string missing = message([](json& index) { index["weight_map"]["model.norm.weight"] = "c.safetensors"; });
  CHECK(holds(missing, (folder.path() / "c.safetensors").string()));
  const std::string swapped = message([](json& index) {
    json& place = index["weight_map"]["model.norm.weight"];
    place = place == "a.safetensors" ? "b.safetensors" : "a.safetensors";
  });
  CHECK(holds(swapped, "index.json: weight_map: expected tensor \"model.norm.weight\" in "));
  CHECK(holds(message([](json& index) { index["weight_map"]["nothing"] = "a.safetensors"; }),
              "expected tensor \"nothing\" in"));
  CHECK(holds(message([](json& index) { index["weight_map"]["model.norm.weight"] = "../a.safetensors"; }),
              "weight_map: model.norm.weight: expected the name of a file in this folder, got \"../a.safetensors\""));
  CHECK(holds(message([](json& index) { index["weight_map"]["model.norm.weight"] = 7; }),
              "weight_map: model.norm.weight: expected the name of a file"));
  CHECK(holds(message([](json& index) { index["weight_map"] = json::object(); }), "weight_map: expected an object"));
  CHECK(holds(message([](json& index) { index.erase("weight_map"); }), "weight_map: expected an object"));
  write_file(folder.path() / "model.safetensors.index.json", "{\"weight_map\":");
  CHECK(holds(folder.refusal(), "model.safetensors.index.json"));
}

TEST_CASE("head_dim 16 with 4 heads of a hidden size of 48 gives projections that load (case B24)") {
  const Folder folder("qwen2_window_off");
  const auto shape = [&](const char* name) {
    return folder.tensors.at(std::string("model.layers.0.self_attn.") + name + ".weight").shape();
  };
  CHECK(shape("q_proj") == Shape{64, 48});
  CHECK(shape("k_proj") == Shape{32, 48});
  CHECK(shape("v_proj") == Shape{32, 48});
  CHECK(shape("o_proj") == Shape{48, 64});
  CHECK(folder.refusal().empty());
}

TEST_CASE("a checkpoint whose sliding window is switched on is refused with the file and the field (case B24)") {
  const Folder folder("qwen2_window_off");
  const fs::path file = folder.path() / "config.json";
  json config = json::parse(file_text(file));
  REQUIRE(config["sliding_window"] == 8);
  REQUIRE(config["use_sliding_window"] == false);
  config["use_sliding_window"] = true;
  config["layer_types"] = {"full_attention", "sliding_attention"};
  write_file(file, config.dump());
  CHECK(holds(folder.refusal(), file.string() + ": use_sliding_window: expected false"));
  config.erase("layer_types");
  config["max_window_layers"] = 1;
  write_file(file, config.dump());
  CHECK(holds(folder.refusal(), file.string() + ": use_sliding_window: expected false"));
  config["max_window_layers"] = 2;  // the window begins behind the last layer
  write_file(file, config.dump());
  CHECK(folder.refusal().empty());
}

// Bytes of the panels of all matrices, and of all vectors, computed by hand.
std::int64_t expected_bytes(const RandomModelShape& s, kernels::PackedFormat format) {
  const auto panels = [&](std::int64_t rows, std::int64_t cols) { return kernels::packed_bytes(format, rows, cols); };
  const std::int64_t q = s.num_heads * s.head_dim;
  const std::int64_t kv = s.num_kv_heads * s.head_dim;
  const std::int64_t layer = panels(q + 2 * kv, s.hidden_size) + panels(s.hidden_size, q) +
                             panels(2 * s.intermediate_size, s.hidden_size) +
                             panels(s.hidden_size, s.intermediate_size) + 4 * (2 * s.hidden_size + q + 2 * kv);
  const std::int64_t tables = (s.tie_word_embeddings ? 1 : 2) * panels(s.vocab_size, s.hidden_size);
  return tables + s.num_layers * layer + 4 * s.hidden_size;
}

TEST_CASE("nothing is held twice: a tied head costs nothing, bf16 half of f32, int8 half of bf16 and a little") {
  for (const bool tied : {false, true}) {
    CAPTURE(tied);
    const RandomModelShape shape{.tie_word_embeddings = tied};
    const auto f32 = make_random_model(shape, 1, runtime());
    CHECK(models::weight_bytes(*f32) == expected_bytes(shape, kernels::PackedFormat::kF32));
    const auto bf16 = make_random_model(shape, 1, runtime(), {.dtype = WeightDType::kBF16});
    CHECK(models::weight_bytes(*bf16) == expected_bytes(shape, kernels::PackedFormat::kBF16));
    const auto int8 = make_random_model(shape, 1, runtime(), {.dtype = WeightDType::kInt8});
    CHECK(models::weight_bytes(*int8) == expected_bytes(shape, kernels::PackedFormat::kInt8));
  }
}

TEST_CASE("auto keeps bf16 where all matrices are stored so, and widens otherwise") {
  Folder folder("qwen2_odd");
  const auto cache_dtype = [&](const LoadOptions& options = {}) {
    return models::load_causal_lm(folder.path(), runtime(), options)->make_cache(1).shape().layout.dtype;
  };
  CHECK(cache_dtype() == DType::kF32);
  CHECK(cache_dtype({.dtype = WeightDType::kBF16}) == DType::kBF16);
  CHECK(cache_dtype({.dtype = WeightDType::kInt8}) == DType::kBF16);
  CHECK(cache_dtype({.dtype = WeightDType::kBF16, .cache_dtype = DType::kF32}) == DType::kF32);
  for (auto& [name, tensor] : folder.tensors) {
    if (tensor.dims() == 2) tensor = tensor.to(DType::kBF16);  // norms and biases stay f32, as some tools leave them
  }
  folder.save();
  CHECK(cache_dtype() == DType::kBF16);
  CHECK(cache_dtype({.dtype = WeightDType::kF32}) == DType::kF32);
  folder.tensors.at("lm_head.weight") = folder.tensors.at("lm_head.weight").to(DType::kF16);
  folder.save();
  CHECK(cache_dtype() == DType::kF32);
}

TEST_CASE("cache types other than f32 and bf16, and an empty runtime, are refused") {
  const Folder folder("llama_tied");
  CHECK(holds(folder.refusal({.cache_dtype = DType::kF16}), "expected a cache of dtype f32 or bf16, got f16"));
  CHECK_THROWS_AS(static_cast<void>(models::load_causal_lm(folder.path(), Runtime{})), Error);
}

// Ids 1, 2, 4, 7 and `end_id`; nothing between them.
std::string tokenizer_with_gaps(int end_id) {
  const json end{{"id", end_id},    {"content", "<end>"},  {"single_word", false}, {"lstrip", false},
                 {"rstrip", false}, {"normalized", false}, {"special", true}};
  const json model{{"type", "BPE"}, {"vocab", {{"a", 1}, {"b", 2}, {"ab", 4}, {"c", 7}}}, {"merges", {"a b"}}};
  return json{{"added_tokens", json::array({end})}, {"model", model}}.dump();
}

TEST_CASE("ids that the tokenizer lacks are masked, whichever of tokenizer and head has more") {
  const Folder folder("llama_tied");  // 83 ids
  write_file(folder.path() / "tokenizer.json", tokenizer_with_gaps(9));
  const models::LoadedModel loaded = models::load_model(folder.path(), runtime());
  CHECK(loaded.config.vocab_size == 83);
  CHECK(loaded.tokenizer.size() == 10);
  CHECK(loaded.model->valid_ids().limit == 10);
  CHECK(loaded.model->valid_ids().holes == std::vector<std::int32_t>{0, 3, 5, 6, 8});
  write_file(folder.path() / "tokenizer.json", tokenizer_with_gaps(200));
  const models::LoadedModel larger = models::load_model(folder.path(), runtime());
  CHECK(larger.tokenizer.size() == 201);
  CHECK(larger.model->valid_ids().limit == 83);
  CHECK(larger.model->valid_ids().holes.size() == 83 - 4);
}

TEST_CASE("of a folder with a spoilt tokenizer and spoilt weights the tokenizer is named, then the weights") {
  const Folder folder("llama_tied");
  write_file(folder.path() / "model.safetensors", "spoilt");
  write_file(folder.path() / "tokenizer.json", "spoilt");
  const auto load = [&] { static_cast<void>(models::load_model(folder.path(), runtime())); };
  CHECK_THROWS_WITH_AS(load(), doctest::Contains("tokenizer.json"), Error);
  write_file(folder.path() / "tokenizer.json", tokenizer_with_gaps(9));
  CHECK_THROWS_WITH_AS(load(), doctest::Contains("model.safetensors"), Error);
}

TEST_CASE("a folder without tokenizer.json is no model to generate with, and the file is named") {
  const Folder folder("llama_tied");
  CHECK_THROWS_WITH_AS(static_cast<void>(models::load_model(folder.path(), runtime())),
                       doctest::Contains("tokenizer.json"), Error);
}

}  // namespace
}  // namespace minitorch::test
