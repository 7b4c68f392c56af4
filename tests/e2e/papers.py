#!/usr/bin/env python3
"""The programs of papers/ that make up the case studies, at small sizes: the direction that each shows. And that a figure is the
same bytes from the same numbers."""
import subprocess

from lib import TOP, Skip, Tests, check, compile_program, profile

tests = Tests()
PROGRAMS = TOP / "papers/programs"


def events(answer, event):
    """The share of the cycles in components with the event."""
    return sum(v for row in answer["hot"] for c, v in row["stack"].items() if event in c.split("+")) / answer["cycles"]


def each(answer, mnemonic):
    rows = [row for row in answer["hot"] if row["disassembly"].split()[0] == mnemonic]
    return sum(row["cycles"] for row in rows) / sum(row["executions"] for row in rows)


@tests.case("lbm on boom: three cells ahead is best of 0, 1 and 3; memory gives way to the store queue")
def lbm():
    answers = {}
    for distance in (0, 1, 3):
        path = compile_program(PROGRAMS / "lbm.c", "riscv64", "-static", "-O3", "-DPLANES=1", "-DHEIGHT=40", f"-DDISTANCE={distance}")
        answers[distance], _ = profile("--roi", "step", "--", path)
    cycles = {d: a["cycles"] for d, a in answers.items()}
    check(cycles[3] < cycles[1] < cycles[0], f"cycles by distance {cycles}")
    check(cycles[3] * 1.28 < cycles[0], f"cycles by distance {cycles}")
    check(events(answers[0], "ST-LLC") > 0.4 and events(answers[3], "ST-LLC") < 0.1, "ST-LLC")
    check(events(answers[3], "DR-SQ") > events(answers[0], "DR-SQ") + 0.02, "DR-SQ")


@tests.case("nab on boom: flag instructions flush, and make the square root behind them cost what it takes")
def nab():
    common = ("-static", "-O3", "-fno-math-errno", "-DATOMS=60")
    flags, _ = profile("--roi", "radii", "--", compile_program(PROGRAMS / "nab.c", "riscv64", *common))
    none, _ = profile("--roi", "radii", "--", compile_program(PROGRAMS / "nab.c", "riscv64", *common, "-ffinite-math-only"))
    check(flags["cycles"] > 1.9 * none["cycles"], f"cycles {flags['cycles']}, without flag instructions {none['cycles']}")
    check(events(flags, "FL-EX") > 0.25 and events(none, "FL-EX") < 0.01, f"FL-EX {events(flags, 'FL-EX')}, {events(none, 'FL-EX')}")
    check(each(flags, "fsqrt.d") > 2 * each(none, "fsqrt.d"), f"fsqrt.d {each(flags, 'fsqrt.d')}, {each(none, 'fsqrt.d')}")
    root = next(row for row in flags["hot"] if row["disassembly"].startswith("fsqrt.d"))
    check(root["stack"].get("Base", 0) > 0.95 * root["cycles"], f"fsqrt.d: {root['stack']}")


@tests.case("correlation: each version by far the faster, and four by sixteen outcomes too many for the registers")
def correlation():
    cycles = {}
    for version in (0, 1, 4, 5, 6):
        path = compile_program(PROGRAMS / "correlation.c", "x86-64", "-static", "-O3", "-mavx2", "-mfma", "-DCOLUMNS=96", f"-DVERSION={version}")
        answer, _ = profile("--model", "abstract", "--roi", "correlate", "--", path, command="stat")
        cycles[version] = answer["cycles"]
    check(cycles[0] > 5 * cycles[1] and cycles[1] > 1.3 * cycles[4], f"cycles by version {cycles}")
    check(cycles[5] > cycles[4] > cycles[6], f"cycles by version {cycles}")


@tests.case("chain on asplos06: the reference is what it takes by hand; FMT has a good part of the loads in the branch that waits for them")
def chain():
    loads, mispredictions = 4, 0.5 # of a round
    path = compile_program(PROGRAMS / "chain.c", "x86-64", "-static", "-O2", f"-DLOADS={loads}")
    answer, _ = profile("--core", "asplos06", "--roi", "chase", "--", path, command="methods")
    share = {row["method"]: {c: cycles / answer["cycles"] for c, cycles in row["components"].items()} for row in answer["cpi_stacks"]}
    dispatch, waits = (10 * loads + 9.5) / 4, 9 * loads
    by_hand = {"base": dispatch, "l1d": waits - dispatch, "branch": 3 * mispredictions}
    for component, cycles in by_hand.items():
        exact = cycles / sum(by_hand.values())
        check(abs(share["simulation"][component] - exact) < 0.002, f"{component}: {share['simulation'][component]}, by hand {exact}")
    check(share["FMT"]["branch"] > 5 * share["simulation"]["branch"], f"FMT: {share['FMT']}")


@tests.case("a figure is the same bytes from the same numbers")
def figure():
    draw = "import plot; print(plot.stacked([('a', [('x', {'Base': 1, 'ST-L1': 2.5})])], 'share'), plot.boxes({'e': [0, 1, 2]}, 'r'))"
    made = [subprocess.run(["/usr/bin/python3", "-B", "-c", draw], cwd=TOP / "papers", capture_output=True, text=True) for _ in range(2)]
    if "No module named 'matplotlib'" in made[0].stderr:
        raise Skip("no python3-matplotlib")
    check(made[0].returncode == 0 and "</svg>" in made[0].stdout, made[0].stderr)
    check(made[0].stdout == made[1].stdout, "two runs differ")


if __name__ == "__main__":
    tests.main()
