"""Answers that came with the program: one for each long question, dated, and never before an own answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.app.ensure import ensure
from motecrypt.base.errors import InputError
from motecrypt.base.model import RECORDED
from motecrypt.build.toolchain.pinned import with_toolchain
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments import transfer_wlan
from motecrypt.measuring.experiments.crowd import CrowdRun
from motecrypt.measuring.experiments.files import FileJob, FileJobs
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan
from motecrypt.results import Results
from motecrypt.results.experiments.recorded import days, file_of, read, text
from motecrypt.results.experiments.wlan_transfer import WlanTransfer
from motecrypt.studies import Needs, names, needs, study
from motecrypt.studies.pico import files, remains, second_core
from motecrypt.studies.rf import crowd as rf_crowd
from motecrypt.studies.wlan import plan
from tool_sets import skip_without

KNOWN = [name for name in names() if needs(name).long is not None]


def test_there_are_studies_with_something_long() -> None:
    assert set(KNOWN) == {"hardware", "pico", "rf", "wlan"}


@pytest.mark.parametrize("name", KNOWN)
def test_every_long_question_has_a_recorded_answer_and_nothing_else_has(name: str, results: Results) -> None:
    long = needs(name).long
    assert long is not None
    answers = read(file_of(name))
    results.store_recorded((answer.experiment, answer.asked) for answer in answers)
    found = [question.find(results) for question in long.questions]
    assert None not in found, "its question changed: python -m made.recorded"
    assert len(answers) == len(long.questions)
    assert all(answer.experiment.inputs[RECORDED] == answer.experiment.made_at for answer in answers)
    assert text(answers) == file_of(name).read_text()


def test_a_study_shows_what_is_recorded_with_its_date_until_it_is_run(results: Results) -> None:
    wanted = Needs(long=needs("wlan").long)
    ensure("wlan", wanted, results, None, 1, lambda *_: None)  # type: ignore[arg-type]  # no cells, no catalog
    question = plan.transfers()[0]
    experiment = question.find(results)
    assert experiment is not None
    shown = str(study("wlan").sections(results))
    assert f"as recorded on {experiment.made_at[:10]}; --full simulates them again" in shown
    assert TransferWlan.of(question).stored(results) is None  # so that --full runs it
    mine = replace(experiment, outcome={**experiment.outcome, "complete": False})
    asked = question.asked()
    results.store_experiment(mine.kind, mine.version, {**asked, "program": "p"}, mine.outcome, asked)
    results.store_recorded([(experiment, asked)])
    newest = question.find(results)
    assert newest is not None and newest.outcome["complete"] is False
    assert days([newest]) == [] and days([experiment, newest]) == [experiment.made_at[:10]]


def test_a_row_tells_a_recorded_transfer_from_one_that_ran(results: Results) -> None:
    def marked() -> set[str]:
        rows = study("wlan").comparisons(results)
        return {row.id for row in rows if "; transfers as recorded on " in row.note}

    assert marked() == set()
    results.store_recorded((answer.experiment, answer.asked) for answer in read(file_of("wlan")))
    assert "wlan-duration-text-aes-adhoc-wep" in marked()
    for question in (plan.transfer("text", cipher, "adhoc_wep") for cipher in ("none", "AES")):
        kept = question.find(results)
        assert kept is not None
        asked = question.asked()
        results.store_experiment(kept.kind, kept.version, {**asked, "program": "p"}, kept.outcome, asked)
    assert "wlan-duration-text-aes-adhoc-wep" not in marked()
    assert "wlan-duration-text-rc2-adhoc-wep" in marked()


def test_files_on_the_pico_are_shown_as_recorded_with_date_and_compiler(results: Results) -> None:
    wanted, questions = Needs(long=needs("pico").long), files.long_questions()
    ensure("pico", wanted, results, None, 1, lambda *_: None)  # type: ignore[arg-type]  # no cells, no catalog
    recorded = read(file_of("pico"))[0].experiment
    when = f"as recorded on {recorded.made_at[:10]} with {recorded.outcome['compiler']}"
    texts = [section.text for section in study("pico").sections(results) if when in section.text]
    assert len(texts) == 3 and all(f"{when}; --full runs them again." in text for text in texts)
    notes = [row.note for row in files.times(files.StoredFiles(results))]
    assert [note.endswith(when) for note in notes] == [True] * 4 + [False] * 2
    assert (
        FileJobs(tuple(map(FileJob.of, questions))).jobs[0].stored(results) is None
    )  # so that --full runs it
    for job in questions:
        asked = job.asked()
        results.store_experiment(job.KIND, job.VERSION, {**asked, "own": 1}, recorded.outcome, asked)
    flash = remains.QUESTION.find(results)
    assert flash is not None and "As recorded on" in remains.sections(results)[0].text
    results.store_experiment(flash.kind, flash.version, {"own": 1}, flash.outcome, remains.QUESTION.asked())
    cores = second_core.QUESTION.find(results)
    assert cores is not None and "As recorded on" in second_core.sections(results)[0].text
    results.store_experiment(
        cores.kind, cores.version, {"own": 1}, cores.outcome, second_core.QUESTION.asked()
    )
    assert "recorded" not in str([study("pico").sections(results), study("pico").comparisons(results)])


def test_no_question_is_asked_twice_and_none_is_left_out() -> None:
    quick, long = files.quick_questions(), files.long_questions()
    assert set(quick) | set(long) == set(files.questions()) and not set(quick) & set(long)
    assert {question.size for question in quick if question.rounds == files.FEW} > {16, 630, 1024}
    assert all(question.rounds == files.ROUNDS or question.size >= 4096 for question in long)


def test_an_answer_of_an_earlier_program_yields_to_a_newer_one(results: Results) -> None:
    question = plan.transfers()[0]
    asked = question.asked()
    kept = next(answer.experiment for answer in read(file_of("wlan")) if answer.asked == asked)

    def came(day: str) -> str:
        recorded = replace(kept, inputs={**asked, RECORDED: day}, made_at=day)
        results.store_recorded([(recorded, asked)])
        newest = question.find(results)
        assert newest is not None
        return newest.made_at

    assert [came(day) for day in ("2026-02-01", "2026-03-01", "2026-01-01")] == [
        "2026-02-01",
        "2026-03-01",
        "2026-03-01",
    ]
    results.store_experiment(kept.kind, kept.version, asked, kept.outcome)
    assert came("9999-01-01") != "9999-01-01"


def test_a_recorded_file_job_is_what_comes_out_again() -> None:
    """The quickest job, run again: the same cycles from the same firmware, else within 2 %."""
    question = min(files.long_questions(), key=lambda q: (q.rounds, q.size, q.form))
    target = Catalog.load().device("pico")
    skip_without(target.tool_set, compiler=False)
    try:
        with_toolchain(target, question.toolchain, Catalog.load().toolchains)
    except InputError as error:
        pytest.skip(str(error))
    recorded = next(a.experiment.outcome for a in read(file_of("pico")) if a.asked == question.asked())
    again = FileJob.of(question).run()
    if again["elf_sha256"] == recorded["elf_sha256"]:
        assert again == recorded
    for direction in ("encrypt", "decrypt"):
        time_us = recorded[direction]["time_us"]
        assert again[direction]["time_us"] == pytest.approx(time_us, rel=0.02), "python -m made.recorded"


def test_a_recorded_answer_is_what_comes_out_again() -> None:
    """The quickest transfer, simulated again; another version of ns-3 may draw others: within 5 %."""
    program = transfer_wlan.program()
    if program is None:
        pytest.skip(transfer_wlan.missing_note())
    question = min(plan.transfers(), key=lambda q: (q.size, q.walls, q.mode, q.seeds))
    asked = question.asked()
    recorded = next(answer for answer in read(file_of("wlan")) if answer.asked == asked)
    before = WlanTransfer.from_json(recorded.experiment.outcome)
    assert before is not None
    again = [
        transfer_wlan._run(program, TransferWlan.of(question), seed + 1) for seed in range(question.seeds)
    ]
    assert sum(run["seconds"] for run in again) / len(again) == pytest.approx(before.seconds.mean, rel=0.05)


@pytest.mark.parametrize("number", range(len(rf_crowd.questions())))
def test_recorded_networks_are_what_come_out_again(number: int) -> None:
    """Two small ones of each question: virtual time and seeded chances, so every figure is the same."""
    question = rf_crowd.questions()[number]
    recorded = next(a.experiment.outcome for a in read(file_of("rf")) if a.asked == question.asked())
    for row, (nodes, interval_s) in list(zip(recorded["rows"], question.networks, strict=True))[1:3]:
        assert CrowdRun.of(question).row(nodes, interval_s) == row, "python -m made.recorded rf"


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"asked": 1}', "{"])
def test_a_damaged_file_ends_in_one_line(line: str, tmp_path: Path) -> None:
    whole = file_of("wlan").read_text().splitlines()[0]
    path = tmp_path / "recorded.jsonl"
    path.write_text(f"{whole}\n{line}\n")
    with pytest.raises(InputError, match=r"recorded\.jsonl, line 2: no recorded answer"):
        read(path)
    assert read(tmp_path / "missing.jsonl") == []
    assert json.loads(whole)["version"] == read(file_of("wlan"))[0].experiment.version
