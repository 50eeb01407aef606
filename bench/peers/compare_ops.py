#!/usr/bin/env python3
"""Compares single operations with PyTorch (MKL and oneDNN), in alternation, and prints a ratio table.

PyTorch writes into memory that is already there wherever it can, and its allocator keeps what it once had: fresh pages
cost more than the operations themselves (on virtual machines 15 microseconds for 4 KiB).

    python3 bench/peers/compare_ops.py --bench build/release/bench --python PYTHON_WITH_TORCH
"""
import argparse
import json
import os
import pathlib
import sys

from alternation import (Cell, Machine, Side, alternate, clean_text, command_line, describe_machine, markdown_table,
                         number, verdict)

OPS = {
    "fp32 GEMM 1024^3": ("matmul", 1024, 1024, 1024),
    "fp32 GEMM 2048^3": ("matmul", 2048, 2048, 2048),
    "bf16 GEMM 1024^3": ("linear_bf16", 1024, 1024, 1024),
    "bf16 GEMM 2048^3": ("linear_bf16", 2048, 2048, 2048),
    "softmax 4096 x 4096": ("softmax", 4096, 4096),
    "layer norm 4096 x 4096": ("layer_norm", 4096, 4096),
    "add 4096 x 4096": ("add", 4096, 4096),
    "sum of all 4096 x 4096": ("sum", 4096, 4096),
    "sum of rows 4096 x 4096": ("sum_rows", 4096, 4096),
}
GEMM_BAR = 0.85
VISIT = 5  # repeats in one visit


def fair_environment(threads):
    """Memory once taken stays with the process; every library under PyTorch has the same number of threads."""
    return {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
            "MALLOC_TOP_PAD_": str(1 << 28), "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads)}


def measure(threads, options):
    torch = Side("torch", [options.python, pathlib.Path(__file__).with_name("torch_child.py"), "--threads", threads],
                 fair_environment(threads))
    ours = Side("bench_ops", [options.bench / "bench_ops", "--threads", threads])
    machine = Machine(options.bench / "bench_decode", threads)
    cells = {}
    for name, words in OPS.items():
        if options.filter and options.filter not in name:
            continue
        print(f"{threads} threads: {name}", file=sys.stderr, flush=True)
        cell = Cell(name, {"ours": lambda: ours.repeats(*words, VISIT), "torch": lambda: torch.repeats(*words, VISIT)})
        alternate([cell], options.repeats, threads, machine.dram, options.rounds)
        cells[name] = cell.summary(options.repeats, threads)
    run = {"threads": threads, "torch": torch.ready, "isa": ours.ready["isa"], "peaks": machine.peaks(), "cells": cells}
    for side in (torch, ours, machine):
        side.close()
    return run


def rate(words, ms):
    """G operations per second of a product, else GB/s of what must be read and written."""
    if len(words) == 4:
        return f"{2 * words[1] * words[2] * words[3] / ms / 1e6:.0f} G/s"
    passes = {"add": 3, "sum": 1, "sum_rows": 1}.get(words[0], 2)
    return f"{4 * passes * words[1] * words[2] / ms / 1e6:.1f} GB/s"


def report(results):
    machine = results["machine"]
    first = results["runs"][0]
    lines = [f"### {machine['date']}, single operations against PyTorch", "",
             f"* machine: {machine['processor']}, {machine['cores']} cores, load average at the start "
             f"{machine['load_average']:.1f}", f"* command: `{results['command']}`",
             f"* PyTorch {first['torch']['version']} ({'; '.join(first['torch']['libraries'])}; "
             f"{first['torch']['cpu_capability']}), our kernels: {first['isa']}", ""]
    for run in results["runs"]:
        rows = []
        for name, cell in run["cells"].items():
            ours, torch = cell["ours"], cell["torch"]
            ratio = torch["median_ms"] / ours["median_ms"]
            bar = verdict(ratio >= GEMM_BAR, cell) if "GEMM" in name else ""
            rows.append([name, number(ours["median_ms"]), number(torch["median_ms"]), number(ratio) + "x",
                         number(torch["min_ms"] / ours["min_ms"]) + "x", rate(OPS[name], ours["median_ms"]),
                         rate(OPS[name], torch["median_ms"]),
                         clean_text(cell, ("ours", "torch")), number(cell["dram_gb_s"], 1), bar])
        peaks = ", ".join(f"{name} {value / 1e9:.0f} G/s" for name, value in run["peaks"].items())
        lines += [f"#### {run['threads']} {'thread' if run['threads'] == 1 else 'threads'} (measured peaks: {peaks})", "",
                  markdown_table(["operation", "ours ms", "PyTorch ms", "ratio", "of minima", "ours", "PyTorch",
                                  "clean (busy): ours, PyTorch", "D GB/s", f"at least {GEMM_BAR}"], rows)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="folder with bench_ops and bench_decode")
    parser.add_argument("--python", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--threads", default=",".join(sorted({"1", str(len(os.sched_getaffinity(0)))})),
                        help="thread counts, with commas")
    parser.add_argument("--filter", default="", help="only operations whose names hold this")
    parser.add_argument("--repeats", type=int, default=15, help="clean repeats of each operation and side")
    parser.add_argument("--rounds", type=int, default=10, help="most visits of each side")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    options.bench = options.bench.resolve()
    results = {"machine": describe_machine(), "command": command_line(),
               "runs": [measure(int(threads), options) for threads in options.threads.split(",")]}
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    text = report(results)
    print(text)
    if options.markdown is not None:
        options.markdown.write_text(text)


if __name__ == "__main__":
    main()
