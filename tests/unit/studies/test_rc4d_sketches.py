"""The author's sketches in the RC4D study: recorded, run here, and what both are counted as."""

from __future__ import annotations

from dataclasses import replace

import pytest

from motecrypt.results import Results
from motecrypt.results.experiments.sketch import KIND, VERSION, SketchFigures
from motecrypt.studies.counts import sentences
from motecrypt.studies.facts import Comparison
from motecrypt.studies.rc4d import sketches
from motecrypt.studies.rc4d import study as rc4d
from motecrypt.studies.rc4d.figures import printed


def _run(results: Results, **rows: SketchFigures) -> None:
    by_row = {question.row: question for question in sketches.questions()}
    for name, figures in rows.items():
        question = by_row[name.replace("_", "-")]
        results.store_experiment(KIND, VERSION, question.asked(), vars(figures), question.asked())


def _rows(results: Results) -> dict[str, Comparison]:
    return {row.id: row for row in rc4d.comparisons(results)}


def test_every_row_of_the_table_has_a_recorded_sketch_and_a_no_op_one() -> None:
    wanted = {sketches.sketch_of(row) for row in printed()}
    noop = {"aes-noop", "rc4-noop", "rc4-k-noop"}
    noop |= {f"rc4d-{letters}-noop".replace("--", "-") for letters in ("", "k", "ki", "kip")}
    assert set(sketches.recorded()) == wanted | noop
    assert {q.row for q in sketches.questions()} == wanted | noop
    assert {q.row for q in sketches.questions() if not q.prints} == noop == set(sketches.noop_rows())
    assert len(sketches.provenance()["commit"]) == 40


def test_recorded_figures_are_by_difference_and_never_counted_as_run(results: Results) -> None:
    rows = _rows(results)
    time, flash = rows["rc4d-table-rc4d-kip-plain-time"], rows["rc4d-table-rc4d-kip-plain-flash"]
    ram = rows["rc4d-table-rc4d-kip-plain-ram"]
    assert (time.published, time.measured, time.verdict) == (1101.0, 1089.0, "matches")
    assert (flash.published, flash.measured) == (490.0, 3932.0 - 3444.0)
    assert (ram.published, ram.measured, ram.verdict) == (256.0, 518.0 - 262.0, "matches")
    assert rows["rc4d-table-aes128-ecb-base-plain-ram"].measured == 860.0 - 298.0
    assert {row.like_for_like for row in (time, flash, ram)} == {"author's code, recorded"}
    kipe = rows["rc4d-table-rc4d-kipe-plain-flash"]
    assert kipe.measured == 4098.0 - 3444.0 and kipe.verdict == "differs"
    assert "EEPROM" in kipe.cause and kipe.cause_known == "consistent with"
    told = sentences(list(rows.values()))[0]
    assert (
        "none could be compared with the author's code, 35 with the author's code as recorded (27 match"
        in told
    )


def test_a_sketch_run_here_takes_the_place_of_its_recorded_figure(results: Results) -> None:
    _run(results, rc4d_kip_plain=SketchFigures(1300.0, 4000, 518))
    rows = _rows(results)
    time = rows["rc4d-table-rc4d-kip-plain-time"]
    assert (time.measured, time.verdict, time.like_for_like) == (1300.0, "differs", "author's code")
    # Its flash waits for a no-op sketch of the same compiler.
    flash = rows["rc4d-table-rc4d-kip-plain-flash"]
    assert (flash.measured, flash.like_for_like) == (488.0, "author's code, recorded")
    _run(results, rc4d_kip_noop=SketchFigures(0.0, 3500, 518), rc4d_ki_noop=SketchFigures(0.0, 3500, 300))
    rows = _rows(results)
    flash, ram = rows["rc4d-table-rc4d-kip-plain-flash"], rows["rc4d-table-rc4d-kip-plain-ram"]
    assert (flash.measured, flash.like_for_like) == (500.0, "author's code")
    assert (ram.measured, ram.like_for_like) == (218.0, "author's code")
    assert "1 could be compared" not in sentences(list(rows.values()))[0]
    assert "3 could be compared with the author's code (2 match" not in sentences(list(rows.values()))[0]
    assert "3 could be compared with the author's code (1 match" in sentences(list(rows.values()))[0]


def test_ten_times_aes_is_judged_on_the_authors_code_both_ways(results: Results) -> None:
    claim = _rows(results)["rc4d-claim-faster-than-aes"]
    assert (claim.measured, claim.verdict) == (10.79, "matches")
    assert claim.like_for_like == "author's code, recorded"
    plain = sketches.recorded()
    for slower, verdict in ((1.0, "matches"), (1.4, "differs")):
        kip = replace(plain["rc4d-kip-plain"], time_ms=slower * plain["rc4d-kip-plain"].time_ms)
        _run(results, aes_plain=plain["aes-plain"], rc4d_kip_plain=kip)
        claim = _rows(results)["rc4d-claim-faster-than-aes"]
        assert (claim.verdict, claim.like_for_like) == (verdict, "author's code")


def test_one_recorded_figure_makes_a_ratio_recorded(results: Results) -> None:
    _run(results, aes_plain=sketches.recorded()["aes-plain"])
    assert _rows(results)["rc4d-claim-faster-than-aes"].like_for_like == "author's code, recorded"


@pytest.mark.parametrize(
    ("claim", "measured", "verdict"),
    [
        ("quarter-of-aes-flash", 0.24, "matches"),
        ("twice-rc4-time", 1.93, "matches"),
        ("twice-rc4-space", 2.15, "matches"),
        ("k-faster", 2.43, "matches"),
        ("k-smaller", "-27 %, -20 %, -44 %, -10 %", "matches"),
        ("i-faster", "-3 %, -3 %", "matches"),
        ("i-smaller", "-14 %, -19 %", "matches"),
        ("p-faster", 3.34, "matches"),
        ("p-256-ram", 256.0, "matches"),
        ("e-no-good", "0.74 of the time of ki", "differs"),
        ("opt", "smaller in 7 of 8, faster in 3", "matches"),
    ],
)
def test_claims_about_his_programs_are_judged_on_them(
    results: Results, claim: str, measured: object, verdict: str
) -> None:
    rows = _rows(results)
    row = rows[f"rc4d-claim-{claim}"]
    assert (row.measured, row.verdict, row.kind) == (measured, verdict, "claim")
    ours = rows[f"rc4d-claim-{claim}-ours"]
    assert (ours.kind, ours.derived_from, ours.like_for_like) == (
        "derived",
        (row.id,),
        "same algorithm, ours",
    )
