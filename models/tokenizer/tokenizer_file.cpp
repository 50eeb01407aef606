// A streaming parse (nlohmann's SAX interface): a tree of 400,000 nodes for vocabulary and merges would cost most of
// the loading time.
#include "models/tokenizer/tokenizer_file.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "minitorch/io/json.h"  // kMaxJsonDepth

namespace minitorch::models {
namespace {

using nlohmann::json;

// Receives the events of the parser. Vocabulary and merges are taken where they are an object and an array; the rest is
// built as a tree.
class Handler : public json::json_sax_t {
 public:
  Handler(TokenizerFile& file, std::string_view name) : file_(file), name_(name) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool value_) override { return value(value_); }
  bool number_float(number_float_t value_, const string_t&) override { return value(value_); }
  bool binary(binary_t&) override { return false; }
  bool number_integer(number_integer_t value_) override {
    if (part_ == Part::kVocab) refuse_id(std::to_string(value_));
    return value(value_);
  }
  bool number_unsigned(number_unsigned_t value_) override {
    if (part_ != Part::kVocab) return value(value_);
    if (value_ > static_cast<number_unsigned_t>(TokenTable::kMaxId)) refuse_id(std::to_string(value_));
    add_token(static_cast<std::int32_t>(value_));
    return true;
  }
  bool string(string_t& value_) override {
    if (part_ == Part::kMerges) return add_merge(value_);
    return value(std::move(value_));
  }
  bool key(string_t& key_) override {
    key_name_ = std::move(key_);
    return true;
  }

  bool start_object(std::size_t) override {
    if (part_ == Part::kTree && is_model_member("vocab")) return enter(Part::kVocab);
    return open(json::object());
  }
  bool end_object() override { return part_ == Part::kVocab ? leave() : close(); }
  bool start_array(std::size_t) override {
    if (part_ == Part::kTree && is_model_member("merges")) return enter(Part::kMerges);
    if (part_ == Part::kMerges && pair_size_ < 0) {
      pair_size_ = 0;
      return true;
    }
    return open(json::array());
  }
  bool end_array() override {
    if (part_ != Part::kMerges) return close();
    if (pair_size_ < 0) return leave();
    if (pair_size_ != 2) refuse_merge();
    ++num_merges_;
    pair_size_ = -1;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    std::string_view message = error.what();
    if (const std::size_t bracket = message.find("] "); bracket != std::string_view::npos)
      message.remove_prefix(bracket + 2);
    fail<IoError>("{}: malformed JSON: {}", name_, printable(message));
  }

 private:
  enum class Part { kTree, kVocab, kMerges };

  bool is_model_member(std::string_view member) const {
    return stack_.size() == 2 && top_key_ == "model" && stack_.back()->is_object() && key_name_ == member;
  }

  bool enter(Part part) {
    part_ = part;
    (part == Part::kVocab ? file_.has_vocab : file_.has_merges) = true;
    return true;
  }
  bool leave() {
    part_ = Part::kTree;
    return true;
  }

  void add_token(std::int32_t id) {
    switch (file_.vocab.add(key_name_, id)) {
      case TokenTable::Added::kYes: return;
      case TokenTable::Added::kTextTaken:
        fail<IoError>("{}: model.vocab: the token \"{}\" stands there twice", name_, printable(key_name_, 60));
      case TokenTable::Added::kIdTaken:
        fail<IoError>("{}: model.vocab: the tokens \"{}\" and \"{}\" have the same id {}", name_,
                      printable(file_.vocab.text(id), 60), printable(key_name_, 60), id);
    }
  }
  [[noreturn]] void refuse_id(std::string_view got) const {
    fail<IoError>("{}: model.vocab: token \"{}\": expected an id from 0 to {}, got {}", name_, printable(key_name_, 60),
                  TokenTable::kMaxId, got);
  }

  [[noreturn]] void refuse_merge() const {
    fail<IoError>("{}: model.merges: entry {}: expected \"left right\" or [\"left\", \"right\"]", name_, num_merges_);
  }
  bool add_merge(std::string_view text) {
    if (pair_size_ >= 0) {
      if (pair_size_ == 0) left_ = text;
      if (pair_size_ == 1) file_.merges.add(left_, text);
      if (++pair_size_ > 2) refuse_merge();
      return true;
    }
    if (text.starts_with("#version")) return true;
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) refuse_merge();
    file_.merges.add(text.substr(0, space), text.substr(space + 1));
    ++num_merges_;
    return true;
  }

  // Puts a value into the tree; returns where it is.
  json* place(json value_) {
    if (part_ == Part::kVocab) refuse_id(value_.type_name());
    if (part_ == Part::kMerges) refuse_merge();
    if (stack_.empty()) {
      *file_.document = std::move(value_);
      return file_.document.get();
    }
    json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value_));
      return &parent.back();
    }
    if (stack_.size() == 1) top_key_ = key_name_;
    json& member = parent[key_name_];
    member = std::move(value_);
    return &member;
  }
  bool value(json value_) {
    place(std::move(value_));
    return true;
  }
  bool open(json value_) {
    MT_CHECK_AS(IoError, static_cast<int>(stack_.size()) < io::kMaxJsonDepth,
                "{}: expected JSON nested at most {} levels deep", name_, io::kMaxJsonDepth);
    stack_.push_back(place(std::move(value_)));
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }

  TokenizerFile& file_;
  std::string_view name_;
  Part part_ = Part::kTree;
  std::vector<json*> stack_;  // the open objects and arrays; only the last one grows, so pointers to the others hold
  std::string key_name_;
  std::string top_key_;  // of the outermost object
  int pair_size_ = -1;   // strings of the merge being read as a pair; -1: none is
  std::string left_;
  int num_merges_ = 0;
};

}  // namespace

void RawMerges::add(std::string_view left, std::string_view right) {
  sizes_.push_back({static_cast<std::uint32_t>(left.size()), static_cast<std::uint32_t>(right.size())});
  text_ += left;
  text_ += right;
}

TokenizerFile::TokenizerFile() : document(std::make_unique<json>()) {}
TokenizerFile::TokenizerFile(TokenizerFile&&) noexcept = default;
TokenizerFile::~TokenizerFile() = default;

TokenizerFile parse_tokenizer_file(std::string_view text, std::string_view name) {
  MT_CHECK_AS(IoError, text.size() < std::size_t{1} << 31, "{}: expected a file below 2 GiB, got {} bytes", name,
              text.size());
  TokenizerFile file;
  Handler handler(file, name);
  json::sax_parse(text.begin(), text.end(), &handler);
  return file;
}

}  // namespace minitorch::models
