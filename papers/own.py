"""Programs written here (programs/), compiled for RV64GC: the set reported for `boom`, for which Debian 12 has no programs.

They stress what the Debian programs do, at 10 to 40 million instructions.
"""
from study import Program

CORE = "boom"
STRESSES = {
    "lz": "compression: hash chains, literal bytes",
    "vm": "an interpreter: an indirect jump an operation",
    "compile": "a compiler: recursion, trees",
    "four": "chess-like search: bits, a table, unpredictable branches",
    "flood": "Go: flood fill",
    "motion": "video: motion search, transforms",
    "join": "SQL: hash join, sorting, binary search",
    "match": "regular expressions: backtracking",
    "order": "sorting strings through pointers",
    "sparse": "sparse linear algebra: gathers",
    "dense": "dense linear algebra: tiles, elimination",
    "graph": "a graph walk: scattered loads, a heap",
}


def programs(study):
    return [Program(name, CORE, stresses, (study.compile(name, f"{name}.c", "-O2"),)) for name, stresses in STRESSES.items()]
