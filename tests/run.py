"""What ./test runs: format, lint, types, then every suite; prints what each took and a count at the end.

`python tests/run.py [SUITE...]` runs some of: format lint types unit contract vectors golden browser.
`python tests/run.py mutants ...` breaks the code to see what these notice (mutants/main.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as Xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
}
SUITES = ("unit", "contract", "vectors", "golden", "browser")
SUITE_TIMEOUT_S = 1800
PYTHON = [sys.executable, "-P"]  # nothing from the current folder


def main(chosen: list[str]) -> int:
    """Run the chosen checks and suites, or all; 0 when everything passed."""
    if chosen[:1] == ["mutants"]:
        _set_up(browser=False)
        return _mutants(chosen[1:])
    unknown = [name for name in chosen if name not in (*CHECKS, *SUITES)]
    if unknown:
        print(
            f"test: unknown suite '{unknown[0]}'; there are: {' '.join((*CHECKS, *SUITES))}", file=sys.stderr
        )
        return 2
    names = chosen or [*CHECKS, *(s for s in SUITES if any((ROOT / "tests" / s).glob("test_*.py")))]
    _set_up(browser="browser" in names)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    took: list[tuple[str, float, str]] = []
    with tempfile.TemporaryDirectory(prefix="motecrypt-test.") as scratch:
        for name in names:
            started = time.monotonic()
            outcome = _check(name) if name in CHECKS else _suite(name, Path(scratch))
            for key in counts:
                counts[key] += outcome.get(key, 0)
            said = ", ".join(f"{outcome[k]} {k}" for k in counts if outcome.get(k))
            took.append((name, time.monotonic() - started, said))
    print()
    for name, seconds, said in took:
        print(f"{name:9} {seconds:7.1f} s  {said}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


def _set_up(browser: bool) -> None:
    from motecrypt.setup import kits, need

    need(*(name for name, kit in kits().items() if not kit.optional))
    if browser:
        need("plots", "browser")


def _mutants(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    from mutants.main import main as run_mutants

    return run_mutants(arguments)


def _check(name: str) -> dict[str, int]:
    print(f"--- {name}", flush=True)
    return {"passed": 1} if _ended_with([*PYTHON, "-m", *CHECKS[name]], 600) == 0 else {"failed": 1}


def _ended_with(command: list[str], timeout_s: float) -> int:
    """The exit code of a check or suite; one that never ends has failed, and the others still run."""
    try:
        return subprocess.run(command, cwd=ROOT, timeout=timeout_s, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"test: stopped after {timeout_s:g} s: {' '.join(command)}", file=sys.stderr)
        return -1


def _suite(name: str, scratch: Path) -> dict[str, int]:
    print(f"--- {name}", flush=True)
    report = scratch / f"{name}.xml"
    command = [*PYTHON, "-m", "pytest", f"tests/{name}", f"--junitxml={report}", "-m", "not slow"]
    command += [
        "-n",
        str(min(4, os.cpu_count() or 1)),
        "--dist",
        "worksteal",
        "-p",
        "no:cacheprovider",
        "-rs",
    ]
    code = _ended_with(command, SUITE_TIMEOUT_S)
    if not report.exists():
        return {"failed": 1}
    root = Xml.parse(report).getroot()
    suite = root if root.tag == "testsuite" else root[0]
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    if code != 0 and not failed:
        failed = 1
    return {"passed": max(0, total - skipped - failed), "failed": failed, "skipped": skipped}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
