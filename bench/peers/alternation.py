"""What the comparisons share: programs driven over pipes, repeats in alternation, clean repeats, tables, the machine."""
import json
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

CLEAN = 0.96       # of threads x wall: with less processor time a repeat was disturbed (or its threads slept)
DRAM_BYTES = 1 << 30
MIN_DRAM = 5       # passes of a cell below which the rate of all cells counts
PAUSE_S = 0.05     # threads of OpenMP spin for about 16 ms after their work (300,000 pauses); then the core is free


class Side:
    """One program that answers commands; `ready` is what it said first."""

    def __init__(self, name, command, env=None):
        self.name = name
        self.command = [str(word) for word in command]
        self.errors = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            stderr=self.errors, env={**os.environ, **(env or {})})
        except OSError as error:
            sys.exit(f"{self.command[0]}: {error.strerror}")
        self.ready = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            text = self.errors.read().decode(errors="replace").strip()
            sys.exit(text.splitlines()[-1] if text else f"{self.name}: ended without a word")
        answer = json.loads(line)
        if "error" in answer:
            sys.exit(f"{self.name}: {answer['error']}")
        return answer

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        return self.read()

    def repeats(self, *words):
        return self.ask(*words)["repeats"]

    def close(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        self.process.wait()


class Cell:
    """One quantity, measured on several sides in turn. `visits`: side -> function that returns a few repeats."""

    def __init__(self, key, visits):
        self.key = key
        self.visits = visits
        self.times = {side: [] for side in visits}
        self.dram = []

    def clean(self, side, threads):
        return [time for time in self.times[side] if time["cpu_ms"] >= CLEAN * threads * time["wall_ms"]]

    def done(self, repeats, threads):
        return all(len(self.clean(side, threads)) >= repeats for side in self.visits)

    def summary(self, repeats, threads):
        """Per side the median of the clean repeats, or of all where none is clean."""
        result = {"dram_gb_s": statistics.median(self.dram) if self.dram else None}
        result["undisturbed"] = self.done(repeats, threads)
        for side in self.visits:
            clean = self.clean(side, threads)
            walls = [time["wall_ms"] for time in clean or self.times[side]]
            result[side] = {"median_ms": statistics.median(walls),
                            "min_ms": min(time["wall_ms"] for time in self.times[side]), "clean": len(clean),
                            "repeats": len(self.times[side]),
                            "busy": statistics.median(time["cpu_ms"] / time["wall_ms"] / threads
                                                      for time in self.times[side])}
        return result


def alternate(cells, repeats, threads, dram=None, max_rounds=None):
    """Visits all sides of all cells in turn until each has enough clean repeats, or for max_rounds rounds. The first
    round warms up. Between the sides `dram` says the memory's rate."""
    for cell in cells:
        for visit in cell.visits.values():
            visit()
    for _ in range(max_rounds or 3 * repeats):
        open_cells = [cell for cell in cells if not cell.done(repeats, threads)]
        if not open_cells:
            break
        for cell in open_cells:
            for index, (side, visit) in enumerate(cell.visits.items()):
                cell.times[side] += visit()
                if index == 0 and dram is not None:
                    cell.dram.append(dram())
                time.sleep(PAUSE_S)
    # A cell that was done early saw the memory too rarely.
    all_dram = [rate for cell in cells for rate in cell.dram]
    for cell in cells:
        if len(cell.dram) < MIN_DRAM:
            cell.dram = all_dram


class Machine:
    """The memory's rate and the peaks of this machine, measured by a process of their own."""

    def __init__(self, program, threads):
        self.side = Side("bench_decode", [program, "--serve", "--threads", threads])
        self.dram()

    def dram(self):
        """GB/s in one pass."""
        return self.side.ask("dram", DRAM_BYTES, 1)["bytes_per_s"] / 1e9

    def peaks(self):
        return self.side.ask("peak")["operations_per_s"]

    def close(self):
        self.side.close()


def describe_machine():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            text = file.read()
        fields = dict(re.findall(r"^(model name|cpu family|model|stepping)\s*: (.*)$", text, re.MULTILINE))
        model = (f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']}, "
                 f"stepping {fields['stepping']})")
    except (OSError, KeyError):
        pass
    return {"processor": model, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "load_average": os.getloadavg()[0], "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}


def command_line():
    """The command that is running, without folders, which differ from machine to machine."""
    words = [word if word.startswith("-") else os.path.basename(word) for word in sys.argv]
    return "python3 " + " ".join(shlex.quote(word) for word in words)


def clean_text(cell, sides):
    """Per side: clean repeats of all, and the median share of its threads that was busy."""
    return ", ".join(f"{cell[side]['clean']}/{cell[side]['repeats']} ({cell[side]['busy']:.2f})" for side in sides)


def verdict(met, *cells):
    """Whether a bar is met; with too few clean repeats that is no proof."""
    answer = "yes" if met else "**no**"
    return answer if all(cell["undisturbed"] for cell in cells) else f"{answer}, disturbed"


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"
