"""The gateway's record and what it does at limits, exactly: names, numbers, generations, epochs, refusals."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.link import gateway_end as module
from motecrypt.link import native
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import (
    BROADCAST,
    COMMAND,
    CONFIRMED,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    TAG_16,
    Event,
    NativeLink,
    link_library,
    node_key,
    open_library,
)
from motecrypt.link.record import GENERATION_MAX, NUMBER_MAX, whole
from motecrypt.link.state import FileStore, MemoryStore, pack
from motecrypt.link.told import NodeEntry, NodeEvent, NodeMessage

MASTER = bytes(range(16))
DAMAGED = "the gateway's record is damaged; refusing to guess; restore a backup and begin new epochs"


class FullDisk(MemoryStore):
    """A store that can be full."""

    full = False

    def write(self, record: bytes) -> None:
        """Replace the record, or refuse."""
        if self.full:
            raise MotecryptError("no space left on device")
        super().write(record)


def end(storage: bytes) -> NativeLink:
    """A node with that storage."""
    made = NativeLink(open_library(link_library("aes128-ccm")))
    assert made.begin(storage) is Event.NOTHING
    return made


def content(store: MemoryStore) -> dict[str, Any]:
    """What a record says."""
    assert store.record is not None
    told: dict[str, Any] = json.loads(store.record.split(b"\n")[0])
    return told


def with_nodes(store: MemoryStore, nodes: object) -> MemoryStore:
    """The record with other nodes in it."""
    return MemoryStore(pack("gateway", {"master": content(store)["master"], "nodes": nodes}))


def test_the_numbers_and_what_is_unless_told() -> None:
    assert (NUMBER_MAX, GENERATION_MAX, module.EVENTS_MAX) == (0xFFFFFFFF, 0xFFFF, 10_000)
    assert NodeEntry(3, 1) == NodeEntry(3, 1, 0, 0, False)
    assert NodeMessage(3, b"") == NodeMessage(3, b"", Event.MESSAGE)


@pytest.mark.parametrize("length", [0, 15, 17, 32])
def test_a_master_key_has_16_bytes(length: int) -> None:
    with pytest.raises(InputError) as caught:
        Gateway(MemoryStore(), bytes(length))
    assert str(caught.value) == f"a master key of {length} bytes; the link takes 16"


def test_a_record_is_written_so() -> None:
    store = MemoryStore()
    gateway = Gateway(store, MASTER, packet_bytes=40)
    storage = gateway.provision(5, SHORT | LISTENS | GATEWAY)
    assert storage[:8] == bytes([3, 5, SHORT | LISTENS, 40, 1, 0, 0, 0]), "the node's end is no gateway's"
    assert storage[8:24] == node_key("aes128-ccm", MASTER, 5, 1)
    name = hashlib.sha256(b"motecrypt gatewayaes128-ccm" + MASTER).hexdigest()[:16]
    image = content(store)["nodes"]["5"][1]
    assert content(store) == {
        "motecrypt": "gateway",
        "version": 2,
        "master": name,
        "nodes": {"5": [1, image, 0]},
    }
    assert bytes.fromhex(image)[:24] == storage[:2] + bytes([131]) + storage[3:24]
    assert gateway.head(5) == (131, 40) and store.writes == 1
    assert gateway.registry() == (NodeEntry(5, 1, SHORT | LISTENS, 40),)
    assert gateway.provision(6)[2] == SHORT | LISTENS
    assert gateway.provision(62, TAG_16)[:5] == bytes([3, 62, TAG_16, 40, 1])
    assert gateway.provision(5)[4] == 2 and gateway.nodes == (5, 6, 62)


@pytest.mark.parametrize("seed", range(6))
def test_another_masters_record_is_refused(seed: int) -> None:
    store = MemoryStore()
    Gateway(store, MASTER).provision(5)
    with pytest.raises(InputError) as caught:
        Gateway(store, hashlib.sha256(bytes([seed])).digest()[:16])
    words = "the gateway's record belongs to another master key; give this key its own record"
    assert str(caught.value) == words
    with pytest.raises(InputError, match="another master key"):
        Gateway(store, MASTER, "ascon-aead128")


def test_a_record_that_is_refused_is_named(tmp_path: Path) -> None:
    path = tmp_path / "key.gateway"
    for record, why in (
        (pack("gateway", {"master": 7, "nodes": 7}), "is damaged"),
        (pack("gateway", {"master": "7", "nodes": {}}), "belongs to another master key"),
    ):
        path.write_bytes(record)
        store = FileStore(path)
        with pytest.raises(InputError, match=f"^state file {path}: the gateway's record {why}"):
            Gateway(store, MASTER)
        store.close()


def test_a_nodes_key_is_that_of_its_generation() -> None:
    store = MemoryStore()
    Gateway(store, MASTER).provision(5)
    _, image, _ = content(store)["nodes"]["5"]
    for generation in (0, 2, 3, 4, 5, 6, 7, 0xFFFF):
        with pytest.raises(InputError) as caught:
            Gateway(with_nodes(store, {"5": [generation, image, 0]}), MASTER)
        assert str(caught.value) == DAMAGED
    for number in ("6", "63", "0"):
        with pytest.raises(InputError, match="damaged"):
            Gateway(with_nodes(store, {number: [1, image, 0]}), MASTER)
    assert Gateway(with_nodes(store, {"5": [1, image, 2**32 - 1]}), MASTER).send(5, b"") is Event.BUSY
    for void in ("0", "9", "10", "63"):
        told = Gateway(with_nodes(store, {void: [0xFFFF, "", 0]}), MASTER).registry()
        assert told == (NodeEntry(int(void), 0xFFFF, void=True),)


@pytest.mark.parametrize(
    ("value", "highest", "number"),
    [
        ("63", 63, 63),
        ("0", 63, 0),
        (63, 63, 63),
        (0, 63, 0),
        (2**32 - 1, 2**32 - 1, 2**32 - 1),
        ("64", 63, None),
        ("100", 200, None),
        ("", 63, None),
        ("-1", 63, None),
        ("\u0663", 63, None),
        ("\u00b2", 63, None),
        (64, 63, None),
        (-1, 63, None),
        (True, 63, None),
        (False, 63, None),
        (1.0, 63, None),
        (None, 63, None),
    ],
)
def test_what_is_a_whole_number(value: object, highest: int, number: int | None) -> None:
    if number is None:
        with pytest.raises(ValueError):
            whole(value, highest)
    else:
        assert whole(value, highest) == number


def test_a_node_whose_epochs_are_used_up_needs_new_keys() -> None:
    store = MemoryStore()
    gateway = Gateway(store, MASTER, packet_bytes=32)
    gateway.provision(5)
    gateway.provision(6)
    assert gateway._links[5].renew((2**14 - 2) << 18, 7) is Event.WAITING
    assert gateway.restored(2**40) == () and content(store)["nodes"]["5"][2] >> 18 == 2**14 - 1
    assert gateway.restored(0) == (), "the same number, which node 5 has not confirmed"
    gateway._renewing.clear()
    assert gateway.restored(0) == (5,) and gateway.nodes == (6,), "no epoch comes again"


def test_the_clock_makes_no_epoch_and_no_key() -> None:
    """A backup that is restored often under one clock: all epochs and keys are others."""
    store = MemoryStore()
    gateway = Gateway(store, MASTER, packet_bytes=32)
    gateway.provision(5)
    backup, epochs, keys = store.record, set(), set()
    for _ in range(200):
        store.record = backup
        again = Gateway(store, MASTER, packet_bytes=32)
        again.restored(0)
        link = again._links[5]
        assert link.epoch >> 18 == 1 and link.salt != link.generation
        epochs.add((link.epoch, link.salt))
        keys.add(again.provision(6)[8:24])
    assert len(epochs) == len(keys) == 200
    bits = [sum(epoch >> bit & 1 for epoch, _ in epochs) for bit in range(18)]
    bits += [sum(salt >> bit & 1 for _, salt in epochs) for bit in range(16)]
    assert all(60 < bit < 140 for bit in bits), "34 random bits"


@pytest.mark.parametrize("clocks", [(7, 7), (2_000_000_000, 7), (7, 2_000_000_000)])
def test_a_node_that_met_another_restoration_is_reached(clocks: tuple[int, int]) -> None:
    """The same backup twice, whichever epoch is the greater one, and a clock that was set back."""
    for _ in range(12):
        store = MemoryStore()
        gateway = Gateway(store, MASTER, packet_bytes=32)
        node = end(gateway.provision(5))
        backup = store.record
        for turn, now_s in enumerate((*clocks, 7)):
            store.record = backup
            gateway = Gateway(store, MASTER, packet_bytes=32)
            assert gateway.restored(now_s) == ()
            told = [node.receive(packet) for packet in gateway.take_packets()]
            while Event.RENEWED not in told:
                gateway.receive(node.packets(), lambda messages: [True] * len(messages))
                told = [node.receive(packet) for packet in gateway.take_packets()]
                assert told, "it is offered one that is above the node's"
            gateway.receive(node.packets(), lambda messages: [True] * len(messages))
            assert gateway.epoch_unconfirmed == ()
            assert (gateway._links[5].epoch, gateway._links[5].salt) == (node.epoch, node.salt)
            assert node.epoch >> 18 in range(1, turn + 2)
        again = Gateway(store, MASTER, packet_bytes=32)
        assert again.epoch_unconfirmed == () and again._links[5].epoch == node.epoch


def restored(store: MemoryStore, record: bytes | None) -> Gateway:
    """A gateway with a record that came from a backup."""
    store.record = record
    gateway = Gateway(store, MASTER, packet_bytes=32)
    assert gateway.restored(0) == ()
    return gateway


def reached(gateway: Gateway, node: NativeLink) -> bool:
    """Whether both are in one epoch, after packets of both were exchanged."""
    for _ in range(4):
        for packet in gateway.take_packets():
            node.receive(packet)
        gateway.receive(node.packets(), lambda messages: [True] * len(messages))
    return (gateway._links[5].epoch, gateway._links[5].salt) == (node.epoch, node.salt)


def test_an_offer_that_was_held_back_takes_no_node_away() -> None:
    """Offers of restorations before, whatever their random bits: one that was not confirmed,
    and one of a record that came from a backup while another was not."""
    for _ in range(12):
        store, held = MemoryStore(), []
        gateway = Gateway(store, MASTER, packet_bytes=32)
        node = end(gateway.provision(5))
        backup = store.record
        for record in (backup, None, None):  # the last two go on with what they have
            gateway = restored(store, store.record if record is None else record)
            held += gateway.take_packets()
        assert gateway._links[5].epoch >> 18 == 1, "not above the node's by two"
        gateway = restored(store, backup)
        assert reached(gateway, node) and gateway.epoch_unconfirmed == ()
        for packet in held:
            assert node.receive(packet) is Event.NOTHING
        assert reached(gateway, node)
        gateway = restored(store, backup)
        assert reached(gateway, node) and node.epoch >> 18 == 2


def test_a_restoration_that_is_not_kept_sends_nothing_under_counters_of_the_backup() -> None:
    store = FullDisk()
    gateway = Gateway(store, MASTER, packet_bytes=32)
    node = end(gateway.provision(5))
    gateway = Gateway(store, MASTER, packet_bytes=32)
    store.full = True
    with pytest.raises(MotecryptError):
        gateway.restored(0)
    assert gateway.take_packets() == [] and gateway.send(5, b"", LONG) is Event.BUSY
    store.full = False
    gateway.poll(1000)
    assert content(store)["nodes"]["5"][2] >> 18 == 1 and reached(gateway, node)
    assert gateway.epoch_unconfirmed == () and node.epoch >> 18 == 1


def test_an_offer_that_a_message_confirms_has_no_outcome() -> None:
    """Its answer was lost, or comes late: it is of no message that the application sent."""
    gateway = Gateway(MemoryStore(), MASTER, packet_bytes=32)
    node = end(gateway.provision(5))
    gateway.restored(0)
    (offer,) = gateway.take_packets()
    assert node.receive(offer) is Event.RENEWED
    late = node.packets()
    assert node.send(b"", CONFIRMED) is Event.WAITING
    gateway.receive(node.packets(), lambda messages: [True])
    assert gateway.take_events() == [NodeEvent(5, Event.RENEWED)]
    gateway.receive(late, lambda messages: [])
    assert gateway.take_events() == []
    assert gateway.send(5, b"", CONFIRMED) is Event.WAITING, "it waits for nothing"


def test_a_message_that_waits_when_a_write_fails_gets_an_outcome() -> None:
    store = FullDisk()
    gateway = Gateway(store, MASTER, packet_bytes=32)
    node = end(gateway.provision(5))
    assert gateway.send(5, b"down", CONFIRMED) is Event.WAITING
    assert node.send(b"up", CONFIRMED) is Event.WAITING
    store.full = True
    with pytest.raises(MotecryptError):
        gateway.receive(node.packets(), lambda messages: [True])
    assert gateway.take_events() == [NodeEvent(5, Event.UNCONFIRMED)]
    for _ in range(64):
        gateway._links[5].send(b"", LONG)  # up to the next claim
        gateway._links[5].packets()
    with pytest.raises(MotecryptError):
        gateway.send(5, b"down", CONFIRMED)
    assert gateway.take_events() == [], "whoever sends it is told at once"


def test_a_node_of_version_2_0_gets_an_epoch_as_it_knows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "VERSION", native.VERSION_2_0)
    store = MemoryStore()
    gateway = Gateway(store, MASTER, packet_bytes=32)
    node = end(gateway.provision(5))
    gateway.restored(1_800_000_000)
    (offer,) = gateway.take_packets()
    assert len(offer) == 3 + 3 + 8 + 1, "empty"
    assert node.receive(offer) is Event.RENEWED and node.salt == node.generation
    assert node.epoch >> 18 == (1_800_000_000 >> 18) + 1, "above all times until now"
    gateway.receive(node.packets(), lambda messages: [])
    assert gateway.epoch_unconfirmed == ()


def test_an_epoch_that_cannot_be_kept_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(MemoryStore(), MASTER)
    gateway.provision(5)
    monkeypatch.setattr(NativeLink, "renew", lambda link, epoch, salt: Event.STORAGE)
    with pytest.raises(MotecryptError, match=r"^node 5: its new epoch cannot be stored$"):
        gateway.restored(7)
    monkeypatch.setattr(NativeLink, "receive", lambda link, packet: Event.STORAGE)
    with pytest.raises(MotecryptError, match=r"^node 5: its state cannot be stored$"):
        gateway.receive([b"\x05"], lambda messages: [])
    monkeypatch.setattr(NativeLink, "begin", lambda link: Event.NO_KEY)
    with pytest.raises(MotecryptError, match=r"^node 6: its link does not start$"):
        gateway.provision(6)
    assert gateway.nodes == (5,)


def test_a_node_that_became_void_is_written_once_and_again_where_it_failed() -> None:
    store = FullDisk()
    gateway = Gateway(store, MASTER)
    gateway.provision(7, SHORT)
    store.full = True
    with pytest.raises(MotecryptError, match="no space"):
        gateway.restored(1000)
    store.full = False
    writes = store.writes
    gateway.poll(0)
    gateway.poll(1)
    assert store.writes == writes + 1 and content(store)["nodes"] == {"7": [1, "", 0]}
    again = Gateway(store, MASTER)
    again.poll(0)
    assert store.writes == writes + 1, "and after a restart it is known"
    assert again.registry() == (NodeEntry(7, 1, void=True),)


def test_no_key_that_was_given_out_after_the_backup_is_given_out_again() -> None:
    store = MemoryStore()
    gateway = Gateway(store, MASTER)
    gateway.provision(5)
    backup = store.record
    given = {gateway.provision(node)[:24] for node in (5, 5, 6, 6, BROADCAST)}
    store.record = backup
    Gateway(store, MASTER).restored(1000)
    again = Gateway(store, MASTER)  # the record keeps it
    assert content(store)["spent"] == 1 + module.RESTORED_SKIPS
    anew = {again.provision(node)[:24] for node in (5, 6, BROADCAST)}
    assert not given & anew and {entry.generation for entry in again.registry()} == {66}
    store.record = backup  # the same backup, once more
    Gateway(store, MASTER).restored(1001)
    once_more = {Gateway(store, MASTER).provision(node)[:24] for node in (5, 6, BROADCAST)}
    assert not once_more & (given | anew)
    told = content(store)
    random = told["restored"]
    assert len(bytes.fromhex(random)) == 15
    assert (told["spent"], told["made"]) == (65, {"5": random, "6": random, "63": random})
    last = Gateway(store, MASTER)
    assert last.member()[:24] in once_more, "a later member has the group's key"
    last.restored(7)
    assert content(store)["restored"] != random, "no clock makes it"


def test_a_record_of_version_2_0_has_the_time_of_its_restoration() -> None:
    store = MemoryStore()
    made = Gateway(store, MASTER)
    made.provision(5)
    told = content(store)
    key = node_key("aes128-ccm", MASTER, 5, 1, 1001)
    block = native.KeyBlock(5, SHORT | LISTENS | GATEWAY, 12, 1, key)
    link = NativeLink(native.open_library(native.link_library("aes128-ccm")))
    link.provision(block)
    told |= {"spent": 65, "restored": 1001, "made": {"5": 1001}, "nodes": {"5": [1, link.storage.hex(), 0]}}
    for name, value in (("restored", "00" * 14), ("restored", "zz" * 15), ("made", {"5": True})):
        with pytest.raises(InputError, match="damaged"):
            Gateway(MemoryStore(pack("gateway", told | {name: value})), MASTER)
    store = MemoryStore(pack("gateway", told))
    assert Gateway(store, MASTER).provision(6)[8:24] == node_key("aes128-ccm", MASTER, 6, 66, 1001)
    assert (content(store)["restored"], content(store)["made"]) == (1001, {"5": 1001, "6": 1001})


def test_generations_of_one_node_end() -> None:
    record = {"master": Gateway(MemoryStore(), MASTER)._name(), "nodes": {"4": [0xFFFE, "", 0]}}
    gateway = Gateway(MemoryStore(pack("gateway", record)), MASTER)
    assert gateway.provision(4)[4:6] == b"\xff\xff" and gateway.provision(9)[4:6] == b"\x01\x00"
    with pytest.raises(InputError, match=r"^node 4: all its generations .* give it another number$"):
        gateway.provision(4)


def test_generations_end_after_very_many_backups() -> None:
    store = MemoryStore(
        pack("gateway", {"master": Gateway(MemoryStore(), MASTER)._name(), "nodes": {}, "spent": 0xFFFE})
    )
    assert Gateway(store, MASTER).provision(4)[4:6] == b"\xff\xff"
    gateway = Gateway(store, MASTER)
    gateway.restored(1000)
    assert content(store)["spent"] == 0xFFFF
    with pytest.raises(InputError, match=r"^node 9: all its generations .* make another master key$"):
        gateway.provision(9)
    for wrong in (
        {"spent": 0x10000},
        {"restored": 2**32},
        {"made": {"64": 1}},
        {"made": {"5": -1}},
        {"made": 7},
    ):
        with pytest.raises(InputError, match=DAMAGED):
            Gateway(MemoryStore(pack("gateway", content(store) | wrong)), MASTER)


def test_a_message_goes_as_it_is_asked_for() -> None:
    gateway = Gateway(MemoryStore(), MASTER, packet_bytes=32)
    node = end(gateway.provision(5))
    assert gateway.send(5, b"", CONFIRMED | LONG) is Event.WAITING
    for packet in gateway.take_packets():
        assert node.receive(packet) in (Event.MESSAGE, Event.NOTHING)
    node.answer(True)
    gateway.receive(node.packets(), lambda messages: pytest.fail("a message"))
    assert gateway.take_events() == [NodeEvent(5, Event.ACCEPTED)] and gateway.take_events() == []
    assert gateway.send(5, b"21.4 C") is Event.SENT
    (packet,) = gateway.take_packets()
    assert packet[0] == 5 and gateway.take_packets() == [], "a short one, which asks nothing"
    assert gateway.send(5, b"open", CONFIRMED | COMMAND) is Event.WAITING
    for number in (4, 6, 7):
        with pytest.raises(InputError) as caught:
            gateway.send(number, b"")
        assert str(caught.value) == f"node {number}: not provisioned"


def test_only_the_groups_packets_are_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway(MemoryStore(), MASTER, packet_bytes=32)
    nodes = {number: end(gateway.provision(number)) for number in (4, 5, 6)}
    got: list[NodeMessage] = []
    astray: list[None] = []
    monkeypatch.setattr(module, "BROADCAST", 5)
    for node in nodes.values():
        node.send(b"", LONG)
    packets = [packet for node in nodes.values() for packet in node.packets()]
    gateway.receive(
        [*packets, b""], lambda m: [not got.append(one) for one in m], lambda: astray.append(None)
    )
    assert [message.node for message in got] == [4, 6] and len(astray) == 2
    monkeypatch.undo()
    assert BROADCAST == 63


def test_a_node_keeps_what_it_waits_for_where_its_new_keys_cannot_be_kept() -> None:
    store = FullDisk()
    gateway = Gateway(store, MASTER, packet_bytes=32)
    node = end(gateway.provision(5))
    assert gateway.send(5, b"21.4 C", CONFIRMED | LONG) is Event.WAITING
    for packet in gateway.take_packets():
        node.receive(packet)
    node.answer(True)
    store.full = True
    with pytest.raises(MotecryptError, match="no space"):
        gateway.provision(5)
    store.full = False
    assert gateway.registry()[0].generation == 1
    gateway.receive(node.packets(), lambda messages: [])
    assert gateway.take_events() == [NodeEvent(5, Event.ACCEPTED)]
    assert gateway.provision(5)[4] == 2


def test_an_offer_goes_on_where_new_keys_cannot_be_kept() -> None:
    store = FullDisk()
    gateway = Gateway(store, MASTER, packet_bytes=32)
    node = end(gateway.provision(5))
    gateway.restored(0)
    store.full = True
    with pytest.raises(MotecryptError):
        gateway.provision(5)
    store.full = False
    gateway.poll(20_000)
    assert gateway.epoch_unconfirmed == (5,) and reached(gateway, node)
    assert gateway.epoch_unconfirmed == ()
