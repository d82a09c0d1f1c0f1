"""Commands at 60, 80, 120 and 200 columns: no number is cut, and each is one that --json has."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from goldens.views.made_up import filled
from motecrypt.cli import application
from motecrypt.studies.facts import Verdict

WIDTHS = (60, 80, 120, 200)
NUMBER = re.compile(r"(?:(?<![\d.,])[-+])?\d[\d,]*(?:\.\d+)?")
COMMANDS = (
    *(f"list {kind}" for kind in ("ciphers", "implementations", "libraries", "devices", "radios")),
    "list toolchains",
    "list accelerators",
    "airtime --radio srf",
    "airtime --radio lora --bytes 1-40",
    "results --cipher aes128",
    "results --cipher rc4d --device uno",
    *(
        f"reproduce {name} --stored{rows}"
        for name in ("rc4d", "rf", "pico", "wlan")
        for rows in ("", " --rows")
    ),
    "reproduce rc4d wlan --stored",
)


def shown(command: str, width: int, *more: str) -> str:
    """What it prints; DB and OTHER are replaced by results files."""
    near, far = (str(filled(state).path) for state in ("near", "far"))
    arguments = [{"DB": near, "OTHER": far}.get(word, word) for word in command.split()]
    environment = {"COLUMNS": str(width), "MOTECRYPT_DB": near}
    done = CliRunner().invoke(application, [*arguments, *more], env=environment)
    assert done.exit_code in (0, 1) and not isinstance(done.exception, Exception), done.output
    return done.stdout


@lru_cache(maxsize=64)
def everything(command: str) -> str:
    """What it prints with every column."""
    return shown(command, 60, "--wide")


@pytest.mark.parametrize(("command", "width"), [*product((*COMMANDS, "compare OTHER DB"), WIDTHS)], ids=str)
def test_numbers_are_whole_at_every_width(command: str, width: int) -> None:
    out = shown(command, width)
    drawn = out.split("ms to deliver")[0]  # the plot below has a scale of its own
    cut = set(NUMBER.findall(drawn)) - set(NUMBER.findall(everything(command)))
    left_out = {number for number in cut if f"+{number.lstrip('+')} column" in out}
    assert not cut - left_out
    texts = [line for line in drawn.splitlines() if not line.startswith(("Next:", "A ", "B "))]  # with paths
    longest = max(len(line.rstrip()) for line in texts)
    assert longest <= width or width == 60


@pytest.mark.parametrize("names", [("rc4d",), ("rf", "wlan", "pico")], ids="-".join)
def test_the_counts_of_a_study_are_those_of_its_rows(names: tuple[str, ...]) -> None:
    command = f"reproduce {' '.join(names)} --stored"
    rows = json.loads(shown(command, 200, "--json"))
    out = shown(command, 200)
    for source, own in by_source(rows).items():
        used = [v for v in get_args(Verdict) if any(row["verdict"] == v for row in own)]
        for kind in dict.fromkeys(row["kind"] for row in own):
            verdicts = [row["verdict"] for row in own if row["kind"] == kind]
            expected = [kind, str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in used)]
            assert any(line.split() == expected for line in out.splitlines()), (source, kind)
        counted = [row for row in own if row["kind"] in ("figure", "claim")]
        facts = [row for row in counted if row["verdict"] != "not printed"]
        assert f"In all: {tally_of([row['verdict'] for row in facts])}\n" in out
        figures = sum(row["kind"] == "figure" for row in facts)
        assert f"Of {figures} printed figures " in out
    assert out.count("The most important findings") == 1
    assert out.rstrip().splitlines()[-1].split() == ["Next:", "motecrypt", *command.split(), "--rows"]
    assert ("All studies" in out) == (len(names) > 1)


def tally_of(verdicts: list[str]) -> str:
    """How many of each, without those that there are none of."""
    return ", ".join(f"{v} {verdicts.count(v)}" for v in get_args(Verdict) if v in verdicts)


def by_source(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of each source."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["source"], []).append(row)
    return found


def numbers(value: Any) -> Iterator[float]:
    """All numbers of a JSON document, those in its texts too."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from numbers(name)
            yield from numbers(part)
    elif isinstance(value, list):
        yield float(len(value))
        for part in value:
            yield from numbers(part)
    elif isinstance(value, str):
        yield from (float(number.replace(",", "")) for number in NUMBER.findall(value))
    elif isinstance(value, int | float):
        yield float(value)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.split()[0] in ("list", "link", "results")])
def test_each_number_of_a_table_is_one_of_the_json(command: str) -> None:
    known = sorted(set(numbers(json.loads(shown(command, 80, "--json")))))
    table = re.split("\n\n|\nBest ", everything(command))[0].splitlines()[2:]
    printed = {number for line in table for number in NUMBER.findall(line)}
    assert printed
    for number in printed:
        half = 0.5001 / 10 ** len(number.partition(".")[2])  # of the last digit
        value = float(number.replace(",", ""))
        assert any(abs(k * scale - value) <= half for k in known for scale in (1, 1e-3, 1e3, 100)), number
