#!/usr/bin/env python3
"""Generated tables of costs and accuracy are what their generators make of the present tree. TAP.

usage: BUILD=dir tests/docs/accuracy.py
"""
import difflib
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("BUILD", TOP / "build"))
CASES = []


def case(function):
    CASES.append((function.__doc__, function))
    return function


def need_text(path, made, remedy):
    """The file is `made`; else the differing lines, and how to make it anew."""
    kept = path.read_text()
    if kept != made:
        lines = list(difflib.unified_diff(kept.splitlines(), made.splitlines(), str(path.relative_to(TOP)), "made", "", "", 0, ""))
        raise AssertionError("\n".join([f"out of date: {remedy}", *lines[:20]]))


@case
def costs_table():
    """docs/costs-skylake-sp.md is what costs_table makes"""
    cores = TOP / "data/cores"
    made = subprocess.run([str(BUILD / "tests/tools/costs_table"), str(cores / "skylake-sp.measured"), str(cores / "skylake-sp.costs")],
                          env=dict(os.environ, CYCLEWISE_DATA=str(TOP / "data")), capture_output=True, text=True)
    if made.returncode:
        raise AssertionError(made.stderr)
    need_text(TOP / "docs/costs-skylake-sp.md", made.stdout, "ninja costs-table")


def main():
    print(f"1..{len(CASES)}")
    failed = False
    for number, (name, function) in enumerate(CASES, 1):
        try:
            function()
            print(f"ok {number} - {name}")
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed = True
            print(f"not ok {number} - {name}")
            for line in str(error).splitlines():
                print(f"# {line}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
