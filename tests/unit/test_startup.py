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
from click.testing import CliRunner

from goldens.views.made_up import measured
from motecrypt import cli
from motecrypt.catalog import Catalog
from motecrypt.cli import application
from motecrypt.measuring.bench import cell_keys
from motecrypt.present.terminal.listed import KINDS
from motecrypt.results import Results
from motecrypt.studies import Needs
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
#: Packages that take a tenth of a second together, each used by few commands.
HEAVY = {"rich", "elftools", "jinja2", "markupsafe", "cryptography", "numpy", "serial", "vl_convert"}
HEAVY |= {"sqlite3", "importlib.metadata", "importlib.resources"}

#: What neither a list nor an answer from stored figures has a use for.
UNUSED = HEAVY - {"rich", "sqlite3"} | {"rich.console", "concurrent.futures", "logging", "tomllib", "ctypes"}
MEASURING = ("build", "measuring", "simulate", "results", "exports", "studies", "attack", "link")
MEASURING += ("present.bundle", "present.compare", "present.runs", "present.pages", "present.report")
NOT_ASKED = {
    *("adviser.keys", "adviser.publickey", "adviser.hardware.residuals", "adviser.hardware.rows"),
    *("exports.library", "exports.link", "air.radios.network", "results.reading", "build.toolchain.native"),
    *("measuring.bench.crew", "measuring.bench.task"),
}
ADVISE = (
    "advise --device uno --radio srf --bytes 20 --every 10s --battery 3xAA --cipher ascon --library motecrypt"
)

PROBE = """
import sys
before = set(sys.modules)  # of Python's start, and of what a package of the environment adds to it
import io, json
shown, sys.stdout = sys.stdout, io.StringIO()
from motecrypt.cli import main
try:
    main(json.loads(sys.argv[1]))
except SystemExit as stop:
    assert stop.code == 0, stop.code
shown.write(json.dumps(sorted(set(sys.modules) - before)))
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


def not_pythons_own(modules: set[str]) -> set[str]:
    """Which of the modules are not part of Python, whose own differ by version."""
    return {name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]], ids="".join)
def test_the_list_of_commands_imports_none_of_them(arguments: list[str]) -> None:
    modules = imported(*arguments)
    ours = {name for name in modules if name.startswith("motecrypt.")}
    assert ours <= {
        "motecrypt.base",
        "motecrypt.cli",
        "motecrypt.cli._interrupt",
        "motecrypt.base.errors",
        "motecrypt.base.text",
    }
    assert not modules & HEAVY
    assert len(not_pythons_own(modules)) < 23


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
        ("airtime", set()),
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_imports_neither_what_measures_nor_what_draws(kind: str) -> None:
    imported("list", kind)  # what it parses is kept from now on
    modules = imported("list", kind)
    assert not modules & (UNUSED | {"sqlite3", "subprocess", "tempfile"})
    assert not modules & {f"motecrypt.{room}" for room in MEASURING}
    assert len(not_pythons_own(modules)) < 50


@needs_tool_set("avr")
def test_an_answer_from_stored_figures_imports_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*ADVISE.split(), "--db", str(tmp_path / "results.db")]

    def stored(_: str, needs: Needs, results: Results, catalog: Catalog, *__: object) -> None:
        keys = cell_keys(catalog, needs.cells)
        results.store({keys[cell]: measured(cell, "even") for cell in needs.cells})

    with monkeypatch.context() as patched:
        patched.setattr("motecrypt.app.advise.ensure", stored)
        done = CliRunner().invoke(application, words)
    assert done.exit_code == 0, done.output
    imported(*words)  # what it parses is kept from now on
    modules = imported(*words)
    assert not modules & UNUSED
    assert not modules & {f"motecrypt.{name}" for name in NOT_ASKED}
    assert len(not_pythons_own(modules)) < 128


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
