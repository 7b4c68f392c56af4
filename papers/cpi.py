"""CPI components (Eyerman, Eeckhout, Karkhanis, Smith, ASPLOS 2006): figures 4, 6, 9, 11 and 12, and table 1; and figure 12 on `skylake-sp`."""
import gzip
from dataclasses import replace
from pathlib import Path
from statistics import mean

import debian
import plot
from page import fraction, listed, percent
from study import TOP, Program

NAME = "cpi-components"
TITLE = "CPI components: what counters would have said of where the cycles went"
CORE, UNBALANCED = "asplos06", "skylake-sp"
UNBALANCED_NAMES = ("gzip", "bzip2", "perl", "python3", "lua", "cc1", "gnugo", "sort") # half of the programs are enough there
METHODS = ["naive", "naive_non_spec", "POWER5", "FMT", "sFMT"]
VARIANT = "FMT-dispatch"
CLAIMED = 0.04                         # the paper's largest error of FMT
ORDERS = ["simulation", "simulation_inverse"]
COMPONENTS = ["base", "l1i", "l2i", "itlb", "l1d", "l2d", "dtlb", "branch"]
SHORT = {"simulation": "sim", "simulation_inverse": "inv", "naive": "nai", "naive_non_spec": "nns", "POWER5": "P5", "FMT": "FMT", "sFMT": "sFMT"}
# What an event costs on asplos06 by the naive methods, in cycles: L2, the front end's stages, L2 and memory.
PENALTY = {"l1i": 9, "branch": 5, "l2d": 259}
FEW = 2000                             # events: of fewer no penalty is shown
APART = 0.02                           # shares of branches, for a closer look
CHAINS = [2, 4, 8, 16, 32]             # loads a branch of programs/chain.c
FIGURES = [("figure4", "l1i", "an L1 instruction cache miss"), ("figure6", "branch", "a mispredicted branch"), ("figure9", "l2d", "a last-level data miss")]

INTRODUCTION = """
Eyerman, Eeckhout, Karkhanis, Smith: *A Performance Counter Architecture for Computing Accurate CPI Components*, ASPLOS 2006. The
paper runs the integer programs of SPEC CPU2000, compiled for Alpha, on SimpleScalar. Here Debian's x86-64 binaries run on the core
`asplos06`, the paper's balanced 4-wide machine, from their first instruction to their last: {least:.0f} to {most:.0f} million, {sum:.0f}
million in all. Where a program would take longer, it has less to do than on the page on TEA.

The reference times the same instructions again on cores with ideal parts, beside the run itself, from all ideal to all real: L1 data cache, branch
prediction, L1 and L2 instruction cache, instruction TLB, L2 data misses, data TLB (`simulation`); or with the two data parts before
the three of the instruction side (`simulation_inverse`). The component of a part is what its becoming real adds. As in the paper long
latencies count with the base, and an error is the difference of a component as a share of all cycles. The paper does not say which of the
orders its errors are against; here the worse of the two counts.
"""


# What is behind the errors of FMT, the larger ones of each kind.
REASONS = [
    "gzip: branches that wait for a chain of loads, each of which misses L1, in a loop of ten instructions that a mispredicted branch leaves "
    "again and again. FMT gives a part of what the chain takes to the branch, and a part to the base, where a full buffer passes on what it commits. "
    "The next section works that out by hand, and shows how far it depends on what is compressed.",
    "Instruction cache misses that cut a group of four: the cycle before and the one behind dispatch less than they could. FMT counts cycles "
    "without any instruction, and has these in the base: sqlite3, perl, grep, glpsol, which miss the small instruction cache most.",
    "A branch behind an instruction cache miss finds little in front of it that it could wait for. The reference makes branches real "
    "while instruction caches are ideal, where they cost more: unxz, sqlite3. The second table shows it: what FMT gives unxz's branches there is "
    "a little over what they add.",
    "Branches that wait for work, or for last-level and TLB misses: vpxenc, cc1, python3, sort. Execution needs more than the quarter of a cycle an "
    "instruction that dispatch does, so that what is dispatched piles up, and a mispredicted branch waits behind it. FMT counts the wait as "
    "lost, but without the misprediction it would have taken as long. Of a long miss it gives the branch the cycles until the wrong path has "
    "filled the reorder buffer, 32 or more.",
    "Loads that miss the TLB and the last level, one after the other here, at once on SimpleScalar: the reference takes the cycles in "
    "which the reorder buffer still fills from the last level's share, FMT from the TLB's.",
    "python3 and sort: the two orders are apart, and no stack can be near both. python3 touches new code and new data at once, as it loads its "
    "modules, and they share L2; in {most} {share} of the cycles are lost to a branch and to memory at once (table 1).",
]
# The same on the other core.
UNBALANCED_REASONS = [
    "The reorder buffer of 224 hardly ever fills: schedulers (97 entries), registers and the store queue are full before. FMT and sFMT see next "
    "to nothing of data misses, and what these cost is in the base (gnugo, cc1), in the share of a branch that waits meanwhile (gzip, whose chain "
    "is worked out above), or in both (python3, sort). `FMT-dispatch` finds part of it, and is nearer; where a branch waits, it is hardly better.",
    "Branch prediction by itself is more here than right or wrong: a target may come from the second level of the BTB, or from the decoders, and a taken "
    "branch costs fetch a cycle. Ideal prediction takes all of that away, FMT counts mispredictions alone, and the rest is in its base "
    "(lua, with many taken branches). On `asplos06` a taken branch costs nothing, as in the paper.",
    "Stores that miss fill the store queue, which stops dispatch (bzip2). The reference gives that to the data "
    "misses; the paper has no counter for it, and both variants leave it in the base.",
    "The naive methods charge every last-level miss with all of memory's latency, though prefetches and other misses hide most of it; POWER5 sees "
    "data misses at the head of the reorder buffer, full or not, and branches only while it is empty.",
]


def stacks(run):
    """{method: {component: share of the cycles}}, long latencies in the base."""
    out = {}
    for row in run.answer["cpi_stacks"]:
        share = {name: cycles / run.answer["cycles"] for name, cycles in row["components"].items()}
        share["base"] += share.pop("long_latency")
        out[row["method"]] = share
    return out


def worst(run, method):
    """The largest component error against either order, and of which component."""
    row = next(row for row in run.answer["cpi_stacks"] if row["method"] == method)
    error = max(row["errors"].values(), key=lambda e: e["max"])
    return error["max"], error["component"]


def penalties(runs, component):
    """{method: [cycles an event, a program]}, programs that have enough of them."""
    names = [n for n, r in runs.items() if stacks(r)["naive_non_spec"][component] * r.answer["cycles"] / PENALTY[component] >= FEW]
    series = {}
    for method in ["simulation", "naive", "POWER5", "FMT"]:
        series[method] = []
        for name in names:
            made = stacks(runs[name])
            events = made["naive_non_spec"][component] / PENALTY[component]
            series[method].append(PENALTY[component] if method == "naive" else made[method][component] / events)
    return names, series


def figure_penalties(page, runs):
    page.heading("Figures 4, 6 and 9: what an event costs")
    page.text(f"Cycles of the component by its event, in programs that met at least {FEW} of them. The naive methods take a constant.")
    for name, component, what in FIGURES:
        names, series = penalties(runs, component)
        if not names:
            continue
        page.figure(name, f"Figure {name.removeprefix('figure')}: cycles that {what} costs", plot.grouped(names, series, "cycles an event", share=False))
        page.table(["method", "mean", "least", "most"],
                   [[m, f"{mean(v):.1f}", f"{min(v):.1f}", f"{max(v):.1f}"] for m, v in series.items()])
    page.text("""
In the paper an L1 instruction cache miss costs eight to nine cycles, nearly the same in all programs, and POWER5 sees a part of them,
in some programs next to none (figure 4); a misprediction costs far more than the front end's stages, and POWER5 gives it less than
even the naive method does in most (figure 6); the naive method charges a last-level miss several times over where misses overlap, and POWER5
and FMT are near the simulation (figure 9). So it is here. Of the nine cycles of an instruction cache miss the fetch buffer hides one, and
programs that execution limits hide a little more. An event is counted as a cache would: once for a line, by the instruction that asked for it.
What waits for a line that is on its way is none, though it costs cycles where a store or the wrong path had asked. A
misprediction costs more by FMT than by simulation where branches wait for loads or for work, as described below.
""")


def figure11(page, runs):
    page.heading("Figure 11: CPI stacks")
    shown = ["simulation", "simulation_inverse", *METHODS]
    names = list(runs)
    for part in range(0, len(names), 4):
        page.figure(f"figure11-{part // 4 + 1}", "Figure 11: stacks, as shares of the cycles", plot.stacked(
            [(n, [(SHORT[m], stacks(runs[n])[m]) for m in shown]) for n in names[part:part + 4]], "share of the cycles", columns=9,
            limits=(-0.6, 1.6), order=COMPONENTS))
    below = [n for n, r in runs.items() if stacks(r)["naive"]["base"] < 0]
    page.text(f"""
A stack that leaves the figure is as high as its figure says, and the base below nothing by what that is over 100%. The naive base is below nothing in {len(below)} of {len(runs)} programs ({", ".join(below) or "none"}); in the paper it is in those
whose misses overlap most, gcc, mcf, twolf and vpr among them. So it is here, and where L1 data misses are many: the naive methods charge
them with the latency of L2, although execution hides most of them.
""")


def means(runs, methods):
    return [mean(worst(r, m)[0] for r in runs.values()) for m in methods]


def errors(page, runs, methods, figure, caption, paper=None):
    """A figure and a table of each program's largest component error, and of the mean."""
    names = list(runs)
    page.figure(figure, caption, plot.grouped(
        names + ["mean"], {m: [*(worst(runs[n], m)[0] for n in names), *means(runs, [m])] for m in methods if not m.startswith("naive")},
        "share of the cycles"))
    rows = [[name, f"{run.answer['instructions'] / 1e6:.1f}", f"{run.answer['cycles'] / run.answer['instructions']:.2f}",
             *(percent(worst(run, m)[0]) for m in methods), worst(run, "FMT")[1], percent(worst(run, "simulation")[0])] for name, run in runs.items()]
    rows.append(["mean", "", "", *map(percent, means(runs, methods)), "", percent(*means(runs, ["simulation"]))])
    page.table(["program", "million instructions", "CPI", *methods, "FMT's is of", "one order against the other"], rows + ([paper] if paper else []))


def branches_alone(study, program):
    """Cycles of the program where nothing but branches costs anything, and those of them that FMT gives to branches."""
    others = ",".join(c for c in COMPONENTS if c not in ("base", "branch"))
    answer = study.run(program, "stat", "--ideal", others, *study.window).answer
    return answer["cycles"], answer["cpi_stack"]["branch"]


def alone_row(study, name, program, run):
    cycles, said = branches_alone(study, program)
    ideal = stacks(run)["simulation"]["base"] * run.answer["cycles"]
    return [name, f"{ideal / run.answer['instructions']:.2f}", *(percent(x / run.answer["cycles"]) for x in (cycles - ideal, said))]


def power5_sees(runs):
    """The sentence on what POWER5 sees of what events cost, for the two kinds that it hardly sees; none where no program has enough of them."""
    seen = []
    for component, what in (("l1i", "instruction cache misses cost"), ("branch", "mispredictions do")):
        _, series = penalties(runs, component)
        if series["POWER5"]:
            seen.append(f"{fraction(mean(series['POWER5']) / mean(series['simulation']))} of what {what}")
    if not seen:
        return ""
    return f"""As figures 4 and 6 show, POWER5 sees in the mean {listed(seen)}
(the paper's section 3.1); the programs here lose much to both. """


def figure12(page, study, programs, runs):
    page.heading("Figure 12: maximum component error")
    errors(page, runs, METHODS, "figure12", "Figure 12: the largest error of a component, against the worse of the two orders",
           ["paper: mean", "", "", "over 30%", "", "between", "2.5%", "2.7%", "", "small"])
    over = [n for n, r in runs.items() if max(worst(r, m)[0] for m in ("FMT", "sFMT")) >= CLAIMED]
    apart = [n for n, r in runs.items() if abs(stacks(r)["FMT"]["branch"] - stacks(r)["simulation"]["branch"]) >= APART]
    others = {n: r for n, r in runs.items() if n != "gzip"}
    naive, non_spec, power5 = map(percent, means(runs, ["naive", "naive_non_spec", "POWER5"]))
    nearest = sorted(runs, key=lambda n: mean(worst(runs[n], m)[0] for m in ("naive", "naive_non_spec")))[:3]
    page.text(f"""
The naive methods are {naive} and {non_spec} off on average, where the paper has over 30%, and POWER5 is {power5}, which the paper has between
them and FMT. {power5_sees(runs)}The naive methods are nearest where misses neither overlap nor are hidden, in
the paper in eon and perlbmk, here in {listed(nearest)}.

The paper has FMT and sFMT under {percent(CLAIMED, 0)} in every program. Here they are in {len(runs) - len(over)} of {len(runs)}, not in {listed(over) or "none"}.
The mean without gzip, of which more below, is {" and ".join(map(percent, means(others, ["FMT", "sFMT"])))}. FMT's components less those of `simulation` / of `simulation_inverse`, in percent of the cycles:
""")
    page.table(["program", *COMPONENTS], [[n, *(differences(r, c) for c in COMPONENTS)] for n, r in runs.items()])
    page.text(f"""
Where branches are {percent(APART, 0)} or more apart: the same programs with all parts ideal, and with all but branches, in percent of the
cycles of the real run.
""")
    page.table(["program", "all ideal: CPI", "branches alone add", "FMT gives them"], [alone_row(study, n, programs[n], runs[n]) for n in apart])
    page.text("What is behind the larger errors:")
    most = max(runs, key=lambda n: runs[n].answer["overlap_share"])
    page.bullets(reason.format(most=most, share=fraction(runs[most].answer["overlap_share"])) for reason in REASONS)


def chain_by_hand(loads):
    """Cycles of a round of programs/chain.c as {component: cycles}: see the text of chain()."""
    base, waits, mispredictions, delay = (10 * loads + 9.5) / 4, 9 * loads, 0.5, 3
    return {"l1d": waits - base, "branch": mispredictions * delay, "base": base}


def chain(page, study):
    page.heading("A chain, by hand")
    page.text("""
What sets gzip apart can be worked out on a loop that is nothing else, `papers/programs/chain.c`: a chain of loads that all miss L1 and hit
L2, with ten instructions a load, as in gzip's search of earlier matches; and behind every few loads a branch on the last one's value, which goes
either way at random. On `asplos06` a load takes nine cycles, and its ten instructions are dispatched in two and a half. So
without misses a round takes what dispatch does: (10 loads + 9.5 instructions) / 4. With misses and no mispredictions it takes nine cycles a load,
since the next round's loads are in the reorder buffer long before. A misprediction, one in two rounds, adds three: the branch knows its
direction three cycles after the load's data; the right path is dispatched five later, and the next load, behind the loop's taken branch, one
more; it issues in the next cycle, and hits in two what the wrong path's had asked for meanwhile: 12 cycles in place of a miss's 9. These are the
columns *by hand*.
""")
    rows = []
    for loads in CHAINS:
        program = Program(f"chain{loads}", CORE, "", (study.compile(f"chain{loads}", "chain.c", "-O2", f"-DLOADS={loads}", isa="x86-64"),))
        made, hand = stacks(study.run(program, "methods", "--roi", "chase")), chain_by_hand(loads)
        rows.append([loads] + [percent(share) for c in ("base", "l1d", "branch")
                               for share in (hand[c] / sum(hand.values()), made["simulation"][c], made["FMT"][c])])
    page.table(["loads a branch"] + [f"{c}: {who}" for c in ("base", "l1d", "branch") for who in ("by hand", "simulation", "FMT")], rows)
    page.text("""
FMT gives a mispredicted branch all the time from its dispatch to the right path's, in which the reorder buffer is not full. Of two loads a
branch that is nearly all: the branch is dispatched a few cycles behind the round's first load, and what it waits for is the chain. That the chain
would have taken as long without the misprediction no counter can tell, as the buffer did not have the time to fill. It fills 40 to 50 cycles after a
recovery. From then on the loads get their due: six of nine cycles where the reference has six and a half, since the ten instructions commit
in three cycles, four, four and two; and the more loads there are a branch, the nearer FMT comes. The paper names loops with long chains and few other
instructions as exceptions, which its counters handle by the full buffer (sections 3 and 4.3); with frequent mispredictions they do not.
""")


def gzip_by_kind(page, study):
    """The same program on 40,000 bytes of different kinds, at two levels and back."""
    kinds = {
        "text": debian.text(40_000).encode(),
        "source": b"".join(path.read_bytes() for path in sorted((TOP / "papers/programs").glob("*.c"))),
        "program": Path("/usr/bin/gzip").read_bytes(),
        "sound": debian.tune(40_000),
        "picture": debian.film(96, 80, 16),
    }
    rows = []
    for kind, data in kinds.items():
        plain, packed = f"kind.{kind}", f"kind.{kind}.gz"
        (study.inputs / plain).write_bytes(data[:40_000])
        (study.inputs / packed).write_bytes(gzip.compress(data[:40_000], mtime=0))
        runs = [study.run(Program(f"gzip-{kind}", CORE, "", ("/usr/bin/gzip", how, "-c", file)), "methods")
                for how, file in (("-6", plain), ("-1", plain), ("-d", packed))]
        made = stacks(runs[0])
        rows.append([kind, f"{runs[0].answer['instructions'] / 1e6:.1f}", *(percent(made[m][c]) for c in ("l1d", "branch") for m in ("simulation", "FMT")),
                     *(percent(worst(run, "FMT")[0]) for run in runs)])
    page.text("""
How much of gzip is this loop depends on what it compresses: earlier matches are many in text, fewer in a program, and none in what does not
repeat; and on how: level 6, the default and that of the figures above, follows a chain for up to 128 matches, level 1 for 4, and unpacking for none.
40,000 bytes of each, at level 6, and the largest error of FMT at level 1 and when they are unpacked, too:
""")
    page.table(["kind", "million instructions", "l1d: simulation", "FMT", "branch: simulation", "FMT", "largest error of FMT", "at level 1", "unpacked"], rows)
    page.text("""
SPEC's gzip, which the paper runs, packs and unpacks a log, a source, a program, a picture and random bytes, each at several levels: of all
that, little is this loop.
""")


def differences(run, component):
    made = stacks(run)
    return " / ".join(f"{100 * (made['FMT'][component] - made[order][component]):+.1f}" for order in ORDERS)


def unbalanced(page, runs):
    page.heading(f"The same on `{UNBALANCED}`")
    page.text(f"""
Half of the programs, since a run is timed on a dozen cores at once, on a core that is not balanced as the paper understands it: schedulers,
registers and the store queue stop dispatch before the reorder buffer is full, and its caches prefetch. *L2* of the components is the last level here, so that hits in L2 and in the last level
count as L1 misses. `{VARIANT}` is FMT with one change: it takes the reorder buffer for full in every cycle in which something waits to be
dispatched and cannot be.
""")
    errors(page, runs, [*METHODS, VARIANT], UNBALANCED, f"The largest error of a component on {UNBALANCED}")
    page.text("The mean of each component over the programs, in percent of the cycles:")
    shown = ["simulation", "simulation_inverse", "FMT", "sFMT", VARIANT, "POWER5"]
    page.table(["method", *COMPONENTS], [[m, *(percent(mean(stacks(r)[m][c] for r in runs.values())) for c in COMPONENTS)] for m in shown])
    page.bullets(UNBALANCED_REASONS)


def table1(page, runs):
    page.heading("Table 1: front-end and long back-end penalties at once")
    page.table(["program", "overlap"], [[n, percent(r.answer["overlap_share"], 2)] for n, r in runs.items()])
    most = max(r.answer["overlap_share"] for r in runs.values())
    page.text(f"""
Cycles in which an instruction-side miss or a misprediction was being paid for and the reorder buffer was full behind a last-level or
TLB miss. In the paper they are at most 1% in most programs, and 5% in a couple; here at most {percent(most)}, more where a
mispredicted branch itself waits for the miss.
""")


def fill(page, study, sets):
    names = [p.name for p in sets[debian.CORE]]
    programs = {p.name: replace(p, core=CORE) for p in debian.programs(short=True) if p.name in names}
    others = {name: replace(p, core=UNBALANCED) for name, p in programs.items() if name in UNBALANCED_NAMES}
    runs, unbalanced_runs = ({n: study.run(p, "methods", *study.window) for n, p in each.items()} for each in (programs, others))
    counts = [run.answer["instructions"] / 1e6 for run in runs.values()]
    page.text(INTRODUCTION.format(least=min(counts), most=max(counts), sum=sum(counts)))
    if study.window:
        page.text(f"Of each program only {study.window[3]} instructions behind the first {study.window[1]} are counted; `make papers` counts them all.")
    figure_penalties(page, runs)
    figure11(page, runs)
    figure12(page, study, programs, runs)
    chain(page, study)
    gzip_by_kind(page, study)
    table1(page, runs)
    unbalanced(page, unbalanced_runs)
