"""For which models results were made: the fingerprints of tests/fingerprints, the cycles that a core makes of recorded streams.

A fingerprint is a hash of a table's columns of one model, so that results of one model hold whatever happens to the other.
"""
import hashlib
import os
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FOLDER = TOP / "tests/fingerprints"
COLUMNS = {"ooo": (2, 3), "abstract": (4,)}  # of a table's lines


def digest(table, model):
    """Of a table of tests/fingerprints/tables as text."""
    rows = [line.split("\t") for line in table.splitlines()]
    chosen = "\n".join("\t".join(row[i] for i in (0, 1, *COLUMNS[model])) for row in rows)
    return hashlib.sha256(chosen.encode()).hexdigest()[:16]


def table(build, core):
    """What the build's models make of the streams on the core, a name or a file."""
    streams = sorted(FOLDER.glob("streams/*/*.steps"))
    path = TOP / core if (TOP / core).is_file() else core
    done = subprocess.run([str(part) for part in (build / "tests/fingerprints/fingerprint", path, *streams)], check=True, capture_output=True,
                          text=True, env=dict(os.environ, CYCLEWISE_DATA=str(TOP / "data")))
    return "stream\tinstructions\tooo\tooo-full\tabstract\n" + done.stdout


def present(about):
    """The table that is kept of the core that results are of; None where none is."""
    core = Path(about["core"])
    path = FOLDER / "tables" / f"{core.parent.name if core.suffix else core.name}.tsv"
    return path.read_text() if path.exists() else None


def stale(about):
    """The models that have changed since results with these lines at their head were made."""
    kept = present(about)
    return [model for model in COLUMNS if not kept or about.get(f"fingerprint of {model}") != digest(kept, model)]
