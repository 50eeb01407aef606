// Searching with PCRE2, compiled to machine code where the system allows it.
#include "models/tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>  // std::bad_alloc

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"
#include "models/tokenizer/regex_syntax.h"
#include "models/tokenizer/utf8_iterate.h"

namespace minitorch::models {
namespace {

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

template <typename T>
Owned<T> checked(T* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return Owned<T>(pointer);
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Pattern::Regex {
  std::string source;  // for messages
  Owned<pcre2_code> code;
  bool is_jit = false;
};

struct PatternScratch::Impl {
  // Steps of one search beyond which a pattern counts as too complex. PCRE2's own default is 10 million.
  static constexpr std::uint32_t kMaxSteps = 20'000'000;
  static constexpr std::size_t kJitStackBytes = std::size_t{256} << 20;  // reserved, not touched

  Owned<pcre2_match_data> data = checked(pcre2_match_data_create(1, nullptr));
  Owned<pcre2_match_context> context = checked(pcre2_match_context_create(nullptr));
  Owned<pcre2_jit_stack> stack;  // made when the default one, 32 KiB on the machine stack, does not do

  Impl() { pcre2_set_match_limit(context.get(), kMaxSteps); }

  void enlarge_stack() {
    stack = checked(pcre2_jit_stack_create(std::size_t{1} << 16, kJitStackBytes, nullptr));
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }

  int match(const Pattern::Regex& regex, std::string_view text, std::size_t offset) {
    if (regex.is_jit)
      return pcre2_jit_match(regex.code.get(), units(text), text.size(), offset, 0, data.get(), context.get());
    return pcre2_match(regex.code.get(), units(text), text.size(), offset, PCRE2_NO_UTF_CHECK, data.get(),
                       context.get());
  }

  // The first match at or after `offset`; false when there is none.
  bool search(const Pattern::Regex& regex, std::string_view text, std::size_t offset, TextRange& match_range) {
    int result = match(regex, text, offset);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT && stack == nullptr) {
      enlarge_stack();
      result = match(regex, text, offset);
    }
    if (result == PCRE2_ERROR_NOMATCH) return false;
    MT_CHECK(result >= 0, "the pattern \"{}\" is too complex for a text of {} bytes: {}", printable(regex.source, 80),
             text.size(), message_of(result));
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
    match_range = {ends[0], ends[1]};
    return true;
  }
};

PatternScratch::PatternScratch() : impl_(std::make_unique<Impl>()) {}
PatternScratch::~PatternScratch() = default;

Pattern Pattern::literal(std::string text) {
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(std::string_view regex, std::string_view where) {
  std::string translated;
  try {
    translated = to_pcre2_syntax(regex);
  } catch (const Error& error) {
    fail<IoError>("{}: the regular expression \"{}\": {}", where, printable(regex, 80), error.what());
  }
  return pcre2(translated, where);
}

Pattern Pattern::pcre2(std::string_view regex, std::string_view where) {
  const auto context = checked(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  auto compiled = std::make_shared<Regex>();
  compiled->source = regex;
  constexpr std::uint32_t kOptions =
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE offset = 0;
  compiled->code.reset(pcre2_compile(units(regex), regex.size(), kOptions, &error, &offset, context.get()));
  MT_CHECK_AS(IoError, compiled->code != nullptr, "{}: the regular expression \"{}\": {} at byte {}", where,
              printable(regex, 80), message_of(error), offset);
  // Where no memory may be made executable, the interpreter does the same more slowly.
  compiled->is_jit = pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE) == 0;
  Pattern pattern;
  pattern.regex_ = std::move(compiled);
  return pattern;
}

void Pattern::find_all(std::string_view text, PatternScratch& scratch, std::vector<TextRange>& matches) const {
  if (text.empty()) return;
  if (regex_ == nullptr) {
    if (literal_.empty()) return;
    for (std::size_t begin = text.find(literal_); begin != std::string_view::npos;) {
      matches.push_back({begin, begin + literal_.size()});
      begin = text.find(literal_, begin + literal_.size());
    }
    return;
  }
  TextRange match;
  std::size_t previous_end = std::string_view::npos;
  for (std::size_t offset = 0; offset <= text.size() && scratch.impl_->search(*regex_, text, offset, match);) {
    MT_CHECK(match.begin >= offset && match.begin <= match.end, "the pattern \"{}\" matches backwards",
             printable(regex_->source, 80));
    if (match.empty() && match.end == previous_end) {
      offset += offset < text.size() ? utf8_length(text[offset]) : 1;
      continue;
    }
    matches.push_back(match);
    offset = previous_end = match.end;
  }
}

}  // namespace minitorch::models
