"""The group of kernels: which variants and sizes, how they are compiled, timed and modelled.

Every kernel is run scalar and vectorised in each of four places: L1, L2, L3 and memory, as the modelled core has them; unrolled
in L1, where the front end and the ports decide; tiled in L2 and L3, where it has loops to tile. Each does about the same
number of innermost iterations, so that no case is long: the sizes of kernel.h's shapes see to it. Where memory begins behind
FAR bytes, there are no cases in memory: to walk so much once would take many times the instructions of the others.
"""
import subprocess
from pathlib import Path

from case import Case

HERE = Path(__file__).resolve().parent
ITERATIONS = 400_000
PROCESSES = 5  # a round: where the system lays data and stack differs by process, and some kernels take a quarter longer in some
SAMPLES = 100  # a process: a real predictor has learnt some kernels only by then; and a busy sibling thread leaves but a few alone
FAR = 12 << 20
COMMON = ["-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-static", "-g1"]
FAST = ["-O3", "-march=x86-64-v3", "-ffast-math"]
VARIANTS = {  # flags, levels
    "scalar": (["-O2", "-fno-tree-vectorize"], ("L1", "L2", "L3", "memory")),
    "vector": (FAST, ("L1", "L2", "L3", "memory")),
    "unrolled": (["-O2", "-fno-tree-vectorize", "-funroll-loops"], ("L1",)),
    "tiled": ([*FAST, "-DTILED"], ("L2", "L3")),
}


def footprints(parameters):
    """Bytes for each level: well inside it, and well outside the level below."""
    l1, l2, llc = (parameters[f"{level}.size"] for level in ("l1d", "l2", "llc"))
    beyond = l2 + llc
    sizes = {"L1": l1 // 2, "L2": l2 * 2 // 5, "L3": min(l2 + llc * 2 // 5, 2 * l2), "memory": beyond * (4 if beyond < 6 << 20 else 3 / 2)}
    return {level: int(size) // 64 * 64 for level, size in sizes.items() if size <= FAR}


def build(folder, compiler="gcc"):
    """A program for each variant, all with the same clock: unrolled, its no-ops would be too long for the core's caches of decoded code."""
    clock = str(folder / "clock.o")
    subprocess.run([compiler, *COMMON, "-O2", "-c", "-o", clock, str(HERE / "clock.c")], check=True)
    sources = [str(p) for p in sorted((HERE / "kernels").glob("*.c"))] + [clock]
    for variant, (flags, _) in VARIANTS.items():
        subprocess.run([compiler, *COMMON, *flags, "-o", str(folder / f"kernels-{variant}"), *sources, "-lm"], check=True)


def cases(folder, parameters):
    listed = subprocess.run([str(folder / "kernels-scalar"), "list"], check=True, capture_output=True, text=True).stdout
    sizes = footprints(parameters)
    out = []
    for line in listed.splitlines():
        name, *tiled = line.split()
        for variant, (_, levels) in VARIANTS.items():
            if variant == "tiled" and not tiled:
                continue
            for level in filter(sizes.get, levels):
                run = [str(folder / f"kernels-{variant}"), name, str(sizes[level]), str(ITERATIONS)]
                out.append(Case("kernels", f"{name}/{variant}/{level}", level, sizes[level], run))
    return sorted(out, key=lambda c: c.name)


def native(case, measure):
    """Least cycles of one round; None where it was disturbed all the time."""
    return measure.least([*case.what, str(SAMPLES)], PROCESSES)


def model(case, measure, name):
    """Instructions and cycles under the timing model of that name."""
    return measure.region(name, case.what, "kernel")
