"""What ./bench runs: every benchmark next to this file, each a program that prints its ratios.

    ./bench [NAME]...     these benchmarks, or all: NAME is a file's
    ./bench --help        this, and what each compares

A benchmark exits 0 when its thresholds hold, 1 when one does not, and 77 when it cannot run here, with
the reason as its last line. Thresholds are ratios within one run: machines are noisy.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CANNOT_RUN = 77
TIMEOUT_S = 1800


def _about(path: Path) -> str:
    """The first sentence of a benchmark's docstring."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(told.partition("\n\n")[0].split())


def main(chosen: list[str]) -> int:
    """Run the benchmarks of these names, or all."""
    there = {p.stem: p for p in sorted(HERE.glob("*.py")) if p.stem != "run" and not p.stem.startswith("_")}
    if "-h" in chosen or "--help" in chosen:
        print(f"{__doc__}")
        for name, path in there.items():
            print(f"  {name:16} {_about(path)}")
        return 0
    for name in chosen:
        if name not in there:
            print(f"bench: unknown benchmark '{name}'; there are: {' '.join(there)}", file=sys.stderr)
            return 2
    failed, skipped = [], []
    # Benchmarks import each other.
    environment = os.environ | {"PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    for name in chosen or list(there):
        print(f"--- {name}", flush=True)
        started = time.monotonic()
        try:
            command = [sys.executable, "-P", there[name]]
            code = subprocess.run(command, env=environment, timeout=TIMEOUT_S, check=False).returncode
        except subprocess.TimeoutExpired:
            code = 1
            print(f"killed after {TIMEOUT_S} s")
        print(f"{name}: {time.monotonic() - started:.1f} s", flush=True)
        if code == CANNOT_RUN:
            skipped.append(name)
        elif code != 0:
            failed.append(name)
    if skipped:
        print(f"could not run here: {', '.join(skipped)}")
    print(f"below their thresholds: {', '.join(failed)}" if failed else "all thresholds hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
