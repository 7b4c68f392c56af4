#!/usr/bin/env python3
"""Holds the timing models against the processor it runs on: kernels, basic blocks, whole programs.

Results go to accuracy/results.csv, docs/accuracy.md and the figures in README.md; figures, the largest errors, and what differs
from the results there before are printed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import blocks
import document
import kernels
import programs
import results
from case import MODELS
from measure import Failed, Measure
from score import score, sets
from state import changed, core_files, state

TOP = Path(__file__).resolve().parent.parent
RESULTS = TOP / "accuracy/results.csv"
DOCUMENT = TOP / "docs/accuracy.md"
README = TOP / "README.md"
HOST = TOP / "accuracy/host"  # the description that results were compared with, where it is none of the shipped ones
GROUPS = {"kernels": kernels, "blocks": blocks, "programs": programs}


def say(text):
    print(text, file=sys.stderr, flush=True)


def cpuinfo(key):
    found = re.search(rf"^{key}\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else "?"


def host():
    guest = ", a guest of a hypervisor" if "hypervisor" in cpuinfo("flags").split() else ""
    return (f"{cpuinfo('model name')} ({cpuinfo('vendor_id')} family {cpuinfo('cpu family')} model {cpuinfo('model')} "
            f"stepping {cpuinfo('stepping')}){guest}")


def is_skylake_sp():
    return (cpuinfo("vendor_id"), cpuinfo("cpu family"), cpuinfo("model")) == ("GenuineIntel", "6", "85")


def core_of_host(build, folder):
    """skylake-sp on such a host; elsewhere a description measured here and now."""
    if is_skylake_sp():
        return "skylake-sp"
    out = folder / "host.core"
    say("accuracy: this is no Skylake-SP: calibrating (or choose with --core)")
    if subprocess.run([str(build / "cyclewise"), "calibrate", "-o", str(out)]).returncode:
        sys.exit("accuracy: no description of this host: give one with --core NAME|FILE")
    return str(out)


def keep(core):
    """The core as results.csv names it; a description of one's own is kept beside, with its cost file."""
    if "/" not in core and not core.endswith(".core"):
        return core
    own = [path.resolve() for path in core_files(str(Path(core).resolve())) if not path.resolve().is_relative_to(TOP / "data")]
    shipped = {path.name for path in (TOP / "data/cores").glob("*.costs")}
    if not own[0].is_relative_to(HOST):
        shutil.rmtree(HOST, ignore_errors=True)
        HOST.mkdir()
        for path in own:
            if path.name not in shipped:  # the build's copy of one that is inherited from
                (HOST / path.name).write_text(re.sub(r"^inherit = /.*/(\S+\.costs)$", r"inherit = ../../data/cores/\1", path.read_text(), flags=re.MULTILINE))
    return str((HOST / own[0].name).relative_to(TOP))


def description(core):
    """The core as cyclewise takes it, of what keep() made of it."""
    return str(TOP / core) if "/" in core else core


def build_programs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    here = TOP / "accuracy"
    sources = [str(here / name) for name in ("clock_main.c", "clock.c")]
    subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-o", str(folder / "clock"), *sources], check=True)
    kernels.build(folder)
    blocks.build(folder)


def attempt(case, function, *args):
    """Runs one step of a case; why it failed stays with it."""
    if case.failed:
        return None
    try:
        return function(case, *args)
    except (Failed, subprocess.SubprocessError, OSError, ValueError) as error:
        case.failed = re.sub(r"\s+", " ", str(error))[:120]
        return None


def native_round(cases, measure, title):
    for done, case in enumerate(cases):
        if done % 100 == 0:
            say(f"accuracy: native, {title}: {done} of {len(cases)} cases")
        cycles = attempt(case, GROUPS[case.group].native, measure)
        if cycles:
            case.rounds.append(cycles)


def measure_native(missing, cases, measure, rounds):
    """Rounds over all cases that are missing: what disturbs a case in one round has passed in the next. Then more for those that are noisy."""
    measure.settle()
    for number in range(rounds):
        native_round(missing, measure, f"round {number + 1} of {rounds}")
    for number in range(rounds):
        noisy = [c for c in cases if c.noisy and not c.failed]
        if noisy:
            native_round(noisy, measure, f"{len(noisy)} noisy once more")


def measure_model(cases, models, measure, jobs):
    started, done = time.monotonic(), 0

    def one(case):
        nonlocal done
        for name in models:
            modelled = attempt(case, GROUPS[case.group].model, measure, name)
            if modelled:
                instructions, case.cycles[name] = modelled
                case.instructions = case.instructions or instructions
        done += 1
        if done % 50 == 0:
            say(f"accuracy: modelled {done} of {len(cases)} cases, {time.monotonic() - started:.0f} s")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, cases))


def print_figures(cases, model, held_out):
    print(f"{model:32}{'cases':>6}{'error':>9}{'held out':>10}{'bias':>9}{'tau':>8}{'noisy':>7}{'failed':>8}")
    for title, chosen in sets(cases):
        s, held = score(chosen, model), score([c for c in chosen if c.held_out], model)
        print(f"{title:32}{s.cases:6}{document.number(s.error, '.1%'):>9}{document.number(held.error, '.1%'):>10}"
              f"{document.number(s.bias, '+.1%'):>9}{document.number(s.tau, '.3f'):>8}{s.noisy:7}{s.failed:8}")
    half = [c for c in cases if c.held_out == held_out]
    worst = sorted((c for c in half if c.counts_for(model)), key=lambda c: -abs(c.error(model)))[:20]
    print(f"\nLargest errors of {model} in the {'held-out' if held_out else 'tuning'} half:")
    for c in worst:
        print(f"  {c.error(model):+8.1%}  {c.name:40} native {c.native:14,.0f}  model {c.cycles[model]:14,.0f}")
    print()


def print_left_out(cases):
    for c in cases:
        if not c.counts:
            print(f"  {results.verdict(c)}: {c.name}" + (f" ({c.spread:.1%})" if not c.failed else ""))


def write_document():
    about, cases = results.read(RESULTS)
    DOCUMENT.write_text(document.document(about, cases))
    README.write_text(document.readme(README.read_text(), about, cases))


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("build", nargs="?", default="build", help="build directory (default: build)")
    add("--core", metavar="NAME|FILE",
        help="core to compare with; default: skylake-sp on that processor, elsewhere what `cyclewise calibrate` writes")
    add("--group", action="append", choices=list(GROUPS), help="this group alone: prints, and writes nothing; may be repeated")
    add("--only", metavar="TEXT", help="cases with TEXT in their name alone: prints, and writes nothing")
    add("--model", action="append", choices=MODELS,
        help="this timing model alone: prints, and writes nothing but with --model-only, where what the other says still holds")
    add("--held-out", action="store_true",
        help="list the largest errors of the half that nothing may be tuned on, in place of the other half's")
    add("--rounds", type=int, default=3, help="native rounds (default: 3), and at most as many more of what is noisy")
    add("--jobs", type=int, default=os.cpu_count(), help="cases modelled at a time (default: all processors); timing is always alone")
    add("--model-only", action="store_true",
        help="keep the native cycles of results.csv, and its core without --core: the same measurement, modelled anew")
    add("--again", action="store_true", help="keep the native cycles of results.csv, and time again what was noisy or is new")
    add("--document", action="store_true", help="write docs/accuracy.md, and the figures of README.md, from results.csv, and nothing else")
    return parser.parse_args()


def choose(o, folder, parameters):
    """The cases that the options ask for."""
    cases = []
    for group, module in GROUPS.items():
        if not o.group or group in o.group:
            cases += [c for c in module.cases(folder, parameters) if not o.only or o.only in c.name]
    if not cases:
        sys.exit(f"accuracy: no case has '{o.only}' in its name")
    return cases


def recall(cases, old, models):
    """What was timed before, of the same size, and modelled by these models; the cases that were not."""
    before = {(c.group, c.name, c.bytes): c for c in old}
    for c in cases:
        was = before.get((c.group, c.name, c.bytes))
        if was and was.rounds:
            c.rounds = was.rounds
            c.cycles = {model: was.cycles[model] for model in models if model in was.cycles}
            c.instructions = was.instructions if c.cycles else 0
    return [c for c in cases if not c.rounds]


def whole(o, others, old_about):
    """Whether results.csv is to be written: of all cases, by all models, or what `others` of them said before still holds."""
    if o.only or o.group or not others:
        return not o.only and not o.group
    if o.model_only and not o.core and not [part for part in changed(old_about) if part not in o.model]:
        return True
    say(f"accuracy: nothing will be written: {', '.join(others)} was not modelled as things are now")
    return False


def save(o, cases, core, old_about, leaves_out):
    kept = keep(core)
    about = {"host": old_about["host"] if o.model_only else host(), "core": kept,
             "rounds": old_about["rounds"] if o.model_only else o.rounds,
             **{f"hash of {part}": value for part, value in state(kept).items()}, "leaves out": "; ".join(leaves_out)}
    results.write(RESULTS, about, cases)
    write_document()


def main():
    o = options()
    if o.document:
        write_document()
        return
    build = Path(o.build).resolve()
    folder = build / "accuracy"
    build_programs(folder)
    old_about, old = results.read(RESULTS) if RESULTS.exists() else ({}, [])
    if (o.model_only or o.again) and not old:
        sys.exit(f"accuracy: {RESULTS} has no native cycles to keep")
    if o.again and old_about["host"] != host():
        sys.exit(f"accuracy: {RESULTS} is of another host, {old_about['host']}")
    core = o.core or (description(old_about["core"]) if o.model_only else core_of_host(build, folder))
    measure = Measure(build / "cyclewise", core, folder)
    cases = choose(o, folder, measure.parameters())
    measure.check()
    models = o.model or MODELS
    others = [model for model in MODELS if model not in models]
    writes = whole(o, others, old_about)
    missing = recall(cases, old, others) if o.model_only or o.again else cases
    if o.model_only:
        for c in missing:
            c.failed = c.failed or "not timed natively with this size"
    else:
        measure_native(missing, cases, measure, o.rounds)
    measure_model(cases, models, measure, o.jobs)
    if writes:
        save(o, cases, core, old_about, measure.leaves_out())
    for model in models:
        print_figures(cases, model, o.held_out)
    print_left_out(cases)
    for line in results.differences(old, cases) if old and writes else []:
        print(line)


if __name__ == "__main__":
    main()
