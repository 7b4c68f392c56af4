#!/usr/bin/env python3
"""Programs that hurt: one that spoils the memory through which it is followed runs to its end, and what was lost is said;
what a program can have without end costs no memory without end."""
import contextlib
import json
import os
import sqlite3
import subprocess

from lib import CYCLEWISE, TOP, WORK, Tests, check, compile_program, cyclewise, profile

tests = Tests(sanitize=True)
NOTHING = "overwrote the memory through which cyclewise follows it: nothing was profiled from there on"
THREADS = "overwrote the memory through which cyclewise follows it: 1 of its threads was not profiled to the end"


def program():
    return compile_program("hostile.c", "x86-64", "-static", f"-I{TOP}/src", f"-I{TOP}/include")


def hostile(what, status=0, note=None):
    report, done = profile("--limit=5", program(), what, status=status)
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


@tests.case("a thread that has ended leaves a row of figures, and no more", sanitize=False)
def _():
    out, count = WORK / "threads.json", 1000
    run = subprocess.Popen([CYCLEWISE, "stat", "-q", "--no-progress", f"--json={out}", program(), "threads", str(count)],
                           stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    report = json.loads(out.read_text())
    rows = report["threads"]
    check(run.returncode == 0 and report["complete"], f"exit status {run.returncode}, {report['notes']}")
    check([row["thread"] for row in rows] == list(range(count + 1)), f"{len(rows)} threads")
    check(sum(row["instructions"] for row in rows) == report["instructions"], f"{report['instructions']} instructions")
    check(min(row["instructions"] for row in rows) > 10000, "a thread without its instructions")
    check(usage.ru_maxrss < 220000, f"{count} threads took {usage.ru_maxrss} KB")



@tests.case("figures of a profile in another order than they were written")
def _():
    path = WORK / "causality.cw"
    profile("-o", str(path), "/bin/true", command="causality")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE insn_figure SET ordinal = -ordinal")
        db.commit()
    for options in ([], ["--json"]):
        done = cyclewise("report", *options, path)
        check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")


tests.main()
