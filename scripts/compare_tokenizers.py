#!/usr/bin/env python3
"""Compares our tokenizers with the Hugging Face tokenizers library on random and nasty strings, and on random ids.

    scripts/compare_tokenizers.py --program build/release/bin/tokenize [--count 3000] [--seed 1] FOLDER...

Every FOLDER holds tokenizer.json or tokenizer.json.xz, and perhaps tokenizer_config.json. Compared are the ids of every string without
and with added special tokens, the text of those ids, and the text of random ids with and without special tokens. Differences are shown;
the exit code is 1 if there are any. Tried with tokenizers 0.23.3.
"""
import argparse
import json
import lzma
import pathlib
import random
import subprocess
import sys
import tempfile

import tokenizers

# What strings are made of. Ranges are random code points; the rest are texts.
RANGES = [
    (0x20, 0x7E), (0x20, 0x7E), (0x30, 0x39), (0x01, 0x20), (0x7F, 0xA0), (0xA0, 0x17F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF),
    (0x590, 0x6FF), (0x860, 0x8FF), (0x900, 0xDFF), (0xE00, 0xFFF), (0x1100, 0x11FF), (0x11A0, 0x11B0), (0x1200, 0x18FF), (0x1AB0, 0x1AFF),
    (0x1C80, 0x1CFF), (0x1DC0, 0x1DFF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x2BFF), (0x2E80, 0x312F), (0x3040, 0x30FF),
    (0x4E00, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFFFD), (0x10000, 0x10FFF), (0x11000, 0x11FFF),
    (0x12000, 0x16FFF), (0x1B000, 0x1FFFF), (0x20000, 0x323AF), (0xE0000, 0xE01EF), (0x100000, 0x10FFFF),
]
TEXTS = [
    "'s", "'LL", "'ſ", "I'm", "don't", "\r\n", "\n\n", "\r", "\t", "\u0085", "\u00a0", "\u1680", "\u180e", "\u200b", "\u200d", "\u2028",
    "\u2029", "\u202f", "\u3000", "\ufeff", " ", "  ", "   ", " \n ", "e\u0301", "\u0301", "\u0344", "\u0958", "\u212b", "\ufb01", "\u1e9b\u0323",
    "가\u11a7", "\u1100\u1161\u11a8", "😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇳🇴", "1️⃣", "１２３", "²³", "½", "Ⅷ", "١٢٣", "0.5", "1,000,000",
    "<|", "|>", "<|im_start|", "<|im_end|>", "<|endoftext|>", "<｜", "｜>", "<｜User｜>", "<｜begin▁of▁sentence｜>", "<think>", "</think>", "<think",
    "<s>", "</s>", "<unk>", "<0x41>", "▁", "<|begin_of_text|>", "<|eot_id|>", "<|reserved_special_token_5|>", "->", "=>", "::", "//", "/*",
    "foo(bar):", "__init__", "camelCase", "SNAKE_CASE", "http://a.b/c?d=e&f", "\\n", "\"quoted\"", "`code`", "你好", "世界", "こんにちは", "한국어",
    "Привет", "שלום", "مرحبا", "नमस्ते", "ไทย", "Đặng", "Straße", "İstanbul", "ΣΑΣ", "\x00", "\x1b[0m", "\x7f", "Z̴̛͝a̸l̷g̶o̵",
]
WORDS = "the of and to in is that it was for on are as with his they be at one have this from or had by hot but some what there".split()


def random_string(rng, special):
    kind = rng.random()
    if kind < 0.08:  # a long run of one thing
        return rng.choice(TEXTS + special + ["a", "1", "é", "-", "字"]) * rng.choice([3, 17, 64, 257, 1500]) + rng.choice(["", "x", "\n"])
    if kind < 0.12:
        return "".join(rng.choice(" \n\t\r\u00a0\u3000") for _ in range(rng.randrange(1, 400)))
    parts = []
    for _ in range(rng.randrange(1, 25)):
        choice = rng.random()
        if choice < 0.3:
            parts.append(rng.choice(TEXTS))
        elif choice < 0.4 and special:
            parts.append(rng.choice(special))
        elif choice < 0.45 and special:  # a fragment of one
            token = rng.choice(special)
            begin = rng.randrange(len(token))
            parts.append(token[begin:begin + rng.randrange(1, len(token) + 1)])
        elif choice < 0.7:
            parts.append(" ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 6))) + rng.choice(["", " ", ". ", ","]))
        else:
            low, high = rng.choice(RANGES)
            parts.append("".join(chr(rng.randrange(low, high + 1)) for _ in range(rng.randrange(1, 9))))
    return "".join(c for c in "".join(parts) if not 0xD800 <= ord(c) < 0xE000)


def unpacked(folder, temporary):
    """A folder with tokenizer.json: `folder` itself or a copy."""
    folder = pathlib.Path(folder)
    if (folder / "tokenizer.json").exists():
        return folder
    copy = pathlib.Path(temporary) / folder.name
    copy.mkdir()
    (copy / "tokenizer.json").write_bytes(lzma.decompress((folder / "tokenizer.json.xz").read_bytes()))
    config = folder / "tokenizer_config.json"
    if config.exists():
        (copy / "tokenizer_config.json").write_bytes(config.read_bytes())
    return copy


def ask(program, folder, records, key, *flags):
    lines = "\n".join(json.dumps(record) for record in records)
    run = subprocess.run([program, str(folder), "--jsonl", *flags], input=lines.encode(), capture_output=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{program}: {run.stderr.decode().strip()}")
    return [json.loads(line)[key] for line in run.stdout.decode().split("\n") if line]


def begin_id(folder, reference):
    """The id that tokenizer_config.json wants in front, None when it wants none."""
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text()) if path.exists() else {}
    token = config.get("bos_token")
    token = token["content"] if isinstance(token, dict) else token
    return reference.token_to_id(token) if config.get("add_bos_token") and token else None


def with_special(reference, text, begin):
    """The rule of Tokenizer::encode: the post-processor's tokens, else the begin token, and never two of them."""
    plain = reference.encode(text, add_special_tokens=False).ids
    ids = reference.encode(text, add_special_tokens=True).ids
    if ids == plain and begin is not None:
        ids = [begin] + ids
    return ids[1:] if ids != plain and plain and ids[0] == plain[0] else ids


def show(title, pairs):
    different = [(item, expected, got) for item, expected, got in pairs if expected != got]
    for item, expected, got in different[:3]:
        print(f"  {title}: {ascii(item)[:300]}\n    expected {ascii(expected)[:300]}\n    got      {ascii(got)[:300]}")
    return len(different)


def compare(program, folder, count, seed):
    rng = random.Random(seed)
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    reference.no_truncation()
    reference.no_padding()
    added = json.loads((folder / "tokenizer.json").read_text()).get("added_tokens", [])
    special = [token["content"] for token in added]
    texts = [random_string(rng, special) for _ in range(count)]
    known = sorted(reference.get_vocab(with_added_tokens=True).values())
    id_lists = [[rng.choice(known if rng.random() < 0.9 else known[:300]) for _ in range(rng.randrange(1, 40))] for _ in range(count)]

    expected = [reference.encode(text, add_special_tokens=False).ids for text in texts]
    records = [{"text": text} for text in texts]
    differences = show("ids", zip(texts, expected, ask(program, folder, records, "ids")))
    begin = begin_id(folder, reference)
    special_ids = [with_special(reference, text, begin) for text in texts]
    differences += show("ids with special", zip(texts, special_ids, ask(program, folder, records, "ids", "--add-special")))
    for lists, name in ((expected, "text of ids"), (id_lists, "text of random ids")):
        for skip in (False, True):
            flags = ["--decode"] + ["--skip-special"] * skip
            decoded = [reference.decode(ids, skip_special_tokens=skip) for ids in lists]
            got = ask(program, folder, [{"ids": ids} for ids in lists], "text", *flags)
            differences += show(f"{name}{', no special' * skip}", zip(lists, decoded, got))
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--program", required=True, help="our tokenize")
    parser.add_argument("--count", type=int, default=3000, help="strings, and lists of ids, per tokenizer (default 3000)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    total = 0
    with tempfile.TemporaryDirectory() as temporary:
        for folder in arguments.folders:
            differences = compare(arguments.program, unpacked(folder, temporary), arguments.count, arguments.seed)
            print(f"{folder}: {arguments.count} strings, {differences} differences", flush=True)
            total += differences
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
