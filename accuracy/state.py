"""What determines the models' cycles, as hashes: whether results belong to the present tree, and if not, what has changed.

Parts: the detailed timing model with what both share (src/core, but for the abstract one's own files, and those that vary a
core for the sensitivity), the abstract one's own, what instructions are (src/isa), what the core's description and its parents
come to, with the cost files that hold, and the suite's own kernels, blocks and inputs.
"""
import hashlib
import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
COMMENT = re.compile(rb"^\s*#.*\n", re.MULTILINE)  # of descriptions: where figures are from, which decides nothing
READ = {".c", ".h", ".cc", ".txt"}
ABSTRACT = "abstract"  # files of src/core whose names begin so are the abstract model's own
VARIANTS = "vary"      # make another core of one, or other code: of no account to a core as it is described
SAID = {"core.title", "core.source", "core.inherit", "core.costs"}  # of a description; of the files that are named, the contents count
SUITE = ["accuracy/kernels", "accuracy/blocks", "accuracy/programs.py", "accuracy/kernels.py", "accuracy/blocks.py", "include/cyclewise.h"]


def digest(paths, ignored=None):
    """Of names and contents but for what is ignored, in the order of the names."""
    out = hashlib.sha256()
    for path in sorted(paths):
        content = ignored.sub(b"", path.read_bytes()) if ignored else path.read_bytes()
        out.update(f"{path.relative_to(TOP) if path.is_relative_to(TOP) else path.name} {len(content)}\n".encode())
        out.update(content)
    return out.hexdigest()[:16]


def sources(names):
    """All files at the names, folders with what is in them, that are compiled or read: no build files, no caches."""
    found = []
    for name in names:
        path = TOP / name
        found += [p for p in path.rglob("*") if p.suffix in READ] if path.is_dir() else [path]
    return found


def cost_files(path):
    """A cost file, and those that it inherits from."""
    parents = re.findall(r"^\s*inherit\s*=\s*(\S+)", path.read_text(), re.MULTILINE)
    return [path] + [file for parent in parents for file in cost_files((path.parent / parent).resolve())]


def core_files(core, costs_said=False):
    """The description of a core, and its parents'; the cost file that it names, else the nearest parent that does, with that file's parents."""
    path = TOP / core if "/" in core or core.endswith(".core") else TOP / "data/cores" / f"{core}.core"
    said = dict(re.findall(r"^\s*(inherit|costs)\s*=\s*(\S+)", path.read_text(), re.MULTILINE))
    found = [path]
    if "costs" in said and not costs_said:
        found += cost_files(path.parent / said["costs"])
    if "inherit" in said:
        found += core_files(said["inherit"], costs_said or "costs" in said)
    return found


def settings(files):
    """What descriptions, a child's before its parents', come to: lines `section.key = value`, in order, but for defaults and what decides nothing."""
    parameters = re.findall(r"X\((\w+)(?:##n)?, (\w+), (\d+),", (TOP / "src/core/params.h").read_text())
    defaults = {f"{section}.{key}": value for section, key, value in parameters}
    found = {}
    for path in files:
        section = ""
        for line in COMMENT.sub(b"", path.read_bytes()).decode().replace("\n\t", " ").splitlines():
            if line.startswith("["):
                section = line.strip("[] ")
            elif "=" in line:
                key, value = (part.strip() for part in line.split("=", 1))
                found.setdefault(f"{section}.{key}", value)
    return [f"{key} = {value}" for key, value in sorted(found.items())
            if key not in SAID and value != defaults.get(re.sub(r"^sched\d", "sched", key))]


def description(core):
    """Of a core: what it and its parents come to, and their cost files. A parent may change in what the child says otherwise."""
    files = core_files(core)
    lines = settings([path for path in files if path.suffix == ".core"])
    costs = digest({path for path in files if path.suffix != ".core"}, ignored=COMMENT)
    return hashlib.sha256("\n".join([*lines, costs]).encode()).hexdigest()[:16]


def state(core):
    """{part: hash} of the present tree with a core."""
    models = [p for p in sources(["src/core"]) if not p.name.startswith(VARIANTS)]
    return {"core": digest(p for p in models if not p.name.startswith(ABSTRACT)),
            "abstract": digest(p for p in models if p.name.startswith(ABSTRACT)),
            "isa": digest(sources(["src/isa"])),
            "description": description(core),
            "suite": digest(sources(SUITE))}


def changed(about):
    """The parts that are not as they were when results with these lines at their head were made."""
    return [part for part, value in state(about["core"]).items() if about.get(f"hash of {part}") != value]
