// A byte-level tokenizer of 20 ids, as the text of a tokenizer.json: enough for stop strings, split characters, end
// tokens.
#pragma once

#include <string_view>

namespace minitorch::test {

// Ids: 0 <end>, 1-6 a-f, 7 ab, 8 cd, 9 ef, 10 x, 11-14 the bytes of U+1F600, 15 newline, 16-19 { } - %. It adds no
// begin token.
inline constexpr std::string_view kTinyTokenizer = R"({
  "added_tokens": [{"id": 0, "content": "<end>", "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": false, "special": true}],
  "normalizer": null, "post_processor": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
  "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
    "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
    "vocab": {"<end>": 0, "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "ab": 7, "cd": 8, "ef": 9, "x": 10,
      "ð": 11, "Ł": 12, "ĺ": 13, "Ģ": 14, "Ċ": 15, "{": 16, "}": 17, "-": 18,
      "%": 19},
    "merges": ["a b", "c d", "e f"]}})";

}  // namespace minitorch::test
