#!/usr/bin/env python3
"""The roofline of `linear`: time, bytes and operations per second of every kernel table at the shapes of a 1.5B model,
as shares of the memory's rate and of the peak that this machine showed in the same run.

    python3 bench/roofline.py build/release/bench/bench_kernels --rows 1,2,4,8,16,64,256 --formats bf16,int8
"""
import argparse
import json
import os
import subprocess
import sys

TABLES = ("scalar", "avx2", "avx512", "avx512vnni")
SHAPES = ("17920x1536", "8960x1536", "1536x8960", "2048x1536", "1536x1536", "151936x1536")
# The loops of bench/common/limits.cpp that a table's instructions could reach, best first.
FLOAT_PEAKS = {"avx2": ["fma_f32_avx2"], "avx512": ["fma_f32_avx512"], "avx512vnni": ["fma_f32_avx512"]}
INT_PEAKS = {"avx2": ["dot_int8_avx2"], "avx512": ["dot_int8_avx512bw"], "avx512vnni": ["dot_int8_avx512vnni"]}


def run_benchmarks(program, pattern, isa, options, repetitions=1):
    environment = {**os.environ, "MINITORCH_ISA": isa}
    if options.threads:
        environment["MINITORCH_BENCH_THREADS"] = str(options.threads)
    command = [program, f"--benchmark_filter={pattern}", "--benchmark_format=json",
               f"--benchmark_min_time={options.seconds}", f"--benchmark_repetitions={repetitions}"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    try:
        benches = json.loads(run.stdout)["benchmarks"]
        return [bench for bench in benches if bench["run_type"] == "iteration"]
    except (json.JSONDecodeError, KeyError):
        lines = (run.stderr or run.stdout).strip().splitlines()
        print(f"{isa}: left out: {lines[-1] if lines else 'no results'}", file=sys.stderr)
        return []


def measure_limits(program, machine, options):
    """Raises name -> bytes or operations per second to the best of a few repetitions. It is called between the tables:
    what the machine can do, it did in one of them."""
    for bench in run_benchmarks(program, "^limit_", "scalar", options, repetitions=5):
        name = bench["name"].split("/")[0].removeprefix("limit_")
        rate = bench["bytes"] if name == "memory_read" else bench["flops"]
        machine[name] = max(rate, machine.get(name, 0.0))


def share(value, limit):
    return f"{value / limit:.2f}" if limit else "-"


def rows_of(benches, isa, machine):
    """Table rows, in the order in which the kernel was asked."""
    memory = machine.get("memory_read")
    rows = []
    for bench in benches:
        _, name, rest = bench["name"].split("/", 2)
        sizes = dict(part.split(":") for part in rest.split("/") if ":" in part)
        peaks = INT_PEAKS if name.startswith("int") else FLOAT_PEAKS
        peak = next((machine[key] for key in peaks.get(isa, []) if key in machine), None)
        rows.append([isa, name, f"{sizes['N']} x {sizes['K']}", sizes["M"], f"{bench['real_time']:.0f}",
                     f"{bench['bytes'] / 1e9:.1f}", share(bench["bytes"], memory), f"{bench['flops'] / 1e9:.0f}",
                     share(bench["flops"], peak),
                     share(max(bench["bytes"] / memory, bench["flops"] / peak if peak else 0.0), 1.0)])
    return rows


def print_table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def pattern_of(options):
    shapes = "|".join("N:{}/K:{}".format(*shape.split("x")) for shape in options.shapes.split(","))
    return f"^linear/({options.formats.replace(',', '|')})/M:({options.rows.replace(',', '|')})/({shapes})/"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="bench_kernels")
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--formats", default="f32,bf16,int8,int4")
    parser.add_argument("--rows", default="1,2,4,8,16,64,256")
    parser.add_argument("--shapes", default=",".join(SHAPES), metavar="NxK,...")
    parser.add_argument("--threads", type=int, help="default: the cores this process may use")
    parser.add_argument("--seconds", type=float, default=0.1, help="least time for each line")
    options = parser.parse_args()

    machine, found = {}, {}
    measure_limits(options.program, machine, options)
    if "memory_read" not in machine:
        sys.exit(f"roofline.py: {options.program}: expected bench_kernels, whose limit_memory_read is missing")
    for isa in options.tables.split(","):
        found[isa] = run_benchmarks(options.program, pattern_of(options), isa, options)
        measure_limits(options.program, machine, options)
    print_table(["limit", "G/s"], [[name, f"{rate / 1e9:.1f}"] for name, rate in machine.items()])
    print()
    rows = [row for isa, benches in found.items() for row in rows_of(benches, isa, machine)]
    print_table(["table", "weights", "N x K", "M", "us", "GB/s", "of memory", "G op/s", "of peak", "roofline"], rows)


if __name__ == "__main__":
    main()
