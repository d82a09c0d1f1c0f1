"""What runs on hosted machines and before a commit names what there is; changelog fragments."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"
HOOKS = ROOT / ".pre-commit-config.yaml"
RUNNER = runpy.run_path(str(ROOT / "tests" / "run.py"), run_name="not main")
SUITES = {*RUNNER["CHECKS"], *RUNNER["SUITES"]}
PACKAGES = {"ca-certificates", "git", "python3", "python3-venv"}


NIGHTLY = ROOT / ".github" / "workflows" / "nightly.yml"


def rows() -> list[str]:
    """The suites of each row of the workflow's matrix."""
    found = re.search(r"suites: \[(.*)\]", WORKFLOW.read_text())
    assert found
    return re.findall(r'"([^"]+)"', found[1])


def steps(suites: str, workflow: Path = WORKFLOW) -> list[list[str]]:
    """The command lines of a row, in order, as words."""
    lines = re.findall(r"^ +- run: (.+)$", workflow.read_text(), re.MULTILINE)
    assert len(lines) == workflow.read_text().count("run: "), "one line each"
    return [shlex.split(line.replace("${{ matrix.suites }}", suites)) for line in lines]


def test_every_suite_has_a_row_on_both_systems() -> None:
    assert {name for row in rows() for name in row.split()} == SUITES
    assert 'system: ["debian:12", "debian:13"]' in WORKFLOW.read_text()


@pytest.mark.parametrize("row", rows())
def test_every_step_names_what_there_is(row: str) -> None:
    for command, *arguments in steps(row):
        if command == "./test":
            assert arguments and set(arguments) <= SUITES
        elif command == ".ci/changes":
            assert arguments == ["check"]
        elif command == "apt-get" and "install" in arguments:
            assert {a for a in arguments if not a.startswith("-") and a != "install"} <= PACKAGES
        else:
            assert command in ("apt-get", "git")
        if "/" in command:
            assert (ROOT / command).stat().st_mode & 0o111, command


def test_the_nightly_run_is_the_same_set_up_and_everything() -> None:
    *first, last = steps("", NIGHTLY)
    assert last == ["./test", "--all"]
    assert first == [step for step in steps(rows()[0])[:-1] if step[0] != ".ci/changes"]
    assert 'system: ["debian:12", "debian:13"]' in NIGHTLY.read_text()


def test_the_steps_of_the_first_row_run_in_a_clone_in_order(tmp_path: Path) -> None:
    """Without those that install or configure the machine; the row is the one that takes seconds."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git checkout")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--no-local", ROOT, clone], check=True, timeout=120)
    there = [step for step in steps(rows()[0]) if step[0] not in ("apt-get", "git")]
    assert [step[0] for step in there] == [".ci/changes", "./test"]
    environment = {**os.environ, "MOTECRYPT_VENV": sys.prefix}
    for step in there:
        done = subprocess.run(
            step,
            cwd=clone,
            capture_output=True,
            text=True,
            timeout=300,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, f"{step}: {done.stdout}{done.stderr}"


def test_every_hook_runs_a_check_that_there_is() -> None:
    entries = [shlex.split(line) for line in re.findall(r"entry: (.+)", HOOKS.read_text())]
    assert [".ci/changes", "check"] in entries
    assert {name for command, *names in entries if command == "./test" for name in names} == set(
        RUNNER["CHECKS"]
    )


# --- changelog fragments -------------------------------------------------------------------------------

CHANGES = runpy.run_path(str(ROOT / ".ci" / "changes"), run_name="not main")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "changes" / "the-link").mkdir(parents=True)
    (tmp_path / "changes" / "README.md").write_text("# About\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 (2029-01-01)\n\n- Old.\n")
    (tmp_path / "CITATION.cff").write_text(
        "title: It\nversion: 0.1.0\ndate-released: 2029-01-01\nlicense: MIT\n"
    )
    return tmp_path


def test_our_fragments_are_well_formed() -> None:
    assert CHANGES["check"](ROOT) == 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("the-link/Upper.md", "A sentence.\n", "small letters"),
        ("the-link/note.txt", "A sentence.\n", "small letters"),
        ("the-link/a.md", "\n", "empty"),
        ("the-link/a.md", "# Heading\n", "plain paragraph"),
        ("the-link/a.md", "- A point.\n", "plain paragraph"),
        ("the-link/a.md", "One.\n\nTwo.\n", "plain paragraph"),
        ("the-link/a.md", "No full stop\n", "full stop"),
        ("the-link/a.md", "Long. " * 200, "characters"),
        ("a.md", "A sentence.\n", "changes/a.md: move it to a folder"),
        ("summary.md", "Long. " * 400, "2000 are the most"),
    ],
)
def test_a_fragment_of_another_form_is_told(
    name: str, text: str, said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "changes" / "the-link" / "whole.md").write_text("A sentence.\n")
    (project / "changes" / name).write_text(text)
    assert CHANGES["check"](project) == 1
    assert said in capsys.readouterr().out
    assert CHANGES["fold"](project, "0.2.0", "2030-01-31") == 2
    assert (project / "changes" / name).exists()


def test_folding_moves_the_fragments_to_the_front(project: Path) -> None:
    (project / "changes" / "the-link" / "b.md").write_text("Second\nline.\n")
    (project / "changes" / "the-link" / "a.md").write_text("First.\n")
    (project / "changes" / "advice").mkdir()
    (project / "changes" / "advice" / "c.md").write_text("Third.\n")
    (project / "changes" / "summary.md").write_text("All in\nall.\n")
    assert CHANGES["fold"](project, "0.2", "2030-01-31") == 2
    assert CHANGES["fold"](project, "0.2.0", "2030-01-31") == 0
    advice, link = "### Advice\n\n- Third.", "### The link\n\n- First.\n- Second line."
    new = f"## 0.2.0 (2030-01-31)\n\nAll in all.\n\n{advice}\n\n{link}\n"
    old = "## 0.1.0 (2029-01-01)\n\n- Old.\n"
    assert (project / "CHANGELOG.md").read_text() == f"# Changelog\n\n{new}\n{old}"
    cited = "title: It\nversion: 0.2.0\ndate-released: 2030-01-31\nlicense: MIT\n"
    assert (project / "CITATION.cff").read_text() == cited
    assert [p.name for p in (project / "changes").iterdir()] == ["README.md"]
    assert CHANGES["fold"](project, "0.3.0", "2030-02-28") == 2
