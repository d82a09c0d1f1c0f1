"""Answers at 60, 80, 120 and 200 columns: no number is cut, and each is one that --json has."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from test_table_widths import NUMBER, WIDTHS, numbers

from goldens.views.made_up import filled
from motecrypt.app import audit
from motecrypt.app.profile import ProfileResult
from motecrypt.app.run import RunRequest
from motecrypt.base.model import ExperimentResult
from motecrypt.catalog import Catalog
from motecrypt.cli import application
from motecrypt.cli._output import show
from motecrypt.measuring import bench
from motecrypt.present.runs.profile import profile_view
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.profiling import FunctionCost, LineCost, Profile
from motecrypt.simulate.emulate.run import Ended

ADVISE = "advise --device uno --radio srf --bytes 16 --every 10s --battery 3xAA --library motecrypt"
STORED = "advise --device uno --bytes 16 --every 1h --battery 3xAA --library motecrypt --storage"
COMMANDS = (
    ADVISE,
    f"{ADVISE} --all --why-not",
    f"{ADVISE} --need integrity --all --regulator nano",
    f"{STORED} eeprom --all",
    f"{STORED} sd --storage-ma 30,0.2",
    "measure --device uno --cipher aes128-ccm8 --cipher ascon-aead128 --library motecrypt",
    "measure --device uno --cipher rc4d --cipher aes128-ccm8 --library motecrypt --placement flash",
    "audit rc4d",
)


def profiled(request: RunRequest) -> ProfileResult:
    """A profile that was made up, in place of a run."""
    image = Image(Path("sketch.elf"), (), None, 0, None, 0, None)
    return ProfileResult(request, Catalog.load().device("uno"), image, ENDED, b"", PROFILE)


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stored results are used, and nothing is measured."""

    def stored(cells: Any, results: Results, *_: object, **__: object) -> Any:
        found = results.newest(cells)
        return {cell: found[cell] for cell in cells if cell in found}

    monkeypatch.setattr("motecrypt.app.advise.ensure", lambda *_: None)
    monkeypatch.setattr(bench, "ensure", stored)
    monkeypatch.setattr(audit, "need", lambda *_: None)
    monkeypatch.setattr(
        audit, "_run", lambda parts, *_: [_experiment(n, p.part) for n, p in enumerate(parts)]
    )


def _experiment(number: int, part: str) -> ExperimentResult:
    sentences = [f"{number + 40 + 8 * n} of {900 + number} changed messages were accepted." for n in range(3)]
    weight = ("good", "note", "bad", "skipped")[number % 4]
    outcome = {"title": f"{part} {number + 3}", "verdict": f"found {number + 7}.25 %", "weight": weight}
    inputs = {"part": part, "implementation": "motecrypt/plain", "seed": 1}
    return ExperimentResult("audit", 1, inputs, {**outcome, "sentences": sentences, "data": {}})


def shown(command: str, width: int, *more: str) -> str:
    environment = {"COLUMNS": str(width), "MOTECRYPT_DB": str(filled("near").path)}
    done = CliRunner().invoke(application, [*command.split(), *more], env=environment)
    assert done.exit_code in (0, 1) and not isinstance(done.exception, Exception), (
        done.output,
        done.exception,
    )
    return done.stdout


LEFT_OUT = re.compile(
    r"\d+ more warnings?: --all|(\d+ more ranks? and )?\d+ notes?: --all|\d+ not ranked[^:]*: --why-not"
    r"|\+\d+ columns?: --wide"
)


def lines_of(out: str) -> list[str]:
    """All but the command that comes next, which stays on one line."""
    return [line for line in out.splitlines() if not line.startswith("Next:")]


def body(out: str) -> str:
    """What is printed without that command, and without what is said of columns and ranks not shown."""
    return LEFT_OUT.sub("", " ".join(" ".join(lines_of(out)).split()))


def every_number(value: Any) -> list[float]:
    return sorted(set(numbers(value)))


def unknown(text: str, known: list[float]) -> set[str]:
    """The numbers of a text that are none of the known ones, to the last digit that is printed."""
    scales = (1, 1e-3, 1e3, 100, 1 / 365.25)
    missing = set()
    for number in set(NUMBER.findall(text)):
        half = 0.5001 / 10 ** len(number.partition(".")[2])
        value = float(number.replace(",", ""))
        if not any(abs(k * scale - value) <= half for k in known for scale in scales):
            missing.add(number)
    return missing


@pytest.mark.parametrize("command", COMMANDS)
def test_each_number_is_whole_at_every_width_and_one_of_the_json(command: str) -> None:
    document = json.loads(shown(command, 80, "--json"))
    known = every_number(document)
    if command.startswith("audit"):  # the number of parts with each result
        counted = [len(document["verdict"][w]) for w in ("good", "note", "bad", "skipped")]
        known += [float(n) for n in counted]
    if command.startswith("measure"):
        known += [float(sum(row["status"] != "ok" for row in document))]
    wide = body(shown(command, 200, "--wide"))
    if command.startswith("advise"):  # the number of shown and of all, and what each group excludes
        groups = [e["group"] for e in document["excluded"]]
        known += [3.0, *(float(groups.count(g)) for g in set(groups)), *map(float, _reasons(document))]
    assert unknown(wide, sorted(known)) == set()
    everything = set(NUMBER.findall(wide))
    for width in WIDTHS:
        printed = shown(command, width)
        out = body(printed)
        assert set(NUMBER.findall(out)) <= everything, width
        assert max(map(len, lines_of(printed))) <= width, width


def _reasons(document: dict[str, Any]) -> list[int]:
    reasons = [e["reason"] for e in document["excluded"]]
    return [reasons.count(reason) for reason in set(reasons)]


ENDED = Ended("until", "found the text", 123_456_789, 7.716049, 421, 0, 0, ())
PROFILE = Profile(
    ended=ENDED,
    functions=tuple(
        FunctionCost(
            name,
            256 * n,
            None if n == 2 else 10**n,
            98_765_432 // (n + 1),
            87_654_321 // (n + 2),
            None if n == 2 else (1_100 + n, 22_000 + n, 333_000 + n),
            None if n == 2 else (90 + n, 800 + n, 7_000 + n),
            None if n == 2 else 37 + n,
            inlined_into=("main",) if n == 2 else (),
        )
        for n, name in enumerate(
            ("main", "HardwareSerial::write(unsigned char)", "rotate", "mc_aes128_ccm8_encrypt")
        )
    ),
    lines=(LineCost("/x/sketch.cpp", 42, 1_234_567, 45_678_901),),
    stacks=(),
    symbols_found=True,
    places={},
)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_profile_cuts_no_number(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show(*profile_view(PROFILE, PROFILE.functions, 4, 3, "sketch.elf"))
    out = capsys.readouterr().out
    shares = [100 * f.self_cycles / ENDED.cycles for f in PROFILE.functions]
    shares += [100 * line.cycles / ENDED.cycles for line in PROFILE.lines]
    known = [*every_number(json.loads(json.dumps(asdict(PROFILE)))), *shares, 128.0]
    assert unknown(body(out), sorted(known)) == set()
    assert max(map(len, out.splitlines())) <= width
    names = [function.name for function in PROFILE.functions]
    assert all(name in out for name in names), "names stay whole"
