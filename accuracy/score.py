"""Figures of a set of cases under a timing model: mean absolute percentage error, Kendall's tau, the largest errors. Noisy and failed ones apart."""
from dataclasses import dataclass


def order(pairs):
    """How far y orders (x, y) pairs as x does: Kendall's tau-b, and the share of any two that it does; None where there is nothing to order."""
    agree = differ = tied_x = tied_y = 0
    for i, (x, y) in enumerate(pairs):
        for u, v in pairs[:i]:
            a, b = (x > u) - (x < u), (y > v) - (y < v)
            if a and b:
                agree += a == b
                differ += a != b
            else:
                tied_x += not a and bool(b)
                tied_y += not b and bool(a)
    below = ((agree + differ + tied_x) * (agree + differ + tied_y)) ** 0.5
    return ((agree - differ) / below, agree / (agree + differ)) if below and agree + differ else (None, None)


@dataclass
class Score:
    cases: int                     # that count
    noisy: int
    failed: int
    error: float                   # mean of |error|; None without cases
    bias: float                    # mean of error
    within: float                  # share of the cases within 10%
    tau: float
    ordered: float                 # share of any two cases that the model has in their order


def score(cases, model):
    good = [c for c in cases if c.counts_for(model)]
    errors = [c.error(model) for c in good]

    tau, ordered = order([(c.native, c.cycles[model]) for c in good])

    def mean(values):
        return sum(values) / len(values) if values else None

    return Score(cases=len(good), noisy=sum(not c.failed and c.noisy for c in cases), failed=sum(bool(c.failed) for c in cases),
                 error=mean([abs(e) for e in errors]), bias=mean(errors), within=mean([abs(e) <= 0.1 for e in errors]),
                 tau=tau, ordered=ordered)


def sets(cases):
    """(title, cases) of all that is reported: each group, its levels, what they are together, in the order of the suite."""
    kernels = [c for c in cases if c.group == "kernels"]
    out = []
    if kernels:
        out.append(("kernels in L1 and L2", [c for c in kernels if c.level in ("L1", "L2")]))
        out += [(f"kernels in {level}", [c for c in kernels if c.level == level]) for level in ("L1", "L2", "L3", "memory")]
        variants = dict.fromkeys(c.name.split("/")[1] for c in kernels)
        out += [(f"kernels, {variant}", [c for c in kernels if c.name.split("/")[1] == variant]) for variant in variants]
        out.append(("kernels, all", kernels))
    for group, title in (("blocks", "basic blocks"), ("programs", "whole programs")):
        chosen = [c for c in cases if c.group == group]
        if chosen:
            out.append((title, chosen))
    return [(title, chosen) for title, chosen in out if chosen]
