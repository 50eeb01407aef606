#!/usr/bin/env python3
"""Makes tests/data/tokenizer: what the Hugging Face tokenizers library answers, for the tests of models/tokenizer.

    scripts/make_tokenizer_goldens.py [--data FOLDER]     FOLDER: the external data, default ../shared/data seen from the repository

components.jsonl    single pre-tokenizers, normalizers and decoders, and small whole tokenizers, with inputs and results
unicode_sets.jsonl  regular expressions for sets of characters: how many code points match, and a hash of them; the same for the
                    normalization forms of all code points
mixed_lines.txt     number and hash of the ids of 500 lines of prose, code and Chinese by the R1-distill tokenizer
Tried with tokenizers 0.23.3. The texts are our own or come from the data folder, of which hashes only are kept.
"""
import argparse
import json
import lzma
import pathlib
import random

import tokenizers
from tokenizers import Regex
from tokenizers import normalizers
from tokenizers import pre_tokenizers

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE_POINTS = [c for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]

REGEXES = [
    r"\s+", r"\S+", r"\w+|[^\w\s]+", r"\W", r"\d+", r"\D", r"\h+", r"\H", r"\bfoo\b", r"\B.", r"\b.", r"^.", r".$", r"\A.", r".\z", r".\Z", r"\Ga",
    r"(?m:a.b)", r"a.b", r"(?i:ab)", r"(?i)ab|c", r"a(?i)b|c", r"(a(?i)b|c)d", r"(?-i:a)", r"a{,2}", r"a{2}+", r"a{2}?", r"a{1,2}?", r"a{1,2}+b",
    r"a**", r"a+?", r"a++", r"a*+", r"a?+", r"a{2", r"a{,}", r"{", r"}", r"]", r"a]", r"[]a]+", r"[^]]+", r"[a\]]+", r"[\w-]+", r"[-a]+",
    r"[a-]+", r"[a-c&&[^b]]+", r"[a[bc]]+", r"[^a[bc]]+", r"[\p{L}&&[^\p{Lu}]]+", r"[[:alpha:]]+", r"[[:^alpha:]]+", r"[^[:space:]]+",
    r"[[:punct:]]", r"[\W]+", r"[^\W]+", r"[\H]+", r"[\P{L}]+", r"[^\P{L}]+", r"[\s\S]", r"\p{^L}+", r"\P{^L}+", r"\p{Han}+", r"\p{Hiragana}",
    r"\p{Uppercase_Letter}", r"\p{lu}", r"\p{Alphabetic}+", r"\p{Punct}", r"\p{Greek}", r"\u0061", r"\x{61}+", r"\x61", r"\t|\n|\r|\f|\v|\a|\e",
    r"\061", r"\.\-\/", r"(?<=a)b", r"(?<!a)b", r"(?=b)", r"(?!b).", r"(?>a+)b", r"(?<n>a)\k<n>", r"(a)\1", r"a\Kb", r"(?#comment)a", r"",
    r"x*", r"b*", r"(?:a|b)+c?", r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+", r"é|e\u0301", r"\\", r"\(\)\[\]\{\}", r"[.*+?(){}|^$]", r"[\x{4e00}-\x{9fff}]",
    r"[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s+(?!\S)|\s+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+|\p{N}{1,3}|\s+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]
TEXTS = [
    "abcabd abcb foo foobar a\nb aab aaaaab", "I'll say: it's 1234567 o'CLOCK'S\r\n\r\n  now  \t", "a-b c_d [x] {y} ]z] a{2 a{,} (p)|q* .-/ 12fgh",
    "naïve Straße ΑΒΓ Привет e\u0301 ﬁ ſ K", "你好，世界 ひらがな カタカナ 한국어 𠀀\U0002ebf0\U000323af", "x²½Ⅷ١٢٣\U0001e030\U00010d40\U00011f50 \u180e\u200b\u0085\u2028\u3000",
    "👩‍👩‍👧 🇳🇴 1️⃣ \x0b\x0c\x1b\x07\x00\x7f", "\n\na\n\n", "AB aB Ab ab cd Cd abD", "a", " ", "",
]
CLASS_REGEXES = [rf"\p{{{c}}}" for c in
                 "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn".split()] + [
    r"\s", r"\S", r"\w", r"\W", r"[\w]", r"[\W]", r"\d", r"\h", r".", r"\p{Alphabetic}", r"\p{Uppercase}", r"\p{Han}", r"\p{Hiragana}", r"\p{Latin}",
    r"\p{Letter}", r"\p{Other_Number}", r"\p{Punct}", r"\p{Space}", r"\p{Word}", r"[\p{Word}]",
] + [f"[[:{name}:]]" for name in "alnum alpha blank cntrl digit graph print punct space upper word xdigit".split()]


def fnv(values):
    """FNV-1a over 32-bit values, little-endian."""
    result = 0xCBF29CE484222325
    for value in values:
        for byte in value.to_bytes(4, "little"):
            result = (result ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{result:016x}"


def compact(record):
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def pre_tokenizer_lines():
    parts = []
    for regex in REGEXES:
        parts.append({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False})
    for regex in (r"b", r"\s+", r"[ab]", r"x*", r"\p{Lu}", r"(?=b)"):
        for behavior in BEHAVIORS:
            for invert in (False, True):
                parts.append({"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert})
    for text in ("b", "ab", " ", ".*"):
        parts.append({"type": "Split", "pattern": {"String": text}, "behavior": "MergedWithNext", "invert": False})
    for prefix in (False, True):
        for regex in (False, True):
            parts.append({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex})
    parts += [{"type": "Digits", "individual_digits": value} for value in (False, True)]
    for scheme in ("always", "first", "never"):
        for split in (False, True):
            parts.append({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split})
    parts += [{"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS]
    parts += [{"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "CharDelimiterSplit", "delimiter": "b"}, {"type": "BertPreTokenizer"},
              {"type": "FixedLength", "length": 3}]
    parts.append({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first",
                                                                                     "split": True}]})
    parts.append({"type": "Sequence", "pretokenizers": [
        {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        {"type": "Digits", "individual_digits": False},
        {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False}]})
    yield {"kind": "texts", "texts": TEXTS}
    for part in parts:
        splitter = loaded({"pre_tokenizer": part}).pre_tokenizer
        yield {"kind": "pre_tokenizer", "json": part, "results": [[piece for piece, _ in splitter.pre_tokenize_str(text)] for text in TEXTS]}


def normalizer_lines():
    parts = [{"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "ByteLevel")]
    parts += [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
              {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}, {"type": "Replace", "pattern": {"Regex": "x*"}, "content": "$0-"}]
    parts += [{"type": "Strip", "strip_left": left, "strip_right": right} for left in (False, True) for right in (False, True)]
    parts.append({"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "▁"}]})
    texts = TEXTS + ["e\u0301\u0316\u0334x", "\u1100\u1161\u11a7\u11a8", "각\u11a8", "가\u11a7", "\u0344\u0958\u2126\u212b", "ΣΑΣ İ ǅ", "a\u0898\u0301",
                     "\U00011935\U00011930", "㍿ﷺ①ﬃ", "\u0f73\u0f71", "q\u0307\u0323", "\u3042\u3099", "\u0300\u0301abc", "\u00a0 a \u3000"]
    yield {"kind": "texts", "texts": texts}
    for part in parts:
        normalizer = loaded({"normalizer": part}).normalizer
        yield {"kind": "normalizer", "json": part, "results": [normalizer.normalize_str(text) for text in texts]}


def decoder_lines():
    metaspace = {"type": "Metaspace", "replacement": "▁"}
    parts = [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, {"type": "ByteFallback"}, {"type": "Fuse"},
             {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "Replace", "pattern": {"Regex": "[aeiou]+"}, "content": "*"},
             {"type": "Strip", "content": "a", "start": 2, "stop": 0}, {"type": "Strip", "content": " ", "start": 1, "stop": 0},
             {**metaspace, "prepend_scheme": "always", "split": True}, {**metaspace, "prepend_scheme": "never", "split": True}]
    sequences = [[3, 1, 2, 6], [2, 3], [0, 3], [2, 5], [1, 2, 4], [3, 6, 2], [0, 6], [7, 2, 6]]
    parts += [{"type": "Sequence", "decoders": [parts[i] for i in sequence]} for sequence in sequences]
    token_lists = [["▁Hello", "▁wor", "ld", "!"], ["▁", "▁a", "▁▁b"], ["<0xE4>", "<0xBD>", "<0xA0>", "x", "<0xFF>", "<0x41>"], ["<0x0A>", "<0x0A>", "▁x"],
                   ["Ġhello", "Ã", "©", "Ã", "Ġ", "<｜User｜>", "ä½", "ł"], ["aaa", "aab", "baa"], ["a", "b", "aa", "b", "▁", "a"], [" a", " ", "  b "], [], ["é"],
                   ["<0x4>", "<0xZZ>", "<0x4a>"]]
    yield {"kind": "token_lists", "token_lists": token_lists}
    for part in parts:
        decoder = loaded({"decoder": part}).decoder
        yield {"kind": "decoder", "json": part, "results": [decoder.decode(tokens) for tokens in token_lists]}


def loaded(parts):
    """A reference tokenizer with the given parts."""
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    full = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
            "post_processor": None, "decoder": None, "model": model, **parts}
    return tokenizers.Tokenizer.from_str(json.dumps(full))


def added(content, token_id, **flags):
    return {"id": token_id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False, **flags}


def small_tokenizers():
    letters = {c: i for i, c in enumerate("abcdefghij ▁<>x")}
    vocab = {**letters, "ab": 15, "abc": 16, "bc": 17, "▁a": 18, "▁ab": 19, "aa": 20, "aaaa": 21, "<unk>": 22, "dd": 23, "ddd": 24}
    merges = [["b", "c"], ["a", "b"], ["▁", "a"], ["▁a", "b"], ["a", "bc"], ["a", "a"], ["aa", "aa"], ["d", "d"], ["dd", "d"]]
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
    string_merges = {**model, "merges": [" ".join(pair) for pair in merges if " " not in pair]}
    tokens = [added("<s>", 30, special=True), added("aword", 31, single_word=True), added("<l>", 32, lstrip=True), added("<r>", 33, rstrip=True),
              added("<lr>", 34, lstrip=True, rstrip=True), added("<lrx>", 35), added("Hij", 36, normalized=True), added("ab cd", 37, normalized=True)]
    # The reference numbers added tokens on its own, from the size of the vocabulary on.
    tokens = [{**token, "id": len(vocab) + i} for i, token in enumerate(tokens)]
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                                                          {"SpecialToken": {"id": "<s>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [len(vocab)], "tokens": ["<s>"]}}}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    prepend = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
    byte_vocab = {**vocab, **{f"<0x{b:02X}>": 100 + b for b in range(256) if b != 0xA9}}
    bytes_model = {**model, "vocab": byte_vocab, "byte_fallback": True}  # one byte lacks its token
    yield "plain", {"model": model}
    yield "string merges", {"model": string_merges, "added_tokens": tokens, "post_processor": template}
    yield "unk", {"model": {**model, "unk_token": "<unk>", "fuse_unk": False}, "added_tokens": tokens}
    yield "fused unk", {"model": {**model, "unk_token": "<unk>", "fuse_unk": True}, "added_tokens": tokens, "normalizer": {"type": "Lowercase"}}
    yield "ignore merges", {"model": {**model, "ignore_merges": True}, "pre_tokenizer": {"type": "WhitespaceSplit"}}
    yield "prepend", {"model": model, "added_tokens": tokens, "normalizer": prepend,
                      "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
                                                                             "use_regex": True}, template]}}
    yield "metaspace", {"model": model, "added_tokens": tokens, "pre_tokenizer": metaspace, "decoder": metaspace}
    yield "strip and metaspace", {"model": model, "pre_tokenizer": metaspace, "normalizer": {"type": "Strip", "strip_left": True, "strip_right": True}}
    yield "byte fallback", {"model": {**bytes_model, "unk_token": "<unk>", "fuse_unk": True},
                            "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}}
    yield "byte fallback unfused", {"model": {**bytes_model, "unk_token": "<unk>", "fuse_unk": False}}
    yield "byte fallback, no unk", {"model": bytes_model}
    marked = {"a": 0, "b": 1, "##a": 2, "##b": 3, "ab": 4, "##ab": 5, "b</w>": 6, "##b</w>": 7, "aba": 8, "abab</w>": 9, "##ab</w>": 10, "a</w>": 11}
    yield "prefix and suffix", {"model": {"type": "BPE", "vocab": marked, "merges": [["a", "##b"], ["##a", "##b</w>"], ["ab", "##ab</w>"]],
                                          "continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"},
                                "pre_tokenizer": {"type": "Whitespace"}}


def tokenizer_lines():
    rng = random.Random(7)
    pieces = ["a", "b", "c", "ab", "abc", "aaaa", "d", "ddd", " ", "  ", "\n", "<s>", "aword", "<l>", "<r>", "<lr>", "<lrx>", "<lr", "hij", "Hij", "ab cd",
              "é", "©", "你", "😀", "x", "e", "j", "\u3000", "_", "1", "▁"]
    texts = ["", " ", "aword", "awords", "a aword b", "xaword", "aword_", "éaword", "aword é", " <l> a", "a  <l>", "<r>  a", "<l> <l>  <r> <r> <lr> a",
             "<lrx><lr> x", "HIJ hij Hij", "ab cd ab  cd", "aaaaaaaaaaaaa", "ab" * 40, "ddddddddddd", "<s>a<s>", "<s>"]
    for name, parts in small_tokenizers():
        reference = loaded(parts)
        yield {"kind": "tokenizer", "name": name, "json": parts}
        size = reference.get_vocab_size()
        for text in texts + ["".join(rng.choice(pieces) for _ in range(rng.randrange(1, 30))) for _ in range(12)]:
            plain = reference.encode(text, add_special_tokens=False).ids
            special = reference.encode(text, add_special_tokens=True).ids
            yield {"kind": "encode", "text": text, "ids": plain, "special": special, "decoded": reference.decode(plain, skip_special_tokens=False)}
        for _ in range(15):
            ids = [rng.randrange(size + 3) for _ in range(rng.randrange(1, 12))]
            yield {"kind": "decode", "ids": ids, "all": reference.decode(ids, skip_special_tokens=False),
                   "text": reference.decode(ids, skip_special_tokens=True)}


def unicode_lines():
    text = "".join(map(chr, CODE_POINTS))
    for regex in CLASS_REGEXES:
        left = set(map(ord, normalizers.Replace(Regex(regex), "").normalize_str(text)))
        matched = [c for c in CODE_POINTS if c not in left]
        yield {"regex": regex, "count": len(matched), "hash": fnv(matched)}
    for part in ({"type": "Digits", "individual_digits": True}, {"type": "Punctuation", "behavior": "Isolated"}, {"type": "Whitespace"},
                 {"type": "WhitespaceSplit"}):
        splitter = loaded({"pre_tokenizer": part}).pre_tokenizer
        pieces = splitter.pre_tokenize_str("".join("a" + chr(c) for c in CODE_POINTS))
        yield {"pre_tokenizer": part, "count": len(pieces), "hash": fnv(len(piece) for piece, _ in pieces)}
    # Marks of several combining classes around every character show its own class, and whether it composes.
    for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase"):
        for around in ("X", "aX", "aX\u0301", "a\u0301X", "a\u0334X\u0316", "a\u0345X\u0334", "\u1100X", "가X", "\u09c7X", "\u11131X"):
            joined = "\n".join(around.replace("X", chr(c)) for c in CODE_POINTS)
            result = getattr(normalizers, form)().normalize_str(joined)
            yield {"normalizer": form, "around": around, "count": len(result), "hash": fnv(map(ord, result))}


def mixed_lines(data):
    packed = (data / "tokenizers/deepseek_r1_distill_qwen/tokenizer.json.xz").read_bytes()
    reference = tokenizers.Tokenizer.from_str(lzma.decompress(packed).decode())
    def rows(path):
        return [json.loads(line) for line in (data / path).read_text().splitlines()]
    texts = [row["question"] for row in rows("benches/gsm8k/test.jsonl")[:170]]
    texts += [row["prompt"] + row["canonical_solution"] for row in rows("benches/human_eval/HumanEval.jsonl")[:160]]
    texts += [line.split("\t")[0] for line in (data / "benches/mgsm/mgsm_zh.tsv").read_text().splitlines()[:170]]
    for text in texts:
        ids = reference.encode(text, add_special_tokens=False).ids
        yield f"{len(ids)} {fnv(ids)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data")
    arguments = parser.parse_args()
    folder = ROOT / "tests/data/tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    components = [line for make in (pre_tokenizer_lines, normalizer_lines, decoder_lines, tokenizer_lines) for line in make()]
    for name, lines in (("components.jsonl", map(compact, components)), ("unicode_sets.jsonl", map(compact, unicode_lines())),
                        ("mixed_lines.txt", mixed_lines(arguments.data))):
        lines = list(lines)
        (folder / name).write_text("\n".join(lines) + "\n")
        print(f"{folder / name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
