"""Malformed packets for the node's side of TFTP, with checkers on: inputs from a seed."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path

from fuzz.link import CHECKS, TIMEOUT_S, run
from motecrypt.catalog import FIRMWARE

HERE = Path(__file__).parent
FOLDER = FIRMWARE / "tftp"
RUNS_AT_ONCE = 50_000


def build(target: Path, *flags: str) -> Path:
    """Compile into `target`."""
    command = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", *flags, "-DOWN_INPUTS", "-I", str(FOLDER)]
    done = subprocess.run(
        [*command, str(HERE / "tftp_fuzz.c"), str(FOLDER / "tftp.c"), "-o", str(target)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=target.parent,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return target


def coverage(folder: Path, runs: int) -> tuple[float, float]:
    """What so many inputs from seed 0 reach of tftp.c: lines and branches, in percent."""
    told = run(build(folder / "covered", "-O0", "--coverage"), runs, 0)
    if told:
        raise RuntimeError(told)
    (counts,) = folder.glob("*-tftp.gcda")
    done = subprocess.run(
        ["gcov", "--branch-probabilities", "--json-format", "--stdout", "-o", str(folder), str(counts)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
        cwd=folder,
    )
    files = json.loads(done.stdout.splitlines()[0])["files"]
    (own,) = (file for file in files if file["file"].endswith("tftp/tftp.c"))
    lines = [line["count"] > 0 for line in own["lines"]]
    branches = [branch["count"] > 0 for line in own["lines"] for branch in line["branches"]]
    return 100 * sum(lines) / len(lines), 100 * sum(branches) / len(branches)


def fuzz_tftp(seconds: float, seed: int, keep: Path, executions: int) -> int:
    """Fuzz for a time, or for a number of executions if that is not 0; 0 when nothing was found."""
    count, found, ends = 0, 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="motecrypt-fuzz.") as scratch:
        program = build(Path(scratch) / "program", *CHECKS)
        while time.monotonic() < ends and not 0 < executions <= count:
            told = run(program, RUNS_AT_ONCE, seed + count)
            if told:
                found += 1
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"tftp-{seed + count}.txt").write_text(told)
                print(f"fuzz: tftp: --seed {seed + count}: {told.splitlines()[0]}", flush=True)
            count += RUNS_AT_ONCE
        lines, branches = coverage(Path(scratch), RUNS_AT_ONCE)
    print(f"tftp: {count:,} executions (seeds {seed} to {seed + count - 1})")
    print(f"tftp.c: {lines:.1f} % of its lines, {branches:.1f} % of its branches, by {RUNS_AT_ONCE:,} inputs")
    return 1 if found else 0
