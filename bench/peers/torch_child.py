#!/usr/bin/env python3
"""PyTorch as one side of the comparison of single operations: commands on stdin, answers as JSON, like bench_ops.

    python3 bench/peers/torch_child.py --threads 2
"""
import argparse
import json
import os
import sys
import time

try:
    import torch
except ImportError:
    sys.exit("torch_child.py: torch is missing; install the Python package torch")


def times_of(task, repeats):
    task()  # warms up
    times = []
    for _ in range(repeats):
        cpu, start = time.process_time(), time.perf_counter()
        task()
        wall = time.perf_counter() - start
        times.append({"wall_ms": wall * 1e3, "cpu_ms": (time.process_time() - cpu) * 1e3})
    return times


def product(dtype):
    """x [M, K] times W^T with W [N, K], as a layer multiplies; into memory that is already there."""
    def build(rows, cols, inner):
        x, weight = torch.rand(rows, inner).to(dtype), torch.rand(cols, inner).to(dtype)
        out = torch.empty(rows, cols, dtype=dtype)
        return lambda: torch.mm(x, weight.t(), out=out)
    return build


def matmul(rows, cols, inner):
    a, b, out = torch.rand(rows, inner), torch.rand(inner, cols), torch.empty(rows, cols)
    return lambda: torch.mm(a, b, out=out)


def softmax(rows, cols):
    x, out = torch.rand(rows, cols), torch.empty(rows, cols)
    return lambda: torch.softmax(x, 1, out=out)


def layer_norm(rows, cols):
    x, weight, bias = torch.rand(rows, cols), torch.rand(cols), torch.rand(cols)
    out, mean, deviation = torch.empty(rows, cols), torch.empty(rows, 1), torch.empty(rows, 1)
    return lambda: torch.ops.aten.native_layer_norm.out(x, [cols], weight, bias, 1e-5, out0=out, out1=mean,
                                                        out2=deviation)


def add(rows, cols):
    a, b, out = torch.rand(rows, cols), torch.rand(rows, cols), torch.empty(rows, cols)
    return lambda: torch.add(a, b, out=out)


def reduce_all(rows, cols):
    x = torch.rand(rows, cols)
    return lambda: torch.sum(x)


def reduce_rows(rows, cols):
    x, out = torch.rand(rows, cols), torch.empty(rows)
    return lambda: torch.sum(x, 1, out=out)


COMMANDS = {"matmul": matmul, "linear_bf16": product(torch.bfloat16), "softmax": softmax, "layer_norm": layer_norm,
            "add": add, "sum": reduce_all, "sum_rows": reduce_rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_grad_enabled(False)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(json_value):
        answers.write(json.dumps(json_value) + "\n")
        answers.flush()

    names = ("Math Kernel Library", "MKL-DNN", "OpenBLAS")
    blas = [line.strip(" -") for line in torch.__config__.show().splitlines() if any(name in line for name in names)]
    say({"threads": torch.get_num_threads(), "version": torch.__version__, "libraries": blas,
         "cpu_capability": torch.backends.cpu.get_cpu_capability()})
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            return
        try:
            *sizes, repeats = map(int, words[1:])
            say({"repeats": times_of(COMMANDS[words[0]](*sizes), repeats)})
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            say({"error": f"{line.strip()}: {error!r}"})


if __name__ == "__main__":
    main()
