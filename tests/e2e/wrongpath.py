#!/usr/bin/env python3
"""The three settings of the wrong path on a small program: what each leaves the same, and which way each moves."""
from lib import CORES, Tests, check, check_error, check_sums, compile_program, profile

tests = Tests()
SETTINGS = ("none", "instructions", "full")


def settings(isa):
    def run():
        path = compile_program("wrongpath.c", isa)
        report = {each: profile("--wrong-path", each, "--", path)[0] for each in SETTINGS}
        default = profile("--", path)[0]
        for each in SETTINGS:
            check_sums(report[each])
            check(report[each]["instructions"] == report["full"]["instructions"], f"{each}: not as many instructions")
        cycles = {each: report[each]["cycles"] for each in SETTINGS}
        check(default["cycles"] == cycles["full"], "full is not the default")
        # The branches wait for memory; only a wrong path that loads sends for the next line meanwhile.
        check(abs(cycles["instructions"] / cycles["none"] - 1) < 0.05, f"instructions alone change much: {cycles}")
        check(cycles["full"] < 0.85 * cycles["none"], f"full is not faster: {cycles}")
    return run


for each in CORES:
    tests.case(f"none, instructions and full, {each}", sanitize=each == "x86-64")(settings(each))


@tests.case("a setting that there is not", sanitize=True)
def _():
    check_error(2, "--set branch.wrong_path=half", "there is no 'half'", "none instructions full", "run", "--wrong-path", "half", "true")


if __name__ == "__main__":
    tests.main()
