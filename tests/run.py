"""What ./test runs: format, lint, types and every suite; prints what each took and a count at the end.

Before that it installs what the suites need. The cross-checks compare our figures with other programs
(QEMU, rp2040js, tshark, aircrack-ng, valgrind, Chromium); `--quick` leaves them and the long tests out, and
`--all` adds the cross products, which a nightly run has. All suites share one set of workers, and the
costliest tests start first (costs.py). `--share 1/2` runs one half of the test files. While one works on
something, `./test PATH...`, `./test -k WORD` and `./test --changed` (changed.py) run what concerns it.
`./test mutants ...` breaks the code to see what the suites notice (mutants/main.py); `./test fuzz ...` runs
hostile firmware in the simulators' drivers (fuzz/main.py); `./test campaign ...` sends a million messages
over the link in virtual time (campaign/main.py); `./test proof` proves parts of its core (proof/main.py);
`./test soak` lets 50 nodes and their gateway fail for a simulated week (soak/main.py); `./test power-cuts`
cuts the power at each step of the gateway's storage (power_cuts/main.py).
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as Xml
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

import costs  # noqa: E402

CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy"],
}
SUITES = ("unit", "contract", "vectors", "golden", "chain", "browser")
CAMPAIGNS = ("mutants", "fuzz", "campaign", "proof", "soak", "power-cuts")  # folders with a main.py
TIMEOUT_S = 5400  # several times what all takes alone on two cores
NO_TESTS = 5  # pytest's exit code when no test was left to run
PYTHON = [sys.executable, "-P"]  # nothing from the current folder
NPM = ROOT / "tests" / "npm"
NPM_TIMEOUT_S = 300
LEFT_OUT = "the long tests, the cross-checks against other programs, and the browser"
QUICK = "not slow and not wide and not long and not crosscheck"
USUAL = "not slow and not wide"
ALL = "not slow"
COSTLIEST = 20


@dataclass
class Outcome:
    """How one check or suite ended."""

    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    took_s: float = 0.0
    """Processor time."""

    def __str__(self) -> str:
        counts = {"passed": self.passed, "failed": len(self.failed), "skipped": self.skipped}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def main(arguments: Sequence[str]) -> int:
    """Run the chosen checks and suites, or all; 0 when everything passed."""
    _keep_bytecode()
    if arguments and arguments[0] in CAMPAIGNS:
        if not {"-h", "--help"} & set(arguments):
            # A mutant survives tests that are skipped: this campaign needs what all of them need.
            _set_up(SUITES, quick=arguments[0] != "mutants")
        campaign = importlib.import_module(f"{arguments[0].replace('-', '_')}.main")
        return int(campaign.main(list(arguments[1:])))
    chosen = _parse(arguments)
    if chosen.changed is not None:
        return _changed(chosen.changed)
    if chosen.word or any(name not in (*CHECKS, *SUITES) for name in chosen.names):
        places = [f"tests/{name}" if name in SUITES else name for name in chosen.names or SUITES]
        return _some(places, chosen.word)
    names = chosen.names or [*CHECKS, *SUITES]
    if chosen.quick:
        names = [name for name in names if name != "browser"]
    _set_up(names, chosen.quick)
    started = time.monotonic()
    if chosen.all:
        os.environ["MOTECRYPT_TEST_ALL"] = "1"
    marks = QUICK if chosen.quick else ALL if chosen.all else USUAL
    with ThreadPoolExecutor(1) as beside, tempfile.TemporaryDirectory(prefix="motecrypt-test.") as scratch:
        checks = {name: beside.submit(_check, name) for name in names if name in CHECKS}
        suites = [name for name in names if name in SUITES]
        ran = Ran() if not suites else _suites(suites, Path(scratch), marks, chosen.share or "")
        outcomes = {name: checks[name].result() for name in checks} | outcomes_of(ran, suites, chosen.quick)
    if chosen.record and ran.code in (0, 1) and ran.took_s:
        costs.store(costs.recorded(ran.took_s))
    tell_costliest(ran)
    left_out = [f"--quick: left out {LEFT_OUT}"] if chosen.quick else []
    left_out += [f"--share {chosen.share}: left out the other test files"] if chosen.share else []
    return summary_of(outcomes, time.monotonic() - started, left_out)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./test",
        description="Sets up what the tests need, then runs all, or the checks, suites and files named.",
        epilog="Example: ./test --quick unit. How the tests are tested: ./test mutants --help. "
        "Hostile firmware: ./test fuzz --help. A million messages: ./test campaign --help. "
        "Bounded proofs: ./test proof --help. A week of failures: ./test soak --help. "
        "Power cuts of the gateway: ./test power-cuts --help",
    )
    known = (*CHECKS, *SUITES)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"a file or test, or one of: {' '.join(known)}"
    )
    parser.add_argument("--quick", action="store_true", help=f"leave out {LEFT_OUT}")
    parser.add_argument("--all", action="store_true", help="with the cross products, too")
    parser.add_argument(
        "--share", metavar="K/N", help="only the Kth of N parts of the test files, such as 1/2"
    )
    parser.add_argument("-k", dest="word", metavar="WORD", help="only tests with this word, as for pytest")
    parser.add_argument(
        "--changed",
        nargs="?",
        const="",
        metavar="COMMIT",
        help="lint and the tests that own what changed since COMMIT (default: what is not committed, or else "
        "the last commit)",
    )
    parser.add_argument(
        "--record", action="store_true", help="keep what each test took, so that the costliest start first"
    )
    chosen = parser.parse_args(arguments)
    for name in chosen.names:
        if name not in known and not (ROOT / costs.file_of(name)).exists():
            parser.exit(2, f"test: unknown suite or file '{name}'; available: {' '.join(known)}\n")
    if wrong := _contradiction(chosen):
        parser.exit(2, f"test: {wrong}\n")
    return chosen


def _contradiction(chosen: argparse.Namespace) -> str:
    """What cannot be asked for together, and what to do; empty where all fits."""
    checks = [name for name in chosen.names if name in CHECKS]
    files = [name for name in chosen.names if name not in (*CHECKS, *SUITES)]
    if chosen.quick and chosen.all:
        return "--quick and --all exclude each other: give one"
    part = re.fullmatch(r"([1-9][0-9]?)/([1-9][0-9]?)", chosen.share or "1/1")
    if part is None or int(part[1]) > int(part[2]):
        return f"--share '{chosen.share}': give K/N, such as 1/2"
    whole = not chosen.names or any(name in SUITES for name in chosen.names)
    if chosen.share and (not whole or files or chosen.word or chosen.record or chosen.changed is not None):
        return "--share is a part of whole suites: give it with suites, or alone"
    if chosen.record and (chosen.names or chosen.quick or chosen.all or chosen.word):
        return "--record keeps the costs of all tests: give it alone"
    if chosen.changed is not None and (chosen.names or chosen.quick or chosen.all or chosen.word):
        return "--changed chooses the tests itself: give it alone, or with a commit"
    if checks and (files or chosen.word):
        return f"{checks[0]} has no tests: run it apart"
    return ""


def _some(paths: Sequence[str], word: str | None) -> int:
    """Tests by path or word, without those of campaigns and products unless named one by one."""
    _set_up(["unit"], quick=True)
    single = all("::" in path for path in paths)
    command = [*PYTHON, "-m", "pytest", *paths, "-p", "no:cacheprovider", *(["-k", word] if word else [])]
    command += [] if single else ["-m", USUAL, *_workers()]
    return _ended_with(command, TIMEOUT_S)


def _changed(base: str) -> int:
    """Format, lint, types and the tests of what changed."""
    import changed

    _set_up(["unit"], quick=True)
    try:
        plan = changed.plan(base)
    except changed.Unknown as error:
        print(f"test: {error}", file=sys.stderr)
        return 2
    for line in plan.told():
        print(f"test: {line}", flush=True)
    with ThreadPoolExecutor(1) as beside:
        checks = [beside.submit(_check, name) for name in CHECKS]
        codes = [
            _ended_with([*PYTHON, "-m", "pytest", *each, "-p", "no:cacheprovider", *_workers()], TIMEOUT_S)
            for each in plan.runs(QUICK)
        ]
        failed = any(check.result().failed for check in checks)
    return 1 if failed or any(code not in (0, NO_TESTS) for code in codes) else 0


def _set_up(names: Sequence[str], quick: bool) -> None:
    """Install what the suites need, saying so before; without an optional tool set its tests are skipped."""
    from motecrypt.build.setup import have, need, summary, tool_sets

    if not set(names) & set(SUITES):
        return
    need(*(name for name, tool_set in tool_sets().items() if not tool_set.optional))
    if not quick:
        need(*(name for name, tool_set in tool_sets().items() if tool_set.optional and name != "browser"))
        if "browser" in names:
            need("browser")
        if have("node"):
            _install_from_npm()
    line = summary()
    if line:
        print(f"test: {line}", file=sys.stderr)


def _keep_bytecode() -> None:
    """Let all that is started read and write compiled modules in the cache, also where the environment says
    to write none: else each of thousands of processes compiles all that it imports."""
    from motecrypt.base.paths import cache_dir

    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(cache_dir() / "bytecode"))


def _install_from_npm() -> None:
    """npm ci of the pinned and hashed lock into the cache, once for each content of the lock."""
    from motecrypt.base.paths import cache_dir, make_dir
    from motecrypt.build.setup import left_out

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


def _check(name: str) -> Outcome:
    """One check, while the tests run: its output comes in one piece."""
    commands = [[*PYTHON, "-m", *CHECKS[name]]]
    if name == "format":
        clang_format = str(Path(sys.executable).with_name("clang-format"))
        commands += [[clang_format, "--dry-run", "-Werror", *_c_files()]]
    if name == "lint":
        commands += [[*PYTHON, str(ROOT / "tests" / rules / "main.py")] for rules in ("prose", "lint")]
    said, failed, took_s = [f"--- {name}\n"], False, 0.0
    for command in commands:
        text, code, used_s = _captured(command)
        said.append(text)
        failed |= code != 0
        took_s += used_s
    print("".join(said), end="", flush=True)
    return Outcome(failed=[name], took_s=took_s) if failed else Outcome(passed=1, took_s=took_s)


def _c_files() -> list[str]:
    """All C and C++ of ours, not what was fetched; .clang-format-ignore says what is laid out by hand."""
    folders = ("benchmarks", "examples", "research", "src", "tests")
    found = (path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.*"))
    fetched = re.compile(r"benchmarks/public/\w[^/]*/src/|tests/npm/node_modules/")
    ours = (path for path in found if not fetched.match(path.as_posix()))
    return sorted(str(path) for path in ours if path.suffix in {".c", ".h", ".cpp"})


def _captured(command: list[str]) -> tuple[str, int, float]:
    """What it said, its exit code and its processor time; one that never ends has failed."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        end = threading.Timer(TIMEOUT_S, process.kill)
        end.start()
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        end.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    return said, process.returncode, used.ru_utime + used.ru_stime


def _ended_with(command: list[str], timeout_s: float) -> int:
    """The exit code of a run; one that never ends has failed."""
    try:
        return subprocess.run(command, cwd=ROOT, timeout=timeout_s, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"test: stopped after {timeout_s:g} s: {' '.join(command)}", file=sys.stderr)
        return -1


def _workers() -> list[str]:
    """One more than processors: many tests wait for a link, a simulator or a browser."""
    return ["-n", str(min(4, 1 + (os.cpu_count() or 1)))]


@dataclass
class Ran:
    """What one run of pytest left."""

    code: int = 0
    by_suite: dict[str, Outcome] = field(default_factory=dict)
    took_s: dict[str, float] = field(default_factory=dict)
    """Processor time by test."""
    reported: bool = True


def _suites(names: Sequence[str], scratch: Path, marks: str, share: str = "") -> Ran:
    """All suites in one run."""
    report = scratch / "report.xml"
    command = [*PYTHON, "-m", "pytest", *(f"tests/{name}" for name in names), f"--junitxml={report}"]
    command += ["-m", marks, *_workers(), "-p", "no:cacheprovider", *([f"--share={share}"] if share else [])]
    code = _ended_with(command, TIMEOUT_S)
    if not report.exists():
        return Ran(code, reported=False)
    ran = read_report(report)
    ran.code = code
    return ran


def outcomes_of(ran: Ran, names: Sequence[str], quick: bool) -> dict[str, Outcome]:
    """By suite; a run that did not end as its report says has failed."""
    found = {name: ran.by_suite.get(name, Outcome()) for name in names}
    if not names or (quick and ran.code == NO_TESTS):
        return found  # each of its tests is one that --quick leaves out
    if not ran.reported:
        found["tests"] = Outcome(failed=[f"ended with code {ran.code} and no report"])
    elif ran.code != 0 and not any(outcome.failed for outcome in found.values()):
        found["tests"] = Outcome(failed=[f"ended with code {ran.code}"])
    return found


def read_report(report: Path) -> Ran:
    """Counts, names, reasons and times from a JUnit file of pytest."""
    ran = Ran()
    for case in Xml.parse(report).getroot().iter("testcase"):
        path = case.get("classname", "").replace(".", "/")
        test = f"{path}.py::{case.get('name')}"
        suite = path.split("/")[1] if path.count("/") > 1 else "tests"
        outcome = ran.by_suite.setdefault(suite, Outcome())
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed.append(test)
        elif skipped is not None:
            outcome.skipped += 1
            outcome.reasons[" ".join(skipped.get("message", "").split())] += 1
        else:
            outcome.passed += 1
        for each in case.iter("property"):
            if each.get("name") == costs.PROPERTY:
                ran.took_s[test] = float(each.get("value", "0"))
                outcome.took_s += ran.took_s[test]
    return ran


def tell_costliest(ran: Ran) -> None:
    """The tests that took most processor time."""
    if ran.took_s:
        print(f"\n--- the {COSTLIEST} costliest tests, processor time")
    for test, taken in sorted(ran.took_s.items(), key=lambda each: -each[1])[:COSTLIEST]:
        print(f"{taken:7.1f} s  {test}")


def summary_of(outcomes: dict[str, Outcome], wall_s: float, left_out: Sequence[str]) -> int:
    """What each took, what was skipped and why, what failed, and the count as the last line."""
    print()
    for name, outcome in outcomes.items():
        print(f"{name:9} {outcome.took_s:7.1f} s  {outcome}")
    print(f"processor time {sum(o.took_s for o in outcomes.values()):.0f} s in {wall_s:.0f} s")
    reasons = sum((outcome.reasons for outcome in outcomes.values()), Counter[str]())
    for reason, count in reasons.most_common():
        print(f"skipped {count}: {reason}")
    failed = [name for outcome in outcomes.values() for name in outcome.failed]
    for name in failed:
        print(f"failed: {name}")
    for line in left_out:
        print(line)
    passed = sum(outcome.passed for outcome in outcomes.values())
    print(f"{passed} passed, {len(failed)} failed, {reasons.total()} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
