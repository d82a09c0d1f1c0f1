"""The functions about results: studies, sweeps, comparisons, the gate, records, the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from made_rows import made_measurement
from motecrypt import (
    CiRequest,
    CompareRequest,
    HistoryRequest,
    RecordsRequest,
    ReportRequest,
    ReproduceRequest,
    SweepRequest,
    ci,
    compare,
    compare_history,
    fetch_results,
    merge_results,
    publish_results,
    records,
    report,
    reproduce,
    sweep,
)
from motecrypt.app import ci as gating
from motecrypt.app import reproduce as reproducing
from motecrypt.app import sweep as sweeping
from motecrypt.base.errors import InputError
from motecrypt.results import Results
from tool_sets import needs_tool_set

# --- reproduce ------------------------------------------------------------------------------------------


def test_a_study_is_shown_as_it_is_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = reproduce(ReproduceRequest(["rf", "rc4d"], stored=True), tmp_path / "r.db")
    assert [each.name for each in found.studies] == ["rf", "rc4d"] and not found.note and not found.failed
    assert [row["id"] for row in found.rows()] == [row.id for s in found.studies for row in s.comparisons]
    assert {row["id"].split("-")[0] for row in found.rows()} == {"rf", "rc4d"}
    assert {each.note for each in found.studies} == {""} and found.studies[0].view.TITLE
    assert not list(tmp_path.iterdir())
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (ReproduceRequest(["rfx"]), "unknown study 'rfx'"),
        (ReproduceRequest(["rf"], stored=True, full=True), "--full runs what is recorded"),
        (ReproduceRequest(["rf"], compilers=["gcc"], programs=[Path()]), "--library runs programs"),
        (ReproduceRequest(["rf"], sketches=[("a", "a.ino")]), "no rows for sketches in rf"),
        (ReproduceRequest(["rc4d"], sketches=[("rc4-plain", "")]), "--sketch rc4-plain: give ROW=FILE"),
    ],
)
def test_a_wrong_choice_of_studies_is_an_input_error(request_: ReproduceRequest, said: str) -> None:
    with pytest.raises(InputError, match=said):
        reproducing.plan(request_)


def test_what_the_adviser_needs_is_planned_for_the_report_alone() -> None:
    assert reproducing.plan(ReproduceRequest(["rc4d"])).advised is None
    assert reproducing.plan(ReproduceRequest(["rc4d"], stored=True, report=True)).advised is None
    needed = reproducing.plan(ReproduceRequest(["rc4d"], report=True)).advised
    assert needed is not None and set(needed.toolchains) == {"uno"} and needed.cells


# --- sweep ----------------------------------------------------------------------------------------------

PLAN = """[[sweep]]
ciphers = ["rc4"]
libraries = ["motecrypt"]
placements = ["flash"]
bytes = "8,16"
"""


@needs_tool_set("avr")
def test_the_shards_of_a_sweep_are_the_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, told = tmp_path / "plan.toml", list[tuple[int, int, str]]()
    file.write_text(PLAN)
    shards = [
        sweep(SweepRequest(file, (number, 2)), tmp_path / "r.db", progress=lambda *each: told.append(each))
        for number in (1, 2)
    ]
    assert told[-1][0] == told[-1][1] > 0
    whole = sweep(SweepRequest(str(file)), tmp_path / "r.db")
    assert whole.ok and not whole.wrong and {f.message_bytes for f in whole.ok} <= {0, 8, 16}
    assert sorted(map(repr, whole.figures)) == sorted(repr(f) for each in shards for f in each.figures)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"shard": (4, 3)}, "no part 4 of 3"),
        ({"shard": (0, 3)}, "no part 0 of 3"),
        ({"shard": (1, 10_001)}, "no part 1 of 10001"),
        ({"tls": Path()}, "--tls: is for --cluster"),
    ],
)
def test_a_wrong_shard_or_cluster_is_an_input_error(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    with pytest.raises(InputError, match=said):
        sweeping.plan(SweepRequest(tmp_path / "plan.toml", **given))


# --- compare --------------------------------------------------------------------------------------------


@pytest.fixture
def versions(tmp_path: Path) -> list[Path]:
    """Three results files of one cell, whose last takes more cycles."""
    paths = [tmp_path / f"v{number}.db" for number in (1, 2, 3)]
    for path, cycles in zip(paths, (1000, 1000, 1021), strict=True):
        with Results(path) as results:
            results.store({"0": made_measurement(cycles_median=cycles)})
    return paths


def test_two_files_are_compared(versions: list[Path]) -> None:
    found = compare(CompareRequest(str(versions[0]), versions[2]))
    assert found.difference.worse and found.difference.changes[0].percent == pytest.approx(2.1)
    assert not compare(CompareRequest(versions[0], versions[2], threshold_percent=2.1)).difference.worse
    assert [side.file for side in found.files] == [versions[0], versions[2]]
    assert (found.files[1].cells, found.files[1].compilers) == (1, [made_measurement().compiler])
    assert found.files[0].versions == [made_measurement().motecrypt_version]


def test_a_history_is_of_files_or_of_their_folder(versions: list[Path], tmp_path: Path) -> None:
    made = compare_history(HistoryRequest(list(map(str, versions))))
    assert [version.label for version in made.versions] == ["v1", "v2", "v3"]
    assert [step.version for step in made.changed[0].steps] == ["v3"] and made.worse(2.0)
    assert compare_history(HistoryRequest(place=str(tmp_path))).figures == made.figures


def test_what_cannot_be_compared_is_an_input_error(versions: list[Path], tmp_path: Path) -> None:
    for before, after in ((tmp_path / "none.db", versions[0]), (versions[0], tmp_path / "none.db")):
        with pytest.raises(InputError, match=r"none\.db: no such file"):
            compare(CompareRequest(before, after))
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(InputError, match="a history needs two"):
        compare_history(HistoryRequest(versions[:1]))


# --- ci -------------------------------------------------------------------------------------------------

CONFIG = """devices = ["uno"]
[[cipher]]
name = "rc4"
libraries = ["motecrypt"]
placements = ["flash"]
bytes = [8]
"""


@needs_tool_set("avr")
def test_the_gate_passes_and_fails_by_its_budget(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, told = tmp_path / "motecrypt.toml", list[tuple[int, int, str]]()
    file.write_text(CONFIG)
    request = CiRequest(file, no_base=True)
    found = ci(request, tmp_path / "r.db", progress=lambda *each: told.append(each))
    assert (
        found.passed and found.taken.benchmarks and found.plan.title == "" and told[-1][0] == told[-1][1] > 0
    )
    assert found.facts[0].startswith("motecrypt ") and "passed" in found.markdown().decode()
    file.write_text(CONFIG + "[[budget]]\nflash = 1\n")
    failed = ci(request, tmp_path / "r.db")
    assert not failed.passed and {check.measure for check in failed.judgement.failed} == {"flash"}
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"base": "HEAD", "no_base": True}, "omit one of the two"),
        ({"record": True}, "no history file"),
        ({"config": "none.toml"}, "none.toml"),
    ],
)
def test_a_wrong_gate_is_an_input_error(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "motecrypt.toml").write_text(CONFIG)
    with pytest.raises(InputError, match=said):
        gating.plan(CiRequest(**{"config": tmp_path / "motecrypt.toml", **given}))


# --- records --------------------------------------------------------------------------------------------


def test_the_records_that_came_with_the_program_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    found = records(RecordsRequest(["uno"], ["ascon-aead128"], stored=True))
    assert not found.measured and not found.changes and capsys.readouterr() == ("", "")
    rows = found.rows()
    assert len(rows) == len(found.implementations) > 3
    assert {(row["device"], row["cipher"]) for row in rows} == {("uno", "ascon-aead128")}
    assert any(row["front"] for row in rows) and any(row["led_by_ours"] for row in rows if not row["ours"])


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (RecordsRequest(devices=["unoo"]), "did you mean"),
        (RecordsRequest(ciphers=["rc4"]), "the records have none of these"),
    ],
)
def test_what_the_records_lack_is_an_input_error(request_: RecordsRequest, said: str) -> None:
    with pytest.raises(InputError, match=said):
        records(request_)


# --- results --------------------------------------------------------------------------------------------


def test_results_are_joined_published_fetched_and_read(tmp_path: Path) -> None:
    for number in (1, 2):
        with Results(tmp_path / f"{number}.db") as results:
            results.store({str(number): made_measurement(message_bytes=16 * number)})
    whole, sources = tmp_path / "whole.db", [tmp_path / "1.db", str(tmp_path / "2.db")]
    assert [merged.new for merged in merge_results(sources, whole)] == [1, 1]
    assert [merged.same for merged in merge_results(sources, str(whole))] == [1, 1]
    with pytest.raises(InputError, match="that the others are joined into"):
        merge_results([whole], whole)
    with pytest.raises(InputError, match="there is no such results file"):
        merge_results([tmp_path / "1.db", tmp_path / "none.db"], tmp_path / "new.db")
    assert publish_results(tmp_path / "set", "me", results=whole) == 2
    with pytest.raises(InputError, match="unoo"):
        publish_results(tmp_path / "set", "me", devices=["unoo"], results=whole)
    publisher, merged = fetch_results(tmp_path / "set", None, tmp_path / "other.db")
    assert (publisher, merged.new) == ("me", 2)


# --- report ---------------------------------------------------------------------------------------------


@needs_tool_set("plots")
def test_the_report_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Results(tmp_path / "r.db") as results:
        results.store({"0": made_measurement()})
    made = report(ReportRequest(tmp_path / "r.html"), tmp_path / "r.db")
    assert made.path.stat().st_size == made.bytes > 1000 and not made.content.empty
    assert made.captions is None and made.pdf is None and capsys.readouterr() == ("", "")
    assert report(ReportRequest(str(tmp_path / "e.html")), tmp_path / "none.db").content.empty


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"width": "88mm"}, "--width needs --figures"),
        ({"titled": False, "figures": Path("f")}, "--no-title needs --width"),
        ({"pdf": "r.html"}, "this is the HTML file"),
        ({"width": "88", "figures": Path("f")}, "88"),
    ],
)
def test_a_wrong_report_is_an_input_error(
    given: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        report(ReportRequest("r.html", **given), tmp_path / "none.db")
    assert not list(tmp_path.iterdir())
