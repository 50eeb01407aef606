#!/usr/bin/env python3
"""Makes the small random-weight checkpoints of tests/data/models/ and their golden logits.

Each folder gets config.json (old or new form), generation_config.json, safetensors in the case's storage type,
golden_ids.json (the input) and golden_logits.npy: float32 [positions, vocabulary], computed in float32 from the stored
weights by the Hugging Face implementation.

Tried with torch 2.15.0 and transformers 5.24.0 (CPU); needs numpy and safetensors too. Run from anywhere:
    python3 scripts/make_golden_logits.py [--case NAME] [OUTPUT_FOLDER]
With --case only that checkpoint is written and the others stay as they are. A new case goes to the end of CASES: its
place is its seed.
"""
import argparse
import json
import pathlib
import shutil

import numpy
import torch
import transformers
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# What the Hugging Face implementation calls an architecture: its config and its model.
FAMILIES = {
    "qwen2": (transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
    "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}

# name: (family, config form, storage, shards, positions, config values). Sizes are odd on purpose.
CASES = {
    # Grouped heads, head_dim 10 where hidden / heads is 7.5, nothing a multiple of 16, begin and end ids that differ.
    "qwen2_odd": ("qwen2", "old", "float32", 1, 24, dict(
        vocab_size=97, hidden_size=45, intermediate_size=51, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=2, head_dim=10, max_position_embeddings=128, rope_theta=1e6, tie_word_embeddings=False)),
    # The sizes of case B24: head_dim given, a sliding window that is present but switched off, tied head.
    "qwen2_window_off": ("qwen2", "new", "float32", 1, 24, dict(
        vocab_size=90, hidden_size=48, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=64, sliding_window=8, use_sliding_window=False,
        tie_word_embeddings=True)),
    # bf16 in three shards; the attention crosses the block border of 64 positions.
    "qwen2_bf16_sharded": ("qwen2", "old", "bfloat16", 3, 75, dict(
        vocab_size=100, hidden_size=60, intermediate_size=77, num_hidden_layers=3, num_attention_heads=5,
        num_key_value_heads=5, max_position_embeddings=256, tie_word_embeddings=False)),
    # Tied head, as many key/value heads as query heads, head_dim by division.
    "llama_tied": ("llama", "old", "float32", 1, 20, dict(
        vocab_size=83, hidden_size=44, intermediate_size=61, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-5, tie_word_embeddings=True)),
    # Biases everywhere, head_dim 14 where hidden / heads is 9.
    "llama_biases": ("llama", "new", "float32", 1, 20, dict(
        vocab_size=71, hidden_size=54, intermediate_size=43, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=3, head_dim=14, max_position_embeddings=64, attention_bias=True, mlp_bias=True,
        rope_theta=500000.0, tie_word_embeddings=False)),
    # Scaled frequencies of all three kinds, positions far beyond the original length of 16.
    "llama3_rope_old": ("llama", "old", "float32", 1, 70, dict(
        vocab_size=65, hidden_size=36, intermediate_size=30, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=32, max_position_embeddings=128, rms_norm_eps=1e-5, rope=LLAMA3,
        tie_word_embeddings=False)),
    "llama3_rope_new": ("llama", "new", "float32", 1, 70, dict(
        vocab_size=65, hidden_size=36, intermediate_size=30, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=32, max_position_embeddings=128, rms_norm_eps=1e-5, rope=LLAMA3,
        rope_theta=500000.0, tie_word_embeddings=False)),
    # f16, one key/value head for all.
    "llama_f16": ("llama", "new", "float16", 1, 20, dict(
        vocab_size=111, hidden_size=35, intermediate_size=49, num_hidden_layers=2, num_attention_heads=5,
        num_key_value_heads=1, head_dim=6, max_position_embeddings=64, tie_word_embeddings=False)),
}


def make_config(family, values):
    values = dict(values)
    rope = dict(values.pop("rope", {"rope_type": "default"}))
    rope["rope_theta"] = values.pop("rope_theta", 10000.0)
    return FAMILIES[family][0](rope_parameters=rope, bos_token_id=1, eos_token_id=2, attn_implementation="eager", **values)


def old_form(config, storage):
    """config.json as transformers 4 wrote it."""
    text = {key: value for key, value in config.items() if key not in ("rope_parameters", "dtype", "layer_types")}
    rope = dict(config["rope_parameters"])
    text["rope_theta"] = rope.pop("rope_theta")
    text["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    text["torch_dtype"] = storage
    return text


def randomise(model, seed):
    """Weights of realistic size: attention and gates leave their linear range, norms and biases matter."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith("bias"):
                weight.copy_(0.3 * noise)
            elif "norm" in name:
                weight.copy_(1.0 + 0.2 * noise)
            elif "embed_tokens" in name:
                weight.copy_(noise)
            else:
                weight.copy_(1.2 * noise / weight.shape[1] ** 0.5)


def save_weights(folder, tensors, num_shards):
    if num_shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = sorted(tensors)
    files = {}
    for shard in range(num_shards):
        part = names[shard::num_shards]  # neighbours in different files: q, k and v of a layer come from several
        file = f"model-{shard + 1:05d}-of-{num_shards:05d}.safetensors"
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
        files.update({name: file for name in part})
    index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())},
             "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def make_case(folder, name, seed):
    family, form, storage, num_shards, positions, values = CASES[name]
    config = make_config(family, values)
    kind = FAMILIES[family][1]
    model = kind(config).eval()
    randomise(model, seed)
    stored = {key: tensor.to(TYPES[storage]).contiguous() for key, tensor in model.state_dict().items()
              if not (config.tie_word_embeddings and key == "lm_head.weight")}
    model.load_state_dict({key: tensor.float() for key, tensor in stored.items()}, strict=False)

    ids = torch.randint(0, config.vocab_size, (positions,), generator=torch.Generator().manual_seed(seed + 1000))
    with torch.no_grad():
        logits = model(ids[None]).logits[0]
    assert logits.dtype == torch.float32 and torch.isfinite(logits).all()

    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    save_weights(folder, stored, num_shards)
    config.architectures = [kind.__name__]
    config.dtype = storage
    text = json.loads(config.to_json_string())
    if form == "old":
        text = old_form(text, storage)
    if "sliding_window" in values:  # which transformers drops when the window is off, but published files keep
        text["sliding_window"] = values["sliding_window"]
    (folder / "config.json").write_text(json.dumps(text, indent=1, sort_keys=True) + "\n")
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 1, "eos_token_id": [2, 5]}) + "\n")
    (folder / "golden_ids.json").write_text(json.dumps(ids.tolist()) + "\n")
    numpy.save(folder / "golden_logits.npy", logits.numpy())
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{name}: {size} bytes, largest logit {logits.abs().max():.2f}, "
          f"smallest row maximum {logits.abs().max(dim=1).values.min():.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=pathlib.Path, default=ROOT / "tests/data/models", metavar="OUTPUT_FOLDER")
    parser.add_argument("--case", choices=CASES, help="write this checkpoint only")
    arguments = parser.parse_args()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}")
    torch.set_num_threads(1)
    for seed, name in enumerate(CASES):
        if arguments.case in (None, name):
            make_case(arguments.output / name, name, seed)


if __name__ == "__main__":
    main()
