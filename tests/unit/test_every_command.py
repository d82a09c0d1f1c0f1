"""Every command prints whole numbers at every width, and every long one names what comes next."""

from __future__ import annotations

import ast
import json
import platform
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import test_answer_widths
import test_table_widths
from test_answer_widths import PROFILE, body, every_number, lines_of, profiled, unknown
from test_table_widths import NUMBER, WIDTHS

from goldens.views.made_up import filled, measured
from motecrypt import __version__
from motecrypt.app import wlan
from motecrypt.base.paths import cache_dir
from motecrypt.cli import application, export, profile
from tool_sets import needs_tool_set

CLI = Path(export.__file__).parent
DRAWS = {"print_table", "show", "print_words", "console"}

#: Commands that print tables or sentences, and those of them that are tried here.
#: tests/unit/leakage/test_leak_command.py and tests/unit/gate/test_ci_command.py run them,
#: and tests/unit/callgraph/test_stack_bounds.py, tests/unit/test_sweep.py.
RECORDS = {"ci", "leak", "stack", "sweep"}
OTHERS = {c.split()[0] for c in (*test_answer_widths.COMMANDS, *test_table_widths.COMMANDS)} | {"compare"}
HERE = {"doctor", "export", "gateway", "profile", "provision", "records", "report", "wlan"}
#: The demo starts other commands; tests/contract/test_demo.py runs it.
STARTS_OTHERS = {"demo"}
#: Their lines have one length at every width.
LINES = {
    *("cluster", "completion", "crypt", "file", "key", "node", "radio", "receive", "run", "send"),
}
#: They work for a while or print more than a screen: the last line is the command that comes next.
LONG = {
    "advise",
    "airtime",
    "audit",
    "compare",
    "export",
    "measure",
    "profile",
    "records",
    "report",
    "reproduce",
    "wlan",
}


def invoked(arguments: list[str], width: int) -> str:
    environment = {"COLUMNS": str(width), "MOTECRYPT_DB": str(filled("near").path)}
    done = CliRunner().invoke(application, arguments, env=environment)
    assert done.exit_code in (0, 1) and not isinstance(done.exception, Exception), (done.output, done)
    return done.stdout


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the commands take; nothing is compiled, fetched or run."""

    def made_up(cells: Any, *_: object, **__: object) -> Any:
        return {cell: measured(cell, "near") for cell in cells}

    monkeypatch.setattr(wlan.bench, "ensure", made_up)
    monkeypatch.setattr(wlan, "need", lambda *_: None)
    monkeypatch.setattr("motecrypt.app.export.have", lambda *_: True)
    monkeypatch.setattr(profile, "profile", profiled)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.bin").write_bytes(bytes(range(256)) * 401)
    return tmp_path


CASES = (
    "doctor",
    "export arduino Library --cipher aes128-ccm8",
    "export c Sources --cipher ascon-aead128",
    pytest.param("gateway status --key gateway.key", marks=needs_tool_set("host")),
    "profile sketch.elf --until ready",
    "profile sketch.elf --until ready --lines 3 --speedscope flame.json",
    pytest.param("provision --list --key gateway.key", marks=needs_tool_set("host")),
    "records --stored --device uno",
    "report -o report.html",
    "wlan data.bin --closed-form",
    "wlan data.bin --closed-form --cipher aes128-ccm8 --device uno --device pico --security wep",
    "wlan data.bin --closed-form --cipher rc4 --device uno",
)


@pytest.mark.parametrize("line", CASES)
def test_each_number_is_whole_at_every_width_and_one_of_the_json(line: str, place: Path) -> None:
    words = line.split()
    if words[0] in ("gateway", "provision"):
        for earlier in ("key gateway.key --link", "provision 5 --key gateway.key --radio srf --eep five.eep"):
            invoked(earlier.split(), 80)
    takes_wide = words[0] not in ("export", "report")
    wide = body(invoked([*words, "--wide"] if takes_wide else words, 200))
    document = json.loads(invoked([*words, "--json"], 80))
    known = every_number(document)
    if words[0] == "profile":
        total = PROFILE.ended.cycles
        known += [100 * part / total for part in (*(f.self_cycles for f in PROFILE.functions), 45_678_901)]
    if words[0] == "wlan":
        known += _known_of_wlan(document)
    if words[0] == "report":
        known.append(document["bytes"] / 1e6)
    if words[0] == "doctor":  # what runs it, and where
        known += every_number([__version__, platform.python_version(), sys.executable, str(cache_dir())])
        known += every_number(str(filled("near").path))
    printed = wide.replace(str(place), "")
    assert unknown(printed, sorted(known)) == set()
    everything = set(NUMBER.findall(wide))
    for width in WIDTHS:
        out = invoked(words, width)
        assert set(NUMBER.findall(body(out))) <= everything, width
        if takes_wide:
            longest = [each for each in lines_of(out) if len(each.rstrip()) > width]
            assert not [each for each in longest if " " in each.strip().partition(": ")[2]], (width, longest)


def _known_of_wlan(document: dict[str, Any]) -> list[float]:
    """Numbers of the request's names, which are in no field of their own, and shares in per cent."""
    names = [802.11, 16.0]
    shares = [100 * each[name] for each in document["cipher"] for name in ("energy_share", "time_share")]
    return names + shares


def test_no_command_is_left_out() -> None:
    kinds = (OTHERS, HERE, LINES, STARTS_OTHERS, RECORDS)
    named = [name for kind in kinds for name in kind]
    assert sorted(named) == application.list_commands(click.Context(application))


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_command_that_prints_lines_draws_nothing(name: str) -> None:
    tree = ast.parse((CLI / f"{name}.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    drawn = {alias.name for node in imports for alias in node.names} & DRAWS
    assert not drawn, f"{name} draws with {drawn}: it needs a test of its widths"


@pytest.mark.parametrize(
    "line",
    [
        "completion bash",
        "crypt aes128-cbc --key 0102030405060708090a0b0c0d0e0f10 --nonce " + 32 * "0" + " " + 512 * "1",
    ],
)
def test_a_command_that_prints_lines_prints_the_same_at_every_width(line: str) -> None:
    assert len({invoked(line.split(), width) for width in WIDTHS}) == 1


def test_a_long_word_is_never_broken(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    from motecrypt.cli._output import print_words, show
    from motecrypt.present.terminal import TextAnswer

    monkeypatch.setenv("COLUMNS", "60")
    path = "/a" * 50 + "/1234567890"
    print_words(f"The readings are in {path}, all 1,234,567 of them.", "bold")
    show(TextAnswer(f"Asked of {path}", [("Use", f"{path} and no other")]))
    out = capsys.readouterr().out
    assert out.count(path) == 3 and "1,234,567" in out and not out.startswith("\n")
    assert max(len(line) for line in out.splitlines() if path not in line) <= 60


# --- what comes next ---------------------------------------------------------------------------------


def next_of(out: str) -> list[str]:
    """The words of the last line, which is the command that comes next."""
    head, *words = shlex.split(out.rstrip().splitlines()[-1])
    assert (head, words[0]) == ("Next:", "motecrypt"), out[-300:]
    return words[1:]


def accepts(words: list[str]) -> None:
    """The command exists and its options are as written."""
    parent = click.Context(application, help_option_names=["-h", "--help"])
    command: Any = application.get_command(parent, words[0])
    assert command is not None, words
    rest = words[1:]
    if isinstance(command, click.Group):
        command, rest = command.get_command(parent, rest[0]), rest[1:]
    command.make_context(words[0], rest, parent)


STEPS = (
    ("airtime --radio srf", "advise --device uno --radio srf"),
    ("airtime --radio lora --bytes 16 --packet-bytes 40", "--packet-bytes 40 --bytes 16"),
    ("wlan data.bin --closed-form", "wlan data.bin --closed-form --cipher ascon-aead128"),
    ("wlan data.bin --closed-form --cipher rc4 --device uno", "audit rc4"),
    (
        "wlan data.bin --closed-form --cipher aes128-ccm8 --device uno",
        "wlan data.bin --closed-form --cipher aes128-ccm8 --device uno --capture transfer.pcap",
    ),
    ("profile sketch.elf --device uno", "profile sketch.elf --device uno --lines 10"),
    ("profile sketch.elf --lines 3", "profile sketch.elf --lines 3 --speedscope profile.json"),
    ("profile sketch.elf --lines 3 --speedscope f", "profile sketch.elf --lines 3 --speedscope f --json"),
    (
        "export arduino Library --cipher aes128-ccm8",
        "run Library/examples/KnownAnswer/KnownAnswer.ino --libraries . --until right",
    ),
    ("export c Sources --cipher ascon-aead128", "audit ascon-aead128"),
    ("export c Sources --cipher aes128-siv --no-measure", "measure --device"),
    ("records --stored", "records --check"),
    ("report -o report.html", "report -o report.html --figures figures"),
    ("compare OTHER DB", "compare OTHER DB --all"),
    ("compare OTHER DB --all", "report -o report.html --db DB"),
    ("reproduce rc4d --stored", "reproduce rc4d --stored --rows"),
)


@pytest.mark.parametrize(("line", "expected"), STEPS)
def test_the_last_line_is_the_command_that_comes_next(line: str, expected: str, place: Path) -> None:
    files = {"DB": str(filled("near").path), "OTHER": str(filled("far").path)}
    words = next_of(invoked([files.get(word, word) for word in line.split()], 80))
    assert expected in " ".join({path: name for name, path in files.items()}.get(w, w) for w in words)
    accepts(words)


def test_every_long_command_has_its_next_step_tried() -> None:
    tried = {line.split()[0] for line, _ in STEPS}
    elsewhere = {c.split()[0] for c in test_answer_widths.COMMANDS}
    assert tried | elsewhere == LONG


@pytest.mark.parametrize("line", test_answer_widths.COMMANDS)
def test_answers_name_the_next_command(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stub: Callable[..., None] = test_answer_widths.nothing_runs.__wrapped__  # type: ignore[attr-defined]
    stub(monkeypatch)
    out = test_answer_widths.shown(line, 80)
    said = next(text for text in out.splitlines() if text.startswith("Next:"))
    accepts(shlex.split(said)[2:])
    if line.split()[0] != "advise":
        assert next_of(out)


def test_an_empty_report_names_the_command_that_fills_it(place: Path) -> None:
    words = ["report", "-o", "report.html", "--db", str(filled("empty").path)]
    assert next_of(invoked(words, 80))[:2] == ["reproduce", "rc4d"]


def test_a_comparison_without_small_changes_goes_on_to_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    from motecrypt.cli import compare
    from motecrypt.present.compare import Difference

    difference = Difference.__new__(Difference)
    object.__setattr__(difference, "changes", ())
    assert compare._next(difference, Path("b.db"), every=False).endswith("--db b.db")
