"""A node on a computer: its record, full disks, restarts, and what it reports packets that are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from link_ends import FullDisk, begun, provisioned
from motecrypt.air.link_timing import ANSWER_MS_MAX, answer_ms
from motecrypt.air.radios import load_radio
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import (
    BROADCAST,
    COMMAND,
    CONFIRMED,
    FILE,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    TAG_16,
    Event,
    KeyBlock,
    Suite,
    message_bytes_max,
)
from motecrypt.link.node import HostNode, MemberNode, node_record
from motecrypt.link.state import MemoryStore, pack, unpack
from motecrypt.link.told import NodeEvent, NodeMessage

READING = b"21.4 C"


class Line:
    """A gateway and a node on a computer, and what their applications got."""

    def __init__(self, options: int = SHORT | LISTENS, suite: Suite = "aes128-ccm") -> None:
        self.gateway = Gateway(MemoryStore(), bytes(16), suite, packet_bytes=32)
        self.store = FullDisk(node_record(suite, self.gateway.provision(5, options)))
        self.node = HostNode(self.store)
        self.up: list[bytes] = []
        self.down: list[NodeMessage] = []
        self.takes = True

    def exchange(self) -> list[Event]:
        """Carry all waiting packets; returns the events of both ends."""

        def down(messages: Sequence[NodeMessage]) -> list[bool]:
            self.down += messages
            return [self.takes] * len(messages)

        def up(messages: Sequence[NodeMessage]) -> list[bool]:
            self.up += [message.content for message in messages]
            return [True] * len(messages)

        told: list[NodeEvent] = []
        for _ in range(4):
            self.gateway.receive(self.node.take_packets(), up)
            self.node.receive(self.gateway.take_packets(), down)
            told += [*self.gateway.take_events(), *self.node.take_events()]
        return [event.event for event in told]


@pytest.mark.parametrize("suite", ["aes128-ccm", "ascon-aead128"])
def test_messages_go_both_ways(suite: Suite) -> None:
    line = Line(suite=suite)
    assert (line.node.number, line.node.options, line.node.packet_bytes) == (5, SHORT | LISTENS, 32)
    assert line.node.send(READING, CONFIRMED) == Event.WAITING
    assert line.exchange() == [Event.ACCEPTED] and line.up == [READING]
    assert line.node.send(READING) == Event.SENT
    (packet,) = line.node.take_packets()
    assert packet[0] == 5 and len(packet) == 2 + len(READING) + 4, "a short one, which asks nothing"
    assert line.node.send(READING) == Event.SENT and line.exchange() == [] and len(line.up) == 2
    for how, event in ((0, Event.MESSAGE), (COMMAND, Event.COMMANDED), (FILE, Event.FILE_PART)):
        line.gateway.send(5, b"down", CONFIRMED | how)
        assert line.exchange() == [Event.ACCEPTED]
        assert line.down[-1] == NodeMessage(5, b"down", event)
    line.takes = False
    line.gateway.send(5, b"down", CONFIRMED)
    assert line.exchange() == [Event.REFUSED]


def test_all_is_kept_before_anything_leaves() -> None:
    line = Line()
    order: list[str] = []
    write = line.store.write

    def noted(record: bytes) -> None:
        order.append("write")
        assert not line.node.take_packets()
        write(record)

    line.store.write = noted  # type: ignore[method-assign]
    line.node.send(READING, CONFIRMED)
    assert order == ["write"]
    line.exchange()

    def hand_over(messages: Sequence[NodeMessage]) -> list[bool]:
        order.append("hand over")
        assert not line.node.take_packets(), "answered before it was taken"
        return [True]

    order.clear()
    line.gateway.send(5, READING, CONFIRMED)
    line.node.receive(line.gateway.take_packets(), hand_over)
    assert order == ["write", "hand over"] and len(line.node.take_packets()) == 1


def test_with_a_full_disk_nothing_leaves_and_later_all_does() -> None:
    line = Line()
    line.store.full = True
    with pytest.raises(MotecryptError, match="no space"):
        line.node.send(READING, CONFIRMED)
    assert line.node.take_packets() == []
    line.gateway.send(5, READING, CONFIRMED)
    packets = line.gateway.take_packets()
    with pytest.raises(MotecryptError, match="no space"):
        line.node.receive(packets, lambda messages: pytest.fail("handed over"))
    assert line.node.take_packets() == []
    writes = line.store.writes
    line.store.full = False
    line.node.poll(1000)
    assert line.store.writes == writes, "what could not be kept is forgotten"
    line.node.receive(packets, lambda messages: [True])
    assert len(line.node.take_packets()) == 1
    assert line.node.send(READING, CONFIRMED) == Event.WAITING and line.exchange() == [Event.ACCEPTED]


def test_it_goes_on_after_a_restart() -> None:
    line = Line()
    for _ in range(3):
        assert line.node.send(READING, CONFIRMED) == Event.WAITING
        assert line.exchange() == [Event.ACCEPTED]
        line.node = HostNode(line.store)
    assert line.up == [READING] * 3
    line.gateway.send(5, READING, CONFIRMED | LONG)
    recorded = line.gateway.take_packets()
    line.node.receive(recorded, lambda messages: [True])
    line.node = HostNode(line.store)
    line.node.receive(recorded, lambda messages: pytest.fail("handed over again"))


def test_a_new_epoch_is_kept_and_told() -> None:
    line = Line()
    line.gateway.restored(1_800_000_000)
    assert line.exchange() == [Event.RENEWED] * 2, "each end reports it"
    line.node = HostNode(line.store)
    assert line.node.send(READING, CONFIRMED) == Event.WAITING
    assert line.exchange() == [Event.ACCEPTED] and line.up == [READING]


def test_what_is_not_answered_goes_again_and_is_given_up() -> None:
    line = Line()
    line.node.at(70_000)
    line.node.send(READING, CONFIRMED)
    first = line.node.take_packets()
    line.node.poll(70_284)
    assert line.node.take_packets() == []
    line.node.poll(70_285)
    assert line.node.take_packets() == first and line.node.take_events() == []
    for now in range(71_000, 80_000, 250):
        line.node.poll(now)
    assert line.node.take_events() == [NodeEvent(5, Event.UNCONFIRMED)]
    assert line.node.take_events() == []
    slow = HostNode(MemoryStore(line.store.record), answer_ms=1000)
    slow.send(READING, CONFIRMED)
    slow.take_packets()
    slow.poll(1034)
    assert slow.take_packets() == []
    slow.poll(1035)
    assert slow.take_packets()


def test_what_is_not_its_own_is_told_before_the_next_packet_is_asked_for() -> None:
    line = Line()
    line.gateway.send(5, READING, LONG)
    good = line.gateway.take_packets()
    order: list[str] = []

    def coming() -> Iterator[bytes]:
        for name, packet in (
            ("other", bytes([0x86]) + good[0][1:]),
            ("lower", bytes([0x84]) + good[0][1:]),
            ("empty", b""),
            ("good", good[0]),
            ("forged", bytes([5, 1]) + bytes(10)),
            ("odd", b"\x05"),
        ):
            order.append(name)
            yield packet

    got: list[NodeMessage] = []
    line.node.receive(
        coming(), lambda messages: [got.append(m) is None for m in messages], lambda: order.append("astray")
    )
    astray = "astray"
    assert order == ["other", astray, "lower", astray, "empty", astray, "good", "forged", astray, "odd"]
    assert got == [NodeMessage(5, READING)]
    assert line.node.take_events() == [NodeEvent(5, Event.FORGED)]
    line.node.receive(coming(), lambda messages: [True])


def test_records_that_are_no_nodes_are_refused() -> None:
    line = Line()
    record = line.store.record
    assert record is not None
    content = unpack("node", record)
    assert content == {
        "motecrypt": "node",
        "version": 2,
        "suite": "aes128-ccm",
        "storage": content["storage"],
    }
    image = content["storage"]
    with pytest.raises(InputError, match=r"^no such key file of a node; 'motecrypt key FILE --node"):
        HostNode(MemoryStore())

    def storage(node: int, options: int) -> str:
        return provisioned(KeyBlock(node, options, 32, 1, bytes(16))).storage.hex()

    bad = [b"", record[:-2], pack("gateway", {"suite": "aes128-ccm", "storage": image}), pack("node", {})]
    for suite, text in (
        ("aes128", image),
        (None, image),
        ([], image),
        ("ascon-aead128", image),
        ("aes128-ccm", image[:-2]),
        ("aes128-ccm", image + "00"),
        ("aes128-ccm", "zz" * 188),
        ("aes128-ccm", 7),
        ("aes128-ccm", "00" * 188),
        ("aes128-ccm", "ff" * 188),
        ("aes128-ccm", image[:56] + "ff" * 160),
        ("aes128-ccm", storage(5, SHORT | LISTENS | GATEWAY)),
    ):
        bad.append(pack("node", {"suite": suite, "storage": text}))
    for other in bad:
        with pytest.raises(InputError, match=r"^the node's key file is damaged; refusing to guess; "):
            HostNode(MemoryStore(other))
    assert (
        HostNode(MemoryStore(pack("node", {"suite": "aes128-ccm", "storage": storage(62, 0)}))).number == 62
    )


def test_a_node_in_a_group_hears_both_and_answers_for_itself() -> None:
    gateway = Gateway(MemoryStore(), bytes(16))
    node, group = (
        HostNode(MemoryStore(node_record("aes128-ccm", gateway.provision(number))))
        for number in (5, BROADCAST)
    )
    for wrong in ((node, node), (group, group), (group, node)):
        with pytest.raises(InputError, match=r"^one key file of a node and one of the group are needed$"):
            MemberNode(*wrong)
    both, got, lost = MemberNode(node, group), list[NodeMessage](), list[int]()

    def take(messages: Sequence[NodeMessage]) -> list[bool]:
        got.extend(messages)
        return [True] * len(messages)

    gateway.send(BROADCAST, b"to all")
    gateway.send(5, b"to you", CONFIRMED)
    packets = gateway.take_packets()
    both.receive([*packets, b"", bytes([6]) * 12], take, lambda: lost.append(1))
    assert [(message.node, message.content) for message in got] == [(BROADCAST, b"to all"), (5, b"to you")]
    assert len(lost) == 2
    gateway.receive(both.take_packets(), take)
    assert [told.event for told in gateway.take_events()] == [Event.ACCEPTED]
    gateway.send(BROADCAST, b"forged")
    (packet,) = gateway.take_packets()
    both.receive([packet[:-1] + bytes([packet[-1] ^ 1])], take)
    assert both.take_events() == [NodeEvent(BROADCAST, Event.FORGED)]
    assert node.send(b"first") is Event.WAITING
    both.at(0)
    first = both.take_packets()
    both.poll(300)
    assert both.take_packets() == [first[0], first[-1]] and both.take_events() == []


@pytest.mark.parametrize("how", [0, COMMAND, FILE])
@pytest.mark.parametrize(
    ("options", "packet_bytes"), [(LISTENS, 12), (LISTENS | TAG_16, 60), (LISTENS | STREAM, 255)]
)
def test_the_longest_message_goes_and_no_longer_one(options: int, packet_bytes: int, how: int) -> None:
    link = begun(KeyBlock(5, options, packet_bytes, 1, bytes(16)))
    longest = message_bytes_max(options, packet_bytes, how)
    assert link.send(bytes(longest + 1), CONFIRMED | how) == Event.TOO_LONG
    assert link.send(bytes(longest), CONFIRMED | how) == Event.WAITING and len(link.packets()) == 15


def test_an_answer_may_take_what_the_radio_takes() -> None:
    # Fifteen packets of 12 bytes at 1,041.7 us each, the way there and back, and 200 ms for programs.
    radio = load_radio("srf")
    line_us = 12 * 10 / 115200 * 1e6
    assert line_us > 800  # the air is faster
    expected_us = 14 * line_us + 2 * (2 * line_us + 800 + radio.value("gap_us"))
    expected_us += 2 * radio.value("turn_round_us")
    assert 220 < answer_ms(radio) == int(expected_us / 1000) + 1 + 200 < 240
    slow = radio.with_figures(air_rate_baud=1200)
    assert 2_000 < answer_ms(slow) < ANSWER_MS_MAX == 60_000
    assert answer_ms(radio.with_figures(air_rate_baud=20, packet_bytes=200)) == ANSWER_MS_MAX


def test_on_a_stream_all_packets_have_one_length() -> None:
    for options, length in ((SHORT | LISTENS | STREAM, 32), (SHORT | LISTENS, 12)):
        line = Line(options)
        line.gateway.send(5, READING, CONFIRMED | LONG)
        line.node.receive(line.gateway.take_packets(), lambda messages: [True] * len(messages))
        (answer,) = line.node.take_packets()
        assert len(answer) == length and answer[12:] == bytes(length - 12)
        line.gateway.receive([answer], lambda messages: [])
        assert [event.event for event in line.gateway.take_events()] == [Event.ACCEPTED]
