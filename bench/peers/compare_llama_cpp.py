#!/usr/bin/env python3
"""Compares minitorch with llama.cpp: the same random weights, the same threads, in alternation. Prints ratio tables.

MODELS is the folder that make_peer_models.py wrote. Needs the Python package llama-cpp-python, built from source for
this processor, and bench_decode. llama.cpp runs with and without memory mapping, with flash attention left to it and
switched off; what is fastest for it in a first look at each part counts.

    python3 bench/peers/compare_llama_cpp.py MODELS --bench build/release/bench/bench_decode --markdown out.md
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

from alternation import Cell, Machine, Side, alternate, command_line, describe_machine
from llama_report import report

FORMATS = {"bf16": "bf16", "q8_0": "int8", "q4_0": "int4"}  # theirs -> ours
VERIFY_ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64)
CONTEXTS = (32, 1024)
PREFILL_ROWS = 512
PARTS = ("decode", "verify", "prefill", "load")
DECODE_STEPS = 3  # in one visit


class Llama:
    """llama.cpp's processes for one file, one with and one without memory mapping, made when first needed."""

    def __init__(self, path, threads):
        self.path, self.threads, self.sides = path, threads, {}

    def start(self, mmap):
        child = pathlib.Path(__file__).with_name("llama_child.py")
        return Side("llama.cpp", [sys.executable, child, self.path, "--threads", self.threads, "--mmap", mmap])

    def side(self, mmap):
        if mmap not in self.sides:
            self.sides[mmap] = self.start(mmap)
        return self.sides[mmap]

    def fastest(self, words, settings, looks=2):
        """The (mmap, flash) with the smallest time for a command, seen `looks` times."""
        best = {}
        for _ in range(looks):
            for mmap, flash in settings:
                times = self.side(mmap).repeats(*words, flash)
                best[mmap, flash] = min([best.get((mmap, flash), 1e30)] + [time["wall_ms"] for time in times])
        return min(best, key=best.get)

    def keep(self, mmaps):
        for mmap in [mmap for mmap in self.sides if mmap not in mmaps]:
            self.sides.pop(mmap).close()

    def close(self):
        self.keep(())


def weights_of(path):
    """Of a GGUF file: bytes and number of the weights that one step reads, and how many of them are the head."""
    import gguf  # needed here alone
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    head = tensors.get("output.weight")
    embedding = tensors["token_embd.weight"]
    unread = embedding if head is not None else None
    read = [tensor for tensor in tensors.values() if tensor is not unread]
    return {"step_bytes": sum(int(tensor.n_bytes) for tensor in read),
            "step_weights": sum(int(tensor.n_elements) for tensor in read),
            "head_weights": int((head if head is not None else embedding).n_elements)}


def part_commands(part):
    """What is timed in a part: key -> (repeats in a visit, words of the command)."""
    if part == "decode":
        return {f"decode {context}": ("decode", context, DECODE_STEPS) for context in CONTEXTS}
    if part == "verify":
        return {f"verify {rows}": ("verify", CONTEXTS[0], rows, 1) for rows in VERIFY_ROWS}
    return {f"prefill {PREFILL_ROWS}": ("prefill", PREFILL_ROWS, 1)}


LOOKS = {"decode": ("decode", CONTEXTS[0], 5), "verify": ("verify", CONTEXTS[0], 8, 2), "prefill": ("prefill", 256, 1)}


def measure_part(part, ours, llama, options, machine):
    """Cells of a part, and llama.cpp's settings in it."""
    settings = [(mmap, flash) for mmap in options.mmap for flash in options.flash]
    chosen = llama.fastest(LOOKS[part], settings) if len(settings) > 1 else settings[0]
    mmap, flash = chosen
    cells = []
    for key, words in part_commands(part).items():
        cells.append(Cell(key, {"ours": lambda words=words: ours.repeats(*words),
                                "llama": lambda words=words: llama.side(mmap).repeats(*words, flash)}))
    alternate(cells, options.repeats, options.threads, machine.dram, options.rounds)
    setting = {"mmap": bool(mmap), "flash_attention": "auto" if flash else "off"}
    return {cell.key: {**cell.summary(options.repeats, options.threads), "setting": setting} for cell in cells}


def one_load(side, steps=8):
    """Loading, and memory after a few steps and a verify pass behind a context of 32."""
    is_llama = "bytes_before" in side.ready
    flash = (1,) if is_llama else ()
    side.ask("decode", 32, steps, *flash)
    side.ask("verify", 32, 8, 1, *flash)
    result = {"load_s": side.ready["load_s"], "first_token_s": side.ready["first_token_s"],
              "peak_bytes": side.ask("memory")["peak_bytes"] - side.ready.get("bytes_before", 0)}
    side.close()
    return result


def measure_load(start_ours, llama, options):
    """Fresh processes in turn; the smallest of each figure counts."""
    sides = {"ours": start_ours}
    for mmap in options.mmap:
        sides["llama mmap" if mmap else "llama no mmap"] = lambda mmap=mmap: llama.start(mmap)
    runs = {name: [] for name in sides}
    for _ in range(options.loads):
        for name, start in sides.items():
            runs[name].append(one_load(start()))
    return {name: {key: min(run[key] for run in found) for key in found[0]} for name, found in runs.items()}


def supports(program, dtype):
    """Whether bench_decode knows a dtype: it complains about the dtype before it misses the model."""
    run = subprocess.run([program, os.devnull, "--dtype", dtype], capture_output=True, text=True)
    return not run.stderr.startswith("bench_decode: dtype:")


def measure_format(model, name, options, machine):
    dtype = FORMATS[name]
    path = options.models / model / f"{name}.gguf"
    folder = options.models / model / "hf"
    for needed in (path, folder):
        if not needed.exists():
            sys.exit(f"compare_llama_cpp.py: {needed} is missing; make_peer_models.py writes it")
    if not supports(options.bench, dtype):
        print(f"{model} {name}: this bench_decode has no --dtype {dtype}; left out", file=sys.stderr)
        return None

    def start_ours():
        return Side("bench_decode", [options.bench, folder, "--dtype", dtype, "--threads", options.threads, "--serve"])

    result = {"model": model, "format": name, "dtype": dtype, "cells": {}}
    llama = Llama(path, options.threads)
    ours = start_ours()
    weights = weights_of(path)
    result["step_bytes"] = {"ours": ours.ready["step_bytes"], "llama": weights["step_bytes"]}
    result["step_weights"], result["head_weights"] = weights["step_weights"], weights["head_weights"]
    result["isa"] = ours.ready["isa"]
    for part in options.parts:
        if part != "load":
            print(f"{model} {name}: {part}", file=sys.stderr, flush=True)
            result["cells"].update(measure_part(part, ours, llama, options, machine))
    any_llama = llama.side(options.mmap[0]).ready
    result["llama_version"], result["llama_flags"] = any_llama["version"], any_llama["flags"]
    ours.close()
    llama.close()
    if "load" in options.parts:
        print(f"{model} {name}: load", file=sys.stderr, flush=True)
        result["load"] = measure_load(start_ours, llama, options)
    return result


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def some_of(known):
        def parse(text):
            chosen = text.split(",")
            for word in chosen:
                if word not in known:
                    raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}, got '{word}'")
            return chosen
        return parse

    parser.add_argument("models", type=pathlib.Path, help="folder written by make_peer_models.py")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="the program bench_decode")
    parser.add_argument("--models", dest="shapes", type=some_of(("1.5b", "0.5b")), default=["1.5b"],
                        metavar="1.5b,0.5b")
    parser.add_argument("--formats", type=some_of(tuple(FORMATS)), default=list(FORMATS), metavar="bf16,q8_0,q4_0")
    parser.add_argument("--parts", type=some_of(PARTS), default=list(PARTS), metavar=",".join(PARTS))
    parser.add_argument("--repeats", type=int, default=7, help="clean repeats of each quantity and side")
    parser.add_argument("--rounds", type=int, help="most repeats, clean or not (default: 3 times --repeats)")
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--mmap", type=some_of(("on", "off")), default=["on", "off"], metavar="on,off")
    parser.add_argument("--flash", type=some_of(("auto", "off")), default=["auto", "off"], metavar="auto,off")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    options.mmap = [int(word == "on") for word in options.mmap]
    options.flash = [int(word == "auto") for word in options.flash]
    options.bench = options.bench.resolve()
    return options


def main():
    options = parse_options()
    for package in ("llama_cpp", "gguf", "numpy"):
        if importlib.util.find_spec(package) is None:
            sys.exit(f"compare_llama_cpp.py: {package} is missing; install the Python packages llama-cpp-python (built "
                     "from source for this processor), gguf and numpy")
    machine = Machine(options.bench, options.threads)
    results = {"machine": describe_machine(), "command": command_line(), "threads": options.threads,
               "peaks": machine.peaks(), "runs": []}
    for model in options.shapes:
        for name in options.formats:
            run = measure_format(model, name, options, machine)
            if run is None:
                continue
            results["runs"].append(run)
            if options.json is not None:  # after every format: a long run that is stopped keeps what it found
                options.json.write_text(json.dumps(results, indent=1) + "\n")
    machine.close()
    text = report(results)
    print(text)
    if options.markdown is not None:
        options.markdown.write_text(text)


if __name__ == "__main__":
    main()
