"""Runs things: natively by the clock, and under cyclewise."""
import bisect
import json
import os
import subprocess
import tempfile
from pathlib import Path

from case import MODELS

# The C library of the host must take the same paths as the one under QEMU, which has no AVX-512.
NATIVE = dict(os.environ, GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD")
# What models run programs in, wherever that is: what the environment and the command hold moves the stack, and with it which lines conflict.
MODELLED = {"LC_ALL": "C", "PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}

# Of the width that the core has without a busy sibling thread: what was taken with less is left out. clock.c drops by the same bound
# what it can tell within a process, and says there why neither goes by calibrate's rule for a single long process. Widths are those of one
# command: where the no-ops lie differs by program, and a kernel of much data drives them out of the nearest cache (on a Zen 4 11.7, 11.0
# and 10.5 a cycle).
ALONE = 0.96
PATIENCE = 4  # times as many processes as are wanted may run, where a sibling is busy
SETTLE = 40  # looks at the clock, to know its width before anything is timed
CLOCK = ()  # in the place of a command


class Failed(Exception):
    """A case cannot be run; the text says why."""


def first_line(text):
    return (text.strip().splitlines() or ["no output"])[0]


class Measure:
    def __init__(self, cyclewise, core, folder):
        self.cyclewise, self.core, self.folder = os.path.abspath(cyclewise), core, Path(folder)
        self.widths = {}  # by command: of all its samples so far, ascending

    def settle(self):
        """To be called before anything is timed: how wide the core is to the clock."""
        for _ in range(SETTLE):
            self.clock()

    def alone(self, command, width):
        """Whether a sample of that width had the core for itself, by all of that command so far; the widest fiftieth may be the clock's error."""
        widths = self.widths.setdefault(tuple(command), [])
        bisect.insort(widths, width)
        return width >= ALONE * widths[-1 - len(widths) // 50]

    def samples(self, command):
        """Cycles of the samples that a program of clock.h writes, of those that had the core for themselves."""
        done = subprocess.run(command, env=NATIVE, capture_output=True, text=True, timeout=120)
        if done.stderr or done.returncode not in (0, 1):  # 1: all were dropped
            raise Failed(first_line(done.stderr) if done.stderr else f"natively: exit status {done.returncode}")
        lines = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
        return [cycles for cycles, _, width in lines if self.alone(command, width)]

    def least(self, command, processes):
        """The least cycles of the samples of so many processes that had the core for themselves; None where none of many had."""
        least, good = None, 0
        for _ in range(processes * PATIENCE):
            cycles = self.samples(command)
            if cycles:
                good, least = good + 1, min(cycles if least is None else [least, *cycles])
            if good == processes:
                break
        return least

    def clock(self):
        """MHz, now, and whether the core is this thread's alone."""
        done = subprocess.run([str(self.folder / "clock")], capture_output=True, text=True, check=True)
        mhz, width = (float(word) for word in done.stdout.split())
        return mhz, self.alone(CLOCK, width)

    def stat(self, model, command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL):
        """What `cyclewise stat --json` says of a command under a timing model. What lies in the folder goes by its name there."""
        core = os.path.abspath(self.core) if os.path.exists(self.core) else self.core
        command = [word.replace(f"{self.folder}/", "./") for word in command]
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            done = subprocess.run([self.cyclewise, "stat", "--no-progress", "-q", "--model", model, "--core", core, f"--json={out.name}",
                                   "--", *command], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace",
                                  timeout=900, cwd=self.folder, env=MODELLED)
            if done.returncode:
                raise Failed(f"under cyclewise: {first_line(done.stderr)}")
            answer = json.loads(Path(out.name).read_text())
        if not answer["complete"]:
            raise Failed("the run was cut short")
        return answer

    def check(self):
        """Ends the program where cyclewise runs nothing at all, before hours are spent on timing."""
        try:
            self.stat(MODELS[0], ["/bin/true"])
        except Failed as error:
            raise SystemExit(f"accuracy: {error}") from None

    def region(self, model, command, name):
        """A marked region's instructions and cycles."""
        for region in self.stat(model, command)["regions"]:
            if region["name"] == name:
                return region["instructions"], region["cycles"]
        raise Failed(f"no region '{name}'")

    def description(self):
        done = subprocess.run([self.cyclewise, "cores", "--json", self.core], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr.strip())
        return json.loads(done.stdout)

    def parameters(self):
        """{name: value} of the core."""
        return {p["name"]: p["value"] for p in self.description()["parameters"]}

    def leaves_out(self):
        return self.description()["leaves_out"]
