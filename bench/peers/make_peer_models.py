#!/usr/bin/env python3
"""Makes the models of the comparison with llama.cpp: random weights in the shapes of real models, twice.

FOLDER/<shape>/hf is a Hugging Face folder in bf16 and FOLDER/<shape>/{bf16,q8_0,q4_0}.gguf hold the same weights, every
matrix, head and embedding included, in the format of that name. Needs numpy and gguf, and 13 GB for both shapes.

    python3 bench/peers/make_peer_models.py FOLDER --shapes 1.5b,0.5b --formats bf16,q8_0,q4_0
"""
import argparse
import json
import math
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
try:
    import gguf
    import numpy
except ImportError as error:
    sys.exit(f"make_peer_models.py: {error.name} is missing; install the Python packages numpy and gguf")
import make_random_checkpoint  # noqa: E402  (from scripts/)

SHAPES = {"1.5b": "r1-distill-qwen-1.5b", "0.5b": "qwen2-0.5b"}
FORMATS = {"bf16": gguf.GGMLQuantizationType.BF16, "q8_0": gguf.GGMLQuantizationType.Q8_0,
           "q4_0": gguf.GGMLQuantizationType.Q4_0}
FILE_TYPES = {"bf16": gguf.LlamaFileType.MOSTLY_BF16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0,
              "q4_0": gguf.LlamaFileType.MOSTLY_Q4_0}
CHUNK = 1 << 22  # elements quantised at a time

# Hugging Face's names -> GGUF's. Rotary pairs of qwen2 lie half a head apart in both, so no row moves.
NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
LAYER_NAMES = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
               "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
               "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def gguf_name(name):
    stem, kind = name.rsplit(".", 1)
    if stem in NAMES:
        return f"{NAMES[stem]}.{kind}"
    _, _, layer, part = stem.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[part]}.{kind}"


def read_checkpoint(folder):
    """Name -> bf16 bits, as arrays that lie in the file."""
    path = folder / "model.safetensors"
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            tensors[name] = numpy.memmap(path, "<u2", "r", 8 + size + entry["data_offsets"][0], tuple(entry["shape"]))
    return tensors


def to_f32(bits):
    return (numpy.asarray(bits).astype(numpy.uint32) << 16).view(numpy.float32)


def encode(bits, target):
    """A matrix in the target format as bytes [rows, bytes of a row]; vectors stay f32."""
    if bits.ndim == 1:
        return to_f32(bits)
    if target == gguf.GGMLQuantizationType.BF16:
        return numpy.ascontiguousarray(bits).view(numpy.uint8)
    rows = max(1, CHUNK // bits.shape[1])
    chunks = [gguf.quants.quantize(to_f32(bits[begin:begin + rows]), target) for begin in range(0, len(bits), rows)]
    return numpy.concatenate(chunks)


def encoded_bytes(shape, target):
    if len(shape) == 1:
        return 4 * shape[0]
    block, size = gguf.GGML_QUANT_SIZES[target]
    return math.prod(shape) // block * size


def add_metadata(writer, config, name):
    writer.add_name(f"random {name}")
    writer.add_file_type(FILE_TYPES[name])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(float(config["rope_theta"]))
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")  # neither side loads a tokenizer


def write_gguf(path, folder, name):
    config = json.loads((folder / "config.json").read_text())
    tensors = {gguf_name(key): bits for key, bits in read_checkpoint(folder).items()}
    target = FORMATS[name]
    part = path.with_suffix(".part")
    writer = gguf.GGUFWriter(part, "qwen2")
    add_metadata(writer, config, name)
    for key, bits in tensors.items():
        raw = gguf.GGMLQuantizationType.F32 if bits.ndim == 1 else target
        writer.add_tensor_info(key, bits.shape, numpy.dtype(numpy.float32), encoded_bytes(bits.shape, target), raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for bits in tensors.values():
        writer.write_tensor_data(encode(bits, target))
    writer.close()
    part.rename(path)


def choices(text, known, option):
    chosen = text.split(",")
    for name in chosen:
        if name not in known:
            sys.exit(f"make_peer_models.py: {option}: expected some of {','.join(known)}, got '{name}'")
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shapes", default="1.5b,0.5b")
    parser.add_argument("--formats", default="bf16,q8_0,q4_0")
    parser.add_argument("--layers", type=int, help="fewer layers than the real model, for trying the scripts")
    arguments = parser.parse_args()
    formats = choices(arguments.formats, FORMATS, "--formats")
    for shape in choices(arguments.shapes, SHAPES, "--shapes"):
        folder = arguments.folder / shape / "hf"
        if not (folder / "model.safetensors").exists():
            make_random_checkpoint.write_checkpoint(folder, SHAPES[shape], arguments.layers)
        for name in formats:
            path = arguments.folder / shape / f"{name}.gguf"
            if not path.exists():
                write_gguf(path, folder, name)
            print(f"{path}: {path.stat().st_size / 1e9:.2f} GB", flush=True)


if __name__ == "__main__":
    main()
