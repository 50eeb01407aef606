#!/usr/bin/env python3
"""Writes a Hugging Face model folder with the shapes of a real model and random bf16 weights.

Such a checkpoint times and sizes a model exactly like the real one; its text means nothing. Needs numpy; memory stays
small because the weights are written tensor by tensor.

    python3 scripts/make_random_checkpoint.py /tmp/model --shape r1-distill-qwen-1.5b --tokenizer TOKENIZER_FOLDER
"""
import argparse
import json
import lzma
import math
import pathlib
import shutil
import struct

import numpy

# config.json values that differ between the shapes; `generation` becomes generation_config.json.
SHAPES = {
    "r1-distill-qwen-1.5b": dict(
        hidden_size=1536, num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2, intermediate_size=8960,
        vocab_size=151936, max_position_embeddings=131072, rope_theta=10000, tie_word_embeddings=False,
        max_window_layers=21, sliding_window=4096, bos_token_id=151643, eos_token_id=151643,
        generation=dict(bos_token_id=151646, eos_token_id=151643, do_sample=True, temperature=0.6, top_p=0.95)),
    "qwen2-0.5b": dict(
        hidden_size=896, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2, intermediate_size=4864,
        vocab_size=151936, max_position_embeddings=32768, rope_theta=1000000, tie_word_embeddings=True,
        max_window_layers=24, sliding_window=32768, bos_token_id=151643, eos_token_id=151643,
        generation=dict(bos_token_id=151643, eos_token_id=151643)),
}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")
CHUNK = 1 << 22  # elements made at a time
DEVIATION = 0.02


def tensor_shapes(config):
    """Name and shape of every tensor."""
    hidden, ffn = config["hidden_size"], config["intermediate_size"]
    head_dim = hidden // config["num_attention_heads"]
    queries, keys = config["num_attention_heads"] * head_dim, config["num_key_value_heads"] * head_dim
    shapes = {"model.embed_tokens.weight": [config["vocab_size"], hidden], "model.norm.weight": [hidden]}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = [config["vocab_size"], hidden]
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        shapes[prefix + "input_layernorm.weight"] = [hidden]
        shapes[prefix + "post_attention_layernorm.weight"] = [hidden]
        for name, rows in (("q", queries), ("k", keys), ("v", keys)):
            shapes[f"{prefix}self_attn.{name}_proj.weight"] = [rows, hidden]
            shapes[f"{prefix}self_attn.{name}_proj.bias"] = [rows]
        shapes[prefix + "self_attn.o_proj.weight"] = [hidden, queries]
        shapes[prefix + "mlp.gate_proj.weight"] = [ffn, hidden]
        shapes[prefix + "mlp.up_proj.weight"] = [ffn, hidden]
        shapes[prefix + "mlp.down_proj.weight"] = [hidden, ffn]
    return dict(sorted(shapes.items()))


def to_bf16(values):
    """float32 -> bf16 bits, rounded to nearest even."""
    bits = values.view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def write_weights(path, shapes, seed):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    generator = numpy.random.Generator(numpy.random.Philox(seed))
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for name, shape in shapes.items():
            mean = 1.0 if "norm" in name else 0.0
            left = math.prod(shape)
            while left > 0:
                count = min(left, CHUNK)
                values = generator.standard_normal(count, dtype=numpy.float32)
                values *= numpy.float32(DEVIATION)
                values += numpy.float32(mean)
                file.write(to_bf16(values).tobytes())
                left -= count
    return end


def copy_tokenizer(source, output):
    """Copies the tokenizer's files, unpacking .xz ones."""
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, output / name)
        elif (source / (name + ".xz")).exists():
            with lzma.open(source / (name + ".xz")) as packed, open(output / name, "wb") as plain:
                shutil.copyfileobj(packed, plain)
    if not (output / "tokenizer.json").exists():
        raise SystemExit(f"{source}: expected tokenizer.json or tokenizer.json.xz, found neither")


def write_checkpoint(output, shape, layers=None, tokenizer=None, seed=0):
    """Writes the folder; returns the bytes of its weights."""
    config = dict(SHAPES[shape])
    generation = config.pop("generation")
    if layers is not None:
        config["num_hidden_layers"] = layers
    config.update(architectures=["Qwen2ForCausalLM"], model_type="qwen2", hidden_act="silu", rms_norm_eps=1e-6,
                  use_sliding_window=False, torch_dtype="bfloat16", initializer_range=DEVIATION)
    output.mkdir(parents=True, exist_ok=True)
    if tokenizer is not None:
        copy_tokenizer(tokenizer, output)
    for name, values in (("config.json", config), ("generation_config.json", generation)):
        (output / name).write_text(json.dumps(values, indent=2, sort_keys=True) + "\n")
    return write_weights(output / "model.safetensors", tensor_shapes(config), seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path, help="folder to write")
    parser.add_argument("--shape", required=True, choices=sorted(SHAPES))
    parser.add_argument("--tokenizer", type=pathlib.Path, help="folder with tokenizer.json or tokenizer.json.xz")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layers", type=int, help="fewer (or more) layers than the real model")
    arguments = parser.parse_args()

    size = write_checkpoint(arguments.output, arguments.shape, arguments.layers, arguments.tokenizer, arguments.seed)
    print(f"{arguments.output}: {size / 1e9:.2f} GB of weights")


if __name__ == "__main__":
    main()
