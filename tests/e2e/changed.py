#!/usr/bin/env python3
"""Files that are no longer those that ran: programs and sources that were built or edited anew, while a program runs or
before its profile is looked at. What is shown is of the file that ran, or is left out, and a note says so."""
import json
import shutil
import subprocess

from lib import TOP, WORK, Tests, check, cyclewise, profile

tests = Tests()
SOURCE = TOP / "tests/programs/changes.c"


def build(name, *flags):
    path = WORK / name
    subprocess.run(["gcc", "-O1", "-g", "-static", "-Wl,--build-id", *flags, "-o", path, SOURCE], check=True)
    return path


def cycles(report):
    return {row["symbol"]: row["cycles"] for row in report["functions"]}


def annotate(path, symbol):
    done = cyclewise("annotate", "--json", path, symbol)
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


@tests.case("a program that is built anew while it runs keeps the names of the file that ran")
def replaced():
    program, new = build("replaced"), build("new", "-DMORE")
    report, _ = profile("--", program, "rename", new)
    check(not new.exists(), "the program did not replace itself")
    found = cycles(report)
    check({"first", "second"} <= set(found) and not {"more", "still_more"} & set(found), f"functions {set(found)}")
    check(2 < found["first"] / found["second"] < 3, f"first {found['first']}, second {found['second']}")


@tests.case("a program whose file is written to while it runs has no names, and a note says so")
def written():
    program = build("written")
    notes = subprocess.run(["readelf", "-WS", program], capture_output=True, text=True, check=True).stdout
    offset = int(next(line for line in notes.splitlines() if ".note.gnu.build-id" in line).split("NOTE")[1].split()[1], 16)
    report, _ = profile("--", program, "write", offset + 16)
    check("second" not in cycles(report), f"functions {set(cycles(report))}")
    check(any(str(program) in note and "changed" in note for note in report["notes"]), f"notes {report['notes']}")


def rebuilt(*flags):
    """A profile whose program was built anew before it is looked at: nothing of the new file is shown."""
    program, path = build("rebuilt", *flags), WORK / "rebuilt.cw"
    done = cyclewise("record", "-q", "-o", path, "--", program)
    check(done.returncode == 0, done.stderr)
    whole = annotate(path, "main")
    check(any(not row["executions"] for row in whole["code"]) and not whole["notes"], "what was not executed is shown")
    build("rebuilt", "-DMORE", *flags)
    left = annotate(path, "main")
    check(all(row["executions"] for row in left["code"]), "code of another build is shown")
    check(any(str(program) in note for note in left["notes"]), f"notes {left['notes']}")


@tests.case("of a program that was built anew since, annotate shows what was executed, and a note says so")
def rebuilt_since():
    rebuilt()


@tests.case("the same without a build-id, by a hash of the code")
def rebuilt_without_id():
    rebuilt("-Wl,--build-id=none")


tests.main()
