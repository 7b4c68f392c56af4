#!/usr/bin/env python3
"""The same command twice gives the same bytes; and the options that choose what is counted, and on what core, do what
they say, on every ISA."""
import json
import os

from lib import CORES, WORK, Tests, check, check_sums, compile_program, cyclewise, profile

tests = Tests()
KINDS = {"static": ("-static",), "static PIE": ("-static-pie",), "dynamic": ("-no-pie",), "dynamic PIE": ("-pie",)}
RETURN_SLACK = 16  # instructions of a caller between two marks around a call


def program(isa):
    return compile_program("options.c", isa)


def stat(*args, **options):
    return profile(*args, command="stat", **options)[0]


def twice(*args, command="run"):
    """Runs the command twice; its JSON, which is the same byte for byte."""
    outs = []
    for _ in range(2):
        out = WORK / "twice.json"
        done = cyclewise(command, "--no-progress", f"--json={out}", *args)
        check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-1000:]}")
        outs.append(out.read_bytes())
    check(outs[0] == outs[1], "two runs differ")
    return json.loads(outs[0])


def symbols(report):
    return {row["symbol"] for row in report["hot"]}


def instructions(report):
    return sum(row["executions"] for row in report["hot"])


def same_bytes(isa):
    def run():
        for kind, flags in KINDS.items():
            if isa == "riscv64" and kind == "static PIE":
                continue  # Debian's C library for it has no rcrt1.o
            path = compile_program("options.c", isa, *flags)
            report = twice("--", path)
            check(report["core"] == CORES[isa] and report["complete"], f"{kind}: {report['core']}")
            check_sums(report)
            check({"coin", "outer", "inner", "setup"} <= symbols(report), f"{kind}: functions {symbols(report)}")
        twice("--", path, command="stat")
    return run


def skip_and_count(isa):
    def run():
        path = program(isa)
        total = stat("--", path)["instructions"]
        for skip, count in ((0, 1), (0, 7), (1000, 5000), (12345, 50000)):
            report, _ = profile("--skip", skip, "--count", count, "--", path)
            check(report["instructions"] == count and instructions(report) == count, f"--count {count}: {report['instructions']}")
            check_sums(report)
        check(stat("--skip", 1000, "--", path)["instructions"] == total - 1000, "--skip 1000")
        check(stat("--skip", total - 1, "--", path)["instructions"] == 1, "all but one skipped")
        check(stat("--count", total * 2, "--", path)["instructions"] == total, "more than there are")
        check(stat("--skip", 1000, "--count", 5000, "--", path)["cycles"] < stat("--count", 6000, "--", path)["cycles"],
              "a part costs more than the whole")
    return run


def roi(isa):
    def run():
        path = program(isa)
        report, _ = profile("--roi", "coin", "--", path)
        check(symbols(report) == {"coin"}, f"--roi coin counts {symbols(report)}")
        check(min(row["executions"] for row in report["hot"]) == 5, "coin is entered five times")
        report, _ = profile("--roi", "inner", "--", path)
        check(symbols(report) == {"inner", "setup"}, f"--roi inner counts {symbols(report)}")
        # Left by longjmp three times: what follows is not counted.
        report, _ = profile("--roi", "jumper", "--", path)
        check({"jumper", "setup"} <= symbols(report), f"--roi jumper counts {symbols(report)}")
        check(not {"main", "wind_down", "coin"} & symbols(report), f"--roi jumper counts {symbols(report)}")
        check_sums(report)
    return run


def start_and_stop(isa):
    def run():
        path = program(isa)
        report, _ = profile("--start-after", "setup", "--stop-at", "wind_down", "--", path)
        check({"main", "coin", "outer", "inner", "setup", "jumper"} <= symbols(report), f"counts {symbols(report)}")
        check("wind_down" not in symbols(report) and "_start" not in symbols(report), f"counts {symbols(report)}")
        check_sums(report)
        report, _ = profile("--start-after", "outer", "--", path)
        check("coin" not in symbols(report) and "wind_down" in symbols(report), f"counts {symbols(report)}")
        report, _ = profile("--stop-at", "coin", "--", path)
        check("coin" not in symbols(report) and {"_start", "setup", "main"} <= symbols(report), f"counts {symbols(report)}")
    return run


def core_options(isa):
    def run():
        path = program(isa)
        plain, _ = profile("--roi", "coin", "--", path)
        ideal, _ = profile("--roi", "coin", "--ideal", "branch", "--", path)
        missed = lambda report: sum(c for row in report["hot"] for name, c in row["stack"].items() if "FL-MB" in name)
        check(missed(plain) > plain["cycles"] / 20, f"FL-MB has {missed(plain)} of {plain['cycles']} cycles")
        check(missed(ideal) == 0, f"FL-MB has {missed(ideal)} cycles though branches are ideal")
        check(ideal["cycles"] < plain["cycles"], "ideal branches cost more")
        check(ideal["instructions"] == plain["instructions"], "the instructions differ")
        perfect = stat("--ideal", "l1i,l2i,itlb,l1d,l2d,dtlb,branch", "--", path)
        check(all(perfect["events"][name] == 0 for name in ("DR-L1", "DR-TLB", "FL-MB", "ST-L1", "ST-TLB", "ST-LLC")),
              f"events {perfect['events']}")

        base = stat("--", path)
        small = stat("--set", "rob.entries=8", "--", path)
        check(small["cycles"] > base["cycles"] * 1.1, f"8 entries: {small['cycles']}, else {base['cycles']}")
        slow = stat("--scale", "dram.latency_ns=4", "--", path)
        check(slow["cycles"] > base["cycles"] * 1.05, f"memory four times as far: {slow['cycles']}, else {base['cycles']}")
        both = stat("--scale", "dram.latency_ns=4", "--set", "rob.entries=8", "--", path)
        check(both["cycles"] > max(small["cycles"], slow["cycles"]), "both together")
        for other in (("--period", 5000), ("--seed", 7), ("--period", 100, "--seed", 3)):
            check(stat(*other, "--", path)["cycles"] == base["cycles"], f"{other} changes the golden reference")
        for report in (small, slow, both, perfect):
            check(report["instructions"] == base["instructions"], "the instructions differ")
    return run


def marks(isa):
    def run():
        path = program(isa)
        regions = {row["name"]: row for row in stat("--", path)["regions"]}
        check(set(regions) == {"coin", "outer"}, f"regions {set(regions)}")
        check((regions["coin"]["entries"], regions["outer"]["entries"]) == (5, 1), f"entries {regions}")
        for name, row in regions.items():
            alone = stat("--roi", name, "--", path)
            more = row["instructions"] - alone["instructions"]
            check(0 < more <= RETURN_SLACK * row["entries"], f"{name}: {row['instructions']}, by --roi {alone['instructions']}")
            slots = row["slots"]
            check(slots["total"] >= slots["filled"] >= slots["issued"] >= slots["retired"] > 0, f"slots {slots}")
            check(row["cycles"] > 0, "no cycles")
    return run


def threads(isa):
    def run():
        report = stat("--", program(isa), "threads", 3)
        rows = report["threads"]
        check([row["thread"] for row in rows] == [0, 1, 2, 3], f"threads {rows}")
        check(sum(row["instructions"] for row in rows) == report["instructions"], "instructions")
        check(abs(sum(row["cycles"] for row in rows) - report["cycles"]) < 1e-4, "cycles")
        # Threads do 1000, 2000 and 3000 rounds of the same loop.
        one, two, three = (row["instructions"] for row in rows[1:])
        check(abs((three - two) / (two - one) - 1) < 0.05, f"instructions of the threads {one}, {two}, {three}")
        region = next(row for row in report["regions"] if row["name"] == "threaded")
        check(region["entries"] == 3, f"region {region}")
        inside, _ = profile("--roi", "coin", "--", program(isa), "threads", 3)
        check(min(row["executions"] for row in inside["hot"]) == 8, "--roi counts in every thread")
    return run


def children(isa):
    def run():
        path = program(isa)
        alone = stat("--", path)
        report, done = profile("--", path, "fork", command="stat")
        check("child 3" in done.stdout, f"the child did not run: {done.stdout}")
        check(any("child process was not profiled" in text for text in report["notes"]), f"notes {report['notes']}")
        check(report["complete"] and report["exit_status"] == 0, "not complete")
        more = report["instructions"] - alone["instructions"]
        check(0 < more < 100000, f"{more} more instructions: those of the child?")
        child = next(row for row in report["regions"] if row["name"] == "coin")
        check(child["entries"] == 5, f"region {child}")
        _, done = profile("--", path, "fork", "/bin/true", command="stat")
        check("child 0" in done.stdout, f"the child's exec did not run: {done.stdout}")
        report, done = profile("--", path, "exec", "/bin/sh", "-c", "echo replaced; exit 9", command="stat", status=9)
        check(done.stdout == "replaced\n", f"the exec did not run: {done.stdout}")
        check(any("exec" in text for text in report["notes"]) and report["complete"] is False, f"notes {report['notes']}")
    return run


for isa in CORES:
    for name, make in (("twice the same bytes", same_bytes), ("--skip and --count", skip_and_count), ("--roi", roi),
                       ("--start-after and --stop-at", start_and_stop), ("--set, --scale, --ideal, --period, --seed", core_options),
                       ("marked regions", marks), ("threads", threads), ("children", children)):
        tests.case(f"{isa}: {name}", sanitize=isa == "x86-64")(make(isa))


@tests.case("gzip twice, and with other surroundings")
def _():
    path = WORK / "lines.txt"
    path.write_text("".join(f"line {i * i % 1009}\n" for i in range(1500)))
    first = twice("--", "/usr/bin/gzip", "-9", "-c", path)
    again, _ = profile("--", "/usr/bin/gzip", "-9", "-c", path, cwd="/")
    check(first == again, "the directory makes a difference")
    nice, _ = profile("--", "/usr/bin/gzip", "-9", "-c", path, preexec_fn=lambda: os.nice(5))
    check(first == nice, "priority makes a difference")


@tests.case("the profile's file, too", sanitize=True)
def _():
    files = [WORK / "first.cw", WORK / "second.cw"]
    for path in files:
        done = cyclewise("record", "-q", "-o", path, "--", program("x86-64"))
        check(done.returncode == 0, done.stderr)
    check(files[0].read_bytes() == files[1].read_bytes(), "two files differ")


if __name__ == "__main__":
    tests.main()
