"""`motecrypt gateway status`: last seen, loss by counters, epoch, failed tags; of a gateway, or a record."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from gateway_bed import MASTER, OPTIONS, PACKET, Field
from gateway_running import Running, provision
from link_ends import FullDisk, native
from motecrypt import gateway_status
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.catalog import FIRMWARE
from motecrypt.link.gateway import heard
from motecrypt.link.gateway.heard import BatteryField, Heard, after
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.gateway.operated import OperatedGateway
from motecrypt.link.gateway.status import NodeStatus, node_statuses
from motecrypt.link.gateway.stored import FAILED_TAGS_MAX, stored_end
from motecrypt.link.keys import create_master_file
from motecrypt.link.native import BROADCAST, CONFIRMED, LONG, SHORT, STORAGE_BYTES, STREAM, Event, KeyBlock
from motecrypt.link.state import MemoryStore, pack, unpack
from motecrypt.link.told import NodeMessage

NOW_S = 1_700_000_000


def message(counter: int, epoch: int = 0, generation: int = 1) -> NodeMessage:
    return NodeMessage(5, b"", generation=generation, epoch=epoch, counter=counter)


def counted(*counters: int) -> tuple[int, int, int]:
    """Messages, missed ones and the newest counter, after messages with these counters."""
    told = None
    for counter in counters:
        told = after(told, message(counter), NOW_S)
    assert told is not None and told.last_s == NOW_S
    return told.messages, told.missed, told.newest


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        ((0,), (1, 0, 0)),
        ((500,), (1, 0, 500)),
        ((0, 1, 2), (3, 0, 2)),
        ((0, 2), (2, 1, 2)),
        ((0, 5, 6), (3, 4, 6)),
        ((0, 2, 1), (3, 0, 2)),
        ((4, 3), (2, 0, 4)),
        ((0, 64), (2, 0, 64)),
        ((0, 65), (2, 64, 65)),
        ((63, 64), (2, 0, 64)),
        ((64, 128), (2, 0, 128)),
        ((64, 192), (2, 1, 192)),
        ((10, 256), (2, 3, 256)),
        ((62, 127, 128), (3, 64, 128)),
    ],
)
def test_a_gap_of_counters_is_a_loss_and_a_start_is_not(
    counters: Sequence[int], expected: tuple[int, int, int]
) -> None:
    assert counted(*counters) == expected


def test_new_keys_begin_new_counts_which_are_complete() -> None:
    before = Heard(NOW_S, 1, 0, 9, 10, 3)
    assert after(before, message(2, epoch=7), NOW_S + 1) == Heard(NOW_S + 1, 1, 7, 2, 1, 2)
    assert after(before, message(0, generation=2), NOW_S + 1) == Heard(NOW_S + 1, 2, 0, 0, 1, 0)
    assert before.loss == round(3 / 13, 6) and replace(before, missed=0).loss == 0.0


@pytest.mark.parametrize(
    ("place", "content", "battery_mv"),
    [
        (BatteryField(0), b"\x10\x0e", 3600),
        (BatteryField(1, 1), b"\x10\x0e\xff", 14),
        (BatteryField(2, 4), b"ab\1\0\2\0", 0x20001),
        (BatteryField(1), b"\x10\x0e", None),
        (None, b"\x10\x0e", None),
    ],
)
def test_the_battery_is_in_its_place(
    place: BatteryField | None, content: bytes, battery_mv: int | None
) -> None:
    assert after(None, replace(message(0), content=content), NOW_S, place).battery_mv == battery_mv


def test_the_last_voltage_stays_until_another_one_comes_and_outlives_the_gateway() -> None:
    place, told = BatteryField(0), None
    for counter, content, event in (
        (0, b"\1\2", Event.MESSAGE),
        (1, b"", Event.MESSAGE),
        (2, b"\x09\x09", Event.FILE_PART),
    ):
        told = after(
            told, replace(message(counter, epoch=counter), content=content, event=event), NOW_S, place
        )
        assert told.battery_mv == 0x201
        assert heard.read(json.loads(json.dumps(heard.kept({5: told})))) == {5: told}
    late = after(told, replace(message(1, epoch=2), content=b"\3\4"), NOW_S, place)
    assert late.battery_mv == 0x201, "an older message came after a newer one"
    assert after(late, replace(message(3, epoch=2), content=b"\3\4"), NOW_S, place).battery_mv == 0x403
    for wrong in ((-1, 2), (0, 0), (0, 5)):
        with pytest.raises(InputError, match=r"^--battery .*: give AT\[:BYTES\]"):
            BatteryField(*wrong)


def test_the_block_is_that_of_the_core() -> None:
    header = (FIRMWARE / "link" / "link.h").read_text()
    assert re.search(rf"LINK_SEND_BLOCK = {heard.SEND_BLOCK},", header)
    assert re.search(rf"LINK_FAILURES_MAX = {FAILED_TAGS_MAX},", header)


@pytest.mark.parametrize(
    "content",
    [
        7,
        [],
        {"5": 7},
        {"5": [1] * 5},
        {"5": [1] * 8},
        {"x": [1] * 6},
        {"5": [1, 1, 1, 1, 1, -1]},
        {"5": ["1"] * 6},
    ],
)
def test_counts_that_are_none_are_a_damaged_record(content: object) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        heard.read(content)
    store = MemoryStore()
    OperatedGateway(store, MASTER).provision(5)
    assert store.record is not None
    kept = unpack("gateway", store.record)
    damaged = pack("gateway", {"master": kept["master"], "nodes": kept["nodes"], "heard": content})
    with pytest.raises(InputError, match="record is damaged"):
        OperatedGateway(MemoryStore(damaged), MASTER)


def test_what_storage_says_is_that_of_its_newest_record() -> None:
    end = native()
    end.provision(KeyBlock(5, OPTIONS | 128, PACKET, 3, bytes(16)))
    assert end.begin() is Event.NOTHING and stored_end(end.storage).failed_tags == 0
    written = bytearray(end.storage)
    for slot, (failures, epoch) in enumerate([(4096 | 0x8000, 3), (64, 2), (4097, 1)]):
        at = 28 + 20 * slot
        written[at : at + 16] = failures.to_bytes(2, "little") + bytes(10) + epoch.to_bytes(4, "little")
    assert (stored_end(bytes(written)).epoch, stored_end(bytes(written)).failed_tags) == (3, 4096)
    at = 28
    written[at : at + 2] = (0x8000 | 65).to_bytes(2, "little")
    assert stored_end(bytes(written)).failed_tags == 65
    assert stored_end(b"\xff" * STORAGE_BYTES).failed_tags == 0


def statuses(field: Field) -> dict[int, NodeStatus]:
    return {each.node: each for each in node_statuses(field.gateway)}


def test_a_node_is_counted_and_a_restart_keeps_the_counts(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, 6, BROADCAST)
    field.add(7, SHORT | STREAM)
    field.gateway.clock = lambda: NOW_S  # type: ignore[assignment,method-assign]
    assert statuses(field)[5] == NodeStatus(5, 1, 0, False, None, 0, 0, None, 0)
    field.up(5, b"21.0 C", LONG | CONFIRMED)
    for lost in (False, True, True, False):
        field.nodes[5].send(b"21.4 C")
        packets = field.packets(5)
        if not lost:
            field.radios[0].put(*packets)
            field.turn()
    seen = "2023-11-14T22:13:20.000Z"
    now = NodeStatus(5, 1, 0, False, seen, 3, 2, 0.4, 0)
    assert statuses(field)[5] == now
    field.restart()
    assert statuses(field)[5] == now, "the record has what was taken"
    field.gateway.clock = lambda: NOW_S + 1  # type: ignore[assignment,method-assign]
    field.gateway.restored(1_800_000_000)
    told = statuses(field)
    assert told[7].epoch is None and told[7].failed_tags == 0 and told[BROADCAST].epoch is None
    assert told[5].epoch_unconfirmed and told[5].epoch == field.gateway.epoch(5) > 0
    assert (told[5].last_seen, told[5].messages, told[5].loss) == (seen, 0, None), "under earlier keys"
    field.crash()


def test_what_could_not_be_kept_is_not_counted() -> None:
    store = FullDisk()
    gateway = OperatedGateway(store, MASTER, packet_bytes=PACKET, together=True)
    node = native()
    node.begin(gateway.provision(5, OPTIONS))
    node.send(b"21.4 C", LONG)
    store.full = True
    packets = node.packets()
    with pytest.raises(MotecryptError, match="no space"):
        gateway.receive(packets, lambda messages: [True] * len(messages))
    assert gateway.heard == {} and gateway.extra == {}
    store.full = False
    gateway.receive(packets, lambda messages: [True] * len(messages))
    assert gateway.heard[5].messages == 1 and "heard" in str(store.record)


def test_messages_of_receive_are_in_the_record_when_it_closes(tmp_path: Path) -> None:
    create_master_file(tmp_path / "key")
    node = provision(tmp_path)
    before = (tmp_path / "key.gateway").stat().st_ino
    open_gateway(tmp_path / "key", None, PACKET).close()
    assert (tmp_path / "key.gateway").stat().st_ino == before, "nothing came, so nothing is written"
    gateway = open_gateway(tmp_path / "key", None, PACKET)
    node.send(b"21.4 C", LONG)
    gateway.receive(node.packets(), lambda messages: [True] * len(messages))
    gateway.close()
    (told,) = gateway_status(tmp_path / "key").nodes
    assert told.messages == 1 and told.last_seen is not None


def test_failed_tags_are_counted(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    field.up(5, b"21.0 C", LONG | CONFIRMED)
    for _ in range(3):
        field.nodes[5].send(b"21.4 C")
        (packet,) = field.packets(5)
        field.radios[0].put(packet[:2] + bytes(9) + bytes([1]))
        field.read()
        field.service.turn(field.stop)
    told = statuses(field)[5]
    assert told.failed_tags == 3 and told.failed_tags_max == 4096
    field.crash()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    create_master_file(tmp_path / "key")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(out: str) -> list[str]:
    return [" ".join(line.split()) for line in out.splitlines()]


def test_the_command_asks_the_gateway_that_runs_and_else_the_record(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    running = Running(folder, "--csv", "log.csv", "--stdout", "--battery", "0:1")
    try:
        running.say(b"21.4 C")
        running.until(lambda: '"id": "5.1.0.0"' in running.out)
        code, out, errors = run(capsys, "gateway", "status", "--key", "key", "--json")
        told = json.loads(out)
        assert (code, errors, told["running"], told["record"]) == (0, "", True, "key.gateway")
        assert list(told["ports"]) == ["p"] and told["ports"]["p"] >= 1 and told["waiting"] in (0, 1)
        assert sorted(told["sinks"].values(), key=str) == [None, None]
        (node,) = told["nodes"]
        assert (node["node"], node["messages"], node["missed"], node["loss"]) == (5, 1, 0, 0.0)
        assert node["last_seen"].startswith("20") and (node["epoch"], node["failed_tags"]) == (0, 0)
        code, out, _ = run(capsys, "gateway", "status", "--key", "key")
        assert f"5 {node['last_seen']} 1 0 (0.0 %) 0 0 of 4096 0.050 V" in table(out)
        assert any(line.startswith("A gateway serves p (") for line in table(out))
        running.process.terminate()
        running.process.wait(60)
    finally:
        running.end()
    code, out, _ = run(capsys, "gateway", "status", "--key", "key", "--json")
    kept = json.loads(out)
    assert code == 0 and kept == {**told, "running": False, "waiting": 0, "sinks": {}, "ports": {}}
    code, out, _ = run(capsys, "gateway", "status", "--key", "key")
    assert code == 0 and "No gateway runs; from key.gateway." in table(out)
    code, _, errors = run(capsys, "gateway", "p", "--key", "key", "--battery", "1:2:3")
    assert code == 2 and "'1:2:3' is not a place in a message; give AT[:BYTES], such as 4 or 4:2" in errors


def test_marks_of_the_table_are_explained(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    provision(folder)
    gateway = open_gateway(folder / "key", None, PACKET)
    gateway.provision(7, SHORT | STREAM)
    gateway.provision(BROADCAST, OPTIONS)
    gateway.restored(1_800_000_000)
    epoch = gateway.epoch(5)
    gateway.close()
    code, out, _ = run(capsys, "gateway", "status", "--key", "key")
    lines = table(out)
    assert code == 0 and f"5 0 {epoch} (open) 0 of 4096" in lines
    assert "7 0 void 0 of 4096" in lines and "group 0 void 0 of 4096" in lines
    assert "open: the node has not confirmed this epoch." in lines
    assert "void: the node needs new keys, by 'motecrypt provision'." in lines


def test_sinks_with_a_fault_and_what_waits_are_shown(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from motecrypt.app import gateway_nodes
    from motecrypt.app.gateway_nodes import GatewayStatus

    monkeypatch.setenv("COLUMNS", "200")
    found = GatewayStatus(Path("r"), True, [], 3, {"csv:a": None, "mqtt:b": "refused"}, {"p": 7, "q": 0})
    monkeypatch.setattr(gateway_nodes, "gateway_status", lambda *given: found)
    code, out, _ = run(capsys, "gateway", "status", "--key", "key")
    lines = table(out)
    assert code == 0 and "A gateway serves p (7 packets), q (0 packets)." in lines
    assert "Messages that wait for sinks: 3" in lines and "Sink mqtt:b: refused" in lines
    assert "csv:a" not in out


@pytest.mark.parametrize("busy", [False, True])
def test_a_record_that_cannot_be_read_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], busy: bool
) -> None:
    from motecrypt.link.state import FileStore

    held: Any = FileStore(folder / "key.gateway") if busy else None
    if not busy:
        (folder / "key.gateway").write_text("not a record")
    code, out, errors = run(capsys, "gateway", "status", "--key", "key")
    said = "another program is using it; stop that one first" if busy else "record is damaged"
    assert (code, out) == (2, "") and said in errors and len(errors.splitlines()) == 1
    if held:
        held.close()


def test_a_new_gateway_has_no_nodes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "gateway", "status", "--key", "key", "--json")
    told = json.loads(out)
    assert code == 0 and (told["nodes"], told["waiting"], told["running"]) == ([], None, False)
