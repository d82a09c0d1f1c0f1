"""The gateway: group commits, disks that are full, restarts, provisioning, restored backups, odd records."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from link_ends import FullDisk
from link_ports import FaultyLink
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.gateway_end import EVENTS_MAX, RESTORED_SKIPS, Gateway
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
)
from motecrypt.link.state import FileStore, MemoryStore
from motecrypt.link.told import NodeEvent, NodeMessage

MASTER = bytes(range(16))
READING = b"21.4 C"


class Field:
    """A gateway with nodes, and what its application got."""

    def __init__(self, *nodes: int, store: MemoryStore | None = None, options: int = SHORT | LISTENS) -> None:
        self.store = store or FullDisk()
        self.gateway = Gateway(self.store, MASTER, packet_bytes=32)
        self.nodes: dict[int, FaultyLink] = {}
        self.got: list[NodeMessage] = []
        for node in nodes:
            self.add(node, options)

    def add(self, node: int, options: int = SHORT | LISTENS) -> FaultyLink:
        """Provision a node."""
        made = FaultyLink()
        assert made.begin(self.gateway.provision(node, options)) == Event.NOTHING
        self.nodes[node] = made
        return made

    def hand_over(self, messages: Sequence[NodeMessage]) -> list[bool]:
        """Take all."""
        self.got += messages
        return [True] * len(messages)

    def epochs(self) -> dict[str, int]:
        """The epoch in the record that is offered to each node; 0 for none."""
        assert self.store.record is not None
        nodes = json.loads(self.store.record.split(b"\n")[0])["nodes"]
        return {node: figures[2] for node, figures in nodes.items()}

    def up(self, *packets: bytes) -> list[Event]:
        """Packets to the gateway and its answers back to the nodes."""
        self.gateway.receive(packets, self.hand_over)
        return self.down()

    def down(self) -> list[Event]:
        """What the gateway has sent, to the nodes."""
        told = [self.nodes[packet[0] & 63].receive(packet) for packet in self.gateway.take_packets()]
        return [event for event in told if event is not Event.NOTHING]


def test_messages_of_many_nodes_are_committed_at_once() -> None:
    field = Field(*range(20))
    writes, packets = field.store.writes, []
    for number, node in field.nodes.items():
        assert node.send(b"hello %d" % number) == Event.WAITING
        packets += node.packets()
    assert field.up(*packets) == [Event.ACCEPTED] * 20
    assert field.store.writes == writes + 1
    assert {m.node: m.content for m in field.got} == {n: b"hello %d" % n for n in field.nodes}
    packets = []
    for node in field.nodes.values():
        for _ in range(10):
            assert node.send(READING) == Event.SENT
        packets += node.packets()
    assert field.up(*packets) == [] and len(field.got) == 220 and field.store.writes == writes + 2


def test_of_one_node_each_message_is_answered_for_itself() -> None:
    field = Field(5)
    node = field.nodes[5]
    node.send(b"")
    assert field.up(*node.packets()) == [Event.ACCEPTED]
    node.send(b"unconfirmed")
    node.send(b"to refuse", CONFIRMED)
    verdicts = {b"unconfirmed": True, b"to refuse": False}
    field.gateway.receive(node.packets(), lambda messages: [verdicts[m.content] for m in messages])
    assert field.down() == [Event.REFUSED]


def test_a_message_is_on_the_disk_before_the_application_has_it_and_answered_after() -> None:
    field = Field(5)
    field.nodes[5].send(READING)
    order: list[str] = []
    write = field.store.write

    def noted(record: bytes) -> None:
        order.append("write")
        write(record)

    field.store.write = noted  # type: ignore[method-assign]

    def hand_over(messages: Sequence[NodeMessage]) -> list[bool]:
        order.append("hand over")
        assert not field.gateway.take_packets(), "answered before it was taken"
        return [True] * len(messages)

    field.gateway.receive(field.nodes[5].packets(), hand_over)
    assert order == ["write", "hand over"] and len(field.gateway.take_packets()) == 1


def test_with_a_full_disk_nothing_is_handed_over_or_accepted_and_later_all_is() -> None:
    field = Field(5)
    node, store = field.nodes[5], field.store
    assert isinstance(store, FullDisk)
    node.send(READING)
    packets, store.full = node.packets(), True
    with pytest.raises(MotecryptError, match="no space"):
        field.up(*packets)
    assert not field.got and not field.gateway.take_packets()
    with pytest.raises(MotecryptError, match="no space"):
        field.gateway.send(5, READING)
    assert not field.gateway.take_packets()
    with pytest.raises(MotecryptError, match="no space"):
        field.gateway.provision(6)
    with pytest.raises(MotecryptError, match="no space"):
        field.gateway.provision(5)
    assert field.gateway.nodes == (5,)
    store.full = False
    assert field.up(*packets) == [Event.ACCEPTED] and [m.content for m in field.got] == [READING]
    assert field.gateway.send(5, READING) == Event.WAITING and field.down() == [Event.MESSAGE]


def test_state_outlives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "gateway"
    store = FileStore(path)
    field = Field(5, 6, store=store)  # type: ignore[arg-type]
    node = field.nodes[5]
    node.send(READING)
    packets = node.packets()
    assert field.up(*packets) == [Event.ACCEPTED]
    assert path.stat().st_mode & 0o777 == 0o600
    store.close()
    field.gateway = Gateway(FileStore(path), MASTER, packet_bytes=32)
    assert field.gateway.nodes == (5, 6)
    field.up(*packets)
    assert len(field.got) == 1, "the same packet again"
    node.send(READING, CONFIRMED)
    assert field.up(*node.packets()) == [Event.ACCEPTED] and len(field.got) == 2


def test_provisioning_again_makes_the_earlier_node_void() -> None:
    field = Field(5)
    old = field.nodes[5]
    old.send(READING)
    recorded = old.packets()
    new = field.add(5)
    assert new.storage[8:24] != old.storage[8:24], "another generation has another key"
    old.send(READING)
    for packet in (*recorded, *old.packets()):
        field.up(packet)
    assert not field.got
    new.send(READING)
    assert field.up(*new.packets()) == [Event.ACCEPTED]


def test_commands_go_down_and_outcomes_come_back() -> None:
    field = Field(5)
    node = field.nodes[5]
    node.send(READING, LONG)
    field.up(*node.packets())
    assert field.gateway.send(5, b"open the valve", CONFIRMED | COMMAND) == Event.WAITING
    assert field.gateway.send(5, b"another", CONFIRMED) == Event.BUSY
    assert field.down()[-1] == Event.COMMANDED and node.message() == b"open the valve"
    node.answer(True)
    field.up(*node.packets())
    assert field.gateway.take_events() == [NodeEvent(5, Event.ACCEPTED)]
    field.gateway.send(5, b"lost", CONFIRMED)
    for now in range(0, 5000, 250):
        field.gateway.poll(now)
    assert field.gateway.take_events() == [NodeEvent(5, Event.UNCONFIRMED)]
    with pytest.raises(InputError, match="node 7"):
        field.gateway.send(7, b"nobody")


def test_nothing_is_written_where_nothing_changed() -> None:
    store = FullDisk()
    field = Field(5, store=store)
    field.nodes[5].send(READING, LONG)
    packets = field.nodes[5].packets()
    store.full = True
    with pytest.raises(MotecryptError, match="no space left"):
        field.up(*packets)
    store.full = False
    writes = store.writes
    field.gateway.poll(1000)
    assert store.writes == writes, "what could not be kept is forgotten"
    field.up(*packets)
    assert len(field.got) == 1 and store.writes == writes + 1
    field.gateway.poll(2000)
    assert store.writes == writes + 1


def test_a_packet_of_nobody_keeps_none_back() -> None:
    field = Field(5)
    field.nodes[5].send(READING, LONG)
    (packet,) = field.nodes[5].packets()
    field.up(b"", bytes([packet[0] & 0xC0 | 9]) + packet[1:], packet)
    assert [message.node for message in field.got] == [5]


def test_packets_have_twelve_bytes_unless_told() -> None:
    assert Gateway(MemoryStore(), MASTER).provision(5, SHORT | LISTENS)[3] == 12


def test_after_a_restart_no_epoch_begins() -> None:
    field = Field(5)
    field.nodes[5].send(READING, CONFIRMED | LONG)
    field.up(*field.nodes[5].packets())
    again = Gateway(field.store, MASTER, packet_bytes=32)
    again.poll(1000)
    assert again.take_packets() == []
    assert again.send(5, READING) != Event.BUSY


def test_what_is_not_answered_goes_again_after_a_quarter_of_a_second() -> None:
    field = Field(5)
    field.gateway.poll(1001)
    field.gateway.send(5, b"open the valve", CONFIRMED | COMMAND)
    first = field.gateway.take_packets()
    field.gateway.poll(1250)
    assert field.gateway.take_packets() == []
    field.gateway.poll(1251)
    assert field.gateway.take_packets() == first


def test_a_restored_backup_begins_epochs_and_accepts_nothing_recorded() -> None:
    field = Field(5, 6)
    silent = field.add(7, SHORT)
    field.add(BROADCAST)
    backup, recorded = field.store.record, []
    for number in (5, 6, 7):
        for _ in range(3):
            field.nodes[number].send(READING, LONG)
            recorded += field.nodes[number].packets()
    field.up(*recorded)
    assert len(field.got) == 9
    field.store.record = backup
    field.gateway = Gateway(field.store, MASTER, packet_bytes=32)
    assert set(field.gateway.restored(1_800_000_000)) == {7, BROADCAST}
    offers = field.gateway.take_packets()
    field.up(*recorded)
    assert len(field.got) == 9 and field.gateway.nodes == (5, 6)
    assert field.gateway.send(5, READING) == Event.BUSY, "before the node knows, nothing else is sent"
    field.gateway = Gateway(field.store, MASTER, packet_bytes=32)  # and a restart meanwhile
    assert field.gateway.nodes == field.gateway.epoch_unconfirmed == (5, 6)
    assert all(field.nodes[packet[0] & 63].receive(packet) == Event.RENEWED for packet in offers)
    for number in (5, 6):
        epoch = field.nodes[number].epoch
        assert epoch == field.epochs()[str(number)] and epoch >> 18 == 1
        field.nodes[number].packets()  # the answer is lost
    field.gateway.poll(1000)
    assert not field.down(), "an epoch that it has is no news"
    for number in (5, 6):
        assert field.up(*field.nodes[number].packets()) == []
        assert field.gateway.take_events() == [NodeEvent(number, Event.RENEWED)]
    assert field.gateway.epoch_unconfirmed == ()
    field.gateway.poll(2000)
    assert field.epochs() == {"5": 0, "6": 0, "7": 0, "63": 0}, "none is offered any more"
    writes = field.store.writes
    field.gateway.poll(3000)
    assert field.store.writes == writes, "nodes that are void are in the record already"
    for number in (5, 6):
        assert field.gateway.send(number, READING) == Event.WAITING
        assert field.down()[-1] == Event.MESSAGE
    assert not field.gateway.take_events()
    silent.send(READING, LONG)
    field.up(*silent.packets())
    assert len(field.got) == 9
    generation = field.add(7, SHORT).storage[4]
    assert generation == 2 + RESTORED_SKIPS, "and the number of a void node keeps its count"


def _record(content: object) -> bytes:
    text = json.dumps(content, sort_keys=True)
    return (text + "\n" + hashlib.sha256(text.encode()).hexdigest() + "\n").encode()


def test_records_that_are_not_ours_are_refused() -> None:
    field = Field(5)
    record = field.store.record
    assert record is not None
    content = json.loads(record.split(b"\n")[0])
    with pytest.raises(InputError, match="another master"):
        Gateway(field.store, bytes(16), packet_bytes=32)
    text = record.split(b"\n")[0]
    bad: list[bytes] = [b"", b"\n\n", record[:-2], record.replace(b'"version": 2', b'"version": 3')]
    bad += [text + b"\n" + digit * 64 + b"\n" for digit in (b"0", b"f")]
    bad += [_record(content | {"version": version}) for version in (1, 3)]
    bad += [_record(content | {"motecrypt": kind}) for kind in ("counter", "window")]
    generation, image, epoch = content["nodes"]["5"]
    for nodes in (
        [],
        {"5": 1},
        {"64": [1, image, 0]},
        {"-1": [1, image, 0]},
        {"5": [1, image[:-2], 0]},
        {"5": [1, image + "00", 0]},
        {"5": [0x10000, "", 0]},
        {"5": [2, image, 0]},
        {"5": [True, image, 0]},
        {"5": [1, image, -1]},
        {"5": [1, image, 2**32]},
        {"5": [1, "zz", 0]},
        {"5": [1, image[:60] + "00" * (len(image) // 2 - 30), 0]},
        {"5": [generation, image, epoch], "05x": [1, image, 0]},
    ):
        bad.append(_record(content | {"nodes": nodes}))
    bad += [_record(content | {"motecrypt": "window"}), _record(7), _record(None)]
    for other in bad:
        with pytest.raises(InputError, match="damaged"):
            Gateway(MemoryStore(other), MASTER, packet_bytes=32)
    with pytest.raises(InputError, match="16"):
        Gateway(MemoryStore(), bytes(15))
    for node in (-1, 64):
        with pytest.raises(InputError, match="node"):
            field.gateway.provision(node)


def test_a_void_node_keeps_its_count_and_hides_no_other() -> None:
    field = Field(5)
    assert field.store.record is not None
    content = json.loads(field.store.record.split(b"\n")[0])
    record = _record(content | {"nodes": {"4": [0xFFFF, "", 0], **content["nodes"]}})
    again = Gateway(MemoryStore(record), MASTER, packet_bytes=32)
    assert again.nodes == (5,)
    last = _record(content | {"nodes": {"4": [0xFFFE, "", 0]}})
    assert Gateway(MemoryStore(last), MASTER, packet_bytes=32).provision(4)[4:6] == b"\xff\xff"
    with pytest.raises(InputError, match="all its generations of keys are used"):
        again.provision(4)  # the last generation's keys are not given out twice


def test_a_void_nodes_count_outlives_a_full_disk() -> None:
    store = FullDisk()
    field = Field(5, store=store)
    field.add(7, SHORT)
    field.gateway.restored(1_800_000_000)
    assert 7 not in field.gateway.nodes
    store.full = True
    for node in (7, 9):
        with pytest.raises(MotecryptError, match="no space"):
            field.gateway.provision(node)
    assert field.gateway.nodes == (5,)
    store.full = False
    assert field.gateway.provision(7)[4] == 2 + RESTORED_SKIPS, "no generation is given out twice"
    assert field.gateway.provision(9)[2:5] == bytes([SHORT | LISTENS, 32, 2 + RESTORED_SKIPS])


def test_an_epoch_is_never_offered_twice() -> None:
    field = Field(5)
    for number, now_s in ((1, 1_800_000_001), (2, 7), (3, 7)):
        field.gateway.restored(now_s)
        assert field.epochs()["5"] >> 18 == number, "whatever the clock says"
        for packet in field.gateway.take_packets():
            field.nodes[5].receive(packet)
        field.up(*field.nodes[5].packets())


def test_a_message_is_a_command_only_where_it_was_sent_as_one() -> None:
    field = Field(5)
    field.nodes[5].send(READING, LONG)
    field.up(*field.nodes[5].packets())
    assert field.got == [NodeMessage(5, READING, Event.MESSAGE)] == [NodeMessage(5, READING)]
    node = field.nodes[5]
    field.gateway.send(5, READING, LONG)
    field.down()
    for how, event in ((COMMAND, Event.COMMANDED), (FILE, Event.FILE_PART)):
        assert node.send(b"more", CONFIRMED | how) == Event.WAITING
        assert field.up(*node.packets()) == [Event.ACCEPTED]
        assert field.got[-1] == NodeMessage(5, b"more", event)


def test_a_part_of_a_file_is_never_too_late_and_never_short() -> None:
    field = Field(5)
    node = field.nodes[5]
    for _ in range(40):  # the gateway's messages, which make a node's commands stale
        field.gateway.send(5, READING, LONG)
        field.gateway.take_packets()
    node.send(b"late", CONFIRMED | COMMAND)
    assert field.up(*node.packets()) == [Event.REFUSED]
    node.send(b"part", CONFIRMED | FILE)
    packets = node.packets()
    assert packets[0][0] >> 6 == 2 and packets[0][2] & 0x70 == 0x70
    assert field.up(*packets) == [Event.ACCEPTED]
    assert [(m.content, m.event) for m in field.got] == [(b"part", Event.FILE_PART)]


def test_what_is_not_ours_is_told_before_the_next_packet_is_asked_for() -> None:
    field = Field(5)
    field.nodes[5].send(READING)
    good = field.nodes[5].packets()
    order: list[str] = []

    def coming() -> Iterator[bytes]:
        for name, packet in (
            ("nobody", bytes([9]) * 12),
            ("group", bytes([63]) * 12),
            ("empty", b""),
            ("good", good[0]),
            ("forged", bytes([5, 1]) + bytes(10)),
            ("odd", b"\x05"),
        ):
            order.append(name)
            yield packet

    field.gateway.receive(coming(), field.hand_over, lambda: order.append("astray"))
    astray = "astray"
    assert order == ["nobody", astray, "group", astray, "empty", astray, "good", "forged", astray, "odd"]


def test_a_node_says_how_it_was_provisioned() -> None:
    field = Field(5)
    field.add(6, SHORT | TAG_16)
    assert field.gateway.head(5) == (SHORT | LISTENS | GATEWAY, 32)
    assert field.gateway.head(6) == (SHORT | TAG_16 | GATEWAY, 32)
    with pytest.raises(InputError, match="node 7: not provisioned"):
        field.gateway.head(7)


def test_a_clock_that_is_set_before_a_message_is_not_late() -> None:
    field = Field(5)
    field.gateway.at(70_000)  # goes round at 65,536
    field.gateway.send(5, b"open the valve", CONFIRMED | COMMAND)
    first = field.gateway.take_packets()
    field.gateway.poll(70_249)
    assert field.gateway.take_packets() == []
    field.gateway.poll(70_250)
    assert field.gateway.take_packets() == first


def test_forged_packets_are_told_and_fill_no_memory() -> None:
    field = Field(5)
    field.nodes[5].send(READING)
    field.up(*field.nodes[5].packets())
    forged = [bytes([5, 1]) + bytes(10)] * 3
    field.up(*forged)
    assert field.gateway.take_events() == [NodeEvent(5, Event.FORGED)] * 3
    field.up(*forged * 4000)
    told = field.gateway.take_events()
    assert len(told) == 10_000 == EVENTS_MAX and told[-1] == NodeEvent(5, Event.BOUND)


def test_odd_packets_do_no_harm() -> None:
    field = Field(5)
    field.up(
        b"", b"\x05", b"\xff" * 12, bytes(32), b"\x45" * 32, b"\x85\x00\x8f" + bytes(29), bytes([63]) * 32
    )
    assert not field.got


def test_on_a_stream_all_packets_have_one_length() -> None:
    field = Field(3, options=SHORT | LISTENS | STREAM)
    assert field.nodes[3].send(READING, CONFIRMED) is Event.WAITING
    field.gateway.receive([packet.ljust(32, b"\0") for packet in field.nodes[3].packets()], field.hand_over)
    (answer,) = field.gateway.take_packets()
    assert len(answer) == 32 and answer[12:] == bytes(20)
    assert field.nodes[3].receive(answer) is Event.ACCEPTED
    other = Field(3)
    assert other.nodes[3].send(READING, CONFIRMED) is Event.WAITING
    other.gateway.receive(other.nodes[3].packets(), other.hand_over)
    assert [len(packet) for packet in other.gateway.take_packets()] == [12]


def test_a_late_member_of_the_group_takes_what_comes_and_nothing_of_before() -> None:
    field = Field()
    first = field.add(BROADCAST)
    kept: list[bytes] = []
    for number in range(70):
        assert field.gateway.send(BROADCAST, b"%05d." % number) == Event.SENT
        kept += field.gateway.take_packets()
    late = FaultyLink()
    assert late.begin(field.gateway.member()) == Event.NOTHING
    assert late.head == first.head and field.gateway.registry()[0].generation == 1
    assert {late.receive(packet) for packet in kept} == {Event.NOTHING}, "an old one is no message"
    field.gateway.send(BROADCAST, b"come!!")
    packets = field.gateway.take_packets()
    for member in (first, late):
        assert [member.receive(packet) for packet in packets][-1] == Event.MESSAGE
        assert member.message() == b"come!!"
        member.answer(True)
        assert member.send(READING) == Event.TOO_LONG and not member.packets()
    for how in (CONFIRMED, COMMAND, FILE):
        assert field.gateway.send(BROADCAST, READING, how) == Event.TOO_LONG


def test_a_new_group_key_ends_the_old_one() -> None:
    field = Field()
    old = field.add(BROADCAST)
    new = field.add(BROADCAST)
    field.gateway.send(BROADCAST, READING, LONG)
    (packet,) = field.gateway.take_packets()
    assert old.receive(packet) == Event.FORGED and new.receive(packet) == Event.MESSAGE


def test_without_a_group_there_is_no_member_and_no_message_to_it() -> None:
    field = Field(5)
    with pytest.raises(InputError, match=r"^there is no group yet; provision it first, without --member$"):
        field.gateway.member()
    with pytest.raises(InputError, match=r"^the group: not provisioned$"):
        field.gateway.send(BROADCAST, READING)
    with pytest.raises(InputError, match=r"^node 6: not provisioned$"):
        field.gateway.send(6, READING)
