"""What the link promises, each promise as a scenario; and each defect of version 1, built in, breaks one.

A scenario runs on the core as it is, and on the core with one fault compiled in (-DMC_FAULT_...): the second
must fail, or the scenario shows nothing.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_model as model
from link_ports import FaultyLink, PowerLostError, stream_packets
from motecrypt.toolchain.link import (
    BROADCAST,
    COMMAND,
    CONFIRMED,
    FOLDER,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    STREAM,
    TAG_16,
    Event,
    KeyBlock,
    Suite,
)

KEY = bytes(range(16))
READING = b"21.4 C"
SLOTS_AT, SLOT_BYTES, SLOTS = 28, 20, 8
TAKEN = (Event.MESSAGE, Event.COMMANDED)


def test_the_host_has_the_numbers_of_the_header() -> None:
    """Of options, ways to send and events: an application names them, the core need not."""
    header = (FOLDER / "link.h").read_text()
    numbers = {name: int(value, 0) for name, value in re.findall(r"\bLINK_(\w+) = (\d\w*)", header)}
    options = {"SHORT": SHORT, "LISTENS": LISTENS, "STREAM": STREAM, "TAG_16": TAG_16, "GATEWAY": GATEWAY}
    ways = {"CONFIRMED": CONFIRMED, "COMMAND": COMMAND, "LONG": LONG}
    events = {event.name: int(event) for event in Event}
    assert {**options, **ways, **events, "BROADCAST": BROADCAST}.items() <= numbers.items()


class Pair:
    """A node and its gateway, provisioned alike, with what went between them."""

    def __init__(self, *defines: str, suite: Suite = "aes128-ccm", options: int = SHORT | LISTENS) -> None:
        self.defines, self.suite = defines, suite
        self.node = self.end(options)
        self.gateway = self.end(options | GATEWAY)
        self.now = 0

    def end(self, options: int, node: int = 5, key: bytes = KEY, generation: int = 1) -> FaultyLink:
        """One more end."""
        made = FaultyLink(self.suite, *self.defines)
        made.provision(KeyBlock(node, options, 32, generation, key))
        assert made.begin() == Event.NOTHING
        return made

    def deliver(self, sender: FaultyLink, receiver: FaultyLink, taken: bool = True) -> list[Event]:
        """Carry what the sender has sent, and the answers back: what both told."""
        told = []
        for packet in sender.packets():
            event = receiver.receive(packet)
            told.append(event)
            if event in TAKEN:
                receiver.answer(taken)
        told += [sender.receive(packet) for packet in receiver.packets()]
        return [event for event in told if event != Event.NOTHING]

    def in_step(self) -> None:
        """Both directions have had an answered long message."""
        for sender, receiver in ((self.node, self.gateway), (self.gateway, self.node)):
            assert sender.send(b"", CONFIRMED | LONG) == Event.WAITING
            assert self.deliver(sender, receiver) == [Event.MESSAGE, Event.ACCEPTED]

    def give_up(self, sender: FaultyLink) -> None:
        """Nothing is answered until the sender gives up."""
        for _ in range(20):
            self.now += 1000
            if sender.poll(self.now) == Event.UNCONFIRMED:
                return
        raise AssertionError("the sender goes on for ever")


def state_of_another_key(*defines: str) -> None:
    """An old key's counters under a new key: nothing may be taken for known, let alone accepted."""
    pair = Pair(*defines)
    pair.in_step()
    other = pair.end(SHORT | LISTENS | GATEWAY, key=bytes(16))
    mixed = other.storage[:SLOTS_AT] + pair.gateway.storage[SLOTS_AT:]
    assert other.begin(mixed) == Event.NO_STATE


def reflection(*defines: str) -> None:
    """A sender's own packets, sent back to it."""
    pair = Pair(*defines)
    pair.in_step()
    for how in (0, CONFIRMED, LONG):
        for end in (pair.node, pair.gateway):
            end.send(READING, how)
            for packet in end.packets():
                assert end.receive(packet) not in TAKEN
            pair.give_up(end) if how == CONFIRMED else None


def two_nodes_with_one_key(*defines: str) -> None:
    """Two nodes that got one key are told apart by their numbers."""
    pair = Pair(*defines)
    other = pair.end(SHORT | LISTENS | GATEWAY, node=6)
    pair.node.send(READING, LONG)
    for packet in pair.node.packets():
        assert other.receive(bytes([packet[0] + 1]) + packet[1:]) not in TAKEN


def _used(pair: Pair, end: FaultyLink, peer: FaultyLink) -> None:
    end.send(READING, LONG)
    pair.deliver(end, peer)


def flipped_bits(*defines: str) -> None:
    """Any one bit of storage, in a series of states: no counter comes again, up or down."""
    pair = Pair(*defines)
    for _ in range(10):
        for _ in range(20):
            _used(pair, pair.node, pair.gateway)
            _used(pair, pair.gateway, pair.node)
        used, taken, storage = pair.node.unused, pair.node.next, pair.node.storage
        for bit in range(8 * len(storage)):
            changed = bytearray(storage)
            changed[bit // 8] ^= 1 << bit % 8
            trial = pair.end(SHORT | LISTENS)
            if trial.begin(bytes(changed)) == Event.NOTHING:
                assert trial.unused >= used and trial.next >= taken, bit
        assert pair.node.begin() == Event.NOTHING


def stuck_cells(*defines: str) -> None:
    """Cells that no longer change, alone or one in each of two slots, from any moment on."""
    for at in range(0, SLOTS_AT + SLOT_BYTES * SLOTS, 5):
        for second in (0, SLOT_BYTES):
            pair = Pair(*defines)
            _used(pair, pair.gateway, pair.node)
            pair.node.tester.stuck[at] = 0xFF
            if at + second < len(pair.node.storage):
                pair.node.tester.stuck[at + second] = 0xFF
            for _ in range(12):
                for _ in range(9):
                    _used(pair, pair.node, pair.gateway)
                    _used(pair, pair.gateway, pair.node)
                used, taken = pair.node.unused, pair.node.next
                if pair.node.begin() != Event.NOTHING:
                    break
                assert pair.node.unused >= used and pair.node.next >= taken, (at, second)


def power_cuts(*defines: str) -> None:
    """Power that goes at any write: the node goes on, and no counter comes again."""
    for writes in range(90):
        pair = Pair(*defines)
        pair.node.tester.writes_left, pair.node.tester.garbage = writes, writes * 37 & 0xFF
        used = taken = 0
        for _ in range(3):
            try:
                for _ in range(40):
                    _used(pair, pair.node, pair.gateway)
                    used = pair.node.unused
                    pair.gateway.send(READING, LONG)
                    for packet in pair.gateway.packets():
                        if pair.node.receive(packet) in TAKEN:
                            taken = pair.node.next
            except PowerLostError:
                pass
            assert pair.node.begin() == Event.NOTHING, "a node that was cut off from power goes on"
            assert pair.node.unused >= used and pair.node.next >= taken


def erased_counters(*defines: str) -> None:
    """A key without counters stays silent."""
    pair = Pair(*defines)
    for fill in (0xFF, 0x00):
        storage = pair.node.storage[:SLOTS_AT] + bytes([fill]) * SLOT_BYTES * SLOTS
        assert pair.node.begin(storage) == Event.NO_STATE
    assert pair.node.begin(b"\xff" * len(storage)) == Event.NO_KEY


def broken_storage(*defines: str) -> None:
    """Storage that keeps nothing: nothing is handed over, accepted or sent."""
    pair = Pair(*defines)
    pair.in_step()
    for at in range(len(pair.gateway.storage)):
        pair.gateway.tester.stuck[at] = 0xFF
        pair.node.tester.stuck[at] = 0xFF
    pair.node.send(READING, CONFIRMED)
    assert pair.deliver(pair.node, pair.gateway) == [Event.STORAGE]
    told = set()
    pair.give_up(pair.node)
    pair.node.packets()
    for _ in range(70):
        told.add(pair.node.send(READING))
        if told == {Event.SENT, Event.STORAGE}:
            return
        pair.node.packets()
    raise AssertionError(told)


def replays(*defines: str) -> None:
    """Every packet ever sent, once more, at once, later and after restarts of either end."""
    pair = Pair(*defines)
    pair.in_step()
    recorded: list[tuple[FaultyLink, bytes]] = []
    random = Random(7)
    for turn in range(60):
        sender, receiver = random.choice(((pair.node, pair.gateway), (pair.gateway, pair.node)))
        if sender.send(READING, random.choice((0, CONFIRMED, LONG, LONG | CONFIRMED))) == Event.BUSY:
            continue
        packets = sender.packets()
        recorded += [(receiver, packet) for packet in packets]
        assert [receiver.receive(packet) in TAKEN for packet in packets] == [
            packet is packets[-1] for packet in packets
        ]
        receiver.answer(True)
        for packet in receiver.packets():
            sender.receive(packet)
        for end, packet in random.sample(recorded, min(20, len(recorded))):
            assert end.receive(packet) not in TAKEN
            end.packets()
        if turn % 20 == 19:
            for end in (pair.node, pair.gateway):
                assert end.begin() == Event.NOTHING
            for end, packet in recorded:
                assert end.receive(packet) not in TAKEN
                end.packets()


def answers_before_delivery(*defines: str) -> None:
    """What the application does not take is never told accepted."""
    pair = Pair(*defines)
    pair.in_step()
    for how in (CONFIRMED, CONFIRMED | LONG):
        pair.node.send(READING, how)
        assert pair.deliver(pair.node, pair.gateway, taken=False) == [Event.MESSAGE, Event.REFUSED]


def bound(*defines: str) -> None:
    """Guessed tags of 8 bits pass once in 256, and after 4,096 wrong ones no short packet is read."""
    pair = Pair("LINK_SHORT_TAG_BYTES=1", *defines)
    pair.in_step()
    random, wrong, passed = Random(3), 0, 0
    while wrong < 4096:
        packet = bytes([5, pair.gateway.next & 0xFF]) + random.randbytes(7)
        told = pair.gateway.receive(packet)
        assert told in (Event.FORGED, Event.MESSAGE), (told, wrong)
        wrong, passed = wrong + (told == Event.FORGED), passed + (told == Event.MESSAGE)
        if wrong == 1000 and told == Event.FORGED:
            before = pair.gateway.failures
            assert pair.gateway.begin() == Event.NOTHING and pair.gateway.failures == before == 1024
            wrong = before
    assert 4 <= passed <= 40, f"{passed} of about 16"
    for _ in range(300):
        packet = bytes([5, pair.gateway.next & 0xFF]) + random.randbytes(7)
        assert pair.gateway.receive(packet) == Event.BOUND
    assert pair.gateway.begin() == Event.NOTHING
    assert pair.gateway.receive(packet) == Event.BOUND, "the count outlives a restart"
    told = []
    while told != [Event.MESSAGE, Event.ACCEPTED]:  # forgeries took counters, and refusals lead beyond them
        assert told in ([], [Event.REFUSED])
        pair.node.send(READING, LONG | CONFIRMED)
        told = pair.deliver(pair.node, pair.gateway)
    assert pair.node.failures & 0x8000 and pair.node.begin() == Event.NOTHING
    pair.node.send(READING, CONFIRMED)
    assert pair.deliver(pair.node, pair.gateway) == [Event.MESSAGE, Event.ACCEPTED], "the node knows"


def held_back_commands(*defines: str) -> None:
    """A command that somebody held back is refused once its receiver has sent 16 messages."""
    for later, fresh in ((0, True), (15, True), (16, False), (200, False)):
        pair = Pair(*defines)
        pair.in_step()
        assert pair.gateway.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
        held = pair.gateway.packets()
        for _ in range(later):
            pair.node.send(READING, LONG)
        pair.node.packets()
        assert [pair.node.receive(packet) for packet in held][-1:] == [
            Event.COMMANDED if fresh else Event.NOTHING
        ]
        if fresh:
            assert pair.node.message() == b"open"
            pair.node.answer(True)
        (answer,) = pair.node.packets()
        assert pair.gateway.receive(answer) == (Event.ACCEPTED if fresh else Event.REFUSED)


def restart_after_delivery(*defines: str) -> None:
    """A message that was handed over just before a restart does not come again after it."""
    pair = Pair(*defines)
    pair.in_step()
    pair.node.send(READING, CONFIRMED)
    packets = pair.node.packets()
    assert pair.gateway.receive(packets[0]) == Event.MESSAGE
    assert pair.gateway.begin() == Event.NOTHING
    assert pair.gateway.receive(packets[0]) == Event.NOTHING
    assert [pair.node.receive(packet) for packet in pair.gateway.packets()] == [Event.REFUSED]


def lost_step(*defines: str) -> None:
    """300 lost messages and five restarts: the next message that arrives is taken."""
    for lost in (1, 100, 127, 128, 200, 300):
        for restarts in (0, 5):
            pair = Pair(*defines)
            pair.in_step()
            for number in range(lost):
                pair.node.send(READING)
                if pair.node.waiting:
                    pair.give_up(pair.node)
                if restarts and number % (lost // restarts + 1) == 0:
                    pair.node.begin()
            pair.node.packets()
            pair.node.send(READING)
            told = pair.deliver(pair.node, pair.gateway)
            assert told[0] == Event.MESSAGE and Event.FORGED not in told, (lost, restarts)


def malformed_blocks(*defines: str) -> None:
    """A key block with a right check value and wrong figures."""
    sound = model.Model(1, KEY, 5, SHORT | LISTENS, 12, 1)
    blocks = {(2, sound): Event.NOTHING, (2, replace(sound, node=63)): Event.NOTHING}
    for odd in ((1, sound), (3, sound), (2, replace(sound, node=64)), (2, replace(sound, packet_bytes=11))):
        blocks[odd] = Event.NO_KEY
    for (version, link), event in blocks.items():
        head = bytes([version]) + link.key_block(False)[1:24]
        slots = 2 * link.slot(0, 0) + bytes([0xFF]) * 6 * SLOT_BYTES
        made = FaultyLink("aes128-ccm", *defines)
        assert made.begin(head + link.check(head[:16]) + slots) == event


SCENARIOS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "state of another key": (state_of_another_key, ("UNBOUND_STATE",)),
    "reflection": (reflection, ("REFLECTION",)),
    "two nodes with one key": (two_nodes_with_one_key, ("SHARED_KEY",)),
    "flipped bits": (flipped_bits, ("ONE_COPY",)),
    "stuck cells": (stuck_cells, ("NO_READ_BACK",)),
    "power cuts": (power_cuts, ("FIRST_CLAIM",)),
    "erased counters": (erased_counters, ("ERASED_IS_NEW",)),
    "broken storage": (broken_storage, ("STORAGE_IGNORED",)),
    "replays": (replays, ("NO_WINDOW",)),
    "answers before delivery": (answers_before_delivery, ("ANSWER_FIRST",)),
    "bound": (bound, ("NO_BOUND",)),
    "held back commands": (held_back_commands, ("STALE_COMMAND",)),
    "restart after delivery": (restart_after_delivery, ("LATE_CLAIM",)),
    "lost step": (lost_step, ("STEP=250",)),
    "malformed blocks": (malformed_blocks, ("MALFORMED",)),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_link_keeps_its_promise(name: str) -> None:
    SCENARIOS[name][0]()


@pytest.mark.parametrize(
    ("name", "fault"), [(n, fault) for n, (_, faults) in SCENARIOS.items() for fault in faults]
)
def test_a_fault_of_version_1_breaks_it(name: str, fault: str) -> None:
    with pytest.raises(AssertionError):
        SCENARIOS[name][0](f"MC_FAULT_{fault}")


def test_every_fault_in_the_source_has_a_scenario() -> None:
    import re

    from motecrypt.toolchain.link import FOLDER

    named = {
        name for path in FOLDER.glob("*.[ch]") for name in re.findall(r"MC_FAULT_(\w+)", path.read_text())
    }
    assert named == {fault.split("=")[0] for _, faults in SCENARIOS.values() for fault in faults}


def test_a_retry_is_the_same_bytes() -> None:
    pair = Pair()
    pair.in_step()
    for message, how in ((READING, CONFIRMED), (bytes(100), CONFIRMED)):
        pair.node.send(message, how)
        first = pair.node.packets()
        for _ in range(9):
            pair.now += 100
            assert pair.node.poll(pair.now - 1) == Event.NOTHING and not pair.node.packets()
            assert pair.node.poll(pair.now) == Event.NOTHING
            assert pair.node.packets() == ([first[0], first[-1]] if len(first) > 1 else first)
        assert pair.node.poll(pair.now + 100) == Event.UNCONFIRMED
        pair.now += 100


def test_missing_fragments_are_sent_again_and_only_progress_goes_on() -> None:
    pair = Pair()
    message = bytes(range(250))
    pair.node.send(message, CONFIRMED)
    packets = pair.node.packets()
    assert len(packets) == 10
    for index in (1, 2, 5, 9):
        pair.gateway.receive(packets[index])
    (missing,) = pair.gateway.packets()
    assert pair.node.receive(missing) == Event.NOTHING
    again = pair.node.packets()
    assert [packet[2] & 15 for packet in again] == [0, 3, 4, 6, 7, 8, 9]
    told = [pair.gateway.receive(packet) for packet in again[:-1]]
    assert told == 5 * [Event.NOTHING] + [Event.MESSAGE] and pair.gateway.message() == message
    for _ in range(30):
        if pair.node.receive(missing) == Event.UNCONFIRMED:
            break
    assert not pair.node.waiting, "an old answer brings no progress for ever"


def test_refused_moves_the_sender_on() -> None:
    pair = Pair()
    pair.in_step()
    pair.gateway.send(READING, CONFIRMED)
    assert pair.deliver(pair.gateway, pair.node) == [Event.MESSAGE, Event.ACCEPTED]
    assert pair.node.begin() == Event.NOTHING  # it noted 15 counters ahead
    pair.gateway.send(READING, CONFIRMED)
    assert pair.deliver(pair.gateway, pair.node) == [Event.REFUSED]
    pair.gateway.send(READING, CONFIRMED)
    assert pair.deliver(pair.gateway, pair.node) == [Event.MESSAGE, Event.ACCEPTED]


@pytest.mark.parametrize(
    ("ahead", "moves"),
    [(0, 0), (1, 1), (63, 63), (64, 64), (1000, 1000), (0x1FFF, 0x1FFF), (0x2000, 0), (0x3FFF, 0)],
)
def test_refused_never_moves_the_sender_back(ahead: int, moves: int) -> None:
    """The receiver names 14 bits of the counter that it waits for: half of their range lies behind."""
    node = Pair().node
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
    counter = node.unused
    assert node.send(READING, CONFIRMED | LONG) == Event.WAITING
    packed, detail = link.long(0, counter, READING, CONFIRMED), node.unused + ahead & 0x3FFF
    assert list(packed.packets) == node.packets()
    before = node.unused
    refused = link.answer(0, counter, packed.full_tag, model.REFUSED, detail)
    assert node.receive(refused) == Event.REFUSED
    assert node.unused == before + moves


def test_a_node_that_hears_nothing_sends_every_32nd_message_long() -> None:
    pair = Pair(options=SHORT)
    kinds = []
    for _ in range(100):
        assert pair.node.send(READING) == Event.SENT
        (packet,) = pair.node.packets()
        kinds.append(packet[0] >> 6)
        assert pair.gateway.receive(packet) == Event.MESSAGE
    assert [at for at, kind in enumerate(kinds) if kind == 2] == [0, 32, 64, 96]
    for how in (CONFIRMED, COMMAND):
        assert pair.node.send(READING, how) == Event.TOO_LONG


def test_a_broadcast_reaches_every_member_and_asks_nothing() -> None:
    pair = Pair()
    sender = pair.end(SHORT | LISTENS | GATEWAY, node=BROADCAST)
    members = [pair.end(SHORT | LISTENS, node=BROADCAST) for _ in range(3)]
    for number in range(40):
        assert sender.send(READING) == Event.SENT
        (packet,) = sender.packets()
        for member in members:
            assert member.receive(packet) == Event.MESSAGE
            member.answer(True)
            assert not member.packets(), number
    assert sender.send(READING, CONFIRMED) == sender.send(READING, COMMAND) == Event.TOO_LONG
    assert members[0].send(READING) == Event.TOO_LONG and sender.renew(9) == Event.TOO_LONG


def test_a_new_epoch_answers_nothing_of_the_old_one() -> None:
    pair = Pair()
    pair.in_step()
    pair.node.send(READING, CONFIRMED | LONG)
    assert [pair.gateway.receive(packet) for packet in pair.node.packets()][-1] == Event.MESSAGE
    assert pair.gateway.renew(7) == Event.WAITING
    assert all(packet[2] >> 4 & 3 == 2 for packet in pair.gateway.packets()), "the offer of the epoch"
    pair.gateway.answer(True)
    assert pair.gateway.packets() == []


def test_after_a_restored_backup_a_new_epoch_takes_nothing_old() -> None:
    pair = Pair()
    pair.in_step()
    backup, recorded = pair.gateway.storage, []
    for _ in range(30):
        pair.node.send(READING, CONFIRMED)
        packets = pair.node.packets()
        recorded += packets
        for packet in packets:
            assert pair.gateway.receive(packet) in TAKEN
        pair.gateway.answer(True)
        for packet in pair.gateway.packets():
            pair.node.receive(packet)
    assert pair.gateway.begin(backup) == Event.NOTHING
    assert pair.gateway.renew(1000) == Event.WAITING
    offer = pair.gateway.packets()
    for packet in recorded:
        assert pair.gateway.receive(packet) not in TAKEN
    assert pair.gateway.failures == 0, "packets of the old epoch are no forgeries"
    told = [pair.node.receive(packet) for packet in offer]
    assert told[-1] == Event.RENEWED
    assert [pair.gateway.receive(packet) for packet in pair.node.packets()] == [Event.ACCEPTED]
    pair.in_step()


def test_counters_end_instead_of_going_round() -> None:
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
    for send, more in ((2**32 - 1 - 64, 64), (2**32 - 64, 0), (2**32 - 1, 0)):
        made = FaultyLink()
        slots = 2 * link.slot(send, 2**32 - 1) + b"\xff" * 6 * SLOT_BYTES
        assert made.begin(link.key_block(False) + slots) == Event.NOTHING
        told = [made.send(READING, LONG) for _ in range(more + 2)]
        assert told == [Event.SENT] * more + [Event.USED_UP] * 2
        for packet in link.long(1, 2**32 - 1, READING, 0).packets:
            assert made.receive(packet) == Event.NOTHING


def test_a_stream_has_whole_packets() -> None:
    pair = Pair(options=SHORT | LISTENS | STREAM)
    assert pair.node.send(bytes(26), CONFIRMED) == Event.WAITING
    assert all(len(packet) == 32 for packet in pair.node.packets())


def test_a_stream_finds_packets_again_after_silence() -> None:
    def at(start: int, data: bytes) -> list[tuple[int, int]]:
        return [(start + index, byte) for index, byte in enumerate(data)]

    one, two, none = b"one packet12", b"two packets.", b"\xee" + bytes(11)
    assert stream_packets(12, at(100, one + two)) == [one, two], "one right behind the other"
    assert stream_packets(12, at(100, one[:7]) + at(126, two)) == [two], "20 ms of silence begin a packet"
    assert stream_packets(12, at(100, one[:7]) + at(125, one[7:] + two)) == [one, two], "19 ms do not"
    lost = at(100, one[1:] + two)
    assert stream_packets(12, lost) == [one[1:] + two[:1]], "out of step"
    assert stream_packets(12, at(100, none + one) + at(200, two)) == [two], "and skipping to the silence"
    assert stream_packets(12, at(65530, one[:6]) + at(65536 + 25, two)) == [two], "the clock goes round"


def test_late_messages_come_within_the_window_once() -> None:
    pair = Pair()
    pair.in_step()
    packets = []
    for _ in range(40):
        pair.node.send(READING)
        packets += pair.node.packets()
    newest = 30
    assert pair.gateway.receive(packets[newest]) == Event.MESSAGE
    for late, taken in ((15, True), (16, False), (1, True), (8, True), (30, False)):
        events = [pair.gateway.receive(packets[newest - late]) for _ in range(2)]
        assert events == [Event.MESSAGE if taken else Event.NOTHING, Event.NOTHING], late
    assert pair.gateway.receive(packets[newest + 3]) == Event.MESSAGE
    for late, taken in ((4, False), (11, False), (12, True), (16, False), (1, True), (2, True)):
        event = pair.gateway.receive(packets[newest + 3 - late])
        assert event == (Event.MESSAGE if taken else Event.NOTHING), late
    assert pair.gateway.failures == 0


@pytest.mark.parametrize("options", [SHORT | LISTENS, SHORT | LISTENS | STREAM, LISTENS | TAG_16])
def test_the_longest_message_goes_and_no_longer_one(options: int) -> None:
    pair = Pair(options=options)
    longest = 15 * (32 - 3) - 4 - (16 if options & TAG_16 else 8)
    assert pair.node.send(bytes(longest + 1)) == Event.TOO_LONG and not pair.node.packets()
    assert pair.node.send(bytes(longest)) == Event.SENT and len(pair.node.packets()) == 15
    pair.in_step()
    (kinds,) = {packet[0] >> 6 for packet in _sent(pair, bytes(26))}
    assert kinds == (0 if options & SHORT else 2)
    assert {packet[0] >> 6 for packet in _sent(pair, bytes(27))} == {2}
    short = {packet[0] >> 6 for packet in _sent(pair, bytes(25))}
    assert short == ({0} if options == SHORT | LISTENS else {2})


def _sent(pair: Pair, message: bytes) -> list[bytes]:
    pair.node.send(message)
    packets = pair.node.packets()
    if pair.node.waiting:
        pair.give_up(pair.node)
        pair.node.packets()
        pair.in_step()
    return packets


def test_storage_holds_what_the_specification_says_whatever_memory_held() -> None:
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
    block = KeyBlock(5, SHORT | LISTENS, 32, 1, KEY)
    made = FaultyLink()
    ctypes.memset(made.address, 0xA5, 16)  # its record, as memory that nothing was written to
    made.provision(block)
    erased = b"\xff" * SLOT_BYTES
    first = link.slot(0, 0)
    assert made.storage == link.key_block(False) + 2 * first + 6 * erased
    # Each record goes into the two slots after the newest, whichever end of the storage that is at.
    for at in (2, 4, 6, 0):
        before = made.storage
        assert made.begin() == Event.NOTHING and made.send(READING, LONG) == Event.SENT
        changed = {n for n in range(len(before)) if made.storage[n] != before[n]}
        assert {(n - SLOTS_AT) // SLOT_BYTES for n in changed} == {at, at + 1}


def test_the_newest_record_is_told_by_every_field() -> None:
    link = model.Model(1, KEY, 5, SHORT | LISTENS, 32, 1, 1)
    later = replace(link, epoch=0x01000000)
    pairs = [
        (link.slot(64, 16, 64), link.slot(64, 16, 128)),
        (link.slot(64, 16, 192), link.slot(64, 16, 256)),
        (link.slot(64, 16, 128), link.slot(64, 17, 64)),
        (link.slot(64, 0xFF00, 0), link.slot(0x10000, 16, 0)),
        (link.slot(0xFFFF, 0xFFFF, 4096), later.slot(0, 0, 0)),
    ]
    for old, new in pairs:
        for slots in ((old, new), (new, old)):
            made = FaultyLink()
            rest = b"\xff" * 6 * SLOT_BYTES
            assert made.begin(link.key_block(False) + slots[0] + slots[1] + rest) == Event.NOTHING
            told = [made.failures, made.next, made.unused, made.epoch]
            record = [
                int.from_bytes(new[at:end], "little") for at, end in ((0, 2), (4, 8), (8, 12), (12, 16))
            ]
            assert told == record


@pytest.mark.parametrize("before", [0, 1])
def test_the_first_fragment_alone_is_progress(before: int) -> None:
    pair = Pair()
    now = 0
    for _ in range(before + 1):  # for each message anew
        pair.node.send(bytes(15 * 29 - 12), CONFIRMED)
        packets = pair.node.packets()
        assert len(packets) == 15
        for packet in (packets[0], packets[14]):
            pair.gateway.receive(packet)
        (missing,) = pair.gateway.packets()
        assert missing[2:4] == bytes([1 << 2 | 2, 0]), "the word has no place for the fifteenth"
        for turn in range(2):
            for _ in range(9):
                now += 100
                assert pair.node.poll(now) == Event.NOTHING
            if turn == 0:
                assert pair.node.receive(missing) == Event.NOTHING
        now += 100
        assert pair.node.poll(now) == Event.UNCONFIRMED
        pair.node.packets()


def test_old_answers_in_turn_are_no_progress() -> None:
    pair = Pair()
    pair.node.send(bytes(250), CONFIRMED)
    packets, told = pair.node.packets(), []
    for first in (0, 1):
        assert pair.gateway.begin() == Event.NOTHING
        for packet in (packets[first], packets[9]):
            pair.gateway.receive(packet)
        told += pair.gateway.packets()
    for turn in range(2, 14):
        event = pair.node.receive(told[turn % 2])
        pair.node.packets()
    assert event == Event.UNCONFIRMED, "two that brought progress, then ten"
