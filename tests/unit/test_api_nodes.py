"""The functions about a node: advice, an export, keys, what messages and files cost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from motecrypt import (
    AdviseRequest,
    ExportRequest,
    KeyFiles,
    LinkRadio,
    NodeStorage,
    ProvisionRequest,
    Question,
    Supply,
    WlanRequest,
    WlanSender,
    WlanWay,
    advise,
    export,
    load_radio,
    message_costs,
    provision,
    registered,
    wlan,
)
from motecrypt.app.advise import plan as plan_advice
from motecrypt.base.errors import InputError
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import LISTENS, TAG_16
from motecrypt.link.provisioning import block_text
from tool_sets import needs_tool_set

ASKED = AdviseRequest(
    "uno", Question(20, 10.0), Supply("3xAA"), load_radio("srf", 12), ["aes128-ccm8"], ["motecrypt"]
)


@needs_tool_set("avr")
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
    assert made.warning.startswith("rc4 is BROKEN") and made.document()["security"] == "broken"
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


@needs_tool_set("host")
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


@needs_tool_set("host")
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


@needs_tool_set("link")
def test_what_messages_cost_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    found = message_costs(load_radio("srf", 24), [1, 16, 17])
    words = ["--radio", "srf", "--packet-bytes", "24", "--bytes", "1,16,17", "--json"]
    assert [row["message_bytes"] for row in found.rows()] == [1, 16, 17]
    document = json.loads(run(capsys, "airtime", *words)[1])
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
