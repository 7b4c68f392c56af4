"""docs/accuracy.md: what the results of all hosts say, in words and tables; and what the models are known to leave out."""
from fnmatch import fnmatch
from pathlib import Path

import results
from case import MODELS, NOISY
from score import score, sets

TOP_ERRORS = 12
FAR_OFF = 0.15  # of whose reason is told
REASONS = Path(__file__).resolve().parent / "reasons.txt"
FOREIGN = """
That is not the Skylake-SP that the models are made for: the figures say what the method gives on such a processor with a description
measured there, and not how true `skylake-sp` is."""

HEAD = """# How true the models are

Generated from `accuracy/hosts/*/results.csv` by `make accuracy`; do not edit.

Each case is run natively and under both timing models, and compared in cycles:

- **Kernels**: the thirty computations that PolyBench names, written anew from their mathematics (`accuracy/kernels`); scalar and
  vectorised in L1, L2, L3 and memory (not where memory begins behind tens of megabytes), unrolled in L1, tiled in L2 and L3 where
  there are loops to tile. Only the kernel counts.
- **Basic blocks**: straight-line code of Debian's binaries, the hottest by cyclewise's own profiles (`accuracy/blocks`), each run
  as a loop with registers and memory set up so that every access is valid.
- **Whole programs**: Debian's binaries, the user time of the fastest of many runs at the measured clock against all modelled cycles.

The models are `ooo`, the detailed core, and `abstract`, which takes the core for a set of resources that are each used up at their
own pace: faster, and what `sensitivity` and `causality` run unless told otherwise. It looks up caches and predictors in program order,
has no wrong path, and lets every uop find the best of the ports that it is bound to.

Natively, a chain of dependent additions before and after each sample gives the clock against the time-stamp counter; a sample
where the two differ is dropped. So is one beside which fewer no-ops pass in a cycle than at other times: the core's sibling thread,
another guest's perhaps, was busy. The least of many samples counts, in each of several rounds that are minutes apart; a kernel's
are of several processes, as some take a quarter longer where the system happens to lay their data. Where the two fastest rounds differ by more than {noisy:.0%},
the case is **noisy**: listed, and left out of the means. The C library is kept from its AVX-512 variants, which the emulator does
not have.

Errors are of cycles: (model - native) / native. *Error* is the mean of their absolute values, *bias* that of the errors themselves,
*within 10%* the share of the cases whose error is at most that, *tau* Kendall's, of the order of the cases by cycles, and *in order*
the share of any two that the model has in their order (what the Gus paper, §4.2, says that its tau measures). Kernels and blocks all do
about the same work, so that little but cycles an iteration tells them apart.
Half of the cases are **held out**: nothing in a model may be chosen by looking at them. A hash of the kernel's, block's or
program's name decides.
"""


def number(value, form):
    return "-" if value is None else format(value, form)


def table(cases, model):
    lines = ["| | cases | error | held out | bias | within 10% | tau | tau, held out | in order | noisy | failed |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for title, chosen in sets(cases):
        s, held = score(chosen, model), score([c for c in chosen if c.held_out], model)
        lines.append(f"| {title} | {s.cases} | {number(s.error, '.1%')} | {number(held.error, '.1%')} | {number(s.bias, '+.1%')} | "
                     f"{number(s.within, '.0%')} | {number(s.tau, '.3f')} | {number(held.tau, '.3f')} | {number(s.ordered, '.1%')} | {s.noisy} | {s.failed} |")
    return lines


def listing(cases, model):
    """The cases with the largest errors of a model, and those of the others there."""
    others = [m for m in MODELS if m != model]
    lines = ["| case | instructions | native | " + " | ".join([f"`{model}`", "error", *(f"error of `{m}`" for m in others)]) + " |",
             "|---|--:|--:|--:|--:|" + "--:|" * len(others)]
    for c in sorted(cases, key=lambda c: -abs(c.error(model)))[:TOP_ERRORS]:
        errors = " | ".join(f"{c.error(m):+.1%}" if m in c.cycles else "-" for m in (model, *others))
        lines.append(f"| {c.name} | {c.instructions:,} | {c.native:,.0f} | {c.cycles[model]:,.0f} | {errors} |")
    return lines


TITLES = {"kernels": "Kernels", "blocks": "Basic blocks", "programs": "Whole programs"}
SUMMARY = ("kernels in L1 and L2", "kernels, all", "basic blocks", "whole programs")
README_BEGIN, README_END = "<!-- figures of `make accuracy` -->\n", "<!-- end of figures -->\n"


def summary(about, cases):
    """What README.md says of one host: the errors of each group, of all cases and of the half held out."""
    of_models = []
    for model in MODELS:
        parts = []
        for title, chosen in sets(cases):
            s, held = score(chosen, model), score([c for c in chosen if c.held_out], model)
            if title in SUMMARY and s.cases:
                parts.append(f"{title} {number(s.error, '.1%')} (held out {number(held.error, '.1%')}, tau {number(s.tau, '.2f')})")
        if parts:
            of_models.append(f"`{model}`: {'; '.join(parts)}.")
    of = "" if about["core"] == "skylake-sp" else ", which says what the method gives there and not how true `skylake-sp` is"
    return f"Mean error of cycles on {about['host']}, against `{about['core']}`{of}. {' '.join(of_models)}\n"


def readme(text, hosts):
    """README.md with the present figures of all hosts, [(about, cases)]."""
    before, _, rest = text.partition(README_BEGIN)
    _, _, after = rest.partition(README_END)
    return before + README_BEGIN + "\n".join(summary(*one) for one in hosts) + README_END + after


def reasons():
    """[(hosts, pattern, reason)] of reasons.txt."""
    return [line.split(None, 2) for line in REASONS.read_text().splitlines() if line.strip() and not line.startswith("#")]


def reason(host, name):
    """Why that case is off there; None where it is not known."""
    return next((why for hosts, pattern, why in reasons() if (hosts == "*" or host in hosts.split(",")) and fnmatch(name, pattern)), None)


def whys(about, cases):
    """Lines on the cases that the first model is far off of."""
    far = [c for c in cases if c.counts_for(MODELS[0]) and not c.held_out and abs(c.error(MODELS[0])) > FAR_OFF]
    told = [(f"{c.name} ({c.error(MODELS[0]):+.0%})", reason(about["name"], c.name)) for c in sorted(far, key=lambda c: -abs(c.error(MODELS[0])))]
    unknown = [case for case, why in told if not why]
    return [*(f"- {case}: {why}" for case, why in told if why), *([f"- not known: {', '.join(unknown)}"] if unknown else [])]


def of_host(about, cases):
    """Lines on one host."""
    out = [f"## {about['host'].partition(', a guest')[0]}", "",
           f"Measured on {about['host']}, in {about['rounds']} rounds;\ncompared with the core `{about['core']}`. "
           "Fingerprints of the models: " + ", ".join(f"`{model}` {about[f'fingerprint of {model}']}" for model in MODELS) + "."
           + ("" if about["core"] == "skylake-sp" else FOREIGN), ""]
    absent = [title.lower() for group, title in TITLES.items() if not any(c.group == group for c in cases)]
    if absent:
        out += [f"Not run there: {', '.join(absent)}.", ""]
    for model in MODELS:
        out += [f"### Results of `{model}`", "", *table(cases, model), ""]
    for model in MODELS:
        out += [f"### Largest errors of `{model}`", "", "Of the half that may be looked at.", ""]
        for group, title in TITLES.items():
            shown = [c for c in cases if c.group == group and c.counts_for(model) and not c.held_out]
            if shown:
                out += [f"{title}:", "", *listing(shown, model), ""]
    out += [f"### Why `{MODELS[0]}` is off by more than {FAR_OFF:.0%}", "", "Of the half that may be looked at, from `accuracy/reasons.txt`.", "",
            *whys(about, cases), ""]
    out += ["### Left out of the means", ""]
    out += [f"- {c.name}: " + (results.verdict(c) if c.failed else f"noisy, {c.spread:.1%} between rounds") for c in cases if not c.counts]
    out += ["", "### What the core's description leaves out", ""]
    out += [f"- {item}" for item in about.get("leaves out", "").split("; ") if item]
    return [*out, ""]


def document(hosts):
    """Of all hosts, [(about, cases)]."""
    out = [HEAD.format(noisy=NOISY)]
    for about, cases in hosts:
        out += of_host(about, cases)
    out += ["## What both models always leave out", "",
            "The kernel (a system call is a fixed cost; page faults, timer interrupts and the hypervisor are in native time), "
            "pages larger than 4 KiB, other programs in the shared caches, and all that depends on the values computed with: "
            "denormal numbers call microcode and operands make divisions longer or shorter, while the models see addresses and "
            "branches alone.", ""]
    return "\n".join(out)
