"""The adviser in the page answers as the command line does: the same ranks, reasons, notes and energies."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kits import needs_kit
from motecrypt import advise
from motecrypt.catalog import Catalog
from motecrypt.cli.advise import command
from motecrypt.export.targets import sleepers
from motecrypt.report import gather, render
from motecrypt.results import Results

QUESTIONS = 100
LABELS = {
    "bytes": "Message, bytes",
    "every": "Every",
    "battery": "Battery",
    "flash": "Flash at most",
    "loss": "Packets lost, %",
}
USUAL = {"bytes": "20", "every": "10s", "battery": "3xAA", "flash": "", "loss": "0"}


def _data(report: Path) -> Any:
    """What `motecrypt.advise.export` gave, from next to the report."""
    return json.loads((report.parent / "adviser.json").read_text())


def _random_request(draw: random.Random, data: Any) -> dict[str, Any]:
    def perhaps(value: Any, chance: float = 0.4) -> Any:
        return value if draw.random() < chance else None

    cells = [*data["cells"], "1200mAh,3.7V", "500mAh,5V"]
    battery = draw.choice(cells)
    if "," not in battery:
        battery = f"{draw.randint(1, 5)}x{battery}"
    device = draw.choice(list(data["devices"]))
    return {
        "device": device,
        "radio": draw.choice(list(data["radios"])),
        "battery": battery,
        "regulator": draw.choice(list(data["regulators"])),
        "of": draw.choice(["board", *(["chip"] if device in data["chips"] else [])]),
        "sleeps": draw.random() < 0.7,
        "question": {
            "message_bytes": draw.randint(1, 128),
            "delivery": draw.choice(advise.DELIVERIES),
            "loss": draw.choice([0.0, 0.0, 0.05, 0.2]),
            "interval_s": draw.choice([0.05, 0.5, 10, 60, 900, 86400]) * draw.uniform(0.7, 1.4),
            "answer_bytes": draw.choice([0, 0, 0, draw.randint(1, 128)]),
            "flash_max": perhaps(draw.randint(100, 9000)),
            "ram_max": perhaps(draw.randint(50, 1500)),
            "latency_us_max": perhaps(draw.uniform(1e3, 4e5), 0.25),
            "overhead_max": perhaps(draw.randint(0, 24), 0.25),
            "needs": [need for need in advise.NEEDS if draw.random() < (0.2 if "time" in need else 0.7)],
        },
    }


def _python(data: Any, request: dict[str, Any]) -> advise.Advice:
    """What `motecrypt advise` answers from these measurements: the function that it calls."""
    question = {**request["question"], "needs": tuple(request["question"]["needs"])}
    name, sleeps = request["device"], request["sleeps"]
    kinds = {"board": data["devices"], "chip": data["chips"]}
    parts = {
        of: advise.DeviceFacts(**{**kind[name], "sleeps": sleeps})
        for of, kind in kinds.items()
        if name in kind
    }
    chip = parts.get("chip")
    return advise.advise(
        advise.Question(**question),
        advise.candidates_of(data, request["device"]),
        parts[request["of"]],
        advise.RadioPart(
            **{
                **data["radios"][request["radio"]],
                "air_us": tuple(data["radios"][request["radio"]]["air_us"]),
                "unknown": tuple(data["radios"][request["radio"]]["unknown"]),
            }
        ),
        advise.link_facts(),
        advise.battery_part(request["battery"]),
        advise.regulator_part(request["regulator"]),
        [advise.regulator_part(name) for name in data["regulators"]],
        chip if request["of"] == "board" else None,
    )


_ASK = """request => {
  const battery = adviser.battery(request.battery, report.adviser.cells);
  const answer = adviser.advise(
    report.adviser, request.question, request.device, request.radio, battery, request.regulator, request.of,
    request.sleeps);
  const key = (c) => [c.cipher, c.implementation, c.key_bits, c.placement];
  return {
    refusal: answer.refusal, usable: answer.usable, notes: answer.notes,
    plaintext: answer.plaintext,
    entries: answer.entries.map(e => ({
      key: key(e.candidate), reason: e.reason, costs: e.costs, weight: e.weight,
      more: e.more_energy_percent})),
    exclusions: answer.exclusions.map(e => ({key: key(e.candidate), reason: e.reason, budgets: e.budgets})),
  };
}"""


def _key(candidate: advise.Candidate) -> list[Any]:
    return [candidate.cipher, candidate.implementation, candidate.key_bits, candidate.placement]


def _same_costs(ours: dict[str, Any], theirs: advise.MessageCosts) -> None:
    for name, value in ours.items():
        if name == "energy":
            for part, microjoules in value.items():
                assert microjoules == pytest.approx(getattr(theirs.energy, part), rel=1e-9, abs=1e-6), part
        elif isinstance(value, str):
            assert value == getattr(theirs, name), name
        else:
            expected = getattr(theirs, name)
            expected = list(expected) if isinstance(expected, tuple) else expected
            assert value == pytest.approx(expected, rel=1e-9, abs=1e-9), name


def test_a_hundred_random_questions_get_the_same_answer(opened: Any, report_file: Path) -> None:
    data = _data(report_file)
    draw = random.Random(7)
    kinds = {"refused": 0, "ranked": 0, "nothing": 0}
    for _ in range(QUESTIONS):
        request = _random_request(draw, data)
        expected = _python(data, request)
        got = opened.page.evaluate(_ASK, request)
        assert got["refusal"] == expected.refusal, request
        kinds["refused" if expected.refusal else "ranked" if expected.entries else "nothing"] += 1
        assert got["usable"] == pytest.approx(expected.usable)
        assert [e["key"] for e in got["entries"]] == [_key(e.candidate) for e in expected.entries], request
        assert [e["reason"] for e in got["entries"]] == [e.reason for e in expected.entries], request
        assert [(e["key"], e["reason"], e["budgets"]) for e in got["exclusions"]] == [
            (_key(e.candidate), e.reason, list(e.budgets)) for e in expected.exclusions
        ], request
        assert got["notes"] == list(expected.notes), request
        for ours, theirs in zip(got["entries"], expected.entries, strict=True):
            _same_costs(ours["costs"], theirs.costs)
            assert ours["weight"] == pytest.approx(theirs.weight, rel=1e-9)
            assert ours["more"] == pytest.approx(theirs.more_energy_percent, rel=1e-6, abs=1e-9)
        if expected.plaintext is not None:
            _same_costs(got["plaintext"], expected.plaintext)
    assert min(kinds.values()) >= 3, kinds  # each kind of answer was among them


def test_the_form_answers_and_names_its_command(opened: Any) -> None:
    page = opened.page
    page.evaluate("document.querySelector('#adviser .more').open = true")
    page.fill("#adviser-form input[name=bytes]", "40")
    page.select_option("#adviser-form select[name=regulator]", "switch")
    page.fill("#adviser-form input[name=flash]", "6k")
    command = page.text_content("#adviser-command")
    assert command == (
        "motecrypt advise --device uno --radio srf --bytes 40 --every 10s --battery 3xAA "
        "--regulator switch --flash 6k --bare-chip"
    )
    assert page.get_attribute("[data-copy=adviser-command]", "type") == "button"
    page.select_option("#adviser-form select[name=delivery]", "confirmed")
    page.fill("#adviser-form input[name=loss]", "5")
    page.evaluate("document.querySelectorAll('#adviser details').forEach(d => { d.open = true; })")
    page.check("#adviser-form input[value=constant-time]")
    assert page.text_content("#adviser-command") == (
        "motecrypt advise --device uno --radio srf --bytes 40 --every 10s --battery 3xAA --regulator switch "
        "--delivery confirmed --loss 5 --flash 6k "
        "--need 'confidentiality,integrity,replay,constant-time' --bare-chip"
    )
    assert "With 5.0 % of the packets lost" in page.text_content("#adviser-notes")
    page.uncheck("#adviser-form input[name=bare-chip]")
    page.uncheck("#adviser-form input[value=constant-time]")
    ranks = page.eval_on_selector_all(
        "#adviser-ranked tbody tr", "rows => rows.map(r => r.cells[0].textContent)"
    )
    assert ranks == [str(n) for n in range(1, len(ranks) + 1)] and ranks
    assert page.text_content("#adviser-ranked tbody tr td:nth-child(2)") in page.text_content(
        "#adviser-answer"
    )
    assert opened.console == []


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("every", "10", "no unit; use us, ms, s, min, h, d"),
        ("every", "10 parsecs", "unknown unit 'parsecs'"),
        ("flash", "many", "not an amount"),
        ("battery", "3xPotato", "unknown; write 3xAA"),
        ("bytes", "-4", "a whole number from 1"),
        ("bytes", "5000", "messages of up to"),
        ("battery", "1xAA", "use more cells"),
        ("flash", "1", "Nothing fits"),
        ("bytes", "124", "the link takes messages of up to 123 bytes"),
        ("loss", "31", "not a share of packets; write per cent, from 0 to 30"),
        ("loss", "some", "not a share of packets; write per cent, from 0 to 30"),
    ],
)
def test_what_cannot_be_answered_is_told(opened: Any, name: str, value: str, told: str) -> None:
    page = opened.page
    page.evaluate("document.querySelector('#adviser .more').open = true")
    page.uncheck("#adviser-form input[name=bare-chip]")
    page.fill(f"#adviser-form input[name={name}]", value)
    answer = page.text_content("#adviser-answer")
    assert told in answer and not answer.startswith("--")
    labels = page.eval_on_selector_all(
        "#adviser-form [aria-invalid=true]", "all => all.map(e => e.labels[0].firstChild.textContent.trim())"
    )
    # Where nothing fits, no single field is wrong.
    assert labels == ([] if told == "Nothing fits" else [LABELS[name]])
    assert told == "Nothing fits" or answer.startswith(LABELS[name])
    page.fill(f"#adviser-form input[name={name}]", USUAL[name])
    assert page.locator("#adviser-form [aria-invalid]").count() == 0
    assert opened.console == []


@pytest.mark.parametrize("value", [0.125, 0.375, 2.5, 3.5, 1234.5, 1.005, 1.015, 0.0, 99999.5, 7.25, 0.15])
def test_numbers_round_as_in_python(opened: Any, value: float) -> None:
    from motecrypt.advise.notes import days, number, percent

    got = opened.page.evaluate("v => [adviser.number(v), adviser.percent(v), adviser.days(v)]", value)
    assert got == [number(value), percent(value), days(value)]


def test_the_golden_answer_is_the_pages_too(opened: Any) -> None:
    kept = json.loads((Path(__file__).resolve().parents[1] / "data" / "advise.json").read_text())
    inputs, answer = kept["inputs"], kept["answer"]
    regulators = {one["name"]: one for one in (inputs["regulator"], *inputs["other_regulators"])}
    data = {
        "devices": {"it": inputs["device"]},
        "chips": {"it": inputs["chip"]},
        "sleepers": {"it": ["serial"]},
        "link": inputs["link"],
        "radios": {"it": inputs["radio"]},
        "regulators": regulators,
        "candidates": {"it": inputs["candidates"]},
        "constants": advise.export(Catalog.load(), [])["constants"],
    }
    got = opened.page.evaluate(
        """([data, question, battery, regulator]) => {
          const answer = adviser.advise(data, question, "it", "it", battery, regulator);
          return {notes: answer.notes, reasons: answer.entries.map(e => [e.candidate.cipher, e.reason])};
        }""",
        [data, inputs["question"], inputs["battery"], inputs["regulator"]["name"]],
    )
    assert got["notes"] == answer["notes"]
    assert got["reasons"] == [[e["candidate"]["cipher"], e["reason"]] for e in answer["entries"]]


@needs_kit("avr")
def test_the_form_ranks_what_the_command_ranks(browser: Any, tmp_path: Path) -> None:
    """From the simulator to the page: what `motecrypt advise` measured and ranked, a report's form ranks."""
    database, target = tmp_path / "results.db", tmp_path / "report.html"
    options = [
        "--device",
        "uno",
        "--radio",
        "srf",
        "--bytes",
        "21",
        "--every",
        "30s",
        "--battery",
        "4xAA-NiMH",
    ]
    asked = CliRunner().invoke(
        command,
        [*options, "--cipher", "ascon-aead128", "--db", str(database), "--json"],
        catch_exceptions=False,
    )
    told = json.loads(asked.stdout)["ranked"]
    with Results(database) as results:
        catalog = Catalog.load()
        target.write_text(render(gather(results, catalog, sleepers(catalog))))
    page = browser.new_page()
    page.goto(target.as_uri())
    for name in ("bytes", "every", "battery"):
        page.fill(f"#adviser-form input[name={name}]", options[options.index(f"--{name}") + 1])
    page.uncheck("#adviser-form input[name=bare-chip]")
    rows = page.eval_on_selector_all(
        "#adviser-ranked tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    page.close()
    assert told and len(rows) == len(told)
    for row, entry in zip(rows, told, strict=True):
        assert row[1:3] == [entry["cipher"], entry["implementation"]]
        assert float(row[7]) == pytest.approx(entry["cpu_us"] / 1000, abs=0.006)
        assert row[3] == entry["reason"]
