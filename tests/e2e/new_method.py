#!/usr/bin/env python3
"""A sampling method that took one file and one line of the list (tests/new_method) is in everything, and changes nothing else."""
import json
import os
import subprocess

from lib import BUILD, TOP, WORK, Tests, check, compile_program, profile

tests = Tests()
LCI = str(BUILD / "tests/new_method/cyclewise-lci")
ENVIRONMENT = dict(os.environ, CYCLEWISE_PLUGIN_DIR=str(BUILD / "src/plugin"), CYCLEWISE_DATA=str(TOP / "data"))


@tests.case("it is compared with the others, which say what they said without it")
def compared():
    program = [compile_program("counters.c", "x86-64"), "2000"]
    without, _ = profile("--no-simulation", "--period", "500", *program, command="methods")
    out = WORK / "lci.json"
    subprocess.run([LCI, "methods", "--no-simulation", "--no-progress", "--period", "500", f"--json={out}", *program],
                   env=ENVIRONMENT, check=True, capture_output=True)  # as profile(): its output is a pipe
    report = json.loads(out.read_text())
    by_name = {row["method"]: row for row in report["sampling"]}
    lci = by_name["LCI"]
    check(0 <= by_name["TIP"]["samples"] - lci["samples"] <= 5,  # before the first commit there is nobody to blame
          f"{lci['samples']} samples, TIP {by_name['TIP']['samples']}")
    check(lci["error"]["instruction"] > 1.5 * by_name["TIP"]["error"]["instruction"],
          f"error {lci['error']}, TIP's {by_name['TIP']['error']}: it blames what comes before a stall")
    report["sampling"].remove(lci)
    check(report == without, "the report differs in more than the new method")


@tests.case("it is in the text", sanitize=True)
def text():
    done = subprocess.run([LCI, "methods", "--no-simulation", "--no-progress", compile_program("counters.c", "x86-64"), "1000"],
                          env=ENVIRONMENT, check=True, capture_output=True, text=True)
    check(any(line.split()[:1] == ["LCI"] for line in done.stderr.splitlines()), f"printed {done.stderr}")


tests.main()
