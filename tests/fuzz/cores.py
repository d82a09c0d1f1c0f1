"""Hostile inputs from a seed for a core in C, with checkers on: the node's side of TFTP, and a bridge."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fuzz.link import CHECKS, TIMEOUT_S, run
from host_programs import compiled
from motecrypt.catalog import FIRMWARE

HERE = Path(__file__).parent
RUNS_AT_ONCE = 50_000


@dataclass(frozen=True)
class Core:
    """`NAME.c` in `firmware/NAME`, and the harness `NAME_fuzz.c` that plays the inputs to it."""

    name: str
    defines: tuple[str, ...] = ()

    def build(self, target: Path, *flags: str) -> Path:
        """Compile into `target`."""
        folder = FIRMWARE / self.name
        command = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", *flags, "-DOWN_INPUTS", *self.defines]
        sources = [str(HERE / f"{self.name}_fuzz.c"), str(folder / f"{self.name}.c")]
        return compiled(target, [*command, "-I", str(folder), *sources])

    def coverage(self, folder: Path, runs: int) -> tuple[float, float]:
        """What so many inputs from seed 0 reach of the core: lines and branches, in percent."""
        told = run(self.build(folder / "covered", "-O0", "--coverage"), runs, 0)
        if told:
            raise RuntimeError(told)
        (counts,) = folder.glob(f"*-{self.name}.gcda")
        done = subprocess.run(
            ["gcov", "--branch-probabilities", "--json-format", "--stdout", "-o", str(folder), str(counts)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
            cwd=folder,
        )
        files = json.loads(done.stdout.splitlines()[0])["files"]
        (own,) = (file for file in files if file["file"].endswith(f"{self.name}/{self.name}.c"))
        lines = [line["count"] > 0 for line in own["lines"]]
        branches = [branch["count"] > 0 for line in own["lines"] for branch in line["branches"]]
        return 100 * sum(lines) / len(lines), 100 * sum(branches) / len(branches)

    def fuzz(self, seconds: float, seed: int, keep: Path, executions: int) -> int:
        """Fuzz for a time, or for a number of executions if that is not 0; 0 when nothing was found."""
        count, found, ends = 0, 0, time.monotonic() + seconds
        with tempfile.TemporaryDirectory(prefix="motecrypt-fuzz.") as scratch:
            program = self.build(Path(scratch) / "program", *CHECKS)
            while time.monotonic() < ends and not 0 < executions <= count:
                told = run(program, RUNS_AT_ONCE, seed + count)
                if told:
                    found += 1
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{self.name}-{seed + count}.txt").write_text(told)
                    print(f"fuzz: {self.name}: --seed {seed + count}: {told.splitlines()[0]}", flush=True)
                count += RUNS_AT_ONCE
            lines, branches = self.coverage(Path(scratch), RUNS_AT_ONCE)
        print(f"{self.name}: {count:,} executions (seeds {seed} to {seed + count - 1})")
        reached = f"{lines:.1f} % of its lines, {branches:.1f} % of its branches"
        print(f"{self.name}.c: {reached}, by {RUNS_AT_ONCE:,} inputs")
        return 1 if found else 0


CORES: Mapping[str, Core] = {
    core.name: core
    for core in (Core("tftp"), Core("bridge", ("-DBRIDGE_PACKET_MAX=32", "-DBRIDGE_DUTY=100")))
}
