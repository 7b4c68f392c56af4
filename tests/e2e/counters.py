#!/usr/bin/env python3
"""cyclewise_read(): what programs read of their own counters, on every ISA and both models."""
import platform
import subprocess

from lib import CORES, Tests, check, compile_program, cyclewise, profile

tests = Tests(sanitize=True)
ROUNDS = 4000
MULTIPLY = {"x86-64": 3, "aarch64": 5, "riscv64": 3}  # cycles from one to the next, as the cores have them
FIELDS = ["cycles", "instructions", "total", "filled", "issued", "retired"]


def readings(text):
    """Lists of readings by thread."""
    threads = {}
    for line in text.splitlines():
        thread, *values = map(int, line.split())
        threads.setdefault(thread, []).append(dict(zip(FIELDS, values)))
    return threads


def differences(read):
    """Between one reading and the next."""
    return [{f: b[f] - a[f] for f in FIELDS} for a, b in zip(read, read[1:])]


def check_reading(read):
    """What holds of all readings of a thread."""
    for now in read:
        check(now["retired"] <= now["issued"] <= now["filled"] <= now["total"], f"reading {now}")
    for step in differences(read):
        check(step["cycles"] > 0 and all(v >= 0 for v in step.values()), f"between readings {step}")


def check_chain(isa, short, long):
    """`long` has twice the rounds of `short`: so much longer are the stretches, what begins and ends them being the same."""
    for stretch, rounds in enumerate((ROUNDS, 2 * ROUNDS)):
        few, many = differences(short)[stretch], differences(long)[stretch]
        more = many["cycles"] - few["cycles"]
        check(abs(more - rounds * MULTIPLY[isa]) <= 8, f"{rounds} rounds took {more} cycles")
        more = many["instructions"] - few["instructions"]
        check(more % rounds == 0 and 3 <= more // rounds <= 5, f"{rounds} rounds took {more} instructions")
    nothing = differences(short)[2]
    check(nothing["cycles"] <= 400 and nothing["instructions"] <= 16, f"two readings in a row: {nothing}")


def run(program, *options, rounds=ROUNDS, threads=False, command="stat"):
    report, done = profile(*options, program, str(rounds), *(["threads"] if threads else []), command=command)
    return report, done.stdout


for isa in CORES:
    @tests.case(f"{isa}: a loop of known length, as long as it is, and the same every time", sanitize=isa == "x86-64")
    def known(isa=isa):
        program = compile_program("counters.c", isa)
        report, output = run(program)
        read = readings(output)[0]
        check(len(read) == 4, f"printed {output}")
        check_reading(read)
        check_chain(isa, read, readings(run(program, rounds=2 * ROUNDS)[1])[0])
        check(read[-1]["cycles"] < report["cycles"] and read[-1]["instructions"] < report["instructions"],
              f"read {read[-1]} of {report['cycles']} cycles, {report['instructions']} instructions")
        region, inside = report["regions"][0], differences(read)[1]
        check(0 < region["instructions"] - inside["instructions"] <= 16,
              f"a region around the readings has {region['instructions']} instructions, between them are {inside}")
        check(0 <= region["cycles"] - inside["cycles"] <= 400, f"region {region}, readings {inside}")
        for command, *options in (("run",), ("methods", "--no-simulation")):
            check(run(program, *options, command=command)[1] == output, f"under `cyclewise {command}` it reads something else")

    @tests.case(f"{isa}: the abstract core", sanitize=isa == "x86-64")
    def abstract(isa=isa):
        program = compile_program("counters.c", isa)
        short, long = (readings(run(program, "--model", "abstract", rounds=n)[1])[0] for n in (ROUNDS, 2 * ROUNDS))
        check_reading(short)
        check_chain(isa, short, long)

    @tests.case(f"{isa}: two threads, each its own", sanitize=isa == "x86-64")
    def threads(isa=isa):
        program = compile_program("counters.c", isa)
        report, output = run(program, threads=True)
        short, long = readings(output), readings(run(program, threads=True, rounds=2 * ROUNDS)[1])
        check(sorted(short) == [0, 1], f"printed {output}")
        for thread in short:
            check_reading(short[thread])
            check_chain(isa, short[thread], long[thread])
            check(short[thread][-1]["instructions"] <= report["threads"][thread]["instructions"],
                  f"thread {report['threads'][thread]}")
        check(short[0][0]["instructions"] != short[1][0]["instructions"], f"both read {short[0][0]}")


@tests.case("what is not counted is not in them")
def windows():
    program = compile_program("counters.c", "x86-64")
    once, twice, nothing = differences(readings(run(program, "--roi", "chain")[1])[0])
    check(nothing["instructions"] == 0 and nothing["cycles"] == 0, f"outside of the region of interest: {nothing}")
    check(abs(twice["cycles"] - once["cycles"] - ROUNDS * MULTIPLY["x86-64"]) <= 100, f"inside of it: {once} {twice}")
    read = readings(run(program, "--count", "1000")[1])[0]
    check(all(not any(r.values()) for r in read), f"after all that is counted: {read}")


@tests.case("zeros without cyclewise, and where several cores are timed at once")
def zeros():
    program = compile_program("counters.c", "x86-64")
    outputs = [cyclewise("causality", "--limit", "1", program, "1000").stdout]
    if platform.machine() == "x86_64":
        outputs.append(subprocess.run([program, "1000", "threads"], capture_output=True, text=True, check=True).stdout)
    for output in outputs:
        read = readings(output)
        check(read and all(not any(r.values()) for thread in read.values() for r in thread), f"printed {output}")


tests.main()
