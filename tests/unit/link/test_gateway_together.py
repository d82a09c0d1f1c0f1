"""A gateway whose messages are kept by the same write as the record that claims them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from link_ends import FullDisk
from link_ports import FaultyLink
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link.file_parts import FileCollector, file_parts
from motecrypt.link.gateway_end import RESTORED_SKIPS, Gateway
from motecrypt.link.native import CONFIRMED, LISTENS, LONG, SHORT, Event
from motecrypt.link.state import pack, unpack
from motecrypt.link.told import NodeMessage

MASTER = bytes(range(16))
READING = b"21.4 C"


class Kept(FullDisk):
    """A store that keeps messages with the record, or neither."""

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[NodeMessage] = []
        self.kept: list[NodeMessage] = []

    def put(self, messages: Sequence[NodeMessage]) -> list[bool]:
        """Have messages kept by the next write."""
        self.pending = list(messages)
        return [message.content != b"no" for message in messages]

    def write(self, record: bytes) -> None:
        """Keep both."""
        pending, self.pending = self.pending, []
        super().write(record)
        self.kept += pending


class Together:
    """A gateway with node 5."""

    def __init__(self) -> None:
        self.store = Kept()
        self.gateway = self.begun()
        self.node = FaultyLink()
        self.provision()

    def begun(self) -> Gateway:
        """The gateway as after a start."""
        self.gateway = Gateway(self.store, MASTER, packet_bytes=32, together=True)
        return self.gateway

    def provision(self) -> None:
        """New keys for node 5."""
        assert self.node.begin(self.gateway.provision(5, SHORT | LISTENS)) is Event.NOTHING

    def up(self, *packets: bytes) -> list[Event]:
        """Packets to the gateway and its answers back."""
        self.gateway.receive(packets, self.store.put)
        told = [self.node.receive(packet) for packet in self.gateway.take_packets()]
        return [event for event in told if event is not Event.NOTHING]

    def sent(self, content: bytes = READING, how: int = CONFIRMED) -> list[bytes]:
        """A message's packets."""
        assert self.node.send(content, how) in (Event.WAITING, Event.SENT)
        return self.node.packets()


@pytest.fixture
def field() -> Together:
    return Together()


def test_a_message_and_its_claim_are_one_write_then_it_is_answered(field: Together) -> None:
    writes, order = field.store.writes, []
    put, write = field.store.put, field.store.write

    def noted_put(messages: Sequence[NodeMessage]) -> list[bool]:
        order.append("put")
        return put(messages)

    def noted_write(record: bytes) -> None:
        order.append("write")
        assert not field.gateway._links[5].packets(), "answered before it is kept"
        write(record)

    field.store.write = noted_write  # type: ignore[method-assign]
    field.gateway.receive(field.sent(), noted_put)
    assert order == ["put", "write"] and field.store.writes == writes + 1
    assert len(field.gateway.take_packets()) == 1


def test_messages_are_named_by_node_generation_epoch_and_counter(field: Together) -> None:
    field.up(*field.sent())
    field.up(*field.sent())
    field.gateway.restored(77)
    for packet in field.gateway.take_packets():
        field.node.receive(packet)
    field.up(*field.node.packets())
    field.up(*field.sent())
    field.provision()
    field.up(*field.sent())
    names = [(m.node, m.generation, m.epoch, m.counter) for m in field.store.kept]
    epoch = names[2][2]
    assert names == [(5, 1, 0, 0), (5, 1, 0, 1), (5, 1, epoch, 0), (5, 2 + RESTORED_SKIPS, 0, 0)]
    assert epoch >> 18 == 1


def test_what_was_taken_is_accepted_again_after_a_restart(field: Together) -> None:
    packets = field.sent()
    field.gateway.receive(packets, field.store.put)
    field.begun()  # and the answer never left
    assert field.up(*packets) == [Event.ACCEPTED] and len(field.store.kept) == 1


def test_what_was_refused_or_is_another_epochs_is_not(field: Together) -> None:
    field.up(*field.sent())
    packets = field.sent(b"no")
    field.gateway.receive(packets, field.store.put)
    field.begun()
    assert field.up(*packets) == [Event.REFUSED]
    assert field.store.record is not None
    content = unpack("gateway", field.store.record)
    assert content["took"] == {"5": [0, 0]}
    packets = field.sent()
    field.gateway.receive(packets, field.store.put)
    content = unpack("gateway", field.store.record)
    _, counter = content["took"]["5"]
    field.store.record = pack("gateway", {**content, "took": {"5": [1, counter], "6": [0, 1]}})
    field.begun()
    assert field.up(*packets) == [Event.REFUSED]


def test_new_keys_forget_what_was_taken(field: Together) -> None:
    field.up(*field.sent())
    field.store.full = True
    with pytest.raises(MotecryptError, match="no space"):
        field.gateway.provision(5)
    field.store.full = False
    field.up(*field.sent(how=LONG))
    assert field.store.record is not None and unpack("gateway", field.store.record)["took"] == {"5": [0, 0]}
    field.provision()
    assert "took" not in unpack("gateway", field.store.record)


def test_what_cannot_be_kept_is_neither_claimed_nor_answered_and_comes_again(field: Together) -> None:
    first, second, third = field.sent(how=LONG), field.sent(how=LONG), field.sent()
    field.up(*second)
    assert len(field.store.kept) == 1
    field.store.full = True
    for packets in (first, third):  # the first changes nothing in the record
        with pytest.raises(MotecryptError, match="no space"):
            field.up(*packets)
        assert not field.gateway.take_packets() and len(field.store.kept) == 1
    field.store.full = False
    assert field.up(*third) == [Event.ACCEPTED] and len(field.store.kept) == 2
    assert not field.up(*first), "an older one is given up once its window was forgotten"
    assert field.up(*field.sent()) == [Event.ACCEPTED] and len(field.store.kept) == 3


def test_one_that_was_overtaken_is_kept_too(field: Together) -> None:
    first, second = field.sent(how=LONG), field.sent(how=LONG)
    writes = field.store.writes
    field.up(*second)
    field.up(*first)
    assert [m.counter for m in field.store.kept] == [1, 0] and field.store.writes == writes + 2


def test_what_fails_while_messages_are_put_is_forgotten(field: Together) -> None:
    packets = field.sent()

    def fails(messages: Sequence[NodeMessage]) -> list[bool]:
        raise MotecryptError("locked")

    with pytest.raises(MotecryptError, match="locked"):
        field.gateway.receive(packets, fails)
    assert field.up(*packets) == [Event.ACCEPTED] and len(field.store.kept) == 1


def test_a_gateway_that_keeps_them_apart_notes_nothing(field: Together) -> None:
    field.gateway = Gateway(field.store, MASTER, packet_bytes=32)
    assert field.up(*field.sent()) == [Event.ACCEPTED]
    assert field.store.record is not None and "took" not in unpack("gateway", field.store.record)


@pytest.mark.parametrize(
    "took",
    [[], 1, {"5": 1}, {"5": [1]}, {"64": [0, 0]}, {"5": [0, -1]}, {"5": [2**32, 0]}, {"5": [0, 2**32]}],
)
def test_odd_notes_are_damage(field: Together, took: object) -> None:
    assert field.store.record is not None
    content = json.loads(field.store.record.split(b"\n")[0])
    field.store.record = pack("gateway", {"master": content["master"], "nodes": {}, "took": took})
    with pytest.raises(InputError, match="damaged"):
        field.begun()


def test_a_file_that_is_noted_elsewhere_is_one_file_whatever_happens_until_then(tmp_path: Path) -> None:
    parts = list(file_parts("data.bin", b"x" * 300, 100))
    collector = FileCollector(tmp_path, keeping=True)
    assert [collector.take(5, part) for part in parts[:-1]] == [None] * (len(parts) - 1)
    for again in (collector, FileCollector(tmp_path, keeping=True)):  # not noted; and after a restart
        for _ in range(2):
            file = again.take(5, parts[-1])
            assert file is not None and (file.path, file.length) == (tmp_path / "data.bin", 300)
    assert len(list(tmp_path.iterdir())) == 3
    again.settled()
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"]
    assert again.take(5, parts[-1]) is None, "a late one is nothing new"


def test_a_file_that_was_never_noted_gives_way_to_the_next(tmp_path: Path) -> None:
    collector = FileCollector(tmp_path, keeping=True)
    for part in file_parts("one", b"1", 100):
        collector.take(5, part)
    one, two, end = file_parts("two", b"2", 100)
    collector.take(5, one)
    collector.settled()
    collector.take(5, two)
    file = collector.take(5, end)
    assert file is not None and file.path.read_bytes() == b"2"
    assert (tmp_path / "one").read_bytes() == b"1"


def test_a_name_that_leads_elsewhere_is_another_file(tmp_path: Path) -> None:
    *parts, end = file_parts("data", b"x", 100)
    collector = FileCollector(tmp_path, keeping=True)
    for part in parts:
        collector.take(5, part)
    (tmp_path / "data").symlink_to(tmp_path / ".motecrypt-node5.part")
    file = collector.take(5, end)
    assert file is not None and file.path.name == "data-2"
