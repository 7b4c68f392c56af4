"""Processors that the models were held against: accuracy/hosts/NAME has the results of one, results.csv, and the description that
they were compared with where it is none of the shipped ones. NAME: vendor, family and model, as the processor itself says."""
import re
import subprocess
import sys
from pathlib import Path

import results

TOP = Path(__file__).resolve().parent.parent
HOSTS = TOP / "accuracy/hosts"
VENDORS = {"GenuineIntel": "intel", "AuthenticAMD": "amd"}


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


def cpuinfo(key):
    found = re.search(rf"^{key}\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1) if found else "?"


def title():
    """Of the processor this runs on."""
    guest = ", a guest of a hypervisor" if "hypervisor" in cpuinfo("flags").split() else ""
    return (f"{cpuinfo('model name')} ({cpuinfo('vendor_id')} family {cpuinfo('cpu family')} model {cpuinfo('model')} "
            f"stepping {cpuinfo('stepping')}){guest}")


def name():
    """Of its folder."""
    vendor = cpuinfo("vendor_id")
    return re.sub(r"[^a-z0-9-]", "", f"{VENDORS.get(vendor, vendor.lower())}-{cpuinfo('cpu family')}-{cpuinfo('model')}")


def known():
    """Names of all that there are results of."""
    return sorted(path.parent.name for path in HOSTS.glob("*/results.csv"))


def recorded(host):
    """(about, cases) of its results; nothing where there are none. `name` among the first: of its folder."""
    path = HOSTS / host / "results.csv"
    if not path.exists():
        return {}, []
    about, cases = results.read(path)
    return about | {"name": host}, cases


def everything():
    """[(about, cases)] of all."""
    return [recorded(host) for host in known()]


def core(build, folder):
    """The core to compare this processor with: skylake-sp on such a one; elsewhere a description measured here and now."""
    if name() == "intel-6-85":
        return "skylake-sp"
    out = folder / "host.core"
    print("accuracy: this is no Skylake-SP: calibrating (or choose with --core)", file=sys.stderr, flush=True)
    if subprocess.run([str(build / "cyclewise"), "calibrate", "-o", str(out)]).returncode:
        sys.exit("accuracy: no description of this host: give one with --core NAME|FILE")
    return str(out)


def keep(host, given):
    """The core as results.csv names it; a description of one's own is kept in the host's folder, with its cost file."""
    if "/" not in given and not given.endswith(".core"):
        return given
    folder = HOSTS / host
    own = [path.resolve() for path in core_files(str(Path(given).resolve())) if not path.resolve().is_relative_to(TOP / "data")]
    shipped = {path.name for path in (TOP / "data/cores").glob("*.costs")}
    if not own[0].is_relative_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for old in [*folder.glob("*.core"), *folder.glob("*.costs")]:
            old.unlink()
        for path in own:
            if path.name not in shipped:  # the build's copy of one that is inherited from
                (folder / path.name).write_text(re.sub(r"^inherit = /.*/(\S+\.costs)$", r"inherit = ../../../data/cores/\1",
                                                       path.read_text(), flags=re.MULTILINE))
    return str((folder / own[0].name).relative_to(TOP))


def description(kept):
    """The core as cyclewise takes it, of what keep() made of it."""
    return str(TOP / kept) if "/" in kept else kept
