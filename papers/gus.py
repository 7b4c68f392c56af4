"""Gus (Dutilleul and others, 2024): figure 1's loops, and table 2's seven versions of correlation with what limits each."""
import subprocess
import sys

import plot
from page import percent
from study import Program, TOP

sys.path.insert(0, str(TOP / "accuracy"))
from measure import Measure  # noqa: E402
from programs import run as run_natively  # noqa: E402

NAME = "gus"
TITLE = "Gus: sensitivity and causality"
CORE = "skylake-sp"
COLUMNS, ROWS = 144, 96            # as in programs/correlation.c
PEAK = 16                          # flops a cycle: two units, four lanes, two operations
VERSIONS = [("as it stands", 0.045, "-"), ("vectorised", 0.125, "L2"), ("tiles of 2 by 16", 0.331, "retire buffer"),
            ("and hoisted", 0.468, "L2, loads"), ("and loops tiled", 0.812, "retire buffer, loads"),
            ("tiles of 4 by 16", 0.526, "latency, spills"), ("tiles of 3 by 12", 0.828, "ports 0 and 1")]

INTRODUCTION = """
Dutilleul and others: *Performance debugging through microarchitectural sensitivity and causality analysis*, 2024, whose tool is Gus.
All figures here are of the core `{core}`, model `abstract`, which is that paper's.
"""
MODELLED = """
The host that made this page is the modelled machine: *measured* is user time of its own runs at the clock that was measured beside them.
"""
NOT_MODELLED = """
No cycles were measured: the host that made this page is not the modelled machine (it is: {host}).
"""
STORY = """
`papers/programs/correlation.c` is the products of columns that PolyBench's `correlation` spends its time in, written anew in the versions
of the paper's table 2, each for {columns} columns and {rows} rows of doubles, which fit L2 and not L1. *Peak* is the share of {peak} flops a
cycle. A resource is listed where twice of it (half, of latencies) would make the kernel faster by more than 2%; resources that are
relaxed by the same cause are listed together.
"""

DIFFERENCES = [
    "Tiles on the diagonal compute outcomes that are not wanted, some 7% at this size, so that all tiled versions are nearer to the peak of "
    "their units than their share of useful operations says.",
    "v1 and v3 are faster here than in the paper, which does not say how large its data are: here a row of outcomes stays in L1, and all of "
    "the data in L2. Both are bound by L2, as there.",
    "v2: the paper's tool blames the retire buffer for the stores in the loop, whose retirement it counts twice; a store is one slot here, "
    "and what is left is the same stores, as a chain: each step reads what the one before stored, through the store buffer, and adds to it.",
    "v4: a little of L2 is left, and behind it the width of the core, four slots a cycle from rename to retirement, as in the paper: a step's "
    "17 slots take 4.25 cycles, and its eight multiply-adds 4.",
    "v5 spills, and is slower than v4 for it: latency limits it, as in the paper, and what stands first on its critical path is the chain of "
    "a sum that is kept on the stack.",
    "v6: nine multiply-adds a step keep ports 0 and 1 busy for 4.5 cycles, as in the paper, and its 18 slots the front end for as long, so that "
    "twice of either alone gains nothing, and half of either takes nearly twice as long. What twice of L2 would gain is all that is left.",
]


def host():
    """The processor's name, and whether it is a Skylake-SP or its like."""
    fields = {}
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    return fields.get("model name", "unknown"), (fields.get("vendor_id"), fields.get("cpu family"), fields.get("model")) == (
        "GenuineIntel", "6", "85")


def version(study, number, columns=COLUMNS):
    name = f"correlation{number}"
    path = study.compile(name, "correlation.c", "-O3", "-mavx2", "-mfma", "-Wa,-mbranches-within-32B-boundaries", f"-DVERSION={number}",
                         f"-DCOLUMNS={columns}", isa="x86-64")
    return Program(name, CORE, "", (path,))


def limits(answer, least=1.02, most=3):
    """[(names, speedup)] of the resources that limit the run, those of one speed-up together."""
    found = {}
    for r in answer["resources"]:
        if r["speedup"] > least:
            found.setdefault(round(r["speedup"], 3), []).append(r["name"])
    return [(names, speedup) for speedup, names in sorted(found.items(), reverse=True)][:most]


def said(answer):
    """What limits the run, in words; where nothing does alone, what does together."""
    best = max(c["speedup"] for c in answer["combinations"])
    together = sorted((len(c["name"]), c["name"], c["speedup"]) for c in answer["combinations"] if c["speedup"] > max(1.02, best - 0.005))
    if alone := limits(answer):
        return "; ".join(f"{', '.join(names[:3])} {speedup:.2f}" for names, speedup in alone)
    return "nothing alone" + (f"; together {together[0][1]} {together[0][2]:.2f}" if together else ", and the first ones not together")


def peak(cycles):
    return COLUMNS * (COLUMNS + 1) * ROWS / PEAK / cycles


def measured(study, program):
    """Cycles of one run of the kernel on this machine: user time of many less that of none, at the clock around them."""
    path, times = str(study.inputs / program.command[0]), 2000
    measure = Measure(study.cyclewise, CORE, study.inputs)
    subprocess.run(["gcc", "-O2", "-o", str(study.inputs / "clock"), *(str(TOP / "accuracy" / f) for f in ("clock_main.c", "clock.c"))], check=True)
    before, _ = measure.clock()
    seconds = run_natively([path, str(times)], None).ru_utime - run_natively([path, "0"], None).ru_utime
    after, _ = measure.clock()
    return seconds / times * (before + after) / 2 * 1e6


def figure1(page, study):
    page.heading("Figure 1: two loops, one bottleneck")
    program = Program("figure1", CORE, "", (study.compile("figure1", TOP / "tests/programs/figure1.c", "-O1", isa="x86-64"),))
    rows = []
    for loop in ("loop_a", "loop_b"):
        answer = study.run(program, "sensitivity", "--roi", loop).answer
        share = sum(row["share"] for row in study.run(program, "causality", "--roi", loop).answer["instructions"]
                    if "vfmadd" in row["disassembly"])
        others = max((r["speedup"] for r in answer["resources"] if not r["name"].startswith("latency")), default=1)
        rows.append([loop, f"{answer['cycles'] / 10000:.2f}", f"{max(r['speedup'] for r in answer['resources']):.2f}", f"{others:.2f}",
                     percent(share)])
    page.table(["loop", "cycles an iteration (paper: 8)", "latencies halved", "best of all other resources doubled",
                "share of the two FMAs on the critical path"], rows)
    page.text("Hoisting one of the loads changes nothing: both loops are a chain of two FMAs, and nothing but latency limits them.")


def table2(page, study):
    page.heading("Table 2: the story of `correlation`")
    page.text(STORY.format(columns=COLUMNS, rows=ROWS, peak=PEAK))
    name, modelled = host()
    page.text(MODELLED if modelled else NOT_MODELLED.format(host=name))
    rows, mine = [], []
    for number, (what, paper, bottleneck) in enumerate(VERSIONS):
        program = version(study, number)
        answer = study.run(program, "sensitivity", "--roi", "correlate").answer
        ooo = study.run(program, "stat", "--roi", "correlate").answer["cycles"]
        critical = study.run(program, "causality", "--roi", "correlate", "--limit", 1).answer["instructions"][0]
        mine.append(peak(answer["cycles"]))
        rows.append([f"v{number}: {what}", percent(paper), bottleneck, percent(mine[-1]), said(answer),
                     f"`{' '.join(critical['disassembly'].split())}` {percent(critical['share'], 0)}", percent(peak(ooo)),
                     *([percent(peak(measured(study, program)))] if modelled else [])])
    page.table(["version", "paper: peak", "paper: bottleneck", "peak", "limits, and the speed-up without", "most on the critical path",
                "peak, model `ooo`", *(["measured"] if modelled else [])], rows)
    page.figure("table2", "Share of peak by version, the paper's and ours", plot.grouped(
        [f"v{n}" for n in range(len(VERSIONS))], {"paper": [paper for _, paper, _ in VERSIONS], "abstract": mine}, "share of peak"))
    page.bullets(DIFFERENCES)


def fill(page, study, _sets):
    page.text(INTRODUCTION.format(core=CORE))
    figure1(page, study)
    table2(page, study)
