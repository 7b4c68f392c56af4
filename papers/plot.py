"""Figures as SVG text, the same bytes from the same numbers: no date, a fixed salt for ids, text as text.

Values whose axis is a share of something are fractions, and are labelled in percent.
"""
import io

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import NullFormatter, NullLocator, PercentFormatter  # noqa: E402

plt.rcParams.update({"svg.hashsalt": "cyclewise", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False,
                     "axes.spines.right": False, "axes.axisbelow": True, "legend.frameon": False})

# Of a colour scheme that readers with colour vision deficiencies can tell apart (Okabe and Ito), and more for long legends.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#6F4E37", "#A6D854", "#B3B3E6", "#000000"]
NEUTRAL = {"Base": "#BBBBBB", "base": "#BBBBBB", "others": "#666666"}
MARKERS = "os^vD"
SMALL = 0.01                           # of the tallest stack: what is nowhere larger is "others"
WIDTH = 7.2                            # inches


def _svg(figure):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _style(axes, ylabel, share):
    axes.set_ylabel(ylabel)
    axes.grid(axis="y", linewidth=0.4)
    if share:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _axes(ylabel, share, height=2.6):
    figure, axes = plt.subplots(figsize=(WIDTH, height))
    _style(axes, ylabel, share)
    return figure, axes


def _legend(axes, columns):
    axes.legend(ncol=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.4, handlelength=1.4)


def _names(axes, names):
    if max(map(len, names)) > 8 or len(names) > 9:
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticks(range(len(names)), names)


def grouped(labels, series, ylabel, share=True):
    """Bars side by side. `series`: {name: [a value a label]}; None leaves a gap."""
    figure, axes = _axes(ylabel, share)
    width = 0.8 / len(series)
    for i, (name, values) in enumerate(series.items()):
        axes.bar([x - 0.4 + (i + 0.5) * width for x in range(len(labels))], [v or 0 for v in values], width, label=name, color=COLOURS[i])
    axes.set_xlim(-0.6, len(labels) - 0.4)
    _names(axes, labels)
    _legend(axes, min(len(series), 7))
    return _svg(figure)


def _merged(groups):
    """The same groups, with components that are small everywhere as one, last."""
    stacks = [stack for _, group in groups for _, stack in group]
    least = SMALL * max(sum(max(v, 0) for v in stack.values()) for stack in stacks)
    large = {c for stack in stacks for c, v in stack.items() if abs(v) >= least and c != "others"}

    def merge(stack):
        rest = sum(v for c, v in stack.items() if c not in large)
        return {c: v for c, v in stack.items() if c in large} | ({"others": rest} if rest else {})

    return [(name, [(label, merge(stack)) for label, stack in group]) for name, group in groups]


def _colour(colours, component):
    if component not in colours:
        colours[component] = NEUTRAL.get(component) or COLOURS[sum(c not in NEUTRAL for c in colours)]
    return colours[component]


def _over(axes, x, above, highest):
    """How high a stack is that leaves the axes."""
    axes.annotate(f"{above:.0%}", (x, highest), (0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=6, rotation=90)


def _stacks(axes, groups, colours, highest=None):
    """Draws the groups, one beside the other; their names below the labels."""
    ticks, labels, x = [], [], 0
    deepest = max(len(label) for _, stacks in groups for label, _ in stacks)
    for group, stacks in groups:
        start = x
        for label, stack in stacks:
            above = below = 0
            for component, value in stack.items():
                axes.bar(x, value, 0.8, bottom=above if value >= 0 else below, color=_colour(colours, component))
                above, below = above + max(value, 0), below + min(value, 0)
            if highest and above > highest:
                _over(axes, x, above, highest)
            ticks.append(x)
            labels.append(label)
            x += 1
        axes.annotate(group, ((start + x - 1) / 2, 0), (0, -10 - 5 * deepest), xycoords=("data", "axes fraction"),
                      textcoords="offset points", ha="center", va="top")
        x += 0.7
    axes.set_xticks(ticks, labels, rotation=90)
    axes.set_xlim(-0.8, x - 0.9)


def _colour_legend(anchor, colours, columns=6, **where):
    order = sorted(colours, key=lambda c: (c == "others", c not in NEUTRAL))
    rows = -(-len(order) // columns)
    anchor.legend([plt.Rectangle((0, 0), 1, 1, color=colours[c]) for c in order], order, ncol=-(-len(order) // rows), loc="lower center",
                  columnspacing=1.4, handlelength=1.4, **where)


def stacked(groups, ylabel, columns=6, limits=None, order=()):
    """
    Stacks in groups, shares. `groups`: [(group, [(label, {component: value})])]; a component has one colour all over; values may be
    negative. `limits`: lowest and highest value shown; on a stack that is higher stands how high it is. `order`: components in the
    order of their colours, so that they are the same in several figures.
    """
    figure, axes = _axes(ylabel, True, height=3)
    colours = {}
    for component in order:
        _colour(colours, component)
    _stacks(axes, _merged(groups), colours, limits and limits[1])
    if limits:
        axes.set_ylim(*limits)
    axes.axhline(0, color="black", linewidth=0.6)
    _colour_legend(axes, colours, columns, bbox_to_anchor=(0.5, 1.09 if limits else 1.0))
    return _svg(figure)


def panels(named, ylabel, columns=5):
    """Stacks as of stacked(), each set in a panel with a scale of its own. `named`: [(title, groups)]."""
    rows = (len(named) + 1) // 2
    figure, grid = plt.subplots(rows, 2, figsize=(WIDTH, 2.1 * rows), squeeze=False)
    figure.subplots_adjust(hspace=0.75, wspace=0.2)
    colours = {}
    for axes in grid.flat[len(named):]:
        axes.set_visible(False)
    for at, (axes, (title, groups)) in enumerate(zip(grid.flat, named)):
        _style(axes, "" if at % 2 else ylabel, True)
        _stacks(axes, _merged(groups), colours)
        axes.set_title(title, fontsize=8)
    _colour_legend(figure, colours, columns, bbox_to_anchor=(0.5, 0.93))
    return _svg(figure)


def boxes(series, ylabel):
    """
    Box plots: median, quartiles, whiskers to the extremes, and a dot a value. `series`: {label: [values]}, below which stands how
    many there are; empty ones are left empty.
    """
    figure, axes = _axes(ylabel, False)
    axes.boxplot(list(series.values()), whis=(0, 100), widths=0.5, medianprops={"color": COLOURS[3]})
    for at, values in enumerate(series.values(), 1):
        axes.plot([at] * len(values), values, "o", markersize=2.5, color=COLOURS[0], alpha=0.6)
    axes.set_ylim(min(-0.05, min((v for values in series.values() for v in values), default=0) - 0.05), 1.05)
    axes.set_xticks(range(1, len(series) + 1), [f"{label}\n{len(values)}" for label, values in series.items()])
    return _svg(figure)


def lines(series, xlabel, ylabel):
    """Shares over a logarithmic axis. `series`: {name: [(x, y)]}, all at the same x; the first names' lines are drawn over the last ones'."""
    figure, axes = _axes(ylabel, True)
    for i, (name, points) in enumerate(series.items()):
        axes.plot(*zip(*points), marker=MARKERS[i % len(MARKERS)], markersize=4, linewidth=1, linestyle="--" if i % 2 else "-", label=name,
                  color=COLOURS[i], zorder=3 - i / 10)
    axes.set_xscale("log", base=2)
    xs = sorted({x for points in series.values() for x, _ in points})
    xs = xs[::-(-len(xs) // 10)]
    axes.set_xticks(xs, [f"{x:,}" for x in xs])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(xlabel)
    axes.set_ylim(bottom=0)
    _legend(axes, min(len(series), 7))
    return _svg(figure)
