"""What ./test runs: format, lint, types, then every suite; prints what each took and a count at the end.

Before that it installs what the suites need. The cross-checks compare our figures with other programs
(QEMU, rp2040js, tshark, aircrack-ng, valgrind, Chromium); `--quick` leaves them and the long tests out.
`./test mutants ...` breaks the code to see what the suites notice (mutants/main.py); `./test fuzz ...` runs
hostile firmware in the simulators' drivers (fuzz/main.py); `./test campaign ...` sends a million messages
over the link in virtual time (campaign/main.py); `./test proof` proves parts of its core (proof/main.py);
`./test soak` lets 50 nodes and their gateway fail for a simulated week (soak/main.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as Xml
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
}
SUITES = ("unit", "contract", "vectors", "golden", "chain", "browser")
SUITE_TIMEOUT_S = 5400  # five times what the longest takes alone on two cores
NO_TESTS = 5  # pytest's exit code when no test was left to run
PYTHON = [sys.executable, "-P"]  # nothing from the current folder
NPM = ROOT / "tests" / "npm"
NPM_TIMEOUT_S = 300
LEFT_OUT = "the long tests, the cross-checks against other programs, and the browser"


@dataclass
class Outcome:
    """How one check or suite ended."""

    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        counts = {"passed": self.passed, "failed": len(self.failed), "skipped": self.skipped}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def main(arguments: Sequence[str]) -> int:
    """Run the chosen checks and suites, or all; 0 when everything passed."""
    campaigns = {"mutants": _mutants, "fuzz": _fuzz, "campaign": _campaign, "proof": _proof, "soak": _soak}
    if arguments and arguments[0] in campaigns:
        if not {"-h", "--help"} & set(arguments):
            _set_up(SUITES, quick=True)
        return campaigns[arguments[0]](list(arguments[1:]))
    chosen = _parse(arguments)
    names = chosen.names or [*CHECKS, *SUITES]
    if chosen.quick:
        names = [name for name in names if name != "browser"]
    _set_up(names, chosen.quick)
    outcomes: dict[str, Outcome] = {}
    took: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="motecrypt-test.") as scratch:
        for name in names:
            started = time.monotonic()
            outcomes[name] = _check(name) if name in CHECKS else _suite(name, Path(scratch), chosen.quick)
            took[name] = time.monotonic() - started
    return summary_of(outcomes, took, chosen.quick)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./test",
        description="Sets up what the tests need, then runs all of them, or the checks and suites named.",
        epilog="Example: ./test --quick unit. How the tests are tested: ./test mutants --help. "
        "Hostile firmware: ./test fuzz --help. A million messages: ./test campaign --help. "
        "Bounded proofs: ./test proof --help. A week of failures: ./test soak --help",
    )
    everything = (*CHECKS, *SUITES)
    parser.add_argument("names", nargs="*", metavar="SUITE", help=f"one of: {' '.join(everything)}")
    parser.add_argument("--quick", action="store_true", help=f"leave out {LEFT_OUT}")
    chosen = parser.parse_args(arguments)
    for name in chosen.names:
        if name not in everything:
            parser.exit(2, f"test: unknown suite '{name}'; available: {' '.join(everything)}\n")
    return chosen


def _set_up(names: Sequence[str], quick: bool) -> None:
    """Install what the suites need, saying so before; without an optional kit its tests are skipped."""
    from motecrypt.setup import have, kits, need, summary

    if not set(names) & set(SUITES):
        return
    need(*(name for name, kit in kits().items() if not kit.optional))
    if not quick:
        need(*(name for name, kit in kits().items() if kit.optional and name != "browser"))
        if "browser" in names:
            need("browser")
        if have("node"):
            _install_from_npm()
    line = summary()
    if line:
        print(f"test: {line}", file=sys.stderr)


def _install_from_npm() -> None:
    """npm ci of the pinned and hashed lock into the cache, once for each content of the lock."""
    from motecrypt.paths import cache_dir, make_dir
    from motecrypt.setup import left_out

    place = Path(os.environ.get("MOTECRYPT_NPM", cache_dir() / "npm"))
    lock = (NPM / "package-lock.json").read_bytes()
    done = place / ".installed"
    if done.is_file() and done.read_bytes() == lock:
        return
    make_dir(place)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(NPM / name, place / name)
    print("test: installing rp2040js and axe-core with npm (pinned and hashed)", file=sys.stderr, flush=True)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(place)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=NPM_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        left_out("rp2040js and axe-core", str(error))
        return
    if ran.returncode == 0:
        done.write_bytes(lock)
    else:
        left_out("rp2040js and axe-core", next(iter(ran.stderr.strip().splitlines()), "npm said nothing"))


def _mutants(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    from mutants.main import main as run_mutants

    return run_mutants(arguments)


def _fuzz(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    from fuzz.main import main as run_fuzz

    return run_fuzz(arguments)


def _campaign(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    from campaign.main import main as run_campaign

    return run_campaign(arguments)


def _proof(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    from proof.main import main as run_proof

    return run_proof(arguments)


def _soak(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    from soak.main import main as run_soak

    return run_soak(arguments)


def _check(name: str) -> Outcome:
    print(f"--- {name}", flush=True)
    commands = [[*PYTHON, "-m", *CHECKS[name]]]
    if name == "lint":
        commands.append([*PYTHON, str(ROOT / "tests" / "prose" / "main.py")])
    codes = [_ended_with(command, 600) for command in commands]
    return Outcome(failed=[name]) if any(codes) else Outcome(passed=1)


def _ended_with(command: list[str], timeout_s: float) -> int:
    """The exit code of a check or suite; one that never ends has failed, and the others still run."""
    try:
        return subprocess.run(command, cwd=ROOT, timeout=timeout_s, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"test: stopped after {timeout_s:g} s: {' '.join(command)}", file=sys.stderr)
        return -1


def _suite(name: str, scratch: Path, quick: bool) -> Outcome:
    print(f"--- {name}", flush=True)
    report = scratch / f"{name}.xml"
    marks = "not slow and not long and not crosscheck" if quick else "not slow"
    command = [*PYTHON, "-m", "pytest", f"tests/{name}", f"--junitxml={report}", "-m", marks]
    # One worker more than processors: many tests wait for a link, a simulator or a browser.
    command += ["-n", str(min(4, 1 + (os.cpu_count() or 1))), "--dist", "worksteal", "-p", "no:cacheprovider"]
    code = _ended_with(command, SUITE_TIMEOUT_S)
    if quick and code == NO_TESTS:
        return Outcome()  # each of its tests is one that --quick leaves out
    if not report.exists():
        return Outcome(failed=[f"{name}: ended with code {code} and no report"])
    outcome = read_report(report)
    if code != 0 and not outcome.failed:
        outcome.failed.append(f"{name}: ended with code {code}")
    return outcome


def read_report(report: Path) -> Outcome:
    """Counts, names and reasons from a JUnit file of pytest."""
    outcome = Outcome()
    for case in Xml.parse(report).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed.append(f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}")
        elif skipped is not None:
            outcome.skipped += 1
            outcome.reasons[" ".join(skipped.get("message", "").split())] += 1
        else:
            outcome.passed += 1
    return outcome


def summary_of(outcomes: dict[str, Outcome], took: dict[str, float], quick: bool) -> int:
    """What each took, what was skipped and why, what failed, and the count as the last line."""
    print()
    for name, outcome in outcomes.items():
        print(f"{name:9} {took[name]:7.1f} s  {outcome}")
    reasons = sum((outcome.reasons for outcome in outcomes.values()), Counter[str]())
    for reason, count in reasons.most_common():
        print(f"skipped {count}: {reason}")
    failed = [name for outcome in outcomes.values() for name in outcome.failed]
    for name in failed:
        print(f"failed: {name}")
    if quick:
        print(f"--quick: left out {LEFT_OUT}")
    passed = sum(outcome.passed for outcome in outcomes.values())
    print(f"{passed} passed, {len(failed)} failed, {reasons.total()} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
