"""Hostile packets for the link core, with checkers on: libFuzzer where clang is, else inputs from a seed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from motecrypt.catalog import FIRMWARE
from motecrypt.toolchain.link import DEFINES, FOLDER, SUITES

HERE = Path(__file__).parent
CHECKS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
RUNS_AT_ONCE = 20_000
TIMEOUT_S = 600


def command(stubbed: bool, compiler: str, *flags: str) -> list[str]:
    """Compile the target, with the cipher whose tags are right or with AES-128-CCM."""
    recipe = SUITES["aes128-ccm"]
    core = [FOLDER / name for name in ("link.c", "keys.c", "store.c")]
    places = [FIRMWARE / name for name in ("link", "include", "modes", *recipe.folders)]
    own = [HERE / "stub_cipher.c"] if stubbed else [FIRMWARE / name for name in recipe.sources]
    defines = ('-DCIPHER_HEADER="stub_cipher.h"',) if stubbed else recipe.defines
    include = [part for place in (*places, HERE) for part in ("-I", str(place))]
    fixed = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", *DEFINES, "-DLINK_SUITE=1", *defines, *include]
    return [compiler, *flags, *fixed, *map(str, (HERE / "link_fuzz.c", *core, *own))]


def build(target: Path, stubbed: bool, compiler: str, *flags: str) -> Path:
    """Compile into `target`."""
    done = subprocess.run(
        [*command(stubbed, compiler, *flags), "-o", str(target)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=target.parent,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return target


def run(program: Path, runs: int, seed: int) -> str | None:
    """So many inputs from a seed; what was found, or None."""
    done = subprocess.run(
        [str(program), str(runs), str(seed)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return None if done.returncode == 0 else f"exit code {done.returncode}\n{done.stderr}"


def coverage(folder: Path, runs: int) -> float:
    """Percent of the lines of link.c that so many inputs from seed 0 reach, with right tags."""
    program = build(folder / "covered", True, "gcc", "-O0", "--coverage", "-DOWN_INPUTS")
    told = run(program, runs, 0)
    if told:
        raise RuntimeError(told)
    counts = [str(path) for path in folder.glob("*link.gcda")]
    done = subprocess.run(
        ["gcov", "-o", str(folder), *counts],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
        cwd=folder,
    )
    found = re.search(r"link/link\.c'\nLines executed:([\d.]+)%", done.stdout)
    if found is None:
        raise RuntimeError(done.stdout)
    return float(found[1])


def fuzz_link(seconds: float, seed: int, keep: Path) -> int:
    """Fuzz for so long; 0 when nothing was found."""
    clang = next((name for name in ("clang", "clang-14", "clang-19") if shutil.which(name)), None)
    with tempfile.TemporaryDirectory(prefix="motecrypt-fuzz.") as scratch:
        folder = Path(scratch)
        found = (_libfuzzer if clang else _seeds)(folder, clang or "gcc", seconds, seed, keep)
        print(
            f"link.c: {coverage(folder, RUNS_AT_ONCE):.1f} % of its lines reached by {RUNS_AT_ONCE:,} inputs"
        )
    return 1 if found else 0


def _libfuzzer(folder: Path, clang: str, seconds: float, seed: int, keep: Path) -> int:
    found = 0
    for stubbed in (True, False):
        name = "stubbed" if stubbed else "aes128-ccm"
        corpus = keep.resolve() / f"link-{name}"
        corpus.mkdir(parents=True, exist_ok=True)
        program = build(folder / name, stubbed, clang, *CHECKS, "-fsanitize=fuzzer")
        options = [f"-max_total_time={int(seconds / 2)}", f"-seed={seed + 1}", "-max_len=1024"]
        options += [f"-artifact_prefix={corpus}/", "-print_final_stats=1", "-verbosity=0"]
        done = subprocess.run(
            [str(program), *options, str(corpus)],
            capture_output=True,
            text=True,
            timeout=seconds + TIMEOUT_S,
            check=False,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
        )
        executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        print(f"link, {name}: {int(executed[1]) if executed else 0:,} inputs (libFuzzer)", flush=True)
        if done.returncode != 0:
            found += 1
            (corpus / "told.txt").write_text(done.stderr)
            print(f"fuzz: link, {name}: {corpus / 'told.txt'}", flush=True)
    return found


def _seeds(folder: Path, gcc: str, seconds: float, seed: int, keep: Path) -> int:
    programs = {
        "stubbed": build(folder / "stubbed", True, gcc, *CHECKS, "-DOWN_INPUTS"),
        "aes128-ccm": build(folder / "real", False, gcc, *CHECKS, "-DOWN_INPUTS"),
    }
    ends, count, found = time.monotonic() + seconds, 0, 0
    while time.monotonic() < ends:
        for name, program in programs.items():
            told = run(program, RUNS_AT_ONCE // 10, seed + count)
            if told:
                found += 1
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"link-{name}-{seed + count}.txt").write_text(told)
                print(f"fuzz: link, {name}: --seed {seed + count}: {told.splitlines()[0]}", flush=True)
        count += RUNS_AT_ONCE // 10
    print(f"link: {count:,} inputs with each cipher (seeds {seed} to {seed + count - 1})")
    return found
