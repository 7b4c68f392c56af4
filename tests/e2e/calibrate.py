#!/usr/bin/env python3
"""calibrate: what it writes is a core that the other commands take, and says what the machine is like. TAP.

A machine may be too noisy for any value: then the value is marked so and left to the parent. What must never be is a file
that is wrong: one that does not read back, or a latency that is far from what it is on every processor there is.
"""
import json
import platform
import re

from lib import BUILD, Skip, Tests, WORK, check, check_error, compile_program, cyclewise

tests = Tests()
CORE = WORK / "measured.core"
# Cycles from operand to result on every x86-64 processor of the last fifteen years.
ALWAYS = {"ADD64rr": (1, 1), "IMUL64rr": (3, 4), "XOR64rr": (1, 1), "MULPDrr": (3, 6), "VFMADD231PDYr": (3, 6)}


def needs_x86():
    if platform.machine() != "x86_64":
        raise Skip("this is no x86-64")


def calibrated():
    """Runs it once for all cases."""
    needs_x86()
    out = WORK / "calibrate.json"
    if not out.exists():
        done = cyclewise("calibrate", "--quick", "-o", CORE, f"--json={out}", "--no-progress")
        check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
        check(done.stdout == "" and done.stderr == "", f"it printed: {done.stdout}{done.stderr}")
    return json.loads(out.read_text())


@tests.case("the description reads back, every figure with its source")
def reads_back():
    answer = calibrated()
    done = cyclewise("cores", "--json", CORE)
    check(done.returncode == 0, done.stderr)
    core = json.loads(done.stdout)
    values = {p["name"]: p for p in core["parameters"]}
    check(core["core"] == "measured" and core["isa"] == "x86-64", f"core {core['core']}")
    for one in answer["values"]:
        if one["parameter"] and not one["left_to_parent"]:
            read = values[one["parameter"]]
            check(read["value"] == one["value"], f"{one['parameter']} reads back as {read['value']}, not {one['value']}")
            check(read["source"].startswith(f"Measured: {one['name']}: "), f"source of {one['parameter']}: {read['source']}")


@tests.case("what is left to the parent is the parent's, and said")
def left_to_parent():
    answer = calibrated()
    parent = json.loads(cyclewise("cores", "--json", answer["parent"]).stdout)
    mine = json.loads(cyclewise("cores", "--json", CORE).stdout)
    parent, mine = ({p["name"]: p["value"] for p in c["parameters"]} for c in (parent, mine))
    found = {v["parameter"] for v in answer["values"] if v["parameter"] and not v["left_to_parent"]}
    left = {v["parameter"] for v in answer["values"] if v["parameter"] and v["left_to_parent"]} - found
    text = CORE.read_text()
    for name in left:
        check(f"#   {name}, " in text, f"the file does not say why it leaves {name} to the parent")
    for name, value in parent.items():
        if re.fullmatch(r"sched\d\.ports", name):  # ports that were found are added to those that feed their like
            check(mine[name] & value == value, f"{name} is {mine[name]}, the parent's {value}")
        elif name == "core.ports":
            check(mine[name].startswith(value), f"{name} is {mine[name]}, the parent's {value}")
        elif name not in found and name != "core.costs":
            check(mine[name] == value, f"{name} is {mine[name]}, the parent's {value}")


@tests.case("latencies that are the same everywhere are right, or too noisy")
def known_answers():
    answer = calibrated()
    forms = {f["form"]: f for f in answer["forms"]}
    check("ADD64rr" in forms and "IMUL64rr" in forms, "no addition or multiplication among the forms")
    for name, (least, most) in ALWAYS.items():
        latency = forms.get(name, {}).get("latency")
        if latency and not latency["noisy"]:
            check(least * 0.9 <= latency["value"] <= most * 1.1, f"latency of {name}: {latency}")
        if latency:
            check(latency["noisy"] or latency["low"] <= latency["value"] <= latency["high"], f"spread of {name}: {latency}")
    l1 = [v for v in answer["values"] if v["parameter"] == "l1d.simple_latency"]
    check(len(l1) == 1, "no latency of L1")
    check(l1[0]["left_to_parent"] or 3 <= l1[0]["value"] <= 6, f"latency of L1: {l1[0]}")
    mhz = [v for v in answer["values"] if v["parameter"] == "clock.mhz"][0]
    check(300 < mhz["value"] < 7000, f"clock: {mhz}")


@tests.case("a program runs on it")
def runs():
    calibrated()
    program = compile_program("options.c", "x86-64")
    out = WORK / "run.json"
    done = cyclewise("stat", "--core", CORE, f"--json={out}", "--no-progress", program)
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
    answer = json.loads(out.read_text())
    check(answer["cycles"] > 0 and answer["core"] == str(CORE), f"core {answer['core']}, {answer['cycles']} cycles")


@tests.case("--for measures what a profile executed", sanitize=True)
def for_profile():
    needs_x86()
    profile, out, core = WORK / "for.cw", WORK / "for.json", WORK / "for.core"
    done = cyclewise("record", "-q", "-o", profile, compile_program("options.c", "x86-64"))
    check(done.returncode == 0, done.stderr)
    done = cyclewise("calibrate", "--quick", "--for", profile, "-o", core, f"--json={out}")
    check(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
    forms = {f["form"] for f in json.loads(out.read_text())["forms"]}
    rows = json.loads(cyclewise("report", "--json", profile).stdout)["hot"]
    check(any(re.match(r"add +", r["disassembly"]) for r in rows) and any(f.startswith("ADD") for f in forms), f"forms: {forms}")
    check("VFMADD231PDYr" not in forms, "a form that the program does not have was measured")
    check(cyclewise("cores", "-q", core).returncode == 0, "the description does not read back")


@tests.case("mistakes are found before anything is measured", sanitize=True)
def mistakes():
    needs_x86()
    check_error(125, "/no/such/directory/a.core", "No such file", None, "calibrate", "-o", "/no/such/directory/a.core")
    check_error(125, str(BUILD), "Is a directory", None, "calibrate", "-o", str(BUILD))
    check_error(2, "more", "one operand too many", "usage: cyclewise calibrate", "calibrate", "more")
    missing = WORK / "missing.cw"
    done = cyclewise("calibrate", "--for", missing, "-o", WORK / "none.core")
    check(done.returncode == 125 and done.stderr.startswith(f"cyclewise: {missing}: "), done.stderr)
    check(not (WORK / "none.core").exists(), "a description was written")


tests.main()
