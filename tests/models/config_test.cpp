// read_model_config: both forms of config.json, generation_config.json, and one clear message per bad field.
#include "models/config.h"

#include <sys/stat.h>  // mkfifo

#include <nlohmann/json.hpp>

#include "minitorch/base/error.h"
#include "models/decoder_spec.h"
#include "tests/support/data.h"

namespace minitorch::test {
namespace {

using models::ModelConfig;
using models::read_model_config;
using nlohmann::json;

json qwen2_config() {
  return json{{"architectures", {"Qwen2ForCausalLM"}},
              {"model_type", "qwen2"},
              {"vocab_size", 151936},
              {"hidden_size", 1536},
              {"intermediate_size", 8960},
              {"num_hidden_layers", 28},
              {"num_attention_heads", 12},
              {"num_key_value_heads", 2},
              {"hidden_act", "silu"},
              {"max_position_embeddings", 131072},
              {"max_window_layers", 21},
              {"sliding_window", 4096},
              {"use_sliding_window", false},
              {"rms_norm_eps", 1e-6},
              {"rope_theta", 10000},
              {"tie_word_embeddings", false},
              {"torch_dtype", "bfloat16"},
              {"bos_token_id", 151643},
              {"eos_token_id", 151643}};
}

json llama_config() {
  return json{{"architectures", {"LlamaForCausalLM"}},
              {"model_type", "llama"},
              {"vocab_size", 128256},
              {"hidden_size", 4096},
              {"intermediate_size", 14336},
              {"num_hidden_layers", 32},
              {"num_attention_heads", 32},
              {"num_key_value_heads", 8},
              {"max_position_embeddings", 131072},
              {"rms_norm_eps", 1e-5},
              {"rope_theta", 500000.0},
              {"rope_scaling",
               {{"rope_type", "llama3"},
                {"factor", 8.0},
                {"low_freq_factor", 1.0},
                {"high_freq_factor", 4.0},
                {"original_max_position_embeddings", 8192}}},
              {"torch_dtype", "bfloat16"},
              {"bos_token_id", 128000},
              {"eos_token_id", {128001, 128008, 128009}}};
}

ModelConfig read(const json& config, const json& generation = nullptr) {
  const TemporaryFolder folder;
  write_file(folder.path() / "config.json", config.dump());
  if (!generation.is_null()) write_file(folder.path() / "generation_config.json", generation.dump());
  return read_model_config(folder.path());
}

// The message of the error that reading gives; "" when there is none.
std::string refusal(const json& config, const json& generation = nullptr) {
  try {
    static_cast<void>(read(config, generation));
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

json with(json config, const std::string& pointer, const json& value) {
  config[json::json_pointer(pointer)] = value;
  return config;
}

json without(json config, const std::string& field) {
  config.erase(field);
  return config;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("the config of DeepSeek-R1-Distill-Qwen-1.5B is read with the begin id of generation_config.json") {
  const ModelConfig config =
      read(qwen2_config(), {{"bos_token_id", 151646}, {"eos_token_id", 151643}, {"temperature", 0.6}, {"top_p", 0.95}});
  CHECK(config.architecture == "Qwen2ForCausalLM");
  CHECK(config.vocab_size == 151936);
  CHECK(config.hidden_size == 1536);
  CHECK(config.intermediate_size == 8960);
  CHECK(config.num_layers == 28);
  CHECK(config.num_heads == 12);
  CHECK(config.num_kv_heads == 2);
  CHECK(config.head_dim == 128);
  CHECK(config.max_position_embeddings == 131072);
  CHECK(config.rms_norm_eps == 1e-6f);
  CHECK(config.generation.temperature == 0.6);
  CHECK(config.generation.top_p == 0.95);
  CHECK(config.rope_theta == 10000.0);
  CHECK_FALSE(config.rope_scaling.has_value());
  CHECK_FALSE(config.tie_word_embeddings);
  CHECK(config.qkv_bias);
  CHECK_FALSE(config.output_bias);
  CHECK_FALSE(config.mlp_bias);
  CHECK(config.dtype == DType::kBF16);
  CHECK(config.bos_token_id == 151646);
  CHECK(config.eos_token_ids == std::vector<std::int32_t>{151643});
}

TEST_CASE("the config of Llama-3.1 is read with its rope scaling and its list of end ids") {
  const ModelConfig config = read(llama_config());
  CHECK(config.architecture == "LlamaForCausalLM");
  CHECK(config.head_dim == 128);
  CHECK_FALSE(config.qkv_bias);
  REQUIRE(config.rope_scaling.has_value());
  CHECK(config.rope_scaling->factor == 8.0);
  CHECK(config.rope_scaling->low_freq_factor == 1.0);
  CHECK(config.rope_scaling->high_freq_factor == 4.0);
  CHECK(config.rope_scaling->original_max_position_embeddings == 8192.0);
  CHECK(config.rope_theta == 500000.0);
  CHECK(config.eos_token_ids == std::vector<std::int32_t>{128001, 128008, 128009});
}

TEST_CASE("the new form with rope_parameters and dtype gives the same config as the old one") {
  json fresh = without(without(without(llama_config(), "rope_theta"), "rope_scaling"), "torch_dtype");
  fresh["rope_parameters"] = llama_config()["rope_scaling"];
  fresh["rope_parameters"]["rope_theta"] = 500000.0;
  fresh["dtype"] = "bfloat16";
  const ModelConfig config = read(fresh);
  CHECK(config.rope_theta == 500000.0);
  CHECK(config.dtype == DType::kBF16);
  REQUIRE(config.rope_scaling.has_value());
  CHECK(config.rope_scaling->factor == 8.0);
}

TEST_CASE("rope_scaling may be null, default, or name its kind under the older key type") {
  CHECK_FALSE(read(with(llama_config(), "/rope_scaling", nullptr)).rope_scaling.has_value());
  CHECK_FALSE(read(with(llama_config(), "/rope_scaling", {{"rope_type", "default"}})).rope_scaling.has_value());
  json typed = llama_config();
  typed["rope_scaling"].erase("rope_type");
  typed["rope_scaling"]["type"] = "llama3";
  CHECK(read(typed).rope_scaling.has_value());
  CHECK(read(without(llama_config(), "rope_theta")).rope_theta == 10000.0);
}

TEST_CASE("rope kinds other than default and llama3 are refused by name") {
  for (const char* kind : {"linear", "dynamic", "yarn", "longrope", "mrope"}) {
    CAPTURE(kind);
    for (const char* key : {"rope_type", "type"}) {
      const std::string message = refusal(with(qwen2_config(), "/rope_scaling", {{key, kind}, {"factor", 4.0}}));
      CHECK(holds(message, std::string("rope_scaling: ") + key));
      CHECK(holds(message, kind));
    }
    CHECK(holds(refusal(with(qwen2_config(), "/rope_parameters", {{"rope_type", kind}})), kind));
  }
}

TEST_CASE("end ids are the union of both files, given as a number or a list (case B10)") {
  const auto ends = [](const json& config, const json& generation) {
    return read(with(qwen2_config(), "/eos_token_id", config), generation).eos_token_ids;
  };
  CHECK(ends(9, {{"eos_token_id", {2, 9}}}) == std::vector<std::int32_t>{2, 9});
  CHECK(ends({7, 3}, {{"eos_token_id", 5}}) == std::vector<std::int32_t>{3, 5, 7});
  CHECK(ends(nullptr, {{"eos_token_id", 5}}) == std::vector<std::int32_t>{5});
  CHECK(ends(4, json::object()) == std::vector<std::int32_t>{4});
  CHECK(ends(4, nullptr) == std::vector<std::int32_t>{4});
  CHECK(ends(nullptr, nullptr).empty());
}

TEST_CASE("a sliding window that is switched off is ignored, an active one refused (case B24)") {
  CHECK(refusal(qwen2_config()).empty());
  CHECK(refusal(without(without(qwen2_config(), "sliding_window"), "use_sliding_window")).empty());
  const json active = with(qwen2_config(), "/use_sliding_window", true);
  CHECK(holds(refusal(active), "use_sliding_window"));
  // Switched on, but beginning behind the last layer.
  CHECK(refusal(with(active, "/max_window_layers", 28)).empty());
  CHECK(refusal(with(active, "/layer_types", json::array({"full_attention", "full_attention"}))).empty());
  CHECK(holds(refusal(with(active, "/layer_types", json::array({"full_attention", "sliding_attention"}))),
              "use_sliding_window"));
  // Without the number of its first layer the usual one counts: 28, none of these.
  CHECK(refusal(without(active, "max_window_layers")).empty());
}

TEST_CASE("head_dim is what the file says, or hidden_size / heads, which must divide (case B24)") {
  json config = with(with(qwen2_config(), "/hidden_size", 48), "/num_attention_heads", 4);
  CHECK(read(config).head_dim == 12);
  CHECK(read(with(config, "/head_dim", 16)).head_dim == 16);
  CHECK(read(with(config, "/head_dim", nullptr)).head_dim == 12);
  config["hidden_size"] = 50;
  CHECK(holds(refusal(config), "head_dim: expected a number, because hidden_size 50 is no multiple"));
  CHECK(read(with(config, "/head_dim", 12)).head_dim == 12);
}

TEST_CASE("biases follow the architecture: Qwen2 has them on q, k and v, Llama where its config says so") {
  json llama = with(with(llama_config(), "/attention_bias", true), "/mlp_bias", true);
  const ModelConfig biased = read(llama);
  CHECK(biased.qkv_bias);
  CHECK(biased.output_bias);
  CHECK(biased.mlp_bias);
  const ModelConfig qwen2 = read(with(qwen2_config(), "/attention_bias", true));
  CHECK(qwen2.qkv_bias);
  CHECK_FALSE(qwen2.output_bias);
}

TEST_CASE("key/value heads default to the attention heads, the architecture to the one of model_type") {
  CHECK(read(without(qwen2_config(), "num_key_value_heads")).num_kv_heads == 12);
  CHECK(read(without(qwen2_config(), "architectures")).architecture == "Qwen2ForCausalLM");
}

// One bad field and the words its message must hold.
struct BadField {
  const char* pointer;
  json value;
  const char* words;
};

const std::vector<BadField> kBadFields = {
    {"/architectures", json::array({"ElizaForCausalLM"}), "architectures: expected"},
    {"/architectures", "Qwen2ForCausalLM", "architectures: expected a list"},
    {"/architectures", json::array(), "architectures: expected a list"},
    {"/architectures", json::array({1}), "architectures: expected a list"},
    {"/model_type", "llama", "model_type: expected \"qwen2\" beside Qwen2ForCausalLM, got \"llama\""},
    {"/model_type", 3, "model_type: expected a string, got 3"},
    {"/vocab_size", nullptr, "vocab_size: expected an integer from 1 to 2147483647, got nothing"},
    {"/vocab_size", 0, "vocab_size"},
    {"/vocab_size", -5, "vocab_size"},
    {"/vocab_size", 512.0, "vocab_size: expected an integer from 1 to 2147483647, got 512.0"},
    {"/vocab_size", "512", "vocab_size: expected an integer from 1 to 2147483647, got \"512\""},
    {"/vocab_size", 18446744073709551615ull, "vocab_size"},
    {"/hidden_size", 0, "hidden_size"},
    {"/hidden_size", true, "hidden_size"},
    {"/hidden_size", json::array({1536}), "hidden_size"},
    {"/intermediate_size", 1ll << 40, "intermediate_size"},
    {"/num_hidden_layers", 0, "num_hidden_layers"},
    {"/num_hidden_layers", 1000000000, "num_hidden_layers"},
    {"/num_attention_heads", 0, "num_attention_heads"},
    {"/num_attention_heads", "twelve", "num_attention_heads"},
    {"/num_key_value_heads", 0, "num_key_value_heads"},
    {"/num_key_value_heads", 5, "num_key_value_heads: expected a divisor of the 12 attention heads, got 5"},
    {"/num_key_value_heads", 24, "num_key_value_heads"},
    {"/head_dim", 127, "head_dim: expected an even number"},
    {"/head_dim", 0, "head_dim"},
    {"/head_dim", 1 << 20, "head_dim"},
    {"/max_position_embeddings", 0, "max_position_embeddings"},
    {"/max_position_embeddings", 1ll << 33, "max_position_embeddings"},
    {"/rms_norm_eps", -1e-6, "rms_norm_eps"},
    {"/rms_norm_eps", "1e-6", "rms_norm_eps: expected a number from 0 to 1, got \"1e-6\""},
    {"/rope_theta", 0, "rope_theta"},
    {"/rope_theta", -10000.0, "rope_theta"},
    {"/rope_theta", "10000", "rope_theta"},
    {"/rope_scaling", "linear", "rope_scaling: expected an object, got \"linear\""},
    {"/rope_scaling", json{{"rope_type", 3}}, "rope_scaling: rope_type: expected a string, got 3"},
    {"/rope_scaling", json{{"rope_type", "llama3"}}, "rope_scaling: factor: expected a number"},
    {"/rope_scaling", json{{"rope_type", "llama3"}, {"factor", "8"}}, "rope_scaling: factor"},
    {"/rope_scaling", json{{"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}, {"high_freq_factor", 4}},
     "rope_scaling: high_freq_factor: expected more than low_freq_factor 4, got 4"},
    {"/rope_parameters", json::array(), "rope_parameters: expected an object, got []"},
    {"/rope_parameters", json{{"rope_theta", -1}}, "rope_parameters: rope_theta"},
    {"/rope_parameters", json{{"partial_rotary_factor", 0.5}}, "partial_rotary_factor: expected 1, got 0.5"},
    {"/tie_word_embeddings", "false", "tie_word_embeddings: expected true or false, got \"false\""},
    {"/tie_word_embeddings", 0, "tie_word_embeddings"},
    {"/hidden_act", "gelu", "hidden_act: expected \"silu\", got \"gelu\""},
    {"/quantization_config", json{{"quant_method", "gptq"}}, "quantization_config"},
    {"/use_sliding_window", 1, "use_sliding_window: expected true or false, got 1"},
    {"/layer_types", "full_attention", "layer_types: expected a list"},
    {"/torch_dtype", "float8", "torch_dtype: expected \"float32\", \"bfloat16\" or \"float16\", got \"float8\""},
    {"/torch_dtype", 16, "torch_dtype: expected a string, got 16"},
    {"/dtype", "int8", "dtype: expected"},
    {"/bos_token_id", -1, "bos_token_id"},
    {"/bos_token_id", 151936, "bos_token_id: expected an integer from 0 to 151935, got 151936"},
    {"/bos_token_id", "1", "bos_token_id"},
    {"/eos_token_id", -1, "eos_token_id"},
    {"/eos_token_id", 151936, "eos_token_id: expected an integer from 0 to 151935, or a list of such, got 151936"},
    {"/eos_token_id", "2", "eos_token_id"},
    {"/eos_token_id", json::array({2, "9"}), "eos_token_id"},
    {"/eos_token_id", json::array({2, 9.5}), "eos_token_id"},
    {"/eos_token_id", json::array({json::array({2})}), "eos_token_id"},
};

TEST_CASE("every bad field of config.json is refused with the file, the field, what was expected and what came") {
  REQUIRE(refusal(qwen2_config()).empty());
  for (const BadField& bad : kBadFields) {
    CAPTURE(bad.pointer);
    CAPTURE(bad.value.dump());
    const std::string message = refusal(with(qwen2_config(), bad.pointer, bad.value));
    CAPTURE(message);
    CHECK(holds(message, "config.json: "));
    CHECK(holds(message, bad.words));
    CHECK_FALSE(holds(message, "\n"));
  }
}

TEST_CASE("bad fields of generation_config.json are refused with that file's name") {
  CHECK(holds(refusal(qwen2_config(), {{"eos_token_id", "two"}}), "generation_config.json: eos_token_id"));
  CHECK(holds(refusal(qwen2_config(), {{"bos_token_id", 1.5}}), "generation_config.json: bos_token_id"));
  CHECK(holds(refusal(qwen2_config(), json::array({1})), "generation_config.json: expected a JSON object, got [1]"));
  for (const auto& [field, value] : {std::pair<std::string, json>("temperature", -0.5),
                                     {"temperature", "hot"},
                                     {"top_p", 1.5},
                                     {"top_k", -2},
                                     {"top_k", 0.5},
                                     {"min_p", -1},
                                     {"do_sample", "yes"}}) {
    CAPTURE(field);
    CHECK(holds(refusal(qwen2_config(), {{field, value}}), "generation_config.json: " + field));
  }
}

TEST_CASE("sampling defaults are read from generation_config.json, and greedy decoding is the default without them") {
  const auto read_generation = [](const json& generation) { return read(qwen2_config(), generation).generation; };
  const models::GenerationDefaults r1 =
      read_generation({{"do_sample", true}, {"temperature", 0.6}, {"top_p", 0.95}, {"top_k", 50}, {"min_p", 0.1}});
  CHECK(r1.temperature == 0.6);
  CHECK(r1.top_p == 0.95);
  CHECK(r1.top_k == 50);
  CHECK(r1.min_p == 0.1);
  CHECK(read(qwen2_config()).generation.temperature == 0.0);
  CHECK(read_generation({{"eos_token_id", 1}}).temperature == 0.0);
  CHECK(read_generation({{"temperature", 0.7}}).temperature == 0.7);
  CHECK(read_generation({{"do_sample", true}}).temperature == 1.0);
  CHECK(read_generation({{"do_sample", false}, {"temperature", 0.7}}).temperature == 0.0);
  CHECK(read_generation({{"top_k", -1}}).top_k == 0);
  CHECK(read_generation({{"top_p", nullptr}}).top_p == 1.0);
}

TEST_CASE("a folder, a config or JSON that is missing or malformed is named") {
  const TemporaryFolder folder;
  const auto message = [&](const std::filesystem::path& path) -> std::string {
    try {
      static_cast<void>(read_model_config(path));
    } catch (const IoError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(holds(message(folder.path() / "nowhere"), (folder.path() / "nowhere").string()));
  CHECK(message(folder.path()) == folder.path().string() + " is not a model folder (no config.json)");
  std::filesystem::create_symlink("nowhere", folder.path() / "config.json");
  CHECK(holds(message(folder.path()), "config.json: cannot open: No such file or directory"));
  std::filesystem::remove(folder.path() / "config.json");
  REQUIRE(mkfifo((folder.path() / "config.json").c_str(), 0600) == 0);
  CHECK(holds(message(folder.path()), "config.json: expected a regular file, got a pipe or device"));
  std::filesystem::remove(folder.path() / "config.json");
  for (const char* text : {"", "{", "{\"vocab_size\": }", "[1, 2]", "null", "{\"vocab_size\": 1e999}", "\xff\xfe"}) {
    CAPTURE(text);
    write_file(folder.path() / "config.json", text);
    CHECK(holds(message(folder.path()), "config.json"));
  }
}

TEST_CASE("a long value is cut in the message") {
  const std::string message = refusal(with(qwen2_config(), "/hidden_size", std::string(100000, 'x')));
  CHECK(holds(message, "hidden_size"));
  CHECK(message.size() < 400);
}

TEST_CASE("an unknown architecture is refused with the list of known ones") {
  CHECK(models::find_decoder_spec("LlamaForCausalLM").model_type == "llama");
  std::string known;
  for (const models::DecoderSpec& spec : models::decoder_specs()) {
    known += (known.empty() ? "" : ", ") + std::string(spec.architecture);
  }
  const std::string expected = "architecture: expected one of " + known + ", got \"ElizaForCausalLM\"";
  CHECK_THROWS_WITH_AS(static_cast<void>(models::find_decoder_spec("ElizaForCausalLM")), expected.c_str(), Error);
}

}  // namespace
}  // namespace minitorch::test
