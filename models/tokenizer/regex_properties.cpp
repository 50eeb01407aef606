// Oniguruma's character sets in terms of what PCRE2 10.42 offers.
#include "models/tokenizer/regex_properties.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <cctype>
#include <utility>

#include "minitorch/base/check.h"
#include "minitorch/base/utf8.h"

namespace minitorch::models {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

constexpr std::array<NamePair, 38> kLongCategoryNames = {{
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"casedletter", "L&"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"surrogate", "Cs"},
    {"privateuse", "Co"},
    {"unassigned", "Cn"},
}};

// The sets were compared with the reference for every code point.
constexpr std::array<NamePair, 14> kPosixSets = {{
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"alpha", R"(\p{Alphabetic})"},
    {"ascii", R"(\x{00}-\x{7F})"},
    {"blank", R"(\p{Zs}\x{09})"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
    {"lower", R"(\p{Lowercase})"},
    {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
    {"punct", R"(\p{P}\p{S})"},
    {"space", R"(\s)"},
    {"upper", R"(\p{Uppercase})"},
    {"word", R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"},
    {"xdigit", "0-9A-Fa-f"},
}};

template <std::size_t kSize>
std::string_view find(const std::array<NamePair, kSize>& table, std::string_view name) {
  for (const auto& [key, value] : table) {
    if (key == name) return value;
  }
  return {};
}

// Property names ignore case, spaces, hyphens and underscores.
std::string folded(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != ' ' && c != '-' && c != '_')
      result.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return result;
}

bool pcre2_knows(const std::string& members) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(members.data()), members.size(), PCRE2_UTF | PCRE2_UCP,
                                   &error, &offset, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

bool is_name(std::string_view folded_name) {
  for (const char c : folded_name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) return false;
  }
  return !folded_name.empty();
}

}  // namespace

std::string posix_members(std::string_view name) {
  const std::string_view members = find(kPosixSets, name);
  MT_CHECK(!members.empty(), "unknown character set [:{}:]", printable(name, 40));
  return std::string(members);
}

std::string property_members(std::string_view name) {
  const std::string key = folded(name);
  if (is_name(key)) {
    if (key == "punct") return R"(\p{P})";  // unlike [:punct:]
    if (const auto set = find(kPosixSets, key); !set.empty()) return std::string(set);
    if (const auto category = find(kLongCategoryNames, key); !category.empty())
      return fmt::format(R"(\p{{{}}})", category);
    std::string category = key;
    category[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(key[0])));
    // Without "sc:" PCRE2 takes the characters that a script shares with others too.
    const std::string script = fmt::format(R"(\p{{sc:{}}})", key);
    const std::string other = fmt::format(R"(\p{{{}}})", key.size() <= 2 ? category : key);
    for (const std::string& members : {script, other}) {
      if (pcre2_knows(members)) return members;
    }
  }
  fail<Error>("unknown property \\p{{{}}}", printable(name, 40));
}

}  // namespace minitorch::models
