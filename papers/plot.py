"""Figures as SVG text, the same bytes from the same numbers: no date, a fixed salt for ids, text as paths of the library's own font."""
import io

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

plt.rcParams.update({"svg.hashsalt": "cyclewise", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False,
                     "axes.spines.right": False, "axes.axisbelow": True, "legend.frameon": False})

# Of a colour scheme that readers with colour vision deficiencies can tell apart (Okabe and Ito), and greys.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000", "#999999", "#6F4E37", "#A6D854", "#B3B3E6"]


def _svg(figure):
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _axes(ylabel, width=7.2, height=2.6):
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_ylabel(ylabel)
    axes.grid(axis="y", linewidth=0.4)
    return figure, axes


def _legend(axes, columns):
    axes.legend(ncol=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def grouped(labels, series, ylabel):
    """Bars side by side. `series`: {name: [a value a label]}; None leaves a gap."""
    figure, axes = _axes(ylabel)
    width = 0.8 / len(series)
    for i, (name, values) in enumerate(series.items()):
        axes.bar([x - 0.4 + (i + 0.5) * width for x in range(len(labels))], [v or 0 for v in values], width, label=name, color=COLOURS[i])
    axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
    _legend(axes, min(len(series), 7))
    return _svg(figure)


def stacked(groups, ylabel):
    """Stacks in groups. `groups`: [(group, [(label, {component: value})])]; a component has one colour all over; values may be negative."""
    figure, axes = _axes(ylabel, height=3)
    colours, ticks, labels, x = {}, [], [], 0
    for group, stacks in groups:
        start = x
        for label, stack in stacks:
            above = below = 0
            for component, value in stack.items():
                colour = colours.setdefault(component, COLOURS[len(colours) % len(COLOURS)])
                first = component not in axes.get_legend_handles_labels()[1]
                axes.bar(x, value, 0.8, bottom=above if value >= 0 else below, color=colour, label=component if first else None)
                above, below = above + max(value, 0), below + min(value, 0)
            ticks.append(x)
            labels.append(label)
            x += 1
        axes.text((start + x - 1) / 2, -0.32, group, ha="center", va="top", transform=axes.get_xaxis_transform())
        x += 0.7
    axes.set_xticks(ticks, labels, rotation=90)
    _legend(axes, 6)
    return _svg(figure)


def boxes(series, ylabel):
    """Box plots: median, quartiles, whiskers to the extremes. `series`: {label: [values]}; empty ones are left empty."""
    figure, axes = _axes(ylabel)
    axes.boxplot(list(series.values()), whis=(0, 100), widths=0.5, medianprops={"color": COLOURS[3]})
    axes.set_xticks(range(1, len(series) + 1), [f"{label}\n{len(values)}" for label, values in series.items()])
    return _svg(figure)


def lines(series, xlabel, ylabel, xlog=False):
    """`series`: {name: [(x, y)]}."""
    figure, axes = _axes(ylabel)
    for i, (name, points) in enumerate(series.items()):
        axes.plot(*zip(*points), marker="o", markersize=3, linewidth=1, label=name, color=COLOURS[i])
    if xlog:
        axes.set_xscale("log", base=2)
    axes.set_xlabel(xlabel)
    axes.set_ylim(bottom=0)
    _legend(axes, min(len(series), 7))
    return _svg(figure)
