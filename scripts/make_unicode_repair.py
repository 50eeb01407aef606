#!/usr/bin/env python3
"""Makes models/tokenizer/unicode_repair_table.inl: where Debian 12's PCRE2 and utf8proc differ from the Hugging Face tokenizers library.

    scripts/make_unicode_repair.py            writes the table
    scripts/make_unicode_repair.py --check    says whether the table would change, and exits with 1 if so

Both sides are asked about every code point, so no Unicode data file is needed: the reference through its regular expressions and
normalizers (regular expressions: Oniguruma with Unicode 16; normalization: Unicode 9 or so), the libraries through ctypes.
Tried with tokenizers 0.23.3, PCRE2 10.42 (Unicode 14) and utf8proc 2.8.0 (Unicode 14). Takes about a minute.
"""
import argparse
import ctypes
import pathlib
import sys
import unicodedata

import tokenizers
from tokenizers import Regex
from tokenizers import normalizers
from tokenizers import pre_tokenizers

TABLE = pathlib.Path(__file__).resolve().parent.parent / "models/tokenizer/unicode_repair_table.inl"
CODE_POINTS = [c for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]
ALL_TEXT = "".join(map(chr, CODE_POINTS))
# Scripts that patterns name. (63 Cyrillic modifiers and 2 Arabic marks have no stand-in of their script; they are of none then, and the
# modifiers are not of the property Lowercase.)
NAMED_SCRIPTS = "Arabic Cyrillic Devanagari Greek Han Hangul Hebrew Hiragana Katakana Latin Thai".split()
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()


class Pcre2:
    """The sets of characters that PCRE2 classes match."""

    UTF, UCP, SUBSTITUTE_GLOBAL = 0x00080000, 0x00020000, 0x100

    def __init__(self):
        self.library = ctypes.CDLL("libpcre2-8.so.0")
        size = ctypes.c_size_t
        self.library.pcre2_compile_8.restype = ctypes.c_void_p
        self.library.pcre2_compile_8.argtypes = [ctypes.c_char_p, size, ctypes.c_uint32, ctypes.POINTER(ctypes.c_int),
                                                 ctypes.POINTER(size), ctypes.c_void_p]
        self.library.pcre2_substitute_8.argtypes = [ctypes.c_void_p, ctypes.c_char_p, size, size, ctypes.c_uint32, ctypes.c_void_p,
                                                    ctypes.c_void_p, ctypes.c_char_p, size, ctypes.c_char_p, ctypes.POINTER(size)]

    def matched(self, pattern):
        """The code points that `pattern` matches, or None when PCRE2 does not know it."""
        error, offset = ctypes.c_int(), ctypes.c_size_t()
        text = pattern.encode()
        code = self.library.pcre2_compile_8(text, len(text), self.UTF | self.UCP, error, offset, None)
        if not code:
            return None
        subject = ALL_TEXT.encode()
        rest = ctypes.create_string_buffer(len(subject) + 1)
        length = ctypes.c_size_t(len(subject) + 1)
        count = self.library.pcre2_substitute_8(code, subject, len(subject), 0, self.SUBSTITUTE_GLOBAL, None, None, b"", 0, rest, length)
        if count < 0:
            sys.exit(f"PCRE2 failed on {pattern} with {count}")
        return set(CODE_POINTS) - set(map(ord, rest.raw[:length.value].decode()))


def reference_matched(pattern):
    """The code points that `pattern` matches in the reference, or None when it does not know the pattern."""
    try:
        removed = normalizers.Replace(Regex(pattern), "").normalize_str(ALL_TEXT)
    except Exception:  # the binding raises plain Exception for an unknown property
        return None
    return set(CODE_POINTS) - set(map(ord, removed))


def signatures(pcre2):
    """For both sides: code point -> (category, alphabetic, upper, lower, space, script)."""
    properties = [[(c, reference_matched(rf"\p{{{c}}}"), pcre2.matched(rf"\p{{{c}}}")) for c in CATEGORIES]]
    for pattern in (r"\p{Alphabetic}", r"\p{Uppercase}", r"\p{Lowercase}", r"\s"):
        properties.append([(True, reference_matched(pattern), pcre2.matched(pattern))])
    scripts = []
    for name in NAMED_SCRIPTS:
        scripts.append((name, reference_matched(rf"\p{{{name}}}"), pcre2.matched(rf"\p{{sc:{name}}}")))
    properties.append(scripts)
    sides = ({c: [] for c in CODE_POINTS}, {c: [] for c in CODE_POINTS})
    for choices in properties:
        for side, which in zip(sides, (1, 2)):
            found = {}
            for choice in choices:
                found.update(dict.fromkeys(choice[which], choice[0]))
            for code_point, values in side.items():
                values.append(found.get(code_point))
    return tuple({c: tuple(values) for c, values in side.items()} for side in sides)


def reference_punctuation():
    splitter = pre_tokenizers.Punctuation("removed")
    return set(CODE_POINTS) - set(map(ord, "".join(piece for piece, _ in splitter.pre_tokenize_str(ALL_TEXT))))


def utf8_length(code_point):
    return len(chr(code_point).encode())


def stand_ins(pcre2):
    """code point -> an older one of the same UTF-8 length that PCRE2 classifies as the reference classifies the first."""
    reference, library = signatures(pcre2)
    # The Punctuation pre-tokenizer sees stand-ins too: both must be in, or out of, its own idea of punctuation.
    punctuation = reference_punctuation()
    def same_always(code_point):
        return utf8_length(code_point), code_point in punctuation
    # Where no candidate has the script, it must not have another one; at worst, the category alone decides.
    weaker = [lambda s: s, lambda s: (*s[:5], None), lambda s: (s[0], None)]
    candidates = {}
    for code_point in CODE_POINTS:
        signature = library[code_point]
        if reference[code_point] == signature:
            # The highest one stands: it is the least likely to be named by a range such as [一-龥] in a pattern.
            candidates[(*same_always(code_point), signature)] = code_point
            if signature[5] is None:
                candidates[(*same_always(code_point), weaker[2](signature))] = code_point
    result = {}
    for code_point in CODE_POINTS:
        if reference[code_point] == library[code_point]:
            continue
        keys = [(*same_always(code_point), weaken(reference[code_point])) for weaken in weaker]
        found = [candidates[key] for key in keys if key in candidates]
        if not found:
            sys.exit(f"no stand-in for U+{code_point:04X} {reference[code_point]}")
        result[code_point] = found[0]
    return result


def reference_lines(normalizer, prefix="", suffix=""):
    text = "\n".join(prefix + chr(c) + suffix for c in CODE_POINTS if c != 0x0A)
    lines = normalizer.normalize_str(text).split("\n")
    return dict(zip((c for c in CODE_POINTS if c != 0x0A), lines))


def inert_in_normalization(pcre2):
    """Code points that Unicode decomposes or reorders and the reference leaves alone, because its tables are older.

    All that came after Unicode 14 belong to them, so that a newer utf8proc gives the same text.
    """
    assigned = reference_matched(r"\P{Cn}")
    found = assigned - pcre2.matched(r"\P{Cn}")
    checks = [("NFD", normalizers.NFD()), ("NFKD", normalizers.NFKD())]
    # Marks of classes 1, 220, 230 and 240 on both sides show every non-zero combining class.
    around = [("", "")] + [(side * ("a" + mark), (1 - side) * mark) for mark in "\u0334\u0316\u0301\u0345" for side in (0, 1)]
    for form, normalizer in checks:
        for prefix, suffix in around:
            prefix = prefix or "a" * bool(suffix)
            for code_point, line in reference_lines(normalizer, prefix, suffix).items():
                text = prefix + chr(code_point) + suffix
                if line != unicodedata.normalize(form, text):
                    if line != text:
                        sys.exit(f"the reference normalizes U+{code_point:04X} differently, not just less")
                    found.add(code_point)
    return found, set(CODE_POINTS) - assigned


def lower_case_differences():
    """(upper, lower) where the reference maps one character to another one and utf8proc does not."""
    library = ctypes.CDLL("libutf8proc.so.2")
    differences = []
    for code_point, line in reference_lines(normalizers.Lowercase()).items():
        if line != chr(library.utf8proc_tolower(code_point)):
            differences.append((code_point, line))
    longer = [(hex(c), line) for c, line in differences if len(line) != 1]
    if longer != [("0x130", "i\u0307")]:
        sys.exit(f"unexpected lower case of more than one character: {longer}")
    return [(c, ord(line)) for c, line in differences if len(line) == 1]


def punctuation_differences():
    """Code points of category P that the reference's Punctuation pre-tokenizer does not know, and others that it takes for P."""
    category = reference_matched(r"\p{P}")
    punctuation = reference_punctuation()
    return category - punctuation, punctuation - category - set(map(ord, "$+<=>^`|~"))


def numeric_beyond_n():
    """Numeric for the reference's Digits pre-tokenizer (which follows a newer Unicode), but not of its category N."""
    splitter = pre_tokenizers.Digits(individual_digits=True)
    text = "".join("a" + chr(c) for c in CODE_POINTS if c != ord("a"))
    numeric = {ord(piece) for piece, _ in splitter.pre_tokenize_str(text) if len(piece) == 1 and piece != "a"}
    category = reference_matched(r"\p{N}")
    if category - numeric:
        sys.exit(f"of category N, but not numeric: {sorted(map(hex, category - numeric))}")
    return numeric - category


def word_differences():
    """Where \\w of the reference's Whitespace pre-tokenizer is not what Unicode's annex C makes of Unicode 16."""
    splitter = pre_tokenizers.Whitespace()
    text = "".join("a" + chr(c) + " " for c in CODE_POINTS)
    joined = {ord(piece[1]) for piece, _ in splitter.pre_tokenize_str(text) if len(piece) == 2 and piece[0] == "a"}
    return joined ^ reference_matched(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}]")


def ranges(values, may_include=frozenset()):
    """Sorted (first, last, value) of equal neighbours of a code point -> value mapping; gaps of `may_include` are bridged."""
    result = []
    for code_point in sorted(values):
        gap = range(result[-1][1] + 1, code_point) if result and result[-1][2] == values[code_point] else None
        if gap is not None and len(gap) < 10000 and all(c in may_include for c in gap):
            result[-1][1] = code_point
        else:
            result.append([code_point, code_point, values[code_point]])
    return result


def range_items(code_points, may_include=frozenset()):
    return [f"{{0x{a:X}, 0x{b:X}}}" for a, b, _ in ranges(dict.fromkeys(code_points, 0), may_include)]


def array(comment, declaration, items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 118:
            lines.append(line)
            line = "   "
        line += f" {item},"
    lines.append(line)
    return "\n".join([f"// {comment}", f"{declaration} = {{", *lines, "};"])


def table():
    pcre2 = Pcre2()
    stand_in_items = [f"{{0x{a:X}, 0x{b:X}, 0x{v:X}}}" for a, b, v in ranges(stand_ins(pcre2))]
    inert, unassigned = inert_in_normalization(pcre2)
    lower_items = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in lower_case_differences()]
    not_punctuation, also_punctuation = punctuation_differences()
    if word_differences():
        sys.exit(f"word characters that need a table: {sorted(map(hex, word_differences()))}")
    return "\n\n".join([
        "// Made by scripts/make_unicode_repair.py from tokenizers "
        f"{tokenizers.__version__}; do not edit. See unicode_repair.h.\n// clang-format off",
        array("{first, last, stand-in}: the stand-in has the category, length and script that Unicode 16 gives to the range.",
              "constexpr StandIn kStandIns[]", stand_in_items),
        array("Characters that came after the reference's normalization tables: neither reordered, decomposed nor composed.",
              "constexpr CodePointRange kInertInNormalization[]", range_items(inert, unassigned)),
        array("{upper, lower} that utf8proc 2.8 does not know.", "constexpr CasePair kLowerCase[]", lower_items),
        array("Of category P, but not punctuation for the Punctuation pre-tokenizer.",
              "constexpr CodePointRange kNotPunctuation[]", range_items(not_punctuation)),
        array("Punctuation for the Punctuation pre-tokenizer, but no longer of category P.",
              "constexpr CodePointRange kAlsoPunctuation[]", range_items(also_punctuation)),
        array("Numeric for the Digits pre-tokenizer, which follows Unicode 17.",
              "constexpr CodePointRange kAlsoNumeric[]", range_items(numeric_beyond_n())),
    ]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    arguments = parser.parse_args()
    text = table()
    if not arguments.check:
        TABLE.write_text(text)
        print(f"wrote {TABLE}: {len(text.splitlines())} lines")
    elif not TABLE.exists() or TABLE.read_text() != text:
        sys.exit(f"{TABLE} differs from what this script makes")


if __name__ == "__main__":
    main()
