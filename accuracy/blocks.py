"""The group of basic blocks: straight-line code of real programs, each run as a loop by blocks/runner.c."""
import subprocess
from pathlib import Path

from case import Case

HERE = Path(__file__).resolve().parent
ROUNDS = 100  # of the runner, of some 3,000 bytes of code each, in a sample
SAMPLES = 100


def build(folder):
    subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-static-pie", "-o", str(folder / "runner"),
                    str(HERE / "blocks/runner.c"), str(HERE / "clock.c")], check=True)


def cases(folder, _parameters):
    out = []
    for line in (HERE / "blocks/blocks.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        _, name, *block = line.split()
        out.append(Case("blocks", name, what=[str(folder / "runner"), "-r", str(ROUNDS), *block]))
    return out


def native(case, measure):
    """Least cycles of one round; None where it was disturbed all the time."""
    return measure.least([*case.what, "-s", str(SAMPLES)], 1)


def model(case, measure, name):
    """Instructions and cycles under the timing model of that name."""
    return measure.region(name, case.what, "block")
