"""./test itself: its help, what it does not know, how it counts and names what failed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import changed  # noqa: E402
import costs  # noqa: E402
import run as suites  # noqa: E402
from tool_sets import needs_tool_set  # noqa: E402


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


def _report(folder: Path, files: dict[str, str]) -> suites.Ran:
    """What pytest reports of files of tests, with the processor time of each."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    path = os.pathsep.join(str(ROOT / name) for name in ("tests", "src"))
    subprocess.run(
        [
            *suites.PYTHON,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "costs",
            "--junitxml=report.xml",
            "tests",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        timeout=120,
        check=False,
    )
    return suites.read_report(folder / "report.xml")


def test_failed_tests_are_named_and_skipped_ones_told_with_their_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = _report(tmp_path, {"tests/unit/test_made.py": PASSES, "tests/contract/x/test_bad.py": FAILS})
    ran.code = 1
    outcomes = suites.outcomes_of(ran, ["unit", "contract"], quick=False)
    code = suites.summary_of(outcomes, 1.0, [])
    said = capsys.readouterr().out.splitlines()
    assert code == 1
    assert "skipped 1: no such thing here" in said
    assert "failed: tests/contract/x/test_bad.py::test_bad[2]" in said
    assert "failed: tests/contract/x/test_bad.py::test_error" in said
    assert not any("test_bad[1]" in line or "--quick" in line for line in said)
    assert said[-1] == "2 passed, 2 failed, 1 skipped"
    assert (outcomes["unit"].passed, outcomes["contract"].passed) == (1, 1)


BUSY = (
    "import subprocess, sys, time\n\ndef test_here():\n"
    "    end = time.process_time() + 0.4\n    while time.process_time() < end: pass\n\n"
    "def test_in_a_process():\n"
    "    subprocess.run([sys.executable, '-c', 'import time\\nwhile time.process_time() < 0.4: pass'])\n"
    "def test_asleep(): time.sleep(0.3)\n"
)


def test_processor_time_is_counted_for_each_test_with_its_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = _report(tmp_path, {"tests/unit/test_busy.py": BUSY})
    taken = {name.partition("::")[2]: seconds for name, seconds in ran.took_s.items()}
    assert taken["test_here"] > 0.3 and 0.3 < taken["test_in_a_process"] < 5
    assert taken["test_asleep"] < 0.25
    suites.tell_costliest(ran)
    assert capsys.readouterr().out.splitlines()[-1].endswith("tests/unit/test_busy.py::test_asleep")


def test_what_was_left_out_is_told_before_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = {"unit": suites.Outcome(passed=3, skipped=2, reasons=Counter({"why": 2}))}
    assert suites.summary_of(outcomes, 1.0, ["--quick: left out the browser"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == ["--quick: left out the browser", "3 passed, 0 failed, 2 skipped"]


def test_shares_are_all_tests_and_each_test_once(commands: list[list[str]]) -> None:
    tests = [f"{path.relative_to(ROOT)}::test" for path in (ROOT / "tests").rglob("test_*.py")]
    for parts in (1, 2, 3):
        counts = Counter(
            test for number in range(parts) for test in tests if costs.in_share(test, f"{number + 1}/{parts}")
        )
        assert counts == Counter(tests)
    half = sum(costs.in_share(test, "1/2") for test in tests)
    assert 0.4 < half / len(tests) < 0.6
    assert suites.main(["unit", "--quick", "--share", "2/2"]) in (0, 1)
    assert commands[-1][-1] == "--share=2/2"
    assert suites.main(["unit", "--quick"]) in (0, 1)
    assert not any("share" in word for word in commands[-1])


def test_a_run_that_never_ends_or_leaves_no_report_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suites, "_ended_with", lambda command, timeout_s: -1)
    ran = suites._suites(["unit"], tmp_path, suites.USUAL)
    told = suites.outcomes_of(ran, ["unit"], quick=False)
    assert told["tests"].failed == ["ended with code -1 and no report"]
    (tmp_path / "report.xml").write_text("<testsuites><testsuite/></testsuites>")
    ran = suites._suites(["unit"], tmp_path, suites.USUAL)
    assert suites.outcomes_of(ran, ["unit"], quick=False)["tests"].failed == ["ended with code -1"]


def test_tests_that_are_all_left_out_by_quick_have_not_failed() -> None:
    ran = suites.Ran(suites.NO_TESTS)
    assert "tests" not in suites.outcomes_of(ran, ["chain"], quick=True)
    assert suites.outcomes_of(ran, ["chain"], quick=False)["tests"].failed == ["ended with code 5"]


# --- what a developer runs ---------------------------------------------------------------------------------


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been run, without its beginning."""
    ran: list[list[str]] = []
    monkeypatch.setattr(suites, "_set_up", lambda *_, **__: None)
    monkeypatch.setattr(suites, "_check", lambda name: suites.Outcome(passed=1))
    monkeypatch.setattr(suites, "_ended_with", lambda command, timeout_s: ran.append(command[4:]) or 0)
    return ran


def test_a_file_or_a_word_is_run_without_the_suites(commands: list[list[str]]) -> None:
    here = "tests/unit/test_run_tests.py"
    assert suites.main([here]) == 0
    assert suites.main([f"{here}::test_here"]) == 0
    assert suites.main(["-k", "slope", "unit"]) == 0
    assert suites.main(["-k", "slope"]) == 0
    of_file, of_test, of_word, of_all = commands
    assert of_file[0] == here and "-m" in of_file and "-n" in of_file
    assert of_test[0] == f"{here}::test_here" and "-m" not in of_test
    assert of_word[0] == "tests/unit" and of_word[of_word.index("-k") + 1] == "slope"
    assert [name for name in of_all if name.startswith("tests/")] == [f"tests/{s}" for s in suites.SUITES]


def test_modules_are_compiled_once_for_all_processes(
    commands: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")
    monkeypatch.delenv("PYTHONPYCACHEPREFIX")
    assert suites.main(["-k", "slope"]) == 0
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ
    assert Path(os.environ["PYTHONPYCACHEPREFIX"]).is_absolute()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quick", "--all"], "give one"),
        (["--record", "unit"], "give it alone"),
        (["--changed", "HEAD", "unit"], "give it alone"),
        (["lint", "tests/unit/test_cli.py"], "lint has no tests"),
        (["tests/unit/test_none.py"], "tests/unit/test_none.py"),
        (["units"], "units"),
        (["--share", "3/2"], "--share '3/2': give K/N, such as 1/2"),
        (["--share", "half"], "--share 'half': give K/N, such as 1/2"),
        (["--share", "1/2", "tests/unit/test_cli.py"], "--share is a part of whole suites"),
        (["--share", "1/2", "lint"], "--share is a part of whole suites"),
    ],
)
def test_what_cannot_be_asked_together_is_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], commands: list[list[str]]
) -> None:
    with pytest.raises(SystemExit) as ended:
        suites.main(arguments)
    told = capsys.readouterr().err
    assert ended.value.code == 2 and said in told and told.count("\n") == 1 and not commands


def test_a_suite_and_a_file_are_both_run(commands: list[list[str]]) -> None:
    assert suites.main(["golden", "tests/unit/test_cli.py"]) == 0
    assert commands[0][:2] == ["tests/golden", "tests/unit/test_cli.py"]


def _owned(monkeypatch: pytest.MonkeyPatch, files: list[str], prices: costs.Costs) -> changed.Plan:
    monkeypatch.setattr(changed, "_changed_files", lambda base: (base or "HEAD", files))
    monkeypatch.setattr(costs, "load", lambda: prices)
    return changed.plan("")


def test_what_changed_chooses_the_tests_that_own_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _owned(
        monkeypatch, ["src/motecrypt/air/radios/stretches.py", "tests/unit/test_cli.py"], costs.Costs()
    )
    assert made.chosen == {"": {"tests/unit/radios/test_airtime_command.py", "tests/unit/test_cli.py"}}
    made = _owned(monkeypatch, ["docs/radio.md"], costs.Costs())
    assert "tests/unit/test_documented_figures.py" in made.chosen[""]


def test_the_words_of_owners_reach_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    made = _owned(monkeypatch, ["src/motecrypt/link/state.py"], costs.Costs())
    (word,) = made.chosen
    (arguments,) = made.runs("not slow")
    assert word == "(not kill_9 and not any_bytes and not waited_for)"
    assert arguments[arguments.index("-k") + 1] == word


def test_tests_beyond_the_budget_are_left_out_and_told_but_not_those_that_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costly = "tests/unit/radios/test_airtime_command.py"
    prices = costs.Costs({costly: changed.BUDGET_S + 1})
    made = _owned(monkeypatch, ["src/motecrypt/air/radios/stretches.py"], prices)
    assert not made.chosen and list(made.told())[-1].endswith(f"./test {costly}")
    assert _owned(monkeypatch, [costly], prices).chosen == {"": {costly}}


def test_a_file_that_is_gone_or_that_no_test_is_named_for_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = "src/motecrypt/air/radios/gone.py"
    made = _owned(monkeypatch, [gone, "tests/unit/test_gone.py", "tests/terminals.py"], costs.Costs())
    assert any(test.startswith("tests/unit/radios/") for tests in made.chosen.values() for test in tests)
    assert made.unowned == ["tests/terminals.py"] and "tests/terminals.py" in list(made.told())[-1]
    assert not any("gone" in test for tests in made.chosen.values() for test in tests)


@needs_tool_set("git")
def test_a_commit_that_git_does_not_know_is_one_line(
    capsys: pytest.CaptureFixture[str], commands: object
) -> None:
    assert suites.main(["--changed", "no-such-commit"]) == 2
    said = capsys.readouterr().err
    assert "no-such-commit" in said and said.count("\n") == 1


def test_without_git_what_changed_is_one_line(
    capsys: pytest.CaptureFixture[str], commands: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert suites.main(["--changed"]) == 2
    assert capsys.readouterr().err == "test: git is not installed; it knows what changed\n"


# --- the costliest first ----------------------------------------------------------------------------------


def test_what_was_recorded_is_read_again(tmp_path: Path) -> None:
    taken = {"a.py::one": 3.0, "a.py::two": 0.51, 'a.py::three[x"y\\z]': 40.0, "b.py::four": 0.01}
    costs.store(costs.recorded(taken), tmp_path / "costs.toml")
    back = costs.load(tmp_path / "costs.toml")
    assert back.files == {"a.py": 3.5} and back.tests == {'a.py::three[x"y\\z]': 40.0}
    assert back.of_file("a.py") == 43.5 and back.unit_of("a.py::two") == "a.py"
    assert back.unit_of('a.py::three[x"y\\z]') == 'a.py::three[x"y\\z]'


def test_the_costliest_unit_comes_first_and_a_unit_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Item:
        nodeid: str

    monkeypatch.setattr(costs, "load", lambda: costs.Costs({"b.py": 5.0, "c.py": 1.0}, {"a.py::long": 20.0}))
    items = [Item(n) for n in ("a.py::short", "a.py::long", "c.py::z", "b.py::y", "b.py::x")]
    costs.order(items)
    assert [item.nodeid for item in items] == ["a.py::long", "b.py::y", "b.py::x", "c.py::z", "a.py::short"]


@needs_tool_set("git")
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


# --- cross products ----------------------------------------------------------------------------------------


FILES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))


def _files_of(pattern: str) -> list[str]:
    return [file for file in FILES if re.fullmatch(pattern.partition("::")[0], file)]


@pytest.mark.parametrize("pattern", costs.wide_patterns())
def test_a_pattern_of_a_cross_product_names_functions_that_exist(pattern: str) -> None:
    function, bracket, _ = pattern.partition("::")[2].partition("\\[")
    assert bracket and _files_of(pattern), pattern
    for file in _files_of(pattern):
        assert re.search(f"^def {function}\\(", (ROOT / file).read_text(), flags=re.MULTILINE), pattern
    assert len(costs.wide_patterns()[pattern]) > 10


def test_every_pattern_leaves_some_of_its_tests_to_every_run() -> None:
    """Collects the files; what only `--all` runs is one of several, never the last of a function."""
    files = sorted({file for pattern in costs.wide_patterns() for file in _files_of(pattern)})
    command = [*suites.PYTHON, "-m", "pytest", "-o", "addopts=", "--collect-only", "-q", *files]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    found = [line for line in done.stdout.splitlines() if "::" in line]
    every = re.compile("|".join(costs.wide_patterns()))
    kept = {test.partition("[")[0] for test in found if not every.search(test)}
    for pattern in costs.wide_patterns():
        wide = {test.partition("[")[0] for test in found if re.search(pattern, test)}
        assert wide and wide <= kept, (pattern, wide - kept)


def test_what_a_pattern_finds_is_marked_and_nothing_else() -> None:
    class Item:
        def __init__(self, nodeid: str) -> None:
            self.nodeid, self.marks = nodeid, list[str]()

        def add_marker(self, name: str) -> None:
            self.marks.append(name)

    items = [
        Item(f"tests/vectors/test_every_cipher.py::test_all_vectors[aes{bits}-ecb]") for bits in (128, 192)
    ]
    config = SimpleNamespace(getoption=lambda name: "")
    marking = costs.pytest_collection_modifyitems(config, items)  # type: ignore[arg-type]
    next(marking)
    assert [item.marks for item in items] == [[], ["wide"]]


@pytest.mark.parametrize("share", ["1/2", "2/2"])
def test_a_share_of_the_files_is_what_is_left(share: str) -> None:
    tests = [f"tests/unit/test_{name}.py::test_{number}" for name in "abcdefgh" for number in range(2)]
    items = [SimpleNamespace(nodeid=test) for test in tests]
    blocked = SimpleNamespace(is_blocked=lambda name: False)
    config = SimpleNamespace(getoption={"--share": share}.get, pluginmanager=blocked)
    choosing = costs.pytest_collection_modifyitems(config, items)  # type: ignore[arg-type]
    next(choosing)
    with pytest.raises(StopIteration):
        next(choosing)
    assert {item.nodeid for item in items} == {test for test in tests if costs.in_share(test, share)}
    assert 0 < len(items) < len(tests)
