"""./test itself: its help, what it does not know, how it counts and names what failed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import run as suites  # noqa: E402
from kits import needs_kit  # noqa: E402


def _ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tests" / "run.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_help_names_every_suite_and_installs_nothing() -> None:
    done = _ran("--help")
    assert done.returncode == 0 and not done.stderr
    for word in (*suites.CHECKS, *suites.SUITES, "--quick", "mutants", "Example:"):
        assert word in done.stdout


@pytest.mark.parametrize("campaign", ["mutants", "fuzz", "campaign"])
def test_help_of_a_campaign_installs_nothing(
    campaign: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suites, "_set_up", lambda *_, **__: pytest.fail("set up for a line of help"))
    with pytest.raises(SystemExit) as ended:
        suites.main([campaign, "--help"])
    assert ended.value.code == 0 and f"./test {campaign}" in capsys.readouterr().out


@pytest.mark.parametrize("bad", ["unti", "--quik"])
def test_what_it_does_not_know_is_one_line(bad: str) -> None:
    done = _ran(bad)
    assert done.returncode == 2 and bad in done.stderr and "Traceback" not in done.stderr


PASSES = (
    "import pytest\n\ndef test_good(): pass\n\n"
    "@pytest.mark.skip(reason='no such thing here')\ndef test_left(): pass\n"
)
FAILS = (
    "import pytest\n\n@pytest.fixture\ndef broken(): raise OSError('x')\n\n"
    "@pytest.mark.parametrize('n', [1, 2])\ndef test_bad(n): assert n == 1\n\ndef test_error(broken): pass\n"
)


def _report(folder: Path, content: str) -> suites.Outcome:
    (folder / "tests").mkdir()
    (folder / "tests" / "test_made.py").write_text(content)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--junitxml=report.xml",
        "tests",
    ]
    subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    return suites.read_report(folder / "report.xml")


def test_failed_tests_are_named_and_skipped_ones_told_with_their_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    outcomes = {"unit": _report(tmp_path / "good", PASSES), "contract": _report(tmp_path / "bad", FAILS)}
    code = suites.summary_of(outcomes, dict.fromkeys(outcomes, 1.0), quick=False)
    said = capsys.readouterr().out.splitlines()
    assert code == 1
    assert "skipped 1: no such thing here" in said
    assert "failed: tests/test_made.py::test_bad[2]" in said
    assert "failed: tests/test_made.py::test_error" in said
    assert not any("test_bad[1]" in line or "--quick" in line for line in said)
    assert said[-1] == "2 passed, 2 failed, 1 skipped"


def test_what_quick_leaves_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = {"unit": suites.Outcome(passed=3, skipped=2, reasons=Counter({"why": 2}))}
    assert suites.summary_of(outcomes, {"unit": 1.0}, quick=True) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2] == f"--quick: left out {suites.LEFT_OUT}"
    assert said[-1] == "3 passed, 0 failed, 2 skipped"


def test_a_suite_that_never_ends_or_leaves_no_report_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suites, "_ended_with", lambda command, timeout_s: -1)
    assert suites._suite("unit", tmp_path, quick=False).failed == ["unit: ended with code -1 and no report"]
    (tmp_path / "unit.xml").write_text("<testsuites><testsuite/></testsuites>")
    assert suites._suite("unit", tmp_path, quick=False).failed == ["unit: ended with code -1"]


def test_a_suite_whose_tests_are_all_left_out_by_quick_has_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suites, "_ended_with", lambda command, timeout_s: suites.NO_TESTS)
    (tmp_path / "chain.xml").write_text("<testsuites><testsuite/></testsuites>")
    assert suites._suite("chain", tmp_path, quick=True).failed == []
    assert suites._suite("chain", tmp_path, quick=False).failed == ["chain: ended with code 5"]


@needs_kit("git")
def test_a_persons_own_settings_of_git_change_no_commit_of_the_tests(tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text(
        "[commit]\ngpgsign = true\n[core]\nautocrlf = true\nhooksPath = /x\n"
    )
    for name, value in (
        ("commit.gpgsign", "false"),
        ("core.autocrlf", "false"),
        ("core.hooksPath", os.devnull),
    ):
        command = ["git", "config", "--get", name]
        own = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run(command, capture_output=True, text=True, env=own, cwd=tmp_path, check=False)
        assert done.stdout.strip() == value, name
