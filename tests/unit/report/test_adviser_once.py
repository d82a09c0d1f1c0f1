"""The terminal's Python and the page's JavaScript, which is translated from it, give the same answers."""

from __future__ import annotations

import ast
import json
import random
import re
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from motecrypt.adviser import api as advise
from motecrypt.adviser import exported
from motecrypt.adviser.asked import asked_in, check_measured
from motecrypt.adviser.exported import node_from, packed, unpacked
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.exports.targets import sleepers
from motecrypt.present.report.page import ADVISER, STATIC
from motecrypt.present.report.translate import javascript
from motecrypt.results import Results
from report_data import fill
from tool_sets import needs_tool_set

PACKAGE = STATIC.parents[2]
QUESTIONS = 500
DEVICES = ("uno", "pico", "nrf52840")
FAMILIES = ("ascon", "aes-ccm", "rc4d")
_ASK = """
const { data, questions } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const known = python.fromJson(data);
for (const one of questions) {
  const fields = python.fromJson(one);
  let said;
  try {
    const node = adviser.node_from(known, one.device, one.radio);
    const setting = adviser.setting_of(node, ...adviser.asked_in(fields));
    adviser.check_measured(setting);
    const answer = adviser.answered(node, setting, adviser.unpacked(known, one.device));
    const rows = answer.entries.map((entry) => python.fields(adviser.row(entry, answer.plaintext)));
    said = { answer, rows };
  } catch (error) {
    if (!(error instanceof python.InputError)) throw error;
    said = { refusal: error.message };
  }
  console.log(JSON.stringify({ command: adviser.command_of(fields), ...said }));
}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a report's page has of the adviser, from made-up figures of real devices, with few candidates."""
    catalog = Catalog.load()
    with Results(tmp_path_factory.mktemp("once") / "results.db") as results:
        for family in FAMILIES:
            fill(results, family=family, devices=DEVICES, lengths=(1, 16, 64))
        whole = exported.export(catalog, results.measurements(), sleepers=sleepers(catalog))
    read: dict[str, Any] = json.loads(json.dumps(packed(whole)))
    linked = {read["words"].index(cipher) for cipher in read["link"]["suites"]}
    for rows in read["candidates"].values():
        rows[:] = [row for number, row in enumerate(rows) if number % (3 if row[0] in linked else 40) == 0]
    return read


def random_fields(draw: random.Random, data: dict[str, Any]) -> dict[str, Any]:
    """What a person may have in the form: a question of every option, and sometimes what cannot be read."""

    def mostly(usual: str, *others: str, chance: float = 0.99) -> str:
        return usual if draw.random() < chance else draw.choice(others)

    device, radio = draw.choice(list(data["candidates"])), draw.choice(list(data["radios"]))
    chip = "" if device in data["devices"] and draw.random() < 0.5 else "1"
    cell = draw.choice(data["cells"])
    count = int(5.4 / cell["volts_full"]) if draw.random() < 0.95 else draw.randint(1, 9)
    wrong = ("2 Ah, 3.3 V", "3xPotato", "30xAA", "1 Ah", "0mAh,3V")
    delivery = draw.choice(advise.DELIVERIES)
    needs = [need for need in advise.NEEDS if draw.random() < (0.2 if "time" in need else 0.85)]
    if delivery == "confirmed" and draw.random() < 0.9:
        needs = [need for need in advise.NEEDS if need in needs or need == "replay"]
    fields = {
        "device": device,
        "radio": radio,
        "bytes": mostly(str(draw.randint(1, 64)), "0", "some", "70000", "5000", chance=0.98),
        "every": mostly(draw.choice(["900ms", "1.5 s", "10s", "1min", "2h", "1d"]), "10", "0s"),
        "battery": mostly(f"{count}x{cell['name']}", "1200mAh,3.7V", *wrong, chance=0.96),
        "regulator": draw.choice(["switch", "nano", *data["regulators"], "switch"]),
        "delivery": delivery,
        "loss": mostly(draw.choice(["", "0", "5", "12.5", "30"]), "31", "some"),
        "answer": mostly("", "0", str(draw.randint(1, 64)), chance=0.9 if delivery == "one-way" else 0.5),
        "flash": mostly("", "2k", "6000", "9 kB", "1", chance=0.9),
        "ram": mostly("", "512", "1k", "100", chance=0.9),
        "latency": mostly("", "5ms", "0.4s", "800 ms", chance=0.9),
        "overhead": mostly("", "4", "20", "40", chance=0.9),
        "need": needs,
        "bare-chip": mostly(chip, "", "1"),
        "sleeps": draw.choice(["", "1"]),
    }
    return {name: value for name, value in fields.items() if value != ""}


def in_python(data: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """What the functions answer that the command calls."""
    said: dict[str, Any] = {"command": advise.command_of(fields)}
    try:
        node = node_from(data, fields["device"], fields["radio"])
        setting = advise.setting_of(node, *asked_in(fields))
        check_measured(setting)
        answer = advise.answered(node, setting, unpacked(data, fields["device"]))
    except InputError as error:
        return {**said, "refusal": str(error)}
    rows = [advise.row(entry, answer.plaintext) for entry in answer.entries]
    return {**said, "answer": asdict(answer), "rows": rows}


def in_node(script: str, given: Any) -> list[Any]:
    """What a script answers to a document, a line each."""
    whole = (STATIC / "python.js").read_text() + javascript(ADVISER, "adviser") + script
    done = subprocess.run(
        ["node", "-e", whole], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@needs_tool_set("node")
def test_five_hundred_random_questions_get_one_answer(data: dict[str, Any]) -> None:
    """Every figure to the last bit, every sentence to the last sign."""
    draw = random.Random(11)
    questions = [random_fields(draw, data) for _ in range(QUESTIONS)]
    found = in_node(_ASK, {"data": data, "questions": questions})
    counts = {"refused": 0, "answered": 0, "nothing": 0}
    for fields, theirs in zip(questions, found, strict=True):
        ours = json.loads(json.dumps(in_python(data, fields)))
        assert theirs == ours, fields
        kind = "refused" if "refusal" in ours else "answered" if ours["rows"] else "nothing"
        counts[kind] += 1
    assert counts["answered"] >= 0.6 * QUESTIONS and min(counts.values()) >= 10, counts


WHERE = ("adviser/*.py", "app/advise.py", "cli/advise.py", "cli/_advice*.py", "present/report/static/*.js")


def texts(path: Path) -> list[str]:
    """The texts of a source that a person may read, without docstrings."""
    source = path.read_text()
    if path.suffix == ".js":
        return [found[1] for found in re.finditer(r"[\"'`]((?:[^\"'`\\\n]|\\.)*)[\"'`]", source)]
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in said)
    return [node.value for node in constants if isinstance(node.value, str)]


def test_no_sentence_is_written_twice() -> None:
    """Nor a long part of one, in Python, in the page's scripts, or in both."""
    places: dict[str, list[str]] = {}
    for path in sorted(path for pattern in WHERE for path in PACKAGE.glob(pattern)):
        for text in texts(path):
            words = re.sub(r"\$?\{[^}]*\}", "{}", text).strip(" .,;:")
            if len(words.split()) >= 4:
                places.setdefault(words, []).append(path.relative_to(PACKAGE).as_posix())
    assert len(places) > 100
    assert {text: where for text, where in places.items() if len(where) > 1} == {}


def test_no_default_is_written_twice() -> None:
    """The records, the command, the form and the scripts take them from `USUAL` and `EXAMPLE`."""
    question, supply = asked_in({name: str(value) for name, value in advise.EXAMPLE.items()})
    assert question == advise.Question(question.message_bytes, question.interval_s)
    assert supply == advise.Supply(supply.battery)
    template = (PACKAGE / "present/report/templates/adviser.html").read_text()
    scripts = "".join(path.read_text() for path in STATIC.glob("*.js"))
    for name, value in {**advise.USUAL, **advise.EXAMPLE}.items():
        if isinstance(value, str) and len(value) > 2:
            assert f'"{value}" selected' not in template and f'value="{value}"' not in template, name
            assert f'"{value}"' not in scripts, name
