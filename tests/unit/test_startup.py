"""What a command may import at the start. The test compares names of modules, since times vary."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from motecrypt import cli
from motecrypt.cli import application

ROOT = Path(__file__).resolve().parents[2]
#: Packages that take a tenth of a second together, each used by few commands.
HEAVY = {"rich", "elftools", "jinja2", "markupsafe", "cryptography", "numpy", "serial", "vl_convert"}
HEAVY |= {"sqlite3", "importlib.metadata", "importlib.resources"}

PROBE = """
import io, json, sys
shown, sys.stdout = sys.stdout, io.StringIO()
from motecrypt.cli import main
try:
    main(json.loads(sys.argv[1]))
except SystemExit as stop:
    assert stop.code == 0, stop.code
shown.write(json.dumps(sorted(sys.modules)))
"""


def imported(*arguments: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, json.dumps(arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return set(found)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids="".join)
def test_the_list_of_commands_imports_none_of_them(arguments: list[str]) -> None:
    modules = imported(*arguments)
    ours = {name for name in modules if name.startswith("motecrypt.")}
    assert ours <= {
        "motecrypt.cli",
        "motecrypt.cli._interrupt",
        "motecrypt.base.errors",
        "motecrypt.base.text",
    }
    assert not modules & HEAVY


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("measure", {"sqlite3"}),
        ("reproduce", {"sqlite3"}),
        ("report", {"sqlite3"}),
        ("compare", {"sqlite3"}),
        ("advise", {"sqlite3"}),
        ("results", set()),
        ("list", set()),
        ("doctor", set()),
        ("link", set()),
        ("gateway", {"cryptography"}),
        ("file", {"cryptography"}),
        ("crypt", {"cryptography"}),
        ("key", {"cryptography"}),
    ],
)
def test_a_command_imports_what_it_needs(command: str, allowed: set[str]) -> None:
    modules = imported(command, "--help")
    assert not (modules & HEAVY) - allowed
    assert command not in ("file", "key") or "motecrypt.base.model" not in modules  # a fifth of their start
    studies = {name.split(".")[2] for name in modules if name.startswith("motecrypt.studies.")}
    assert not studies & {"rc4d", "pico", "rf", "wlan"}


def test_the_list_of_commands_says_what_each_is_in_one_line() -> None:
    context = click.Context(application, terminal_width=80, max_content_width=80)
    lines = application.get_help(context).splitlines()
    names = application.list_commands(context)
    width = max(map(len, names))
    for name in names:
        module = importlib.import_module(f"motecrypt.cli.{name.replace('-', '_')}")
        title = f"motecrypt {name}: "
        first = module.__doc__.splitlines()[0]
        assert first.startswith(title) and first.endswith("."), name
        summary = first.removeprefix(title).removesuffix(".")
        assert f"  {name:{width}}  {summary[0].upper()}{summary[1:]}" in lines


def test_a_command_that_says_nothing_has_no_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "one_two.py").write_text('"""motecrypt one-two: a thing."""\n')
    (tmp_path / "more.py").write_text('"""motecrypt more: several things.\n\nAt length.\n"""\n')
    (tmp_path / "other.py").write_text('"""Something else."""\n')
    told = [cli._summary(name) for name in ("one-two", "more", "other", "none")]
    assert told == ["A thing", "Several things", "", ""]


def test_the_benchmarks_say_what_they_compare() -> None:
    command = [sys.executable, "-P", str(ROOT / "benchmarks" / "run.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    there = [path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem != "run"]
    assert all(f"  {name} " in done.stdout for name in there)
