"""TEA (Gottschall, Eeckhout, Jahre, ISCA 2023): figures 5 to 9, the figures in its text, and the storage of tables 1 and 2."""
import sqlite3
from statistics import mean, median

import plot
from page import percent

NAME = "tea"
TITLE = "TEA: time-proportional event analysis"
PERIOD = 20
METHODS = ["TEA", "NCI-TEA", "SPE", "IBS", "RIS"]
EVENTS = ["DR-L1", "DR-TLB", "DR-SQ", "FL-MB", "FL-EX", "FL-MO", "ST-L1", "ST-TLB", "ST-LLC"]
PAPER = {"TEA": (0.021, 0.077), "NCI-TEA": (0.113, 0.220), "SPE": (0.555, 0.797), "IBS": (0.556, 0.797), "RIS": (0.560, 0.797)}
STORAGE = {"TEA": 249, "TIP": 57, "IBS": 1, "SPE": 1, "RIS": 1}
MATTERS = 0.001                        # of a program's cycles: of less, what there is of an event is what comes of starting it
TOP = {"skylake-sp": ["gzip", "sort", "glpsol", "perl"], "boom": ["sparse", "graph", "join", "dense"]}

INTRODUCTION = """
Gottschall, Eeckhout, Jahre: *TEA: Time-Proportional Event Analysis*, ISCA 2023. The paper runs SPEC CPU2017 with reference inputs on
an FPGA model of BOOM. Here are free programs, in two sets that are never mixed: Debian's binaries on the core `skylake-sp`, and
programs written here (`papers/programs`), compiled for RV64GC, on `boom`, the paper's core. All methods see the same run, and those
that sample cycles sample the same cycles; an error is the share of all cycles that a profile puts on the wrong instruction or the
wrong combination of events, the exact stacks being reduced to what the method's hardware knows.

The paper samples once in 800,000 cycles of runs of minutes; these runs are of five to ninety million cycles, so the mean period is {period}
cycles. What counts is the number of samples, which the tables give, with what as many samples drawn at random would be wrong by luck.
"""

DIFFERENCES = {
    "figure 5": """
The order is the paper's: TEA, then NCI-TEA, then what tags in the front end. TEA's error is that of its number of samples, below the column *by
luck* since one sample of a commit cycle is shared by all that commit in it. NCI-TEA is further off than the paper's {nci}, for two reasons:
it gives a cycle in which several instructions commit to the first of them, which is far off in short loops where the same ones always commit
together (motion, match); and it gives what a mispredicted branch costs to the instruction behind it (vm, an
indirect jump an operation). The paper's runs wait for memory more. RIS is worse than IBS and SPE by more than in the paper, as what it tags
at fetch stands behind all that waits in the front end's queues as well.""",
    "figure 6": """
As in the paper, TEA's stacks are those of the exact profile; IBS has some of the costliest instructions too low and others too high, since it tags
what is dispatched while they stall.""",
    "figure 7": """
A program counts for an event where at least 0.1% of its cycles have it; below each event stands how many do. On `skylake-sp` it is as in the
paper: flushes (FL-MB, FL-EX) tell their cost, caches and TLBs tell it moderately, and DR-SQ tells it least, in some programs and not at all in
others. Other than in the paper ST-LLC tells it less than ST-L1: the data of most programs fit the last level, and what misses it is the
dynamic loader at work, in relocations, which are read one behind the other and cost some ten cycles each, and in symbol tables, which cost
some hundred and fifty. In sort, whose data do not fit, it is 0.87, and 0.96 on `boom`, whose programs are linked statically. There, three
programs fill the store queue, each in one place, and tell its cost by the number; none traps or violates the order of memory often enough.""",
    "figure 8": """
As in the paper, the others' errors level off at what is wrong with the method, however many samples there are, and TEA's goes on falling. To the
right all have too few samples. SPE and IBS tag the same instructions and differ in events that hardly matter here: their lines are one.""",
    "figure 9": """
As in the paper TEA is the most accurate at both, and coarser units help the others less than one might hope. They help more here than there:
programs of few hot functions leave little that could be moved between functions.""",
    "text": """
Combined events are fewer than in the paper, whose programs have data sets far larger than caches and TLBs; the programs here that scatter their
loads (join, graph, sparse) come near it or pass it. Stalls without an event are longer: what is long here are divisions, which TEA has no event for
(some 12 cycles on `skylake-sp`; BOOM's divider takes a bit a cycle), and loads that wait for an older store's data.""",
}


def methods(study, programs):
    """{name: Run} of the set."""
    return {p.name: study.run(p, "methods", "--period", PERIOD, "--sweep-period", "--no-simulation", *study.window, profile=True)
            for p in programs}


def errors(run, grain="instruction"):
    return {row["method"]: row["error"][grain] for row in run.answer["sampling"]}


def of_tea(run, what):
    return next(row[what] for row in run.answer["sampling"] if row["method"] == "TEA")


def figure5(page, core, programs, runs):
    names = list(runs)
    page.figure(f"figure5-{core}", f"Figure 5 on {core}: error by program and method", plot.grouped(
        names + ["mean"], {m: [*(errors(runs[n])[m] for n in names), mean(errors(r)[m] for r in runs.values())] for m in METHODS},
        "error, instructions"))
    stresses = {p.name: p.stresses for p in programs}
    page.table(["program", "instructions", "cycles", "samples", "by luck", *METHODS, "stresses"],
               [[n, f"{r.answer['instructions']:,}", f"{r.answer['cycles']:,.0f}", f"{of_tea(r, 'samples'):,}", percent(of_tea(r, "sampling_error")),
                 *(percent(errors(r)[m]) for m in METHODS), stresses[n]] for n, r in runs.items()])


def against_paper(page, all_runs):
    rows = []
    for m in METHODS:
        row = [m, *map(percent, PAPER[m])]
        for runs in all_runs.values():
            mine = [errors(r)[m] for r in runs.values()]
            row += [percent(mean(mine)), percent(max(mine))]
        rows.append(row)
    page.table(["method", "paper: mean", "worst", *(w for core in all_runs for w in (f"{core}: mean", "worst"))], rows)


def component(signature):
    return "+".join(e for i, e in enumerate(EVENTS) if signature >> i & 1) or "Base"


def stacks(run):
    """The three costliest instructions: [(text, {"IBS", "TEA", "exact": {component: share of all cycles}})]."""
    db = sqlite3.connect(f"file:{run.profile}?mode=ro", uri=True)
    tables = {"exact": "SELECT insn, signature, units FROM cycles"}
    tables |= {m: f"SELECT insn, signature, weight FROM sample WHERE method = '{m}'" for m in ("IBS", "TEA")}
    rows = {name: db.execute(query).fetchall() for name, query in tables.items()}
    top = [insn for insn, in db.execute("SELECT insn FROM cycles GROUP BY insn ORDER BY sum(units) DESC, insn LIMIT 3")]
    out = []
    for insn in top:
        made = {}
        for name in ("IBS", "TEA", "exact"):
            total, stack = sum(r[2] for r in rows[name]), {}
            for _, signature, units in (r for r in rows[name] if r[0] == insn):
                stack[component(signature)] = stack.get(component(signature), 0) + units / total
            made[name] = dict(sorted(stack.items()))
        out.append((" ".join(db.execute("SELECT disassembly FROM insn WHERE insn = ?", (insn,)).fetchone()[0].split()), made))
    db.close()
    return out


def figure6(page, core, runs):
    found = {name: stacks(runs[name]) for name in TOP[core] if name in runs}
    if not found:
        return
    page.figure(f"figure6-{core}", f"Figure 6 on {core}: the three costliest instructions of some programs, as IBS and TEA have them and exactly",
                plot.panels([(name, [(str(rank), list(made.items())) for rank, (_, made) in enumerate(top, 1)]) for name, top in found.items()],
                            "share of all cycles"))
    page.table(["", "instruction", "exactly", "TEA", "IBS"],
               [[f"{name} {rank}", f"`{text}`", *(percent(sum(made[m].values())) for m in ("exact", "TEA", "IBS"))]
                for name, top in found.items() for rank, (text, made) in enumerate(top, 1)])


def shares(run):
    """{event: share of all cycles that have it}."""
    db = sqlite3.connect(f"file:{run.profile}?mode=ro", uri=True)
    rows = db.execute("SELECT signature, sum(units) FROM cycles GROUP BY signature").fetchall()
    db.close()
    return {e: sum(u for s, u in rows if s >> i & 1) / sum(u for _, u in rows) for i, e in enumerate(EVENTS)}


def correlations(runs):
    """{event: [r, a program in which it matters]}."""
    matters = {name: shares(run) for name, run in runs.items()}
    return {e: [r.answer["event_correlation"][e] for name, r in runs.items()
                if r.answer["event_correlation"][e] is not None and matters[name][e] >= MATTERS] for e in EVENTS}


def sweep(runs):
    """{method: [(period, mean error over the programs)]}, at periods that all programs were swept at."""
    table = {}
    for r in runs.values():
        for row in [*r.answer["sampling"], *r.answer["sweep"]]:
            if row["method"] in METHODS:
                table.setdefault(row["method"], {}).setdefault(row["period"], []).append(row["error"]["instruction"])
    return {m: [(p, mean(v)) for p, v in sorted(table[m].items()) if len(v) == len(runs)] for m in METHODS}


def figures(study, runs):
    return {"events that are combined": mean(r.answer["combined_share"] for r in runs.values()),
            "99% of stalls without event, cycles": (median(r.answer["eventless_stall_p99"] for r in runs.values()))}


def fill(page, study, sets):
    page.text(INTRODUCTION.format(period=PERIOD))
    if study.window:
        page.text("To make this page faster, only {1:,} instructions of each program were counted, after {0:,} that warmed the core; "
                  "`make papers` counts them all.".format(int(study.window[1]), int(study.window[3])))
    all_runs = {core: methods(study, programs) for core, programs in sets.items()}

    page.heading("Figure 5: who is how wrong")
    against_paper(page, all_runs)
    page.text(DIFFERENCES["figure 5"].format(nci=percent(PAPER["NCI-TEA"][0])))
    for core, runs in all_runs.items():
        page.text(f"On `{core}`:")
        figure5(page, core, sets[core], runs)

    page.heading("Figure 6: the costliest instructions")
    for core, runs in all_runs.items():
        figure6(page, core, runs)
    page.text(DIFFERENCES["figure 6"])

    page.heading("Figure 7: does the number of events tell their cost?")
    for core, runs in all_runs.items():
        page.figure(f"figure7-{core}", f"Figure 7 on {core}: correlation of the number of events with the cycles they cost", plot.boxes(
            correlations(runs), "Pearson's r over instructions"))
    found = [correlations(runs) for runs in all_runs.values()]
    page.table(["event, median", *all_runs], [[e, *(f"{median(f[e]):.2f}" if f[e] else "-" for f in found)] for e in EVENTS])
    page.text(DIFFERENCES["figure 7"])

    page.heading("Figure 8: error and sampling period")
    for core, runs in all_runs.items():
        page.figure(f"figure8-{core}", f"Figure 8 on {core}: mean error by sampling period", plot.lines(
            sweep(runs), "mean period, cycles", "error, instructions"))
    page.text(DIFFERENCES["figure 8"])

    page.heading("Figure 9: instructions and functions")
    for core, runs in all_runs.items():
        page.figure(f"figure9-{core}", f"Figure 9 on {core}: mean error by instruction and by function", plot.grouped(
            METHODS, {g: [mean(errors(r, g)[m] for r in runs.values()) for m in METHODS] for g in ("instruction", "function")}, "mean error"))
    page.text(DIFFERENCES["figure 9"])

    page.heading("Figures of the text")
    mine = {core: figures(study, runs) for core, runs in all_runs.items()}
    page.table(["", "paper", *all_runs],
               [["executions with an event that met several", "30.0%", *(percent(m["events that are combined"]) for m in mine.values())],
                ["99% of the stalls without an event are shorter than, cycles", "5.8",
                 *(f"{m['99% of stalls without event, cycles']:g}" for m in mine.values())]])
    page.text(DIFFERENCES["text"])

    page.heading("Storage")
    bytes_of = study.storage("boom")
    page.table(["method", "paper: bytes", "`cyclewise cost --core boom`"], [[m, STORAGE[m], bytes_of[m]] for m in STORAGE])
