// The JSON of a trained tokenizer.
#include "models/tokenizer/tokenizer_writer.h"

#include <algorithm>
#include <span>
#include <system_error>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/file.h"

namespace minitorch::models {
namespace {

using Json = nlohmann::ordered_json;

Json added_tokens(const std::vector<TrainedToken>& tokens) {
  Json list = Json::array();
  for (const TrainedToken& token : tokens) {
    list.push_back({{"id", list.size()},
                    {"content", token.text},
                    {"single_word", false},
                    {"lstrip", false},
                    {"rstrip", false},
                    {"normalized", false},
                    {"special", token.is_special}});
  }
  return list;
}

Json model(const TrainedBpe& trained) {
  Json vocab = Json::object();
  for (const std::string& token : trained.tokens) vocab[token] = vocab.size();
  Json merges = Json::array();
  const auto text = [&](std::int32_t id) { return trained.tokens[static_cast<std::size_t>(id)]; };
  for (const auto& [left, right] : trained.merges) merges.push_back({text(left), text(right)});
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}};
}

// Puts the begin token in front of a text; of a pair, only of the first.
Json post_processor(const std::string& token, const std::vector<TrainedToken>& added) {
  if (token.empty()) return nullptr;
  const auto found =
      std::find_if(added.begin(), added.end(), [&](const TrainedToken& other) { return other.text == token; });
  MT_CHECK(found != added.end(), "tokenizer.json: expected the begin token to be an added token, got \"{}\"",
           printable(token, 60));
  const Json begin = {{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
  const auto sequence = [](const char* id, int type) -> Json {
    return {{"Sequence", {{"id", id}, {"type_id", type}}}};
  };
  Json known = Json::object();
  known[token] = {{"id", token}, {"ids", Json::array({found - added.begin()})}, {"tokens", Json::array({token})}};
  return {{"type", "TemplateProcessing"},
          {"single", Json::array({begin, sequence("A", 0)})},
          {"pair", Json::array({begin, sequence("A", 0), sequence("B", 1)})},
          {"special_tokens", std::move(known)}};
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace

std::string tokenizer_json(const TrainedBpe& trained, const BpeTrainerOptions& options,
                           const TokenizerSettings& settings) {
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const Json document = {{"version", "1.0"},
                         {"truncation", nullptr},
                         {"padding", nullptr},
                         {"added_tokens", added_tokens(options.added_tokens)},
                         {"normalizer", Json::parse(options.normalizer)},
                         {"pre_tokenizer", Json::parse(options.pre_tokenizer)},
                         {"post_processor", post_processor(settings.bos_token, options.added_tokens)},
                         {"decoder", byte_level},
                         {"model", model(trained)}};
  return document.dump(1) + "\n";
}

std::string tokenizer_config_json(const TokenizerSettings& settings) {
  Json document = {
      {"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}, {"unk_token", nullptr}};
  // Without "unk_token" the library would add one of its own to models of some architectures.
  if (!settings.bos_token.empty()) document["bos_token"] = settings.bos_token;
  if (!settings.eos_token.empty()) document["eos_token"] = document["pad_token"] = settings.eos_token;
  if (settings.model_max_length > 0) document["model_max_length"] = settings.model_max_length;
  if (!settings.chat_template.empty()) document["chat_template"] = settings.chat_template;
  return document.dump(1) + "\n";
}

void write_tokenizer(const std::filesystem::path& folder, const TrainedBpe& trained, const BpeTrainerOptions& options,
                     const TokenizerSettings& settings) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  MT_CHECK_AS(IoError, !error, "{}: cannot make the folder: {}", folder.string(), error.message());
  // tokenizer.json last: who finds it finds the other, too.
  write_text(folder / "tokenizer_config.json", tokenizer_config_json(settings));
  write_text(folder / "tokenizer.json", tokenizer_json(trained, options, settings));
}

}  // namespace minitorch::models
