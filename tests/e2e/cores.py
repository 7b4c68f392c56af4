#!/usr/bin/env python3
"""Every shipped core, on both models: what a description says must come out of loops that nothing else limits."""
import subprocess
from pathlib import Path

from lib import CYCLEWISE, TOP, Tests, check, compile_program, cyclewise, profile

tests = Tests()

# Loops of tests/programs/loops.c, and operations an iteration.
CHAINS = ["add_chain", "mul_chain", "fadd_chain", "fmul_chain", "fma_chain", "load_chain"]
STREAMS = ["nops", "adds", "fadds", "fmas", "loads", "wide_loads", "stores"]
OPERATIONS = {**{name: 60 for name in CHAINS}, "jumps": 60, **{name: 480 for name in STREAMS}}

# Of each core: cycles of one operation of each chain and cycles between taken jumps, in the order of CHAINS and "jumps"; then
# operations a cycle, in the order of STREAMS. None: the core has no such instruction.
# nops show the width of rename; adds the ALUs, where they are fewer; wide_loads are of 32 bytes on x86-64, 16 on AArch64.
FIGURES = {
    #                   add mul fadd fmul fma load jump   nop add fadd fma load wide store
    "sandy-bridge":    ([1,  3,  3,   5, None,  4,  2],   [4,  3,  1, None,  2,  1,  1]),
    "skylake-sp":      ([1,  3,  4,   4,   4,   4,  2],   [4,  4,  2,   2,   2,  2,  1]),
    "skylake-x":       ([1,  3,  4,   4,   4,   4,  2],   [4,  4,  2,   2,   2,  2,  1]),
    "cascade-lake":    ([1,  3,  4,   4,   4,   4,  2],   [4,  4,  2,   2,   2,  2,  1]),
    "ice-lake":        ([1,  3,  4,   4,   4,   5,  1],   [5,  4,  2,   2,   2,  2,  2]),
    "alder-lake-p":    ([1,  3,  3,   4,   4,   5,  1],   [6,  5,  2,   2,   3,  3,  2]),
    "sapphire-rapids": ([1,  3,  3,   4,   4,   5,  1],   [6,  5,  2,   2,   3,  3,  2]),
    "zen2":            ([1,  3,  3,   3,   5,   4,  2],   [6,  4,  2,   2,   2,  2,  1]),
    "zen3":            ([1,  3,  3,   3,   4,   4,  1],   [6,  4,  2,   2,   3,  2,  2]),
    "zen4":            ([1,  3,  3,   3,   4,   4,  1],   [6,  4,  2,   2,   3,  2,  2]),
    "zen5":            ([1,  3,  2,   3,   4,   4, 1 / 2],   [8,  6,  2,   2,   4,  2,  2]),
    "asplos06":        ([1,  3,  4,   4,   4,   2,  1],   [4,  4,  2,   2,   2,  2,  1]),
    "cortex-a72":      ([1,  5,  4,   4,   7,   4,  1],   [3,  2,  2,   2,   1,  1,  1]),
    "neoverse-n1":     ([1,  4,  2,   3,   4,   4,  1],   [4,  3,  2,   2,   2,  2,  2]),
    "boom":            ([1,  3,  4,   4,   4,   4,  2],   [4,  4,  2,   2,   2,  2,  1]),
}
ISA = {"cortex-a72": "aarch64", "neoverse-n1": "aarch64", "boom": "riscv64"}

# Where the abstract core leaves out what makes the figure: no limit of L1D's bytes a cycle (l1d.bandwidth), and the first level of
# the BTB for all taken branches (branch.taken_bubble).
ABSTRACT = {"sandy-bridge": {"wide_loads": 1 / 2}, "boom": {"jumps": 1}}

# Both cores have it: Zen 5 binds additions to pairs of its six ALUs. Measured: 1.33 cycles for one of each of six chains.
BOUND = {"zen5": {"adds": 1.33 / 6}}

TOLERANCE = 0.02
# Chance is the models' there, too: to which pair an addition is bound, and which of them are replayed, gives 1.36 cycles.
ROUGHLY = {("zen5", model, "adds"): 0.03 for model in ("ooo", "abstract")}


def claimed(core, model):
    """Loop -> cycles an operation."""
    latencies, rates = FIGURES[core]
    figures = dict(zip([*CHAINS, "jumps"], latencies))
    figures.update({name: rate and 1 / rate for name, rate in zip(STREAMS, rates)})
    figures.update(BOUND.get(core, {}))
    if model == "abstract":
        figures.update(ABSTRACT.get(core, {}))
    figures["jumps"] *= 61 / 60  # the jump back is one more
    return {name: cycles for name, cycles in figures.items() if cycles is not None}


def loops(core, model):
    def run():
        figures = claimed(core, model)
        flags = ("-static", "-g0")
        report, _ = profile("--core", core, "--model", model, "--", compile_program("loops.c", ISA.get(core, "x86-64"), *flags), *figures,
                            command="stat")
        check(report["core"] == core and report["model"] == model, f"{report['core']} {report['model']}")
        check(report["unmodelled"]["instructions"] == 0, f"{report['unmodelled']}")
        regions = {region["name"]: region["cycles"] / 500 / OPERATIONS[region["name"]] for region in report["regions"]}
        check(regions.keys() == figures.keys(), f"{regions}")
        wrong = [f"{name}: {regions[name]:.4f}, not {cycles:.4f}" for name, cycles in figures.items()
                 if abs(regions[name] / cycles - 1) > ROUGHLY.get((core, model, name), TOLERANCE)]
        check(not wrong, "; ".join(wrong))
    return run


for shipped in FIGURES:
    for timing in ("ooo", "abstract"):
        tests.case(f"{shipped} {timing}", sanitize=(shipped, timing) in (("zen5", "ooo"), ("boom", "abstract")))(loops(shipped, timing))


@tests.case("no core is left out", sanitize=True)
def all_cores():
    files = {path.stem for path in (TOP / "data/cores").glob("*.core")}
    check(files == FIGURES.keys(), f"{files ^ FIGURES.keys()}")
    listed = {line.split()[0] for line in subprocess.run([CYCLEWISE, "cores"], check=True, capture_output=True, text=True).stdout.splitlines() if line}
    check(files <= listed, f"not listed: {files - listed}")


@tests.case("sensitivity and record take each core")
def commands():
    for core in FIGURES:
        program = compile_program("loops.c", ISA.get(core, "x86-64"), "-static", "-g0")
        found, _ = profile("--core", core, "--weights", "2", "--only", "latency,frontend,rob", "--", program, "add_chain", command="sensitivity")
        check(found["core"] == core and found["resources"][0]["name"] == "latency", f"{core}: {found['resources'][0]}")
        out = Path(compile_program("loops.c", "x86-64", "-static", "-g0")).parent / f"{core}.cw"
        done = cyclewise("record", "--no-progress", "--core", core, "-o", out, "--", program, "add_chain")
        check(done.returncode == 0, done.stderr)
        title = cyclewise("report", "--limit", "1", out).stdout
        check(f" {core}, model ooo" in title, title)


if __name__ == "__main__":
    tests.main()
