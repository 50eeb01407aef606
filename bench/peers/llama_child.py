#!/usr/bin/env python3
"""llama.cpp as one side of the comparison: commands on stdin, answers as JSON, like bench_decode --serve.

    python3 bench/peers/llama_child.py MODEL.gguf --threads 2 --mmap 1

`decode CONTEXT STEPS FLASH`, `verify CONTEXT K REPEATS FLASH`, `prefill ROWS REPEATS FLASH` (FLASH: 1 leaves flash
attention to llama.cpp, 0 switches it off), `memory`, `quit`.
"""
import argparse
import ctypes
import json
import os
import random
import resource
import sys
import time

try:
    import llama_cpp
except ImportError:
    sys.exit("llama_child.py: llama_cpp is missing; install the Python package llama-cpp-python, built from source for "
             "this processor")

SPARE_SLOTS = 256  # behind a context: verified rows, decoded tokens
BATCH = 512
FIRST_SLOTS = 32 + SPARE_SLOTS  # of the context of the first token; context 32 is measured in it too
MAX_OUTPUTS = 64   # rows of a pass that may ask for logits; the default reserves logits for all 512


def peak_resident_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Sequence:
    """A context of llama.cpp with one sequence in it."""

    def __init__(self, model, slots, flash, threads):
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = slots
        params.n_batch = params.n_ubatch = BATCH
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = (llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO if flash
                                  else llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED)
        if hasattr(params, "n_outputs_max"):
            params.n_outputs_max = MAX_OUTPUTS
        self.context = llama_cpp.llama_init_from_model(model, params)
        if not self.context:
            raise RuntimeError("llama_init_from_model failed")
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.batch = llama_cpp.llama_batch_init(BATCH, 0, 1)
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))
        self.length = 0

    def step(self, rows, num_logits):
        """Appends `rows` random ids, the last `num_logits` of which ask for logits; wall and processor ms."""
        draw = random.Random(rows)
        batch = self.batch
        batch.n_tokens = rows
        for i in range(rows):
            batch.token[i] = draw.randrange(self.vocabulary)
            batch.pos[i] = self.length + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = i >= rows - num_logits
        cpu, start = time.process_time(), time.perf_counter()
        status = llama_cpp.llama_decode(self.context, batch)
        llama_cpp.llama_synchronize(self.context)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        if status != 0:
            raise RuntimeError(f"llama_decode gave {status}")
        self.length += rows
        return {"wall_ms": wall * 1e3, "cpu_ms": cpu * 1e3}

    def cut(self, length):
        if self.length > length:
            llama_cpp.llama_memory_seq_rm(self.memory, 0, length, -1)
            self.length = length

    def fill(self, length):
        while self.length < length:
            self.step(min(BATCH, length - self.length), 1)
        self.cut(length)


class Peer:
    def __init__(self, path, threads, mmap):
        self.threads = threads
        self.sequences = {}
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = 0
        if hasattr(params, "load_mode"):
            params.load_mode = llama_cpp.LLAMA_LOAD_MODE_MMAP if mmap else llama_cpp.LLAMA_LOAD_MODE_NONE
        else:
            params.use_mmap = bool(mmap)
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), params)
        if not self.model:
            raise RuntimeError(f"{path}: llama_model_load_from_file failed")

    def sequence(self, slots, flash, filled):
        key = (slots, flash)
        if key not in self.sequences:
            self.sequences[key] = Sequence(self.model, slots, flash, self.threads)
        self.sequences[key].fill(filled)
        return self.sequences[key]

    def decode(self, context, steps, flash):
        sequence = self.sequence(context + SPARE_SLOTS, flash, context)
        return [sequence.step(1, 1) for _ in range(steps)]

    def verify(self, context, rows, repeats, flash):
        if rows > MAX_OUTPUTS:
            raise ValueError(f"expected at most {MAX_OUTPUTS} rows")  # the library would abort
        sequence = self.sequence(context + SPARE_SLOTS, flash, context)
        times = []
        for _ in range(repeats):
            times.append(sequence.step(rows, rows))
            sequence.cut(context)
        return times

    def prefill(self, rows, repeats, flash):
        sequence = self.sequence(max(rows, SPARE_SLOTS), flash, 0)
        times = []
        for _ in range(repeats):
            times.append(sequence.step(rows, 1))
            sequence.cut(0)
        return times


def answer(peer, words):
    commands = {"decode": peer.decode, "verify": peer.verify, "prefill": peer.prefill}
    if words[0] == "memory":
        return {"peak_bytes": peak_resident_bytes()}
    return {"repeats": commands[words[0]](*map(int, words[1:]))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--mmap", type=int, choices=(0, 1), default=1)
    arguments = parser.parse_args()
    # What the library prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(json_value):
        answers.write(json.dumps(json_value) + "\n")
        answers.flush()

    def log(level, text, data):
        pass

    keep = llama_cpp.llama_log_callback(log)
    llama_cpp.llama_log_set(keep, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    before = peak_resident_bytes()
    start = time.perf_counter()
    peer = Peer(arguments.model, arguments.threads, arguments.mmap)
    load_s = time.perf_counter() - start
    peer.sequence(FIRST_SLOTS, 1, 0).step(1, 1)
    say({"threads": arguments.threads, "version": llama_cpp.__version__, "load_s": load_s,
         "first_token_s": time.perf_counter() - start, "bytes_before": before,
         "flags": llama_cpp.llama_print_system_info().decode().strip()})
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            return
        try:
            say(answer(peer, words))
        except (RuntimeError, KeyError, TypeError, ValueError, IndexError) as error:
            say({"error": f"{line.strip()}: {error!r}"})


if __name__ == "__main__":
    main()
