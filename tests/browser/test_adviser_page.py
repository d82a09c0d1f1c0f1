"""The adviser's form and charts in the page, and its answers next to those of the command that it names.

That page and command line compute the same is shown in unit/report/test_adviser_once.py.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from made_rows import candidates_of
from motecrypt.adviser import api as advise
from motecrypt.adviser.shown import days
from motecrypt.catalog import Catalog
from motecrypt.cli.advise import command
from motecrypt.exports.targets import sleepers
from motecrypt.present.report import gather, render
from motecrypt.results import Results
from report_data import fill
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
LABELS = {
    "bytes": "Message, bytes",
    "every": "Every",
    "battery": "Battery",
    "flash": "Flash at most",
    "loss": "Packets lost, %",
}
USUAL = {"bytes": "20", "every": "10s", "battery": "3xAA", "flash": "", "loss": "0"}


def test_the_form_answers_and_names_its_command(opened: Any) -> None:
    page = opened.page
    page.evaluate("document.querySelector('#adviser .more').open = true")
    page.fill("#adviser-form input[name=bytes]", "40")
    page.select_option("#adviser-form select[name=regulator]", "switch")
    page.fill("#adviser-form input[name=flash]", "6k")
    command = page.text_content("#adviser-command")
    assert command == (
        "motecrypt advise --device uno --radio srf --bytes 40 --every 10s --battery 3xAA "
        "--regulator switch --flash 6k"
    )
    assert page.get_attribute("[data-copy=adviser-command]", "type") == "button"
    page.select_option("#adviser-form select[name=delivery]", "confirmed")
    page.fill("#adviser-form input[name=loss]", "5")
    page.evaluate("document.querySelectorAll('#adviser details').forEach(d => { d.open = true; })")
    page.check("#adviser-form input[value=constant-time]")
    assert page.text_content("#adviser-command") == (
        "motecrypt advise --device uno --radio srf --bytes 40 --every 10s --battery 3xAA --regulator switch "
        "--delivery confirmed --loss 5 --flash 6k "
        "--need 'confidentiality,integrity,replay,constant-time'"
    )
    assert "With 5.0 % of the packets lost" in page.text_content("#adviser-notes")
    page.check("#adviser-form input[name=bare-chip]")
    assert page.text_content("#adviser-command").endswith(" --bare-chip")
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


#: What is changed in the form that opens, one question each.
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"bare-chip": True},
    {"sleeps": True},
    {"bytes": "6", "every": "5min", "sleeps": True},
    {"bytes": "7", "delivery": "confirmed"},
    {"device": "due", "battery": "2xAA"},
    {"device": "due", "battery": "2xAA", "sleeps": True},
    {"device": "nrf52840", "radio": "802.15.4"},
    {"device": "nrf52840", "radio": "802.15.4", "battery": "2xAA", "bare-chip": True},
    {"radio": "nrf24", "every": "1min", "bytes": "32"},
    {"delivery": "confirmed", "loss": "5", "answer": "16"},
    {"delivery": "one-way", "battery": "CR2032", "regulator": "switch"},
    {"need": ["constant-time"]},
    {"need": ["confidentiality"], "flash": "6k", "ram": "1k"},
    {"need": [], "latency": "900ms", "overhead": "40"},
    {"overhead": "1"},
    {"regulator": "linear", "battery": "1200mAh,9V", "every": "1h"},
)


@pytest.fixture(scope="module")
def small_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about few ciphers on three devices; one is known as a chip alone, one awake only."""
    folder = tmp_path_factory.mktemp("small")
    with Results(folder / "results.db") as results:
        fill(results, family="ascon", devices=("uno", "due", "nrf52840"), lengths=(1, 16, 20, 32))
        content = gather(results, CATALOG, sleepers(CATALOG))
    (folder / "report.html").write_text(render(content))
    (folder / "adviser.json").write_text(json.dumps(content.adviser))
    return folder / "report.html"


def _changed(page: Any, changes: dict[str, Any]) -> None:
    page.evaluate(
        """changes => {
      adviserForm.reset();
      for (const [name, value] of Object.entries(changes)) {
        for (const field of adviserForm.querySelectorAll(`[name="${name}"]`)) {
          if (field.type !== "checkbox") field.value = value;
          else field.checked = value === true || value.includes(field.value);
        }
      }
      showAdvice();
    }""",
        changes,
    )


def _rows(page: Any, table: str) -> list[list[str]]:
    """The texts of a table of the answer, by rows; also of one that is folded away."""
    texts: list[list[str]] = page.eval_on_selector_all(
        f"#adviser-{table} tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    return texts


def test_the_page_and_its_command_answer_every_question_alike(
    browser: Any, small_report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's own command, with the measurements of the page: ranks, lives, notes and warnings."""
    data = json.loads((small_report.parent / "adviser.json").read_text())

    def measured(_: Any, device: Any, __: Any, found: Any, ___: Any) -> list[advise.Candidate]:
        asked = {_name(bare) for bare, _ in found}
        return [one for one in candidates_of(data, device.name) if _name(one) in asked]

    monkeypatch.setattr("motecrypt.app.advise.ensure", lambda *_: "")
    monkeypatch.setattr("motecrypt.app.advise.filled", measured)
    seen = {"answered": 0, "refused": 0, "warnings": 0, "excluded": 0}
    page = browser.new_page()
    page.goto(small_report.as_uri())
    for changes in CHANGES:
        _changed(page, changes)
        words = shlex.split(page.text_content("#adviser-command"))[2:]
        database = str(small_report.parent / "results.db")
        done = CliRunner().invoke(command, [*words, "--db", database, "--json"], standalone_mode=False)
        answer = page.text_content("#adviser-answer")
        if done.exception:
            seen["refused"] += 1
            told = str(done.exception).removeprefix("--battery: ")
            assert answer.endswith(told) or page.text_content("#adviser-notes li") == told, (changes, told)
        else:
            seen["answered"] += 1
            told = json.loads(done.stdout)
            texts = {
                name: page.locator(f"#adviser-{name} li").all_text_contents() for name in ("notes", "watch")
            }
            assert texts["notes"] == told["notes"], changes
            assert texts["watch"] == (told["warnings"] or ["nothing that these models cover"]), changes
            seen["warnings"] += len(told["warnings"])
            assert page.text_content("#adviser-facts dd") == days(told["ranked"][0]["life_days"])
            by_reason: dict[str, list[str]] = {}
            for one in told["excluded"]:
                by_reason.setdefault(one["reason"], []).append(one["cipher"])
            assert _rows(page, "excluded") == [
                [reason, str(len(ciphers)), ", ".join(dict.fromkeys(ciphers))]
                for reason, ciphers in by_reason.items()
            ], changes
            seen["excluded"] += len(by_reason)
            rows = _rows(page, "ranked")
            assert [(row[1], row[3], row[4]) for row in rows] == [
                (one["cipher"], one["reason"], days(one["life_days"])) for one in told["ranked"][:10]
            ], changes
    page.close()
    assert seen["answered"] >= 11 and seen["refused"] >= 3 and seen["warnings"] > 12, seen
    assert seen["excluded"] > 12, seen


def test_the_charts_have_every_length_as_steps(browser: Any, small_report: Path) -> None:
    """Battery life falls where another packet is needed: no line is drawn from one such step to the next."""
    page = browser.new_page()
    page.goto(small_report.as_uri())
    found = page.evaluate("""async () => {
      adviserForm.elements.bytes.value = "20";
      showAdvice();
      const made = (id) => drawn.get(document.getElementById(id))?.specification;
      while (!made("life-by-size") || !made("life-by-interval")) await new Promise((go) => setTimeout(go, 9));
      const asked = readForm(new FormData(adviserForm));
      const days = (n) => asked.ask({ ...asked.question, message_bytes: n }).entries
        .find((entry) => entry.candidate.cipher === "ascon-aead128")?.costs.life_days ?? null;
      const lines = (id) => made(id).layer[0].mark;
      return {
        mark: lines("life-by-size"), over: lines("life-by-interval"),
        size: made("life-by-size").data.values, interval: made("life-by-interval").data.values,
        days: Array.from({ length: 32 }, (_, index) => days(index + 1)),
        y: made("life-by-size").layer[0].encoding.y.title,
      };
    }""")
    page.close()
    own = [row for row in found["size"] if row["line"] == "ascon-aead128"]
    assert [row["x"] for row in own] == list(range(1, 33))  # up to what was measured
    assert [row["days"] for row in own] == pytest.approx(found["days"])
    assert found["days"][5] > found["days"][6]  # the longest message in one short packet, and one byte more
    assert found["mark"]["interpolate"] == "step" and "interpolate" not in found["over"]
    assert [row["x"] for row in own if row.get("marked")] == [20]
    assert found["y"] == "battery life, days" and all(row["life"] == row["days"] for row in own)
    intervals = sorted({row["x"] for row in found["interval"]})
    assert len(intervals) > 40 and (intervals[0], intervals[-1]) == (1, 86400)


def test_lives_of_years_are_drawn_in_years(browser: Any, small_report: Path) -> None:
    """In the unit that the answer has; a length without an answer breaks the line."""
    page = browser.new_page()
    page.goto(small_report.as_uri())
    drawn = page.evaluate("""lifeChart(
      [{ x: 1, line: "a", days: 1461 }, { x: 2, line: "a", days: null }, { x: 3, line: "a", days: 365.25 }],
      ["a"], "message, bytes", true)""")
    page.close()
    assert [row["life"] for row in drawn["data"]["values"]] == [4, None, 1]
    assert [row["said"] for row in drawn["data"]["values"]] == ["4.0 years", "", "365 days"]
    assert drawn["layer"][0]["encoding"]["y"]["title"] == "battery life, years"


def _name(one: advise.Candidate) -> tuple[str, str]:
    return (one.name, one.cache)


@needs_tool_set("avr")
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
        target.write_text(render(gather(results, CATALOG, sleepers(CATALOG))))
    page = browser.new_page()
    page.goto(target.as_uri())
    for name in ("bytes", "every", "battery"):
        page.fill(f"#adviser-form input[name={name}]", options[options.index(f"--{name}") + 1])
    rows = page.eval_on_selector_all(
        "#adviser-ranked tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    page.close()
    assert told and len(rows) == len(told)
    for row, entry in zip(rows, told, strict=True):
        assert row[1:3] == [entry["cipher"], entry["implementation"]]
        assert float(row[7]) == pytest.approx(entry["cpu_us"] / 1000, abs=0.006)
        assert row[3] == entry["reason"]
