"""The functions that a program imports: a request in, a result out; nothing printed, no exit."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import motecrypt
from command_line import run
from kits import needs_kit
from made_rows import made_measurement
from motecrypt import (
    AdviseRequest,
    Builds,
    CiRequest,
    CompareRequest,
    ExportRequest,
    HistoryRequest,
    KeyFiles,
    Lengths,
    LinkRadio,
    MeasureRequest,
    MeasureResult,
    NodeStorage,
    ProvisionRequest,
    Question,
    RecordsRequest,
    ReportRequest,
    ReproduceRequest,
    Supply,
    SweepRequest,
    WlanRequest,
    WlanSender,
    WlanWay,
    advise,
    ci,
    compare,
    compare_history,
    export,
    fetch_results,
    load_radio,
    measure,
    merge_results,
    message_costs,
    provision,
    publish_results,
    records,
    registered,
    report,
    reproduce,
    sweep,
    wlan,
)
from motecrypt.app import ci as gating
from motecrypt.app import reproduce as reproducing
from motecrypt.app import sweep as sweeping
from motecrypt.app.advise import plan as plan_advice
from motecrypt.app.measure import plan
from motecrypt.base.errors import InputError
from motecrypt.base.paths import default_results
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import LISTENS, TAG_16
from motecrypt.link.provisioning import block_text
from motecrypt.results import Results

APP = Path(motecrypt.__file__).parent / "app"
PARAMETERS_MAX = 8
SMALL = MeasureRequest(
    ciphers=["rc4"],
    libraries=["motecrypt"],
    lengths=Lengths(message_bytes=[8]),
    builds=Builds(placements=["flash"]),
)


@needs_kit("avr")
def test_a_measurement_is_made_once_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int, str]] = []
    first = measure(SMALL, tmp_path / "r.db", progress=lambda *each: told.append(each))
    assert first.ok and not first.failed and len(first.ok) == len(first.figures)
    assert {(f.device, f.cipher, f.message_bytes, f.placement) for f in first.ok} <= {
        ("uno", "rc4", 8, "flash"),
        ("uno", "rc4", 0, "flash"),
    }
    assert told[-1][0] == told[-1][1] > 0
    again = measure(SMALL, str(tmp_path / "r.db"))
    assert again.figures == first.figures
    with Results(tmp_path / "r.db") as opened:
        assert measure(SMALL, opened).rows() == first.rows()
    assert first.rows()[0]["cycles_median"] == first.figures[0].cycles_median
    assert capsys.readouterr() == ("", "")


@needs_kit("avr")
def test_without_a_file_the_default_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTECRYPT_DB", str(tmp_path / "own.db"))
    assert measure(SMALL).ok and default_results().exists()


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (MeasureRequest(), "say what to measure"),
        (MeasureRequest(ciphers=["rc5x"]), "rc5x"),
        (MeasureRequest(ciphers=["rc4"], devices=["unoo"]), "did you mean"),
        (MeasureRequest(ciphers=["rc4"], public_keys=["x25519"]), "measure those apart"),
        (MeasureRequest(public_keys=["x25519"], lengths=Lengths(ad_bytes=[4])), "measure those apart"),
        (MeasureRequest(ciphers=["rc4"], builds=Builds(flag_sets=[["-wrapper", "x"]])), "-wrapper"),
        (MeasureRequest(ciphers=["rc4"], builds=Builds(placements=["moon"])), "no placement 'moon'"),
        (MeasureRequest(ciphers=["aes128-cbc"], lengths=Lengths(message_bytes=[7])), "multiples of 16"),
    ],
)
def test_a_wrong_request_is_an_input_error(request_: MeasureRequest, said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan(request_)


def test_words_for_many_are_spelled_out() -> None:
    made = plan(MeasureRequest(ciphers=["recommended"], devices=["all"], libraries=["motecrypt"]))
    ciphers = {cell.implementation.cipher for cell in made.cells}
    assert len({cell.device for cell in made.cells}) > 20 and len(ciphers) > 3
    assert {made.catalog.cipher(name).standing for name in ciphers} == {"recommended"}


def test_what_failed_is_not_what_does_not_fit() -> None:
    class Figure:
        def __init__(self, status: str) -> None:
            self.status = status

    def failed(*statuses: str) -> bool:
        return MeasureResult(tuple(map(Figure, statuses)), None).failed  # type: ignore[arg-type]

    assert failed() and failed("does-not-fit") and failed("ok", "wrong")
    assert not failed("ok") and not failed("ok", "does-not-fit")


ASKED = AdviseRequest(
    "uno", Question(20, 10.0), Supply("3xAA"), load_radio("srf", 12), ["aes128-ccm8"], ["motecrypt"]
)


@needs_kit("avr")
def test_advice_is_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int, str]] = []
    found = advise(replace(ASKED, keys=True), tmp_path / "r.db", progress=lambda *each: told.append(each))
    assert told[-1][0] == told[-1][1] > 0 and capsys.readouterr() == ("", "")
    assert found.rows()[0]["cipher"] == "aes128-ccm8" == found.answer.entries[0].candidate.cipher
    words = ["--device", "uno", "--radio", "srf", "--packet-bytes", "12", "--bytes", "20", "--every", "10s"]
    words += ["--battery", "3xAA", "--cipher", "aes128-ccm8", "--library", "motecrypt", "--keys", "--json"]
    _, printed, _ = run(capsys, "advise", *words, "--db", str(tmp_path / "r.db"))
    document = json.loads(printed)
    assert document.pop("next").startswith("motecrypt export arduino DIR")
    assert json.loads(json.dumps(found.document(), default=list)) == document
    assert [way["name"] for way in document["keys"]["ways"]] == [plan.way.name for plan in found.keys]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"device": "unoo"}, "did you mean"),
        ({"question": Question(20, 10.0, needs=("secrecy",))}, "--need 'secrecy': unknown"),
        ({"power_resistance": True}, "no protected variant; omit replay"),
        ({"to": NodeStorage("eeprom")}, "replaced by an older copy"),
        ({"to": NodeStorage("tape")}, "uno has none"),
        ({"to": NodeStorage("eeprom"), "keys": True}, "no radio to agree on keys over"),
        ({"supply": Supply("1xAA")}, "--battery: AA gives 1.5 V"),
        (
            {"power_resistance": True, "question": Question(20, 10.0, needs=()), "libraries": ["bearssl"]},
            "no protected implementation",
        ),
    ],
)
def test_a_wrong_question_is_an_input_error(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan_advice(replace(ASKED, **changes))


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (False, []),
        (True, ["--link"]),
        (
            LinkRadio(load_radio("srf", 24), True),
            ["--link", "--radio", "srf", "--packet-bytes", "24", "--sends-only"],
        ),
    ],
)
def test_an_export_is_what_the_command_writes(
    link: bool | LinkRadio, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request = ExportRequest("arduino", "aes128-ccm8", variant="tiny", link=link, measure=False)
    made = export(request, tmp_path / "one", tmp_path / "r.db")
    assert capsys.readouterr() == ("", "") and not (tmp_path / "r.db").exists()
    given = ["arduino", str(tmp_path / "two"), "--cipher", "aes128-ccm8", "--variant", "tiny", *words]
    run(capsys, "export", *given, "--no-measure", "--db", str(tmp_path / "r.db"))
    files = {path.relative_to(tmp_path / "two"): path for path in (tmp_path / "two").rglob("*")}
    assert {file for file, path in files.items() if path.is_file()} >= set(map(Path, made.library.files))
    for name, content in made.library.files.items():
        assert (tmp_path / "one" / name).read_bytes() == files[Path(name)].read_bytes() == content
    assert made.document()["files"] == sorted(made.library.files) and made.warning == ""


def test_a_weak_cipher_is_exported_with_a_warning(tmp_path: Path) -> None:
    made = export(ExportRequest("c", "rc4", measure=False), tmp_path / "out", tmp_path / "r.db")
    assert made.warning.startswith("rc4 is BROKEN") and made.document()["standing"] == "broken"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine").write_text("")
    for request, said in (
        (ExportRequest("c", "rc4", measure=False), "other"),
        (ExportRequest("tape", "rc4"), "tape"),
        (ExportRequest("c", "rc4", device="unoo"), "did you mean"),
        (ExportRequest("c", "rc4", link=True), "the link has no rc4"),
    ):
        with pytest.raises(InputError, match=said):
            export(request, tmp_path / ("new" if request.link else "other"))


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


@needs_kit("avr")
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


@needs_kit("avr")
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


@needs_kit("plots")
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


# --- all functions --------------------------------------------------------------------------------------


@needs_kit("host")
def test_a_node_is_provisioned_and_registered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, radio = tmp_path / "gateway.key", load_radio("srf")
    create_master_file(key)
    files = KeyFiles(eep=tmp_path / "5.eep", image=tmp_path / "5.image", eeprom_at=64)
    made = [
        provision(ProvisionRequest(5, radio, files, long_tags=True), key),
        provision(ProvisionRequest(7, radio, KeyFiles(png=None), sends_only=True, shown=True), key),
    ]
    assert capsys.readouterr() == ("", "")
    assert (made[0].generation, made[0].packet_bytes, made[0].files) == (
        *(1, radio.packet_bytes),
        (tmp_path / "5.eep", tmp_path / "5.image"),
    )
    image = (tmp_path / "5.image").read_bytes()
    assert image[:4] == bytes([*image[:2], made[0].options, made[0].packet_bytes])
    assert made[0].block == block_text(image) and (tmp_path / "5.eep").read_text().startswith(":10004000")
    assert made[0].options & ~made[1].options == TAG_16 | LISTENS
    assert [(entry.node, entry.generation) for entry in registered(key, None, radio)] == [(5, 1), (7, 1)]


@needs_kit("host")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "choose how to transfer its keys"),
        ({"radio": load_radio("srf", 8), "shown": True}, "packets of 8 bytes"),
        ({"member": True, "shown": True}, "a node has its own keys"),
        ({"node": 63, "member": True, "shown": True}, "a key block has no counters"),
        ({"node": 63, "sends_only": True, "shown": True}, "only receive"),
        ({"node": 63, "oscore": Path("new")}, "a context is for one node"),
        ({"oscore": Path("new"), "sends_only": True}, "cannot be asked"),
        ({"oscore": Path("new"), "shown": True}, "only --eep and --eeprom hold a context"),
        ({"files": KeyFiles(eep=Path("x"), image=Path("x"))}, "named twice"),
        ({"files": KeyFiles(eep=Path("gateway.key.gateway.new"))}, "belongs to the gateway's record"),
        ({"files": KeyFiles(uf2=Path("x"), flash_offset=1)}, "flash offset 0x1"),
    ],
)
def test_what_cannot_be_provisioned_leaves_nothing(
    changes: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create_master_file(Path("gateway.key"))
    with pytest.raises(InputError, match=said):
        provision(replace(ProvisionRequest(5, load_radio("srf")), **changes), Path("gateway.key"))
    assert {path.name for path in tmp_path.iterdir()} <= {"gateway.key", "gateway.key.gateway.lock"}


@needs_kit("link")
def test_what_messages_cost_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    found = message_costs(load_radio("srf", 24), [1, 16, 17])
    words = ["--radio", "srf", "--packet-bytes", "24", "--bytes", "1,16,17", "--json"]
    assert [row["message_bytes"] for row in found.rows()] == [1, 16, 17]
    document = json.loads(run(capsys, "link", *words)[1])
    assert document["messages"] == found.rows()
    assert document["best_packet_bytes"] == found.best_packet.packet_bytes
    for wrong in ([], [0], [1_000_001], range(1, 100_002)):
        with pytest.raises(InputError, match="1 to 1"):
            message_costs(load_radio("srf"), wrong)


def test_a_file_over_wifi_is_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(5000))
    way = WlanWay("infrastructure", "wep", "poor", "g", "udp", closed_form=True)
    found = wlan(WlanRequest(file, encoding="base64", way=way), tmp_path / "r.db")
    assert capsys.readouterr() == ("", "") and not found.shares and found.capture is None
    words = [
        "--mode",
        "infrastructure",
        "--security",
        "wep",
        "--signal",
        "poor",
        "--phy",
        "g",
        "--protocol",
        "udp",
        "--closed-form",
    ]
    _, printed, _ = run(
        *(capsys, "wlan", str(file), "--encoding", "base64", *words, "--json"),
        *("--db", str(tmp_path / "r.db")),
    )
    assert json.loads(printed) == json.loads(json.dumps(found.document()))
    assert found.payload.sent_bytes > found.payload.file_bytes == 5000


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"file": Path("none")}, "cannot be read"),
        ({"cipher": "rc5x"}, "rc5x"),
        ({"key_bits": 128}, "nothing is encrypted"),
        ({"cipher": "aes128-ctr", "key_bits": 192}, "no key of 192 bits"),
        ({"sender": WlanSender(["uno"])}, "nothing is encrypted"),
        ({"sender": WlanSender(active_ma={"uno": 9.2})}, "no such device here"),
        ({"sender": WlanSender(active_ma={"uno": 0})}, "above 0"),
        ({"way": WlanWay(mode="mesh")}, "mesh"),
    ],
)
def test_what_cannot_be_sent_is_an_input_error(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    request = WlanRequest(tmp_path / "file", way=WlanWay(closed_form=True))
    with pytest.raises(InputError, match=said):
        wlan(replace(request, **changes), tmp_path / "r.db")


def test_every_name_is_there_and_documented_with_types() -> None:
    page = (APP.parents[2] / "docs" / "python.md").read_text()
    for name in motecrypt.__all__:
        assert name in dir(motecrypt)
        thing = getattr(motecrypt, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing) and f"`{name}" in page, name
        if is_dataclass(thing):
            assert thing.__dataclass_params__.frozen and len(fields(thing)) <= PARAMETERS_MAX, name
    with pytest.raises(AttributeError, match="no attribute 'measures'"):
        _ = motecrypt.measures


def test_app_prints_nothing_ends_nothing_and_knows_no_command_line() -> None:
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "sys.exit", "exit", "input"), f"{path}:{node.lineno}"
            if isinstance(node, ast.FunctionDef):
                count = len(node.args.args + node.args.kwonlyargs)
                assert count <= PARAMETERS_MAX, f"{path}:{node.lineno}: {count} parameters"
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = (
                    [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                )
                assert not any(n.split(".")[0] in ("click", "rich") for n in names), f"{path}:{node.lineno}"


def test_importing_motecrypt_loads_nothing_else() -> None:
    code = "import sys, motecrypt; print(sorted(n for n in sys.modules if n.startswith('motecrypt')))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "['motecrypt']"
