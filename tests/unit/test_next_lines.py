"""Every command that is printed as the next one runs as it is printed, for each way to name things."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import test_answer_widths
from test_answer_widths import profiled

from command_line import run
from goldens.views.made_up import measured
from motecrypt.app import audit
from motecrypt.app import wlan as app_wlan
from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.cli import TYPED, application, ci, export, measure, profile
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]
NODE = "--bytes 10 --every 1min --battery 3xAA --cipher aes128-ccm8"
OWN = "--bytes 8 --every 1h --battery 3xAA --cipher XTEA"
PLACES = {
    "XTEA": "my ciphers/xtea/xtea-cbc",
    "MEGA": "my devices/mega",
    "RADIO": "my radio.toml",
    "LIBRARY": "my library",
    "FILE": "my file.bin",
    "DB": "my results.db",
    "OTHER": "others.db",
}
#: They compile or draw for seconds, and other tests run them; here their words are read alone.
LONG = ("report", "run")
CASES = (
    f"advise --device uno --radio srf {NODE}",
    f"advise --device uno --radio RADIO {NODE} --top 1",
    f"advise --device uno --radio RADIO --packet-bytes 40 --delivery one-way {NODE} --all",
    f"advise --device MEGA --radio srf --bare-chip {NODE} --top 1",
    f"advise --device uno --radio srf {NODE} --db DB",
    f"advise --device uno --radio srf {OWN} --need confidentiality",
    "advise --device pico --storage flash --bytes 32 --every 10s --battery 3xAA --cipher aes128-ccm8",
    f"advise --device uno --radio srf {NODE} --library bearssl",
    "audit XTEA --quick --part diffusion",
    "audit XTEA --part timing --device MEGA --device uno",
    "audit rc4d",
    "audit aes128-ccm8 --part diffusion --db DB",
    "compare OTHER DB",
    "compare OTHER DB --all",
    "export arduino OUT --cipher aes128-ccm8",
    "export arduino OUT --cipher aes128-ccm8 --link --radio RADIO --no-measure",
    "export c OUT --cipher XTEA",
    "export c OUT --cipher XTEA --no-measure",
    "export c OUT --cipher XTEA --no-measure --db DB",
    "export c OUT --cipher ascon-aead128 --link --no-measure",
    "export c OUT --cipher aes128-ccm8 --device stm32f4",
    "airtime --radio RADIO",
    "airtime --radio nrf24 --packet-bytes 20",
    "airtime --radio nrf24 --set packet_bytes=20",
    "airtime --radio lora --bytes 16",
    "measure --cipher XTEA --bytes 16",
    "measure --cipher XTEA --bytes 16 --device MEGA --db DB",
    "measure --cipher aes128-ccm8 --bytes 16 --device MEGA --variant tiny",
    "measure --cipher aes128-cbc --library bearssl --bytes 16 --device pico",
    "measure --cipher aes128-cbc --library LIBRARY --bytes 16",
    "profile sketch.elf --device uno",
    "profile sketch.elf --device MEGA --lines 3",
    "profile sketch.elf --lines 3 --speedscope FILE",
    "reproduce rc4d --stored --db DB",
    "reproduce rc4d --stored --rows --compiler uno",
    "wlan FILE --closed-form",
    "wlan FILE --closed-form --cipher none",
    "wlan FILE --closed-form --cipher aes128-ctr --device uno",
    "wlan FILE --closed-form --cipher rc4 --device uno",
)


def figure(cell: Cell) -> Measurement:
    """As if it had been measured; what is the user's own has figures of ours."""
    ours = {"mega": "uno", "xtea-cbc": "aes128-cbc"}
    body = replace(
        cell.implementation, cipher=ours.get(cell.implementation.cipher, cell.implementation.cipher)
    )
    known = replace(cell, device=ours.get(cell.device, cell.device), implementation=body)
    return replace(measured(known, "near"), device=cell.device, cipher=cell.implementation.cipher)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with things of a user's own, in folders with blanks; nothing is compiled, fetched or run."""

    def made_up(cells: Sequence[Cell], *_: object, **__: object) -> Mapping[Cell, Measurement]:
        return {cell: figure(cell) for cell in cells}

    def ensured(_: str, needs: Any, results: Results, *__: object) -> None:
        results.store({f"cell {number}": figure(cell) for number, cell in enumerate(needs.cells)})

    for module in (app_wlan, measure, audit, export, profile):
        if hasattr(module, "need"):
            monkeypatch.setattr(module, "need", lambda *_: None)
    monkeypatch.setattr(bench, "ensure", made_up)
    monkeypatch.setattr("motecrypt.app.advise.ensure", ensured)
    monkeypatch.setattr(audit, "_run", lambda parts, *_: [test_answer_widths._experiment(0, parts[0].part)])
    monkeypatch.setattr("motecrypt.app.export.have", lambda *_: True)
    monkeypatch.setattr("motecrypt.app.export._link_costs", lambda *_: None)
    monkeypatch.setattr(profile, "profile", profiled)
    monkeypatch.setattr("motecrypt.app.selection.Selection.prove_own", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    for made, of in (("xtea", "my ciphers/xtea"), ("mega", "my devices/mega"), ("mylibrary", "my library")):
        shutil.copytree(ROOT / "examples" / made, tmp_path / of)
    shutil.copy(ROOT / "examples" / "rfm69.toml", tmp_path / "my radio.toml")
    catalog = Catalog.load()
    body = next(each for each in catalog.implementations if each.cipher == "rc4d")
    for name, cycles in (("my results.db", 1000.0), ("others.db", 1001.0)):
        with Results(tmp_path / name) as results:
            (cell, *_) = cells_for(catalog, catalog.device("uno"), body, message_bytes=[16])
            results.store({"x": replace(figure(cell), cycles_median=cycles)})
    (tmp_path / "my file.bin").write_bytes(bytes(range(256)) * 401)
    monkeypatch.setenv("MOTECRYPT_DB", str(tmp_path / "others.db"))
    return tmp_path


def told(words: list[str]) -> tuple[int, str]:
    done = CliRunner().invoke(application, words, input="a password\na password\n")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return done.exit_code, done.output


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "form"),
    [
        *((line, "relative") for line in CASES),
        *((line, "absolute") for line in CASES if not PLACES.keys().isdisjoint(line.split())),
    ],
)
def test_the_next_command_runs_as_it_is_printed(line: str, form: str, place: Path) -> None:
    where = "." if form == "relative" else str(place)
    words = [f"{where}/{PLACES[word]}" if word in PLACES else word for word in line.split()]
    code, out = told([f"{where}/my out" if word == "OUT" else word for word in words])
    assert code in (0, 1), out
    (said,) = [text for text in out.splitlines() if text.startswith("Next:")]
    head, tool, *following = shlex.split(said)
    assert (head, tool) == ("Next:", "motecrypt"), said
    shutil.rmtree(place / "my out", ignore_errors=True)
    if following[0] in LONG:
        command = application.get_command(click.Context(application), following[0])
        assert command is not None
        command.make_context(following[0], following[1:])
        return
    code, out = told(following)
    assert code in (0, 1) and "Usage" not in out, f"{said}\n{out}"


def typed(*words: str) -> click.Context:
    """The context of a command that was typed in these words."""
    context = click.Context(application)
    context.meta[TYPED] = words
    return context


@needs_tool_set("git")
def test_a_gate_goes_on_to_a_commit_that_there_is(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        name = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        subprocess.run(["git", "-C", tmp_path, *name, *words], check=True, timeout=60, capture_output=True)

    passed: Any = SimpleNamespace(passed=True)
    alone: Any = SimpleNamespace(base=None)
    said = []
    for words in (
        [],
        ["init"],
        ["commit", "--allow-empty", "-m", "1"],
        ["commit", "--allow-empty", "-m", "2"],
    ):
        if words:
            git(*words)
        with typed("ci", "--no-base", "--db", "my results.db"):
            said.append(ci._next(passed, alone, tmp_path))
    json = "motecrypt ci --no-base --db 'my results.db' --json"
    assert said == [json, json, json, "motecrypt ci --db 'my results.db' --base 'HEAD~1'"]
    failed: Any = SimpleNamespace(passed=False)
    with typed("ci", "--no-base", "--db", "my results.db"):
        assert ci._next(failed, alone, tmp_path) == json


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("results --json --format csv", "--json and --format csv: give one of them"),
        (
            "reproduce rc4d --stored --full",
            "--full runs what is recorded: give it without --stored and --compiler",
        ),
        ("reproduce rc4d --compiler x --full", "--full runs what is recorded: give it without"),
        (
            "wlan FILE --closed-form --cipher none --key-bits 256",
            "--key-bits: nothing is encrypted; choose a",
        ),
        (
            "airtime --packet-bytes 20 --set packet_bytes=30",
            "--set packet_bytes and --packet-bytes: give one",
        ),
        ("airtime --timeout-ms 2 --set timeout_ms=3", "--set timeout_ms and --timeout-ms: give one of them"),
        ("radio srf --html page.html --link a --link b", "--html opens no ports: omit --link, --nodes and"),
        ("radio srf --html page.html --nodes 3", "--html opens no ports: omit --link, --nodes and --levels"),
        ("leak FILE --function f --cipher rc4", "and --cipher rc4: give one of them"),
    ],
)
def test_options_that_contradict_each_other_are_refused_in_one_line(
    line: str, said: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capfd, *(PLACES.get(word, word) for word in line.split()))
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
    assert not (place / "page.html").exists()
