#!/usr/bin/env python3
"""A program that spoils the memory through which it is followed runs to its end, and what was lost is said."""
from lib import TOP, Tests, check, compile_program, profile

tests = Tests(sanitize=True)
NOTHING = "overwrote the memory through which cyclewise follows it: nothing was profiled from there on"
THREADS = "overwrote the memory through which cyclewise follows it: 1 of its threads was not profiled to the end"


def hostile(what, status=0, note=None):
    program = compile_program("hostile.c", "x86-64", "-static", f"-I{TOP}/src", f"-I{TOP}/include")
    report, done = profile("--limit=5", program, what, status=status)
    check(status or "end" in done.stdout, f"the program did not end: {done.stdout}")
    check(not report["complete"], "the profile is called complete")
    check(note is None or any(note in n for n in report["notes"]), f"notes {report['notes']}")
    check(note is None or not any("defect" in n for n in report["notes"]), f"notes {report['notes']}")


@tests.case("words that are no instructions, where the last one of a thread is looked for")
def _():
    hostile("illegal", 128 + 4)


@tests.case("a lane said to have ended, and one of a thread that has another")
def _():
    hostile("ended", note=THREADS)
    hostile("same-thread", note=THREADS)


@tests.case("nothing more wanted, or definitions that make no sense")
def _():
    hostile("stop", note=NOTHING)
    hostile("definitions", note=NOTHING)


for way in ("mapped-over", "page-over", "unmapped", "protected", "moved"):
    @tests.case(f"the shared memory is {way}")
    def _(way=way):
        hostile(way, note=NOTHING)


tests.main()
