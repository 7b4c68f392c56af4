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

sys.path.insert(0, str(TOP / "accuracy"))
import document  # noqa: E402
import host  # noqa: E402
from case import MODELS  # noqa: E402


class Skip(Exception):
    """Raised by a case that has nothing to look at; its text says why."""


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


def committed():
    if not host.known():
        raise Skip("no results: `make accuracy` writes accuracy/hosts/NAME/results.csv")
    return host.everything()


@case
def results_of_the_model():
    """each results.csv says for which models it was made, and has cycles of both for each case"""
    for about, cases in committed():
        unsaid = [model for model in MODELS if not about.get(f"fingerprint of {model}")]
        if unsaid:
            raise AssertionError(f"{about['core']}: no fingerprint of {', '.join(unsaid)}")
        if not cases:
            raise AssertionError(f"{about['core']}: no case")
        missing = [f"{c.name} under {model}" for c in cases for model in MODELS if not c.failed and model not in c.cycles]
        if missing:
            raise AssertionError(f"{about['core']}: no cycles of {', '.join(missing[:10])}")


@case
def accuracy_document():
    """docs/accuracy.md is what the results say"""
    need_text(TOP / "docs/accuracy.md", document.document(committed()), "accuracy/accuracy.py --document")


@case
def accuracy_readme():
    """README.md states the figures of the results"""
    path = TOP / "README.md"
    need_text(path, document.readme(path.read_text(), committed()), "accuracy/accuracy.py --document")


@case
def readme_has_a_place():
    """README.md has a place for the figures"""
    text = (TOP / "README.md").read_text()
    if not 0 < text.find(document.README_BEGIN) < text.find(document.README_END):
        raise AssertionError("no lines between which accuracy.py could write them")


def main():
    print(f"1..{len(CASES)}")
    failed = False
    for number, (name, function) in enumerate(CASES, 1):
        try:
            function()
            print(f"ok {number} - {name}")
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}")
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed = True
            print(f"not ok {number} - {name}")
            for line in str(error).splitlines():
                print(f"# {line}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
