"""The gateway's loop, turn by turn: what is kept, answered, limited, put off, and what it says."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway_bed import OPTIONS, PACKET, Collected, Field
from motecrypt.base.errors import MotecryptError
from motecrypt.base.serial_port import PortError
from motecrypt.link.file_parts import file_parts
from motecrypt.link.gateway import guard
from motecrypt.link.gateway import service as module
from motecrypt.link.gateway.control import ControlSocket
from motecrypt.link.gateway.drain import Drain
from motecrypt.link.gateway.orders import order_of
from motecrypt.link.native import CONFIRMED, FILE, LISTENS, LONG, SHORT, STREAM, Event
from motecrypt.link.stored_files import LIST

READING = b"21.4 C"


@pytest.fixture
def field(tmp_path: Path) -> Iterator[Field]:
    made = Field(tmp_path, 5, 6)
    yield made
    made.crash()


def test_a_message_is_in_the_spool_before_its_node_is_answered(field: Field) -> None:
    field.nodes[5].send(READING, CONFIRMED)
    field.radios[0].put(*field.packets(5))
    write = field.spool.write
    seen: list[int] = []

    def noted(record: bytes) -> None:
        write(record)
        seen.append(len(field.waiting()))
        assert not field.radios[0].get()

    field.spool.write = noted  # type: ignore[method-assign]
    assert field.turn() == [Event.ACCEPTED] and seen == [1]
    (kept,) = field.waiting()
    assert (kept.name, kept.content, kept.kind, kept.length) == ("5.1.0.0", READING, "message", 6)
    assert field.service.statistics()["messages"] == 1


def test_a_message_is_delivered_without_waiting_for_the_next_look(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[int] = []
    monkeypatch.setattr(Drain, "wake", lambda drain: woken.append(len(field.waiting())))
    field.drain()
    assert field.up(5, READING, CONFIRMED) == [Event.ACCEPTED]
    assert woken and woken[-1] == 1, "what is kept is there to be delivered"


def test_messages_of_several_nodes_in_one_read_are_one_write(field: Field) -> None:
    writes: list[bytes] = []
    write = field.spool.write
    field.spool.write = lambda record: (writes.append(record), write(record))[1]  # type: ignore[method-assign,func-returns-value]
    packets = []
    for node in (5, 6):
        field.nodes[node].send(READING, CONFIRMED)
        packets += field.packets(node)
    field.radios[0].put(*packets)
    field.radios[0].wait_until_readable(PACKET * len(packets))
    assert field.turn() == [Event.ACCEPTED] * 2
    assert len(writes) == 1 and len(field.waiting()) == 2


def test_what_was_killed_before_its_answer_is_accepted_after_a_restart_and_not_doubled(field: Field) -> None:
    field.nodes[5].send(READING, CONFIRMED)
    packets = field.packets(5)
    field.radios[0].put(*packets)
    field.read()
    field.radios[0].get()  # the answer never arrives
    field.restart()
    field.radios[0].put(*packets)
    assert field.turn() == [Event.ACCEPTED]
    assert len(field.waiting()) == 1 and field.service.statistics()["messages"] == 0


def test_a_full_spool_answers_nobody_and_later_everybody(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, queue_max=2)
    assert field.up(5, b"1", CONFIRMED) == field.up(5, b"2", CONFIRMED) == [Event.ACCEPTED]
    assert field.up(5, b"3", CONFIRMED) == [] and len(field.waiting()) == 2
    told = field.service.statistics()
    assert told["spool"] == {"waiting": 2, "room": 0, "faults": 0}
    assert told["not_taken"]["spool_full"] > 0
    field.drain()
    field.until(lambda: field.spool.waiting == 0)
    events: list[Event] = []
    for now in range(0, 5000, 250):
        field.nodes[5].poll(now)
        field.radios[0].put(*field.packets(5))
        events += field.turn()
    assert events == [Event.ACCEPTED]
    field.until(lambda: len(field.sink.items) == 3)
    field.crash()


def test_a_node_that_sends_as_much_as_it_may_leaves_others_their_share_of_the_spool(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, 6, 7, queue_max=24)  # half of it is for all; 4 places belong to each node
    for number in range(16):
        assert field.up(5, b"%d" % number, CONFIRMED) == [Event.ACCEPTED], number
    assert field.up(5, b"more", CONFIRMED) == [], "what is left belongs to the others"
    for node in (6, 7):
        for number in range(4):
            assert field.up(node, b"%d" % number, CONFIRMED) == [Event.ACCEPTED], (node, number)
        assert field.up(node, b"more", CONFIRMED) == []
    told = field.service.statistics()
    assert told["spool"] == {"waiting": 24, "room": 0, "faults": 0}
    assert [told["nodes"][node]["waiting"] for node in ("5", "6", "7")] == [16, 4, 4]
    put_off = [told["nodes"][node]["put_off"] for node in ("5", "6", "7")]
    assert all(put_off) and sum(put_off) == told["not_taken"]["spool_full"]
    field.restart()  # which counts again what waits
    for node in (6, 7):
        for _ in range(2):
            field.nodes[node].poll(10_000)
            field.radios[0].put(*field.packets(node))
            assert field.turn() == []
    field.drain()
    field.until(lambda: field.spool.waiting == 0)
    assert not field.spool.waiting_of
    events: list[Event] = []
    for now in range(20_000, 25_000, 250):
        for node in (5, 6, 7):
            field.nodes[node].poll(now)
            field.radios[0].put(*field.packets(node))
        events += field.turn()
    assert events == [Event.ACCEPTED] * 3, "confirmed messages were tried again"
    field.crash()


def test_answers_pass_a_full_spool(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, queue_max=1)
    field.up(5, b"1", CONFIRMED)
    control = ControlSocket(tmp_path / "socket")
    field.service.listen(control)
    told: list[dict[str, object]] = []
    field.service._asked({"node": 5, "text": "down", "as": "message"}, told.append)
    assert field.turn() == [Event.MESSAGE]
    field.nodes[5].answer(True)
    field.radios[0].put(*field.packets(5))
    field.turn()
    assert told == [{"node": 5, "outcome": "accepted"}]
    field.crash()
    control.close()


def test_a_node_that_floods_is_limited_and_no_other(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, 6, node_rate=0.5)  # a burst of five
    for number in range(40):
        field.up(5, b"%6d" % number, CONFIRMED if number == 0 else 0)
    told = field.service.statistics()
    assert told["nodes"]["5"]["messages"] == 5 and told["nodes"]["5"]["limited"] == 36, "one was long"
    assert field.up(6, READING, CONFIRMED) == [Event.ACCEPTED]
    told = field.service.statistics()
    assert told["nodes"]["6"]["limited"] == 0 and told["messages"] == 6
    tally = field.service._tally.nodes[5]
    tally.filled_s -= 2.0
    field.up(5, READING)
    assert tally.messages == 6, "a second later one more may come"
    tally.filled_s -= 1e6
    field.up(5, READING)
    assert tally.allowed == pytest.approx(4.0), "and no more than for ten seconds at once"
    field.crash()


def test_forged_packets_are_counted_and_cost_a_node_nothing(field: Field) -> None:
    field.up(5, READING, CONFIRMED)
    allowed = field.service._tally.nodes[5].allowed
    for _ in range(3):
        field.radios[0].put(bytes([5, 1]) + bytes(10))
        field.turn()
        field.lines[0]._framing._skipping = False
    told = field.service.statistics()
    assert told["nodes"]["5"]["forged"] == 3 and told["not_taken"]["astray"] == 3
    assert field.service._tally.nodes[5].allowed >= allowed
    field.radios[0].put(bytes([9]) * 12)
    field.turn()
    assert "9" not in field.service.statistics()["nodes"]


def test_a_spool_with_several_faults_in_turn_reports_each_once(field: Field) -> None:
    def fail(why: str) -> None:
        raise MotecryptError(why)

    guarded = field.service._guarded
    for why in ("full", "read-only", "full", "read-only"):
        guarded(lambda: fail(why))  # noqa: B023 - called at once
    end = "; until this is fixed no message is accepted"
    assert field.told == [f"full{end}", f"read-only{end}"]
    guarded(lambda: field.spool.write(field.spool.read() or b""))
    guarded(lambda: fail("full"))
    assert field.told[2:] == [f"state file {field.spool.path}: can be written again", f"full{end}"]
    for number in range(20):
        guarded(lambda: fail(f"fault {number}"))  # noqa: B023 - called at once
    assert len(field.told) == 3 + guard.TOLD_MAX


def test_a_spool_that_cannot_be_written_takes_nothing_and_goes_on_when_it_can(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "REST_S", 0.05)
    field.spool._base.execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(field.spool.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert field.up(5, READING, CONFIRMED) == []
    end = f"state file {field.spool.path}: cannot be written: database is locked"
    assert field.told == [f"{end}; until this is fixed no message is accepted"]
    field.nodes[6].send(READING, CONFIRMED)
    packets = field.packets(6)
    field.radios[0].put(*packets)
    assert field.turn() == []
    assert field.service.statistics()["not_taken"]["spool_faulty"] == len(packets)
    for _ in range(2):
        field.until(lambda: field.service._guarded.until_s < time.monotonic())
        field.radios[0].put(*packets)
        assert field.turn() == []
    assert len(field.told) == 1, "told once"
    assert field.service.statistics()["spool"]["faults"] == 3
    other.execute("ROLLBACK")
    other.close()
    field.until(lambda: field.service._guarded.until_s < time.monotonic())
    field.turn()
    assert len(field.told) == 1, "nothing was written yet"
    field.radios[0].put(*packets)
    assert field.turn() == [Event.ACCEPTED] and [each.node for each in field.waiting()] == [6]
    assert field.told[1:] == [f"state file {field.spool.path}: can be written again"]
    assert field.service.statistics()["messages"] == 1


def names(inbox: Path) -> list[str]:
    """Besides the list of whose each file is."""
    return [path.name for path in inbox.iterdir() if path.name != LIST]


def test_a_node_that_has_its_share_of_files_sends_no_more_and_another_one_does(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, 6, files=True, files_share=8192)

    def send(node: int, name: str) -> list[Event]:
        events: list[Event] = []
        for part in file_parts(name, b"line\n" * 50, 100):
            events += field.up(node, part, CONFIRMED | FILE)
            if events[-1] is Event.REFUSED:
                break
        return events

    for name in ("a", "b"):
        assert set(send(5, name)) == {Event.ACCEPTED}
    for _ in range(30):
        assert send(5, "c") == [Event.REFUSED]
    why = f"node 5: has files of 8,192 bytes in {tmp_path}/inbox; 4,096 more would exceed its share of "
    assert field.told == [f"{why}--output-mb, 8,192 bytes; move files away or raise it"] * 10
    assert field.service.statistics()["not_taken"]["file_parts"] == 30, "all are counted"
    assert field.up(5, READING, CONFIRMED) == [Event.ACCEPTED]
    assert set(send(6, "c")) == {Event.ACCEPTED}
    field.restart()
    assert send(5, "c") == [Event.REFUSED] and sorted(names(tmp_path / "inbox")) == ["a", "b", "c"]
    (tmp_path / "inbox" / "a").unlink()
    field.restart()
    assert set(send(5, "d")) == {Event.ACCEPTED}
    field.crash()


def test_files_are_kept_once_and_told_as_items(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, files=True)
    for part in file_parts("log.txt", b"line\n" * 50, 100):
        assert field.up(5, part, CONFIRMED | FILE) == [Event.ACCEPTED]
    (kept,) = field.waiting()
    path = tmp_path / "inbox" / "log.txt"
    assert (kept.kind, kept.content, kept.length) == ("file", bytes(path), 250)
    assert path.read_bytes() == b"line\n" * 50 and names(path.parent) == ["log.txt"]
    told = field.service.statistics()
    assert (told["files"], told["messages"], told["nodes"]["5"]["files"]) == (1, 0, 1)
    assert kept.record()["file"] == str(path) and kept.record()["bytes"] == 250
    field.crash()


def test_a_file_whose_end_could_not_be_kept_is_one_file_in_the_end(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, files=True)
    *parts, end = file_parts("log.txt", b"x" * 200, 100)
    for part in parts:
        field.up(5, part, CONFIRMED | FILE)
    write = field.spool.write
    failing = True

    def fails(record: bytes) -> None:
        if failing:
            field.spool.undo()
            raise MotecryptError("no room")
        write(record)

    field.spool.write = fails  # type: ignore[method-assign]
    field.nodes[5].send(end, CONFIRMED | FILE)
    packets = field.packets(5)
    field.radios[0].put(*packets)
    assert field.turn() == [] and (tmp_path / "inbox" / "log.txt").exists()
    failing = False
    field.service._guarded.until_s = 0.0
    field.radios[0].put(*packets)
    assert field.turn() == [Event.ACCEPTED] and len(field.waiting()) == 1
    assert names(tmp_path / "inbox") == ["log.txt"]
    field.crash()


def test_a_file_that_could_not_be_kept_is_not_over_when_another_node_is_heard(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, 6, files=True)
    *parts, end = file_parts("log.txt", b"x" * 200, 100)
    for part in parts:
        field.up(5, part, CONFIRMED | FILE)
    write = field.spool.write

    def fails(record: bytes) -> None:
        field.spool.undo()
        raise MotecryptError("no room")

    field.spool.write = fails  # type: ignore[method-assign]
    field.nodes[5].send(end, CONFIRMED | FILE)
    packets = field.packets(5)
    field.radios[0].put(*packets)
    assert field.turn() == []
    field.spool.write = write  # type: ignore[method-assign]
    field.service._guarded.until_s = 0.0
    assert field.up(6, b"21.5", CONFIRMED) == [Event.ACCEPTED]
    field.radios[0].put(*packets)
    assert field.turn() == [Event.ACCEPTED]
    assert [(kept.node, kept.kind) for kept in field.waiting()] == [(6, "message"), (5, "file")]
    assert names(tmp_path / "inbox") == ["log.txt"]
    field.crash()


def test_without_a_folder_files_are_refused(field: Field) -> None:
    (part, *_) = file_parts("log.txt", b"x", 100)
    assert field.up(5, part, CONFIRMED | FILE) == [Event.REFUSED]
    assert field.told == ["node 5: sends a file; use --output to accept files"]
    assert field.service.statistics()["not_taken"]["file_parts"] == 1 and not field.waiting()


def test_a_packet_goes_where_its_node_was_heard_last(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, radios=2)
    told: list[dict[str, object]] = []

    def order() -> list[int]:
        field.service._asked({"node": 5, "text": "x", "as": "message", "wait_s": 0}, told.append)
        field.service.turn(field.stop)
        came = [radio.get() for radio in field.radios]
        for packet in next(packets for packets in came if packets):
            field.nodes[5].receive(packet)
        field.nodes[5].answer(True)
        field.radios[0].put(*field.packets(5))
        field.turn()
        return [len(packets) for packets in came]

    first, second = order()
    assert first == second > 0, "never heard: everywhere"
    field.up(5, READING, CONFIRMED, radio=1)
    assert order() == [0, first]
    field.up(5, READING, CONFIRMED, radio=0)
    assert order() == [first, 0]
    assert [each["outcome"] for each in told] == ["accepted"] * 3
    field.crash()


def test_an_answer_to_a_nodes_first_packets_leaves_by_the_port_that_they_came_by(tmp_path: Path) -> None:
    """Each radio would send a copy, and each copy would cost the node one of its tries."""
    field = Field(tmp_path, 5, radios=3)
    field.nodes[5].send(b"x" * 20, CONFIRMED)
    first, _, *others = field.packets(5)
    field.radios[1].put(first, *others)
    field.read()
    came = [radio.get() for radio in field.radios]
    assert [len(packets) for packets in came] == [0, 1, 0], "which fragment is missing"
    assert field.nodes[5].receive(came[1][0]) is Event.NOTHING
    field.radios[1].put(*field.packets(5))
    assert field.turn()[0] is Event.ACCEPTED
    field.crash()


def test_orders_wait_until_their_node_is_heard_then_go_one_by_one(field: Field) -> None:
    told: list[dict[str, object]] = []
    for token in ("a", "b"):
        field.service._asked({"node": 5, "hex": "0102", "id": token}, told.append)
    field.service._asked({"node": 6, "hex": "0102", "id": "late", "wait_s": 0.001}, told.append)
    assert field.turn() == []
    field.until(lambda: bool(told))
    assert told == [
        {"node": 6, "outcome": "not heard", "why": "no packet from the node for 0.001 s", "id": "late"}
    ]
    assert field.up(5, READING, CONFIRMED) == [Event.ACCEPTED, Event.COMMANDED]
    assert field.turn() == [], "one at a time"
    field.nodes[5].answer(True)
    field.radios[0].put(*field.packets(5))
    assert field.turn() == [], "each waits for a message of the node"
    assert told[1:] == [{"node": 5, "outcome": "accepted", "id": "a"}]
    assert field.up(5, READING, CONFIRMED) == [Event.ACCEPTED, Event.COMMANDED]
    field.nodes[5].answer(False)
    field.radios[0].put(*field.packets(5))
    field.turn()
    assert told[2:] == [{"node": 5, "outcome": "refused", "id": "b"}]
    assert field.service.statistics()["orders"] == {
        "not heard": 1,
        "accepted": 1,
        "refused": 1,
        "malformed": 0,
    }


@pytest.mark.parametrize(
    ("order", "outcome", "why"),
    [
        ({"node": 9, "text": "x"}, "dropped", "node 9: not provisioned"),
        ({"node": 7, "text": "x"}, "dropped", "node 7: does not receive"),
        ({"node": 7, "text": "x", "as": "unconfirmed"}, "sent", None),
        ({"node": 5, "text": "x" * 200}, "too long", None),
        ({"node": 63, "text": "x" * 6, "as": "unconfirmed"}, "sent", None),
        ({"node": 63, "text": "x"}, "dropped", "node 63: does not receive"),
    ],
)
def test_orders_that_cannot_be_sent_are_told_at_once(
    field: Field, order: dict[str, object], outcome: str, why: str | None
) -> None:
    field.add(7, SHORT | STREAM)
    field.add(63)
    told: list[dict[str, object]] = []
    field.service._asked({**order, "wait_s": 0}, told.append)
    field.turn()
    expected = {"node": order["node"], "outcome": outcome, **({"why": why} if why else {})}
    assert told == [expected]


def test_orders_of_a_broker_are_read_in_the_loop_and_bad_ones_told(field: Field) -> None:
    told: list[dict[str, object]] = []
    field.service.commanded(5, b'{"text": "x", "as": "unconfirmed", "wait_s": 0}', told.append)
    field.service.commanded(5, b"\xff", told.append)
    field.turn()
    why = 'invalid order: give JSON such as {"hex": "698813"}'
    assert told == [
        {"node": 5, "outcome": "dropped", "why": why},
        {"node": 5, "outcome": "sent"},
    ]
    assert field.service.statistics()["orders"]["malformed"] == 1
    told.clear()
    for _ in range(module.INBOX_MAX + 1):
        field.service.commanded(9, b'{"text": "x"}', told.append)
    assert told == [{"node": 9, "outcome": "dropped", "why": "20 others wait already for this node"}]
    field.service.commanded(6, b'{"text": "x"}', told.append)
    field.service.ordered(order_of(9, {"text": "x"}, told.append, "coap"))
    assert len(told) == 1, "another node, and another way to this one, have places of their own"


def test_packets_for_a_busy_node_wait_and_others_are_answered(tmp_path: Path) -> None:
    """Its orders wait in their queue, and neither packets nor answers of others are dropped."""
    field = Field(tmp_path, 5, 6)
    (line,) = field.lines
    write, told = line.write, list[dict[str, object]]()
    line.write = lambda: None  # type: ignore[method-assign]
    for _ in range(module.INBOX_MAX):
        field.service._asked({"node": 5, "text": "x" * 100, "as": "unconfirmed", "wait_s": 0}, told.append)
    for _ in range(30):
        field.service.turn(field.stop)
    assert len(told) == 1 and line.waiting(5) == 13 * 12 and line.dropped_bytes == 0
    field.nodes[6].send(READING, CONFIRMED)
    packets = field.packets(6)
    field.radios[0].put(*packets)
    field.radios[0].wait_until_readable(PACKET * len(packets))
    field.service.turn(field.stop)
    line.write = write  # type: ignore[method-assign]
    line.write()
    nodes = [packet[0] & 63 for packet in field.radios[0].get()]
    assert nodes.index(6) == 1, "its answer is second, not behind all that waits for the other node"
    field.until(lambda: len(told) == module.INBOX_MAX)
    assert {each["outcome"] for each in told} == {"sent"} and line.dropped_bytes == 0
    field.crash()


def test_an_order_without_an_outcome_is_unconfirmed_after_all(field: Field) -> None:
    told: list[dict[str, object]] = []
    field.service._asked({"node": 5, "text": "x", "wait_s": 0}, told.append)
    field.service._outbox._outcome_s = -1.0
    field.turn()
    field.turn()
    assert told == [{"node": 5, "outcome": "unconfirmed"}]


def test_at_the_end_orders_are_told_sinks_have_all_and_the_spool_knows(field: Field) -> None:
    field.drain()
    told: list[dict[str, object]] = []
    field.service._asked({"node": 6, "text": "never heard"}, told.append)
    field.service._asked({"node": 5, "text": "x", "wait_s": 0}, told.append)
    field.nodes[5].send(READING, CONFIRMED)
    packets = field.packets(5)
    turns = iter([packets, [], []])

    def over() -> bool:
        field.radios[0].put(*next(turns, []))
        return bool(field.service.statistics()["messages"])

    field.service.run(field.stop, over)
    assert field.nodes[5].receive(field.radios[0].get()[-1]) is not None, "the answer has left"
    assert [each.name for each in field.sink.items] == ["5.1.0.0"] and field.sink.finished
    assert field.spool.waiting == 0 and not field.drains[0].is_alive()
    assert {(each["node"], each["outcome"]) for each in told} == {(5, "unconfirmed"), (6, "not sent")}


def test_the_end_waits_for_a_slow_sink(field: Field) -> None:
    field.sink.takes_s = 0.5
    field.drain()
    field.nodes[5].send(READING, CONFIRMED)
    field.radios[0].put(*field.packets(5))
    field.service.run(field.stop, lambda: bool(field.service.statistics()["messages"]))
    assert [each.name for each in field.sink.items] == ["5.1.0.0"] and field.spool.waiting == 0


def test_a_sink_that_is_down_delays_no_end_and_gets_all_the_next_time(field: Field) -> None:
    field.sink.down = "not now"
    field.drain()
    field.up(5, READING, CONFIRMED)
    field.until(lambda: field.drains[0].faults >= 2)
    assert field.told == ["sink collected: not now; its messages wait and are tried again"]
    assert field.service.statistics()["sinks"]["collected"]["trouble"] == "not now"
    field.service.run(field.stop, lambda: True)
    assert field.spool.waiting == 1
    field.restart()
    field.sink.down = ""
    field.drain()
    field.until(lambda: field.spool.waiting == 0)
    assert [each.name for each in field.sink.items] == ["5.1.0.0"]


def test_a_port_that_vanishes_stops_no_other(tmp_path: Path) -> None:
    field = Field(tmp_path, 5, radios=2)
    gone = field.radios.pop(0)
    gone.vanish()
    field.until(lambda: bool(field.told))
    start = f"port {gone.path}: vanished"
    assert field.told[0].startswith(start) and field.told[0].endswith("; waiting for it")
    assert field.up(5, READING, CONFIRMED) == [Event.ACCEPTED]
    assert field.service.statistics()["ports"][gone.path]["vanished"] == 1
    field.crash()


def test_a_port_that_is_back_is_used_again(tmp_path: Path) -> None:
    field = Field(tmp_path, 5)
    name = tmp_path / "port"
    name.symlink_to(field.radios[0].path)
    line = field.lines[0]
    line.path = str(name)
    line._vanished(PortError("lost"))
    for _ in range(3):
        line._again_s = 0.0
        field.turn()
    assert field.told[1:] == [f"port {name}: is back"]
    assert field.up(5, READING, CONFIRMED) == [Event.ACCEPTED]
    field.crash()


def test_statistics_are_json_and_name_every_sink(field: Field) -> None:
    field.drain(Collected("one"), Collected("two"))
    told = json.loads(json.dumps(field.service.statistics()))
    assert set(told["sinks"]) == {"one", "two"} and set(told["ports"]) == {field.radios[0].path}
    assert OPTIONS == SHORT | LISTENS | STREAM


def test_a_restored_backup_is_believed_after_a_new_epoch(field: Field) -> None:
    field.up(5, READING, CONFIRMED)
    field.gateway.restored(1_800_000_000)
    assert Event.RENEWED in field.turn()
    field.radios[0].put(*field.packets(5))
    field.turn()
    assert field.up(5, READING, LONG | CONFIRMED) == [Event.ACCEPTED]
    epoch = field.nodes[5].epoch
    assert epoch and [each.name for each in field.waiting()] == ["5.1.0.0", f"5.1.{epoch}.0"]
