#!/usr/bin/env python3
"""Makes the streams of tests/fingerprints/streams anew: short stretches of runs, once, on any machine that has the programs.

usage: tests/fingerprints/record.py [BUILD] [NAME...]

They are data, and need no making again: what is timed is always what is in the tree. To add one, add it here, record it alone by its
name, and run `make fingerprints`.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "accuracy"))
import blocks  # noqa: E402
import kernels  # noqa: E402

COUNT = 40_000
TEXT = "/usr/share/common-licenses/GPL-3"
COMPILERS = {"x86-64": "gcc", "aarch64": "aarch64-linux-gnu-gcc", "riscv64": "riscv64-linux-gnu-gcc"}

# name: (instructions passed over, kept, command); {w}: the folder of what is compiled here.
REAL = {
    "ls": (60_000, COUNT, ["ls", "-l", "/usr/bin"]),
    "sort": (600_000, COUNT, ["sort", TEXT]),
    "gzip": (1_000_000, COUNT, ["gzip", "-9", "-c", TEXT]),
    "gunzip": (150_000, COUNT, ["gzip", "-d", "-c", "{w}/text.gz"]),
    "xz": (3_000_000, COUNT, ["xz", "-6", "-c", TEXT]),
    "bzip2": (3_000_000, COUNT, ["bzip2", "-c", TEXT]),
    "cc1": (40_000_000, COUNT, ["{cc1}", "-O2", "-quiet", "-o", "/dev/null", "{w}/text.i"]),
    "perl": (5_000_000, COUNT, ["perl", "-e", r"my %h; $h{$_ % 1000} .= $_ for 1 .. 100000; print scalar keys %h"]),
    "python": (30_000_000, COUNT, ["python3", "-S", "-c", "print(sum(hash(str(i)) % 7 for i in range(100000)))"]),
    "awk": (1_000_000, COUNT, ["mawk", r"{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print n[w], w }", TEXT]),
    "sqlite": (6_000_000, COUNT, ["sqlite3", ":memory:", "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c "
                                  "where x < 50000) insert into t select x, x * 7919 % 10007 from c; select count(*), sum(a) from t group by b % 10;"]),
    "node": (200_000_000, COUNT, ["node", "-e", "let s = 0; for (let i = 0; i < 3e7; i++) s += (i * 7919) % 10007; console.log(s)"]),
    "php": (30_000_000, COUNT, ["php", "-n", "-r", "for ($i = 0; $i < 200000; $i++) $a[$i % 977] = md5($i); echo count($a);"]),
    "openssl": (10_000_000, COUNT, ["openssl", "genrsa", "1024"]),
    "sha256": (2_000_000, 20_000, ["openssl", "sha256", "/usr/bin/openssl"]),
}
KERNELS = {  # of the accuracy suite: variant, name, bytes
    "gemm-scalar": ("scalar", "gemm", 16384), "gemm-vector": ("vector", "gemm", 16384), "jacobi-vector": ("vector", "jacobi-2d", 400_000),
    "nussinov-scalar": ("scalar", "nussinov", 400_000), "trisolv-vector": ("vector", "trisolv", 8 << 20),
    "durbin-unrolled": ("unrolled", "durbin", 16384), "correlation-vector": ("vector", "correlation", 400_000),
}
PROGRAMS = ["mechanisms", "mixture"]
NR_BLOCKS = 24   # of the accuracy suite, evenly chosen
LOOPS = {"wide": "vaddps %zmm1, %zmm2, %zmm3; vpaddd %zmm3, %zmm4, %zmm5; vaddps %ymm6, %ymm7, %ymm8; vmovups (%rsi), %zmm9; add $1, %eax; "
                 "vpaddd %xmm1, %xmm2, %xmm10; vmovups %zmm9, (%rdi); vpaddd %ymm1, %ymm11, %ymm12; vandps %ymm1, %ymm6, %ymm13; "
                 "vmulps %ymm1, %ymm6, %ymm14; dec %ecx; jnz loop"}


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout


def compile_all(work):
    (work / "text.gz").write_bytes(run("gzip", "-9", "-c", TEXT))
    run("gcc", "-E", "-o", work / "text.i", TOP / "tests/programs/bottleneck.c")
    for isa, compiler in COMPILERS.items():
        (work / isa).mkdir()
        for program in PROGRAMS:
            run(compiler, "-O2", "-g1", "-static", "-o", work / isa / program, HERE / f"programs/{program}.c", "-lm")
    kernels.build(work)
    blocks.build(work)


def streams(work):
    """(isa, name, options and command of the recorder)"""
    cc1 = run("gcc", "-print-prog-name=cc1").decode().strip()
    for name, (skip, count, command) in REAL.items():
        yield "x86-64", name, ["-s", skip, "-n", count, *[part.replace("{w}", str(work)).replace("{cc1}", cc1) for part in command]]
    for name, loop in LOOPS.items():
        (work / "loop.s").write_text(f"loop: {loop}\n")
        run("as", "-o", work / "loop.o", work / "loop.s")
        run("objcopy", "-O", "binary", "-j", ".text", work / "loop.o", work / f"{name}.bin")
        yield "x86-64", name, ["-l", "x86-64", "-n", 4000, work / f"{name}.bin"]
    chosen = blocks.cases(work, None)
    for case in chosen[::len(chosen) // NR_BLOCKS]:
        yield "x86-64", "block-" + re.sub(r"\W+", "-", case.name), ["-m", "-n", 3000, *case.what]
    for name, (variant, kernel, size) in KERNELS.items():
        yield "x86-64", name, ["-m", "-n", COUNT, work / f"kernels-{variant}", kernel, size, 400_000]
    for isa in COMPILERS:
        for program in PROGRAMS:
            for name in run(work / f"x86-64/{program}").decode().split():
                if isa == "x86-64" or name != "peculiar":
                    yield isa, name, ["-r", "run", "-n", 400_000, work / isa / program, name]


def main():
    build = next((a for a in sys.argv[1:] if Path(a).is_dir()), "build")
    names = [a for a in sys.argv[1:] if a != build]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        compile_all(work)
        for isa, name, options in streams(work):
            if names and name not in names:
                continue
            out = HERE / "streams" / isa / f"{name}.steps"
            out.parent.mkdir(parents=True, exist_ok=True)
            done = subprocess.run([f"{build}/tests/fingerprints/record", "-o", out, *map(str, options)], stdout=subprocess.DEVNULL,
                                  env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0"})
            print(f"{isa} {name}: " + (f"{out.stat().st_size} bytes" if done.returncode == 0 and out.stat().st_size > 100 else "FAILED"), flush=True)


if __name__ == "__main__":
    main()
