"""Hostile packets for the link core, with checkers on: libFuzzer where clang is, else inputs from a seed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from host_programs import compiled
from motecrypt.catalog import FIRMWARE
from motecrypt.link.native import DEFINES, FOLDER, SUITES

HERE = Path(__file__).parent
CHECKS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FAST_CHECKS = ("-O2", "-gline-tables-only", *CHECKS[2:])
LIBFUZZER = ("-fsanitize=fuzzer", "-fno-sanitize-coverage=trace-cmp")
"""Comparisons are not watched: no input has to guess a word, and it runs three times as fast."""
STUBBED, REAL = "stubbed", "aes128-ccm"
SHARES = {STUBBED: 0.99, REAL: 0.01}
"""Of the executions. Behind a tag that is always right there is more to find, and it is six times as fast."""
TIME = {STUBBED: 0.9, REAL: 0.1}
RUNS_AT_ONCE = 20_000
TIMEOUT_S = 600


def command(stubbed: bool, compiler: str, *flags: str) -> list[str]:
    """Compile the target, with the suite whose tags are right or with AES-128-CCM."""
    recipe = SUITES["aes128-ccm"]
    core = [FOLDER / name for name in ("link.c", "keys.c", "store.c")]
    places = [FIRMWARE / name for name in ("link", "include", "modes", *recipe.folders)]
    own = [HERE / "stub_suite.c"] if stubbed else [FIRMWARE / name for name in recipe.sources]
    defines = () if stubbed else recipe.defines
    include = [part for place in (*places, HERE) for part in ("-I", str(place))]
    fixed = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", *DEFINES, "-DLINK_SUITE=1", *defines, *include]
    return [compiler, *flags, *fixed, *map(str, (HERE / "link_fuzz.c", *core, *own))]


def build(target: Path, stubbed: bool, compiler: str, *flags: str) -> Path:
    """Compile into `target`."""
    return compiled(target, command(stubbed, compiler, *flags))


def run(program: Path, runs: int, seed: int) -> str | None:
    """Run a number of inputs from a seed; returns the result, or None."""
    done = subprocess.run(
        [str(program), str(runs), str(seed)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return None if done.returncode == 0 else f"exit code {done.returncode}\n{done.stderr}"


@dataclass(frozen=True)
class Coverage:
    """What inputs reach of `link_receive` and of all in link.c that it calls, in percent."""

    lines: float
    branches: float
    functions: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"link_receive and the {len(self.functions) - 1} functions of link.c that it calls: "
            f"{self.lines:.1f} % of their lines, {self.branches:.1f} % of their branches"
        )


def coverage(folder: Path, runs: int) -> Coverage:
    """What so many inputs from seed 0 reach, with right tags."""
    program = build(folder / "covered", True, "gcc", "-O0", "--coverage", "-fcallgraph-info", "-DOWN_INPUTS")
    told = run(program, runs, 0)
    if told:
        raise RuntimeError(told)
    (counts,) = folder.glob("*-link.gcda")
    done = subprocess.run(
        ["gcov", "--branch-probabilities", "--json-format", "--stdout", "-o", str(folder), str(counts)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
        cwd=folder,
    )
    files = json.loads(done.stdout.splitlines()[0])["files"]
    (core,) = (file for file in files if file["file"].endswith("link/link.c"))
    called = _called("link_receive", counts.with_suffix(".ci").read_text())
    lines = [line for line in core["lines"] if line.get("function_name") in called]
    branches = [branch["count"] > 0 for line in lines for branch in line["branches"]]
    named = tuple(sorted({line["function_name"] for line in lines}))
    return Coverage(_percent([line["count"] > 0 for line in lines]), _percent(branches), named)


def _called(function: str, graph: str) -> set[str]:
    """The function and all that it calls, by GCC's graph of calls."""
    calls: dict[str, set[str]] = {}
    for caller, callee in re.findall(r'sourcename: "[^"]*?(\w+)" targetname: "[^"]*?(\w+)"', graph):
        calls.setdefault(caller, set()).add(callee)
    found, waiting = set[str](), [function]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += calls.get(name, ())
    return found


def _percent(reached: list[bool]) -> float:
    return 100 * sum(reached) / len(reached)


def fuzz_link(seconds: float, seed: int, keep: Path, executions: int) -> int:
    """Fuzz for a time, or for a number of executions if that is not 0; 0 when nothing was found."""
    clang = next((name for name in ("clang", "clang-14", "clang-19") if shutil.which(name)), None)
    with tempfile.TemporaryDirectory(prefix="motecrypt-fuzz.") as scratch:
        folder = Path(scratch)
        if clang:
            found = _libfuzzer(folder, clang, seconds, seed, keep, executions)
        else:
            found = _seeds(folder, seconds, seed, keep, executions)
        print(f"{coverage(folder, RUNS_AT_ONCE)}, by {RUNS_AT_ONCE:,} inputs")
    return 1 if found else 0


def _libfuzzer(folder: Path, clang: str, seconds: float, seed: int, keep: Path, executions: int) -> int:
    found = 0
    for name, share in SHARES.items():
        corpus = keep.resolve() / f"link-{name}"
        corpus.mkdir(parents=True, exist_ok=True)
        program = build(folder / name, name == STUBBED, clang, *FAST_CHECKS, *LIBFUZZER)
        options = [f"-max_total_time={max(1, int(seconds * TIME[name]))}", f"-seed={seed + 1}"]
        options += ["-max_len=384", "-entropic=0", f"-artifact_prefix={corpus}/"]
        options += ["-print_final_stats=1", "-verbosity=0"]
        options += [f"-runs={max(1, int(executions * share))}"] if executions else []
        done = subprocess.run(
            [str(program), *options, str(corpus)],
            capture_output=True,
            text=True,
            timeout=seconds + TIMEOUT_S,
            check=False,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=0"},
        )
        executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        print(f"link, {name}: {int(executed[1]) if executed else 0:,} executions (libFuzzer)", flush=True)
        if done.returncode != 0:
            found += 1
            (corpus / "told.txt").write_text(done.stderr)
            print(f"fuzz: link, {name}: {corpus / 'told.txt'}", flush=True)
    return found


def _seeds(folder: Path, seconds: float, seed: int, keep: Path, executions: int) -> int:
    programs = {
        name: build(folder / name, name == STUBBED, "gcc", *CHECKS, "-DOWN_INPUTS") for name in SHARES
    }
    ends, count, found = time.monotonic() + seconds, 0, 0
    while time.monotonic() < ends and not 0 < executions <= count * len(programs):
        for name, program in programs.items():
            told = run(program, RUNS_AT_ONCE // 10, seed + count)
            if told:
                found += 1
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"link-{name}-{seed + count}.txt").write_text(told)
                print(f"fuzz: link, {name}: --seed {seed + count}: {told.splitlines()[0]}", flush=True)
        count += RUNS_AT_ONCE // 10
    print(f"link: {count:,} executions with each cipher (seeds {seed} to {seed + count - 1})")
    return found
