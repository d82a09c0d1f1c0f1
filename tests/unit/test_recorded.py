"""Answers that came with the program: one for each long question, dated, and never before an own answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.cli._ensure import ensure
from motecrypt.errors import InputError
from motecrypt.experiments import transfer_wlan
from motecrypt.experiments.transfer_wlan import TransferWlan
from motecrypt.findings.recorded import MARK, days, file_of, read, text
from motecrypt.findings.wlan_transfer import WlanTransfer
from motecrypt.results import Results
from motecrypt.studies import Needs, names, needs, study
from motecrypt.studies.wlan import plan

KNOWN = [name for name in names() if needs(name).long is not None]


def test_there_are_studies_with_something_long() -> None:
    assert KNOWN == ["wlan"]


@pytest.mark.parametrize("name", KNOWN)
def test_every_long_question_has_a_recorded_answer_and_nothing_else_has(name: str, results: Results) -> None:
    long = needs(name).long
    assert long is not None
    answers = read(file_of(name))
    results.store_recorded((answer.finding, answer.asked) for answer in answers)
    found = [question.find(results) for question in long.questions]
    assert None not in found, "its question changed: python -m motecrypt.cli._record"
    assert len(answers) == len(long.questions)
    assert all(answer.finding.inputs[MARK] == answer.finding.made_at for answer in answers)
    assert text(answers) == file_of(name).read_text()


def test_a_study_shows_what_is_recorded_with_its_date_until_it_is_run(results: Results) -> None:
    wanted = Needs(long=needs("wlan").long)
    ensure("wlan", wanted, results, None, 1, lambda *_: None)  # type: ignore[arg-type]  # no cells, no catalog
    question = plan.transfers()[0]
    finding = question.find(results)
    assert finding is not None
    shown = str(study("wlan").sections(results))
    assert f"as recorded on {finding.made_at[:10]}; --full simulates them anew" in shown
    assert TransferWlan.of(question).stored(results) is None  # so that --full runs it
    mine = replace(finding, outcome={**finding.outcome, "complete": False})
    asked = question.asked()
    results.store_finding(mine.kind, mine.version, {**asked, "program": "p"}, mine.outcome, asked)
    results.store_recorded([(finding, asked)])
    newest = question.find(results)
    assert newest is not None and newest.outcome["complete"] is False
    assert days([newest]) == [] and days([finding, newest]) == [finding.made_at[:10]]


def test_a_recorded_answer_is_what_comes_out_again() -> None:
    """The quickest transfer, simulated anew; another version of ns-3 may draw others: within 5 %."""
    program = transfer_wlan.program()
    if program is None:
        pytest.skip(transfer_wlan.missing_note())
    question = min(plan.transfers(), key=lambda q: (q.size, q.walls, q.mode, q.seeds))
    asked = question.asked()
    recorded = next(answer for answer in read(file_of("wlan")) if answer.asked == asked)
    before = WlanTransfer.from_json(recorded.finding.outcome)
    assert before is not None
    again = [
        transfer_wlan._run(program, TransferWlan.of(question), seed + 1) for seed in range(question.seeds)
    ]
    assert sum(run["seconds"] for run in again) / len(again) == pytest.approx(before.seconds.mean, rel=0.05)


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"asked": 1}', "{"])
def test_a_damaged_file_ends_in_one_line(line: str, tmp_path: Path) -> None:
    whole = file_of("wlan").read_text().splitlines()[0]
    path = tmp_path / "recorded.jsonl"
    path.write_text(f"{whole}\n{line}\n")
    with pytest.raises(InputError, match=r"recorded\.jsonl, line 2: no recorded answer"):
        read(path)
    assert read(tmp_path / "missing.jsonl") == []
    assert json.loads(whole)["version"] == read(file_of("wlan"))[0].finding.version
