"""What the pages are made from: programs, and runs of cyclewise on them.

A run is kept in the build directory under a hash of all that determines it (cyclewise, its data, the command line, the program
and its input), so that several pages can ask for the same one, and an interrupted `make papers` goes on where it was.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
COMPILERS = {"x86-64": "gcc", "riscv64": "riscv64-linux-gnu-gcc"}


class Failed(Exception):
    """A run that did not give an answer; its text says which and why."""


@dataclass(frozen=True)
class Program:
    """A program to study. Names of files are relative to the folder of inputs, in which it runs; those that it writes begin with "out."."""
    name: str
    core: str
    stresses: str
    command: tuple
    stdin: str = None              # a file; None: nothing to read


@dataclass(frozen=True)
class Run:
    """`answer`: what --json says. `profile`: the profile file (SQLite), of commands that write one."""
    answer: dict
    profile: Path


def digest(*paths):
    """Of the contents of files, and of folders' files in the order of their names."""
    out = hashlib.sha256()
    for path in paths:
        for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
            out.update(f"{file.name} {file.stat().st_size}\n".encode())
            out.update(file.read_bytes())
    return out.hexdigest()[:16]


class Study:
    """`window`: options that shorten runs of whole programs, none to count them in full; pages that shorten say so."""

    def __init__(self, build, window=None):
        self.cyclewise = build / "cyclewise"
        self.figures = build / "papers"
        self.inputs = self.figures / "inputs"
        self.kept = self.figures / "runs"
        self.model = digest(self.cyclewise, *sorted((build / "src/plugin").glob("*.so")), TOP / "data")
        self.commit = subprocess.run(["git", "log", "-1", "--format=%h", "--", "src", "data"], cwd=TOP, capture_output=True,
                                     text=True).stdout.strip() or "unknown"
        self.window = ["--skip", window[0], "--count", window[1]] if window else []
        self.environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}
        for folder in (self.inputs, self.kept):
            folder.mkdir(parents=True, exist_ok=True)

    def compile(self, name, source, *flags, isa="riscv64"):
        """Builds papers/programs/SOURCE as inputs/NAME, statically linked; its path as a program's command has it."""
        command = [COMPILERS[isa], "-static", "-g", *flags, "-o", str(self.inputs / name), str(TOP / "papers/programs" / source), "-lm"]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode:
            raise Failed(f"{' '.join(command)}: {built.stderr}")
        return f"./{name}"

    def run(self, program, command, *options, profile=False):
        """`cyclewise COMMAND OPTIONS -- PROGRAM`, or the kept outcome of the same."""
        options = ["--core", program.core, *map(str, options)]
        key = self._key(program, command, options, profile)
        folder = self.kept / f"{program.name}-{key}"
        if not (folder / "answer.json").exists():
            self._fill(folder, program, command, options, profile)
        return Run(json.loads((folder / "answer.json").read_text()), folder / "profile.cw")

    def storage(self, core):
        """{method: bytes of its hardware}."""
        said = subprocess.run([str(self.cyclewise), "cost", "--core", core, "--json"], capture_output=True, text=True, check=True).stdout
        return {row["method"]: row["bytes"] for row in json.loads(said)["storage"]}

    def _key(self, program, command, options, profile):
        named = [self.inputs / word for word in (*program.command, program.stdin or "")
                 if word and not word.startswith("out.") and (self.inputs / word).is_file()]
        if not (self.inputs / program.command[0]).exists():
            raise Failed(f"{program.command[0]} is not installed: scripts/setup build run test bench papers")
        what = [self.model, command, options, profile, program.command, program.stdin, digest(*named)]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]

    def _fill(self, folder, program, command, options, profile):
        print(f"{command} {' '.join(options)}: {program.name}", file=sys.stderr, flush=True)
        made = folder.with_suffix(".new")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        if profile:
            options = [*options, "-o", str(made / "profile.cw")]
        # Output goes into a file, since programs (grep) do less where they see that nobody reads it.
        with open(self.inputs / program.stdin if program.stdin else os.devnull, "rb") as source, open(made / "output", "wb") as output:
            done = subprocess.run([str(self.cyclewise), command, "--no-progress", "-q", f"--json={made / 'answer.json'}", *options, "--",
                                   *program.command], cwd=self.inputs, env=self.environment, stdin=source,
                                  stdout=output, stderr=subprocess.PIPE, text=True, errors="replace")
        (made / "output").unlink()
        if done.returncode not in (0, 10, 20):  # a solver's way to say yes or no
            raise Failed(f"{program.name} under cyclewise {command}: status {done.returncode}: {done.stderr[-500:]}")
        made.rename(folder)
