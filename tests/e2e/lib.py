"""What the end-to-end tests share: building guest programs, running cyclewise, TAP."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("BUILD", TOP / "build")).resolve()
CYCLEWISE = str(BUILD / "cyclewise")
SANITIZED = BUILD.name.endswith("-sanitize")  # ten times as slow, and computes the same
EVERYTHING = os.environ.get("CYCLEWISE_TESTS") == "all"
WORK = Path(tempfile.mkdtemp(prefix="cyclewise-test."))

COMPILERS = {"x86-64": "gcc", "aarch64": "aarch64-linux-gnu-gcc", "riscv64": "riscv64-linux-gnu-gcc"}
CORES = {"x86-64": "skylake-sp", "aarch64": "cortex-a72", "riscv64": "boom"}
HANG = 1800  # seconds after which a program is taken to hang: far more than the slowest takes on a busy machine, sanitized
EVENTS = ["DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "FL-EX", "FL-MO", "ST-L1", "ST-TLB", "ST-LLC"]


# A job in the background of a shell ignores these, and so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


class Skip(Exception):
    """Raised by a case that cannot run here; its text says why."""


class Tests:
    """Runs cases one by one and writes TAP; a case that raises has failed.

    Those that are `long` run where everything does, and those that are not `sanitize` do not run under the sanitizers elsewhere:
    tests/run says what for. Arguments are parts of names: then those cases run, whatever they are.
    """

    def __init__(self, sanitize=False):
        self.cases = []
        self.sanitize = sanitize  # where a case does not say

    def case(self, name, long=False, sanitize=None):
        def add(function):
            now = (self.sanitize if sanitize is None else sanitize) if SANITIZED else not long
            self.cases.append((name, function, now or EVERYTHING))
            return function
        return add

    def main(self):
        only = sys.argv[1:]
        cases = [(name, function) for name, function, now in self.cases if (any(o in name for o in only) if only else now)]
        print(f"1..{len(cases)}")
        if left := 0 if only else len(self.cases) - len(cases):
            print(f"# {left} cases are left to --all")
        failed = 0
        for number, (name, function) in enumerate(cases, 1):
            before = sum(os.times()[:4])
            try:
                function()
                print(f"ok {number} - {name}")
            except Skip as reason:
                print(f"ok {number} - {name} # SKIP {reason}")
            except Exception as error:  # any failure is one failed case, with its reason
                failed += 1
                print(f"not ok {number} - {name}")
                for line in (str(error) or repr(error)).splitlines():
                    print(f"# {line}")
            print(f"# {sum(os.times()[:4]) - before:.1f} s of processor", flush=True)
        subprocess.run(["rm", "-rf", str(WORK)])
        sys.exit(1 if failed else 0)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def wait_until(condition, otherwise):
    """Returns once `condition()` holds; where it never does, the case fails with the text."""
    hangs = time.monotonic() + HANG
    while not condition():
        check(time.monotonic() < hangs, otherwise)
        time.sleep(0.02)


def compile_program(source, isa, *flags):
    """A guest program from tests/programs; built once for each set of flags."""
    name = Path(source).stem + "-" + isa + "".join(flags).replace("/", "_").replace(" ", "")
    out = WORK / name
    if not out.exists():
        flags = flags or ("-static",)
        subprocess.run([COMPILERS[isa], "-O1", "-g", *flags, "-o", str(out), str(TOP / "tests/programs" / source), "-lpthread"],
                       check=True)
    return str(out)


def cyclewise(*args, **options):
    """Runs cyclewise; the finished process, output as text."""
    return subprocess.run([CYCLEWISE, *map(str, args)], capture_output=True, text=True, errors="replace",
                          timeout=HANG, **options)


def profile(*args, status=0, command="run", **options):
    """Runs `cyclewise COMMAND --json=FILE ARGS` and returns (JSON, process), having checked the exit status."""
    out = WORK / "out.json"
    if out.exists():
        out.unlink()
    done = cyclewise(command, "--no-progress", f"--json={out}", *args, **options)
    check(done.returncode == status, f"exit status {done.returncode}, not {status}: {done.stderr[-2000:]}")
    return json.loads(out.read_text()), done


def check_error(status, what, why, remedy, *args, program=None, **options):
    """Runs cyclewise, which must fail: the lines on standard error, the exit status, and the error object of --json.

    `what` is exact, `why` a part of the reason, `remedy` a part of the second line, None where there is none.
    """
    what, (command, *rest) = str(what), args
    done = cyclewise(command, *rest, **options)
    check(done.returncode == status, f"exit status {done.returncode}, not {status}: {done.stderr}")
    lines = done.stderr.splitlines()
    check(len(lines) == (1 if remedy is None else 2), f"standard error is not one line and its remedy: {done.stderr}")
    check(lines[0].startswith(f"cyclewise: {what}: "), f"line is: {lines[0]}")
    check(why in lines[0], f"line does not say '{why}': {lines[0]}")
    check(remedy is None or remedy in lines[1], f"remedy is: {lines[-1]}")
    check(done.stdout == "", f"standard output: {done.stdout}")

    done = cyclewise(command, "--json", *rest, **options)
    check(done.returncode == status, f"with --json: exit status {done.returncode}, not {status}")
    check(done.stderr.splitlines() == lines, f"with --json: standard error differs: {done.stderr}")
    answer = json.loads(done.stdout)
    error = answer["error"]
    check(error["what"] == what and lines[0] == f"cyclewise: {error['what']}: {error['why']}", f"error object {error}")
    check(error["status"] == status and answer["complete"] is False, f"answer {answer}")
    check(error["remedy"] == (lines[1] if remedy is not None else None), f"remedy of {error}, line {lines[-1]}")
    if program:
        check([answer["program"], *answer["arguments"]] == program, f"answer {answer}")
    return answer


def check_sums(report):
    """The stacks sum to the cycles, up to the rounding of each printed figure."""
    total = sum(sum(row["stack"].values()) for row in report["hot"])
    slack = 1e-6 * (1 + sum(len(row["stack"]) for row in report["hot"]))
    check(abs(total - report["cycles"]) <= slack, f"stacks of instructions sum to {total}, cycles are {report['cycles']}")
    total = sum(row["cycles"] for row in report["functions"])
    check(abs(total - report["cycles"]) <= slack, f"functions sum to {total}, cycles are {report['cycles']}")
    for row in report["hot"]:
        check(abs(sum(row["stack"].values()) - row["cycles"]) <= 1e-6 * (1 + len(row["stack"])), f"stack of {row['address']}")
        for component in row["stack"]:
            check(component == "Base" or all(e in EVENTS for e in component.split("+")), f"component {component}")
