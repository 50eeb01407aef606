#!/usr/bin/env python3
"""Makes tests/data/tokenizer/trained.jsonl: what the Hugging Face libraries train, encode and render, for the BPE trainer and our chat template.

    scripts/make_trained_tokenizer_goldens.py [--tokenizer FOLDER]     FOLDER: of the tiny pair's tokenizer, default models/tiny_r1/target

corpus            texts of random words of our own, with many equally frequent pairs and overlapping ones
training          vocabulary and merges that the tokenizers library's trainer makes of them
text              ids of a text by that tokenizer, with and without the begin token, and the text decoded from them
template          the chat template, from tokenizer_config.json of FOLDER
conversation      a conversation as transformers renders it
Tried with tokenizers 0.23.3 and transformers 5.24.0.
"""
import argparse
import json
import pathlib
import random

import tokenizers
import transformers
from tokenizers import Regex
from tokenizers import decoders
from tokenizers import normalizers
from tokenizers import pre_tokenizers
from tokenizers import processors

ROOT = pathlib.Path(__file__).resolve().parent.parent
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIAL = ["<|begin_of_sentence|>", "<|end_of_sentence|>", "<|user|>", "<|assistant|>"]
THINK = ["<think>", "</think>"]
TEXTS = ["", "Tom had 145 marbles. Tom gave 56 marbles to Anna.", "145 - 56 = 89\n89 + 12 = 101\n</think>\nTom has \\boxed{101} marbles now.",
         "<|begin_of_sentence|><|user|>How many?<|assistant|><think>\n1 + 1 = 2", "aaaaaaaaaaa ababababab banana", "naïve e\u0301 你好 👩‍👩‍👧 ½ ٣",
         "  two  spaces\n\n\tand tabs \r\n", "<think", "a<|user|", "it's WE'LL don't", "x\x00\x7f\u00a0y"]
CONVERSATIONS = [
    ([{"role": "user", "content": "How many?"}], True),
    ([{"role": "user", "content": "How many?"}], False),
    ([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi\nthere "}], True),
    ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>\n1 + 1 = 2\n</think>\nThere are \\boxed{2}."}], False),
    ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>\nt\n</think>\nb"}, {"role": "user", "content": "c"}], True),
    ([{"role": "user", "content": "a"}, {"role": "system", "content": "late"}, {"role": "assistant", "content": ""}, {"role": "system", "content": "s2"}], True),
    ([{"role": "system", "content": ""}, {"role": "system", "content": "x"}], False),
    ([{"role": "tool", "content": "ignored"}, {"role": "user", "content": "<|user|> {{ x }}"}], True),
    ([{"role": "assistant", "content": "first"}], True),
]


def corpus():
    rng = random.Random(11)
    syllables = ["ba", "na", "a", "aa", "to", "mi", "é", "你", "ing", "x", "qu", "er", "s"]
    words = ["".join(rng.choice(syllables) for _ in range(rng.randrange(1, 6))) for _ in range(160)]
    lines = []
    for _ in range(120):
        line = [rng.choice(words[: 1 + int(160 * rng.random() ** 2)]) for _ in range(12)]
        line[rng.randrange(12)] = str(rng.randrange(2000))
        lines.append(" ".join(line) + rng.choice([".", "!", "...", "\n\n", "  ", " 's"]))
    return lines


def trained(texts, vocab_size, min_count):
    reference = tokenizers.Tokenizer(tokenizers.models.BPE())
    reference.normalizer = normalizers.NFC()
    reference.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN2), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    reference.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tokens = [tokenizers.AddedToken(text, special=True, normalized=False) for text in SPECIAL]
    tokens += [tokenizers.AddedToken(text, special=False, normalized=False) for text in THINK]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=vocab_size, min_frequency=min_count, special_tokens=tokens, show_progress=False,
                                             initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    reference.train_from_iterator(texts, trainer)
    reference.post_processor = processors.TemplateProcessing(single=f"{SPECIAL[0]} $A", pair=f"{SPECIAL[0]} $A $B:1", special_tokens=[(SPECIAL[0], 0)])
    return reference


def lines(folder):
    texts = corpus()
    yield {"kind": "corpus", "texts": texts}
    for vocab_size, min_count in ((262, 2), (400, 2), (2048, 2), (2048, 5)):
        reference = trained(texts, vocab_size, min_count)
        model = json.loads(reference.to_str())["model"]
        tokens = sorted(model["vocab"], key=model["vocab"].get)
        yield {"kind": "training", "vocab_size": vocab_size, "min_count": min_count, "tokens": tokens, "merges": model["merges"]}
        for text in TEXTS + texts[:3]:
            ids = reference.encode(text, add_special_tokens=False).ids
            yield {"kind": "text", "text": text, "ids": ids, "special": reference.encode(text, add_special_tokens=True).ids,
                   "decoded": reference.decode(ids, skip_special_tokens=False)}
    template = json.loads((folder / "tokenizer_config.json").read_text())["chat_template"]
    yield {"kind": "template", "text": template}
    renderer = transformers.PreTrainedTokenizerFast(tokenizer_object=reference, bos_token=SPECIAL[0], chat_template=template)
    for messages, add_generation_prompt in CONVERSATIONS:
        text = renderer.apply_chat_template(messages, tokenize=False, add_generation_prompt=add_generation_prompt)
        yield {"kind": "conversation", "messages": messages, "add_generation_prompt": add_generation_prompt, "text": text}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=pathlib.Path, default=ROOT / "models/tiny_r1/target")
    folder = parser.parse_args().tokenizer
    path = ROOT / "tests/data/tokenizer/trained.jsonl"
    records = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines(folder)]
    path.write_text("\n".join(records) + "\n")
    print(f"{path}: {len(records)} lines")


if __name__ == "__main__":
    main()
