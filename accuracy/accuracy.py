#!/usr/bin/env python3
"""Holds the timing models against the processor it runs on: kernels, basic blocks, whole programs.

Results go to accuracy/hosts/NAME/results.csv, which has those of one processor; docs/accuracy.md and the figures in README.md tell of all.
Figures, the largest errors, and what differs from the results there before are printed.
"""
import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import blocks
import document
import fingerprint
import host
import kernels
import programs
import results
from case import MODELS
from measure import Failed, Measure
from score import score, sets

DOCUMENT = host.TOP / "docs/accuracy.md"
README = host.TOP / "README.md"
GROUPS = {"kernels": kernels, "blocks": blocks, "programs": programs}


def say(text):
    print(text, file=sys.stderr, flush=True)


def build_programs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    here = host.TOP / "accuracy"
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
    everything = host.everything()
    DOCUMENT.write_text(document.document(everything))
    README.write_text(document.readme(README.read_text(), everything))


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
        help="keep the native cycles of results.csv, and its core without --core: the same measurements of all hosts, modelled anew")
    add("--host", metavar="NAME", help="with --model-only: that host of accuracy/hosts alone")
    add("--again", action="store_true", help="keep the native cycles of results.csv, and time again what was noisy or is new")
    add("--document", action="store_true", help="write docs/accuracy.md, and the figures of README.md, from all results, and nothing else")
    chosen = parser.parse_args()
    if chosen.host and not chosen.model_only:
        parser.error("--host is for --model-only: what is timed is the processor that this runs on")
    return chosen


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
    if o.model_only and not o.core and not [model for model in fingerprint.stale(old_about) if model not in o.model]:
        return True
    say(f"accuracy: nothing will be written: {', '.join(others)} was not modelled as things are now")
    return False


def save(o, build, name, cases, core, old_about, leaves_out):
    kept = host.keep(name, core)
    table = fingerprint.table(build, kept)
    about = {"host": old_about["host"] if o.model_only else host.title(), "core": kept,
             "rounds": old_about["rounds"] if o.model_only else o.rounds,
             **{f"fingerprint of {model}": fingerprint.digest(table, model) for model in MODELS}, "leaves out": "; ".join(leaves_out)}
    results.write(host.HOSTS / name / "results.csv", about, cases)
    write_document()


def hold(o, build, folder, name):
    """The models against one host."""
    old_about, old = host.recorded(name)
    if (o.model_only or o.again) and not old:
        sys.exit(f"accuracy: there are no native cycles of {name} to keep; of {', '.join(host.known()) or 'none'} there are")
    core = o.core or (host.description(old_about["core"]) if o.model_only else host.core(build, folder))
    say(f"accuracy: {name}, against {core}")
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
        save(o, build, name, cases, core, old_about, measure.leaves_out())
    for model in models:
        print_figures(cases, model, o.held_out)
    print_left_out(cases)
    for line in results.differences(old, cases) if old and writes else []:
        print(line)


def main():
    o = options()
    if o.document:
        write_document()
        return
    build = Path(o.build).resolve()
    folder = build / "accuracy"
    build_programs(folder)
    hosts = [o.host] if o.host else host.known() if o.model_only else [host.name()]
    for name in hosts:
        hold(o, build, folder, name)


if __name__ == "__main__":
    main()
