#!/usr/bin/env python3
"""What `make papers` and `make accuracy` run for many minutes is not tried by any other test: here each of their files is
loaded, and every name that its code uses, its own or another file's, must be there. TAP.

usage: tests/docs/scripts.py
"""
import builtins
import dis
import importlib
import sys
from pathlib import Path
from types import CodeType, ModuleType
from unittest.mock import MagicMock

TOP = Path(__file__).resolve().parent.parent.parent
SCRIPTS = sorted([*TOP.glob("papers/*.py"), *TOP.glob("accuracy/*.py")])
DRAWS = ("matplotlib", "matplotlib.pyplot", "matplotlib.ticker")  # needed by `make papers` alone


def instructions(code):
    """Of a code object and all within it, as pairs of neighbours."""
    listed = list(dis.get_instructions(code))
    yield from zip(listed, [*listed[1:], None])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from instructions(constant)


def unknown(module, path):
    """Names that the file uses and that nobody defines."""
    names = vars(module)
    for this, following in instructions(compile(path.read_text(), str(path), "exec")):
        if this.opname != "LOAD_GLOBAL": # what is outside functions has run
            continue
        if this.argval not in names and not hasattr(builtins, this.argval):
            yield this.argval
        elif isinstance(names.get(this.argval), ModuleType) and following.opname in ("LOAD_ATTR", "LOAD_METHOD") \
                and not hasattr(names[this.argval], following.argval):
            yield f"{this.argval}.{following.argval}"


def main():
    print(f"1..{len(SCRIPTS)}")
    sys.path[:0] = [str(TOP / "papers"), str(TOP / "accuracy")]
    sys.modules.update({name: MagicMock() for name in DRAWS})
    failed = False
    for number, path in enumerate(SCRIPTS, 1):
        try:
            wrong = sorted(set(unknown(importlib.import_module(path.stem), path)))
        except (ImportError, AttributeError, NameError, SyntaxError) as error:
            wrong = [str(error)]
        failed |= bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {path.relative_to(TOP)} uses names that are there")
        for name in wrong:
            print(f"# {name}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
