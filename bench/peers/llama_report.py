"""The tables of the comparison with llama.cpp, and the bars that they are held against."""
from alternation import clean_text, markdown_table, number, verdict

DECODE_BAR = {"bf16": 1.4, "q8_0": 1.4, "q4_0": 1.3}
VERIFY_OVER_ONE = {"bf16": {2: 1.1, 4: 1.25, 8: 1.4, 16: 2.2}, "q8_0": {2: 1.15, 4: 1.3, 8: 1.6, 16: 2.8}}
VERIFY_AGAINST = {"bf16": 2.5, "q8_0": 3.5, "q4_0": 2.0}
VERIFY_AGAINST_DRAM = 60.0  # GB/s from which that bar holds
PREFILL_BAR = {"bf16": 2.0, "q8_0": 2.0, "q4_0": 1.5}
BYTES_BAR = 0.75            # of the memory's rate, bf16
CONTEXT_BAR_MS = 1.5


def peak(results, run):
    """The machine's measured peak that fits the format: multiply-adds in f32 for bf16, integer dots for the others."""
    kind = "fma f32" if run["format"] == "bf16" else "dot int8"
    return max((rate for name, rate in results["peaks"].items() if name.startswith(kind)), default=None)


def cell_rows(run):
    rows = []
    for key, cell in run["cells"].items():
        ours, llama = cell["ours"], cell["llama"]
        setting = cell["setting"]
        rows.append([key, number(ours["median_ms"]), number(llama["median_ms"]),
                     number(llama["median_ms"] / ours["median_ms"]) + "x",
                     number(ours["min_ms"]), number(llama["min_ms"]), number(llama["min_ms"] / ours["min_ms"]) + "x",
                     clean_text(cell, ("ours", "llama")), number(cell["dram_gb_s"], 1),
                     f"mmap {'on' if setting['mmap'] else 'off'}, flash {setting['flash_attention']}"])
    return rows


def load_rows(run):
    rows = []
    for name, load in run["load"].items():
        rows.append([name, number(load["load_s"]), number(load["first_token_s"]),
                     number(load["peak_bytes"] / 1e6, 0), number(run["step_bytes"]["ours"] / 1e6, 0)
                     if name == "ours" else number(run["step_bytes"]["llama"] / 1e6, 0)])
    return rows


def bar_row(what, value, bar, met, cells, note=""):
    return [what, value, bar, verdict(met, *cells), note]


def decode_bars(run):
    cell = run["cells"].get("decode 32")
    if cell is None:
        return []
    ours, llama, dram = cell["ours"]["median_ms"], cell["llama"]["median_ms"], cell["dram_gb_s"]
    theirs_gb_s = run["step_bytes"]["llama"] / llama / 1e6
    ours_gb_s = run["step_bytes"]["ours"] / ours / 1e6
    bar = min(DECODE_BAR[run["format"]], 0.9 * 0.8 * dram / theirs_gb_s)
    rows = [bar_row("decode against llama.cpp, context 32", number(llama / ours) + "x", number(bar) + "x",
                    llama / ours >= bar, [cell], f"P = {theirs_gb_s:.1f} GB/s, D = {dram:.1f} GB/s")]
    share = ours_gb_s / dram
    rows.append(bar_row("weight bytes per second of the step", f"{ours_gb_s:.1f} GB/s = {share:.2f} D",
                        f"{BYTES_BAR} D (bf16)", share >= BYTES_BAR, [cell], f"llama.cpp {theirs_gb_s / dram:.2f} D"))
    far = run["cells"].get("decode 1024")
    if far is not None:
        extra = far["ours"]["median_ms"] - ours
        rows.append(bar_row("extra time at context 1024 over 32", f"{extra:.2f} ms", f"{CONTEXT_BAR_MS} ms",
                            extra <= CONTEXT_BAR_MS, [cell, far], f"llama.cpp {far['llama']['median_ms'] - llama:.2f} ms"))
    return rows


def verify_bars(results, run):
    cells = run["cells"]
    if "verify 1" not in cells:
        return []
    rows = []
    one = {side: cells["verify 1"][side]["median_ms"] for side in ("ours", "llama")}
    rate = peak(results, run)
    for k, limit in VERIFY_OVER_ONE.get(run["format"], {}).items():
        ours = cells[f"verify {k}"]["ours"]["median_ms"] / one["ours"]
        computing = 1.15 * k * 2 * run["step_weights"] / rate * 1e3 / one["ours"] if rate else 0.0
        bar = max(limit, computing)
        theirs = cells[f"verify {k}"]["llama"]["median_ms"] / one["llama"]
        rows.append(bar_row(f"verify {k} over own k = 1", number(ours) + "x", number(bar) + "x", ours <= bar,
                            [cells["verify 1"], cells[f"verify {k}"]],
                            f"computing alone allows {computing:.2f}x; llama.cpp {theirs:.2f}x"))
    cell = cells["verify 8"]
    ratio = cell["llama"]["median_ms"] / cell["ours"]["median_ms"]
    bar = VERIFY_AGAINST[run["format"]]
    row = bar_row("verify 8 against llama.cpp", number(ratio) + "x", number(bar) + "x", ratio >= bar, [cell])
    if cell["dram_gb_s"] < VERIFY_AGAINST_DRAM:
        row[3:] = [row[3] if ratio >= bar else "-", f"holds from {VERIFY_AGAINST_DRAM:.0f} GB/s on; D = "
                                                   f"{cell['dram_gb_s']:.1f} GB/s"]
    return rows + [row]


def prefill_bars(results, run):
    cell = run["cells"].get("prefill 512")
    if cell is None:
        return []
    ratio = cell["llama"]["median_ms"] / cell["ours"]["median_ms"]
    bar = PREFILL_BAR[run["format"]]
    rate = peak(results, run)
    # Only the last row needs the head.
    done = 2 * (512 * (run["step_weights"] - run["head_weights"]) + run["head_weights"]) / cell["ours"]["median_ms"] * 1e3
    note = f"about {done / 1e9:.0f} G operations/s" + (f", {done / rate:.2f} of peak" if rate else "")
    return [bar_row("prefill 512 against llama.cpp", number(ratio) + "x", number(bar) + "x", ratio >= bar, [cell], note)]


def report(results):
    machine = results["machine"]
    lines = [f"### {machine['date']}, {results['threads']} threads", "",
             f"* machine: {machine['processor']}, {machine['cores']} cores, kernel {machine['kernel']}, load average "
             f"at the start {machine['load_average']:.1f}",
             "* measured peaks of all threads: " + ", ".join(f"{name} {rate / 1e9:.0f} G/s"
                                                             for name, rate in results["peaks"].items()),
             f"* command: `{results['command']}`"]
    if results["runs"]:
        lines.append(f"* llama.cpp: llama-cpp-python {results['runs'][0]['llama_version']}, "
                     f"{results['runs'][0]['llama_flags']}")
    lines.append("")
    for run in results["runs"]:
        lines += [f"#### {run['model']}: {run['dtype']} ({run['isa']}) against {run['format'].upper()}", ""]
        if run["cells"]:
            lines.append(markdown_table(["quantity", "ours ms", "llama.cpp ms", "ratio", "ours min", "llama.cpp min",
                                         "ratio of minima", "clean (busy): ours, llama.cpp", "D GB/s", "llama.cpp with"],
                                        cell_rows(run)))
        if "load" in run:
            lines.append(markdown_table(["side", "load s", "first token s", "peak MB", "MB read by a step"],
                                        load_rows(run)))
        bars = decode_bars(run) + verify_bars(results, run) + prefill_bars(results, run)
        if bars:
            lines.append(markdown_table(["bar", "measured", "bar at", "met", "beside"], bars))
    return "\n".join(lines)
