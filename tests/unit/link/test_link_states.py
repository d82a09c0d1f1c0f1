"""What the link promises, each promise as a scenario; and each defect of version 1, built in, breaks one.

A scenario runs on the core as it is, and on the core with one fault compiled in (-DMC_FAULT_...): the second
must fail, or the scenario shows nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_model as model
from link_pair import KEY, READING, SLOT_BYTES, SLOTS, SLOTS_AT, TAKEN, Pair
from link_ports import FaultyLink, PowerLostError
from motecrypt.link.native import (
    BROADCAST,
    COMMAND,
    CONFIRMED,
    FOLDER,
    GATEWAY,
    LISTENS,
    LONG,
    SHORT,
    SPREAD_MS,
    STREAM,
    TAG_16,
    Event,
)


def test_the_host_has_the_numbers_of_the_header() -> None:
    """Of options, ways to send and events: an application names them, the core need not."""
    header = (FOLDER / "link.h").read_text()
    numbers = {name: int(value, 0) for name, value in re.findall(r"\bLINK_(\w+) = (\d\w*)", header)}
    options = {"SHORT": SHORT, "LISTENS": LISTENS, "STREAM": STREAM, "TAG_16": TAG_16, "GATEWAY": GATEWAY}
    ways = {"CONFIRMED": CONFIRMED, "COMMAND": COMMAND, "LONG": LONG}
    events = {event.name: int(event) for event in Event}
    assert {
        **options,
        **ways,
        **events,
        "BROADCAST": BROADCAST,
        "SPREAD_MS": SPREAD_MS,
    }.items() <= numbers.items()


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
    """Two nodes that got one key are distinguished by their numbers."""
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


def both_copies(*defines: str) -> None:
    """A bit of each copy of the newest record: the one before it is not believed, a block is skipped."""
    for bit in range(0, 8 * SLOT_BYTES, 3):
        pair = Pair(*defines)
        for _ in range(100):
            _used(pair, pair.node, pair.gateway)
        used, storage = pair.node.unused, bytearray(pair.node.storage)
        slots = [bytes(storage[at : at + SLOT_BYTES]) for at in range(SLOTS_AT, len(storage), SLOT_BYTES)]
        newest = max(slots, key=lambda slot: (slot[-5] != 0xFF, slot[8:12][::-1]))
        copies = [at for at, slot in enumerate(slots) if slot == newest]
        assert len(copies) == 2
        for at in copies:
            storage[SLOTS_AT + SLOT_BYTES * at + bit // 8] ^= 1 << bit % 8
        assert pair.node.begin(bytes(storage)) == Event.NOTHING
        assert pair.node.unused >= used, bit


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
    """Power that goes at any write: the node continues, and no counter comes again."""
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
    for sender, receiver in ((pair.node, pair.gateway), (pair.gateway, pair.node)):
        events = []
        for _ in range(30):  # a node has noted 15 counters ahead
            sender.send(READING, LONG)
            events += pair.deliver(sender, receiver)
        assert Event.STORAGE in events
        first = events.index(Event.STORAGE)
        assert first < 16 and set(events[first:]) == {Event.STORAGE}, "and not the one after it either"
    pair.node.send(READING, CONFIRMED)
    assert pair.deliver(pair.node, pair.gateway) == [Event.STORAGE]
    pair.give_up(pair.node)
    pair.node.packets()
    told = set()
    for _ in range(70):
        told.add(pair.node.send(READING))
        if told == {Event.SENT, Event.STORAGE}:
            return
        pair.node.packets()
    raise AssertionError(told)


def replays(*defines: str) -> None:
    """Every packet ever sent, once more: immediately, later and after restarts of either end."""
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
    """A message that the application does not take is never reported as accepted."""
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
            assert pair.gateway.begin() == Event.NOTHING and pair.gateway.failures == before
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


def old_commands(*defines: str) -> None:
    """No command from before a start of its receiver is carried out: after 0 to 70 messages of it."""
    for sent in range(71):
        for upwards in (False, True):
            pair = Pair(*defines)
            receiver, sender = (pair.gateway, pair.node) if upwards else (pair.node, pair.gateway)
            for _ in range(sent):
                receiver.send(READING, LONG)
                pair.deliver(receiver, sender)
            assert sender.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
            held = sender.packets()
            assert receiver.begin() == Event.NOTHING
            assert Event.COMMANDED not in [receiver.receive(packet) for packet in held], sent
            pair.give_up(sender)
            sender.packets()
            receiver.packets()
            for _ in range(2):  # and a new one, once the receiver has sent something
                receiver.send(READING, LONG | CONFIRMED)
                pair.deliver(receiver, sender)
            assert sender.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
            assert Event.COMMANDED in [receiver.receive(packet) for packet in sender.packets()], sent


def commands_of_one_message(*defines: str) -> None:
    """A message of the receiver serves one command, with all those before it."""
    pair = Pair(*defines)
    pair.in_step()
    for turn in range(40):
        pair.node.send(READING, LONG)
        pair.deliver(pair.node, pair.gateway)
        for again in range(3):
            assert pair.gateway.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
            told = pair.deliver(pair.gateway, pair.node)
            first = [Event.COMMANDED, Event.ACCEPTED]
            assert told == (first if again == 0 else [Event.REFUSED]), turn
    for _ in range(3):
        pair.node.send(READING, LONG)
    sent = pair.node.packets()
    for packet in sent:  # each is named by one command
        pair.gateway.receive(packet)
        assert pair.gateway.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
        assert pair.deliver(pair.gateway, pair.node) == [Event.COMMANDED, Event.ACCEPTED]


def answers_in_vain(*defines: str) -> None:
    """Packets without a key get few answers, and all works again as soon as they end."""
    pair = Pair(*defines)
    pair.in_step()
    assert pair.node.send(bytes(60), CONFIRMED) == Event.WAITING
    (*_, last), taken = pair.node.packets(), []
    forged = [bytes([0x85, 77, 0x80 | CONFIRMED | 1]) + bytes(8)] * 1000
    for kind in (forged, [last] * 1000):
        for packet in kind:
            assert pair.gateway.receive(packet) == Event.NOTHING
        taken += pair.gateway.packets()
    assert len(taken) == 31, "of 12 bytes each"
    while pair.node.waiting and not (sent := pair.node.packets()):
        pair.now += 200
        pair.node.poll(pair.now)
    for _ in range(9):  # no answer shows what is missing: at last all goes again
        if any(pair.gateway.receive(packet) == Event.MESSAGE for packet in sent):
            break
        pair.now += 200
        pair.node.poll(pair.now)
        sent = pair.node.packets()
    assert pair.gateway.message() == bytes(60)
    pair.gateway.answer(True)
    assert [pair.node.receive(packet) for packet in pair.gateway.packets()] == [Event.ACCEPTED]
    for _ in range(100):  # what came before, again: answered as often
        for packet in sent:
            pair.gateway.receive(packet)
    assert len(pair.gateway.packets()) == 31, "and one when it was taken"
    for seconds in (1, 32, 33, 64, 65, 66, 98, 99):
        pair.gateway.at(1000 * seconds)
        for packet in 100 * sent:
            pair.gateway.receive(packet)
        assert len(pair.gateway.packets()) == (seconds in (33, 66, 99)), "then one in 33 s"


def offer_in_a_flood(*defines: str) -> None:
    """A node that sends nothing confirms a new epoch while forged fragments use up its answers."""
    pair = Pair(*defines)
    pair.in_step()
    for flood in (0, 40, 1000):
        for seconds in range(100):
            pair.node.at(1000 * seconds)
            for _ in range(flood // 40):
                assert pair.node.receive(b"\x85\x4d\xc1" + bytes(8)) == Event.NOTHING
        pair.node.packets()
        assert pair.gateway.renew((pair.gateway.epoch >> 18) + 1 << 18) == Event.WAITING
        assert pair.deliver(pair.gateway, pair.node) == [Event.RENEWED, Event.ACCEPTED]


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
    blocks = {(2, sound): Event.NOTHING, (3, replace(sound, node=63)): Event.NOTHING}
    for odd in ((1, sound), (4, sound), (3, replace(sound, node=64)), (3, replace(sound, packet_bytes=11))):
        blocks[odd] = Event.NO_KEY
    for (version, link), event in blocks.items():
        head = bytes([version]) + link.key_block(False)[1:24]
        slots = 2 * link.slot(0, 0) + bytes([0xFF]) * 6 * SLOT_BYTES
        made = FaultyLink("aes128-ccm", *defines)
        assert made.begin(head + link.check(head[:16]) + slots) == event


def unkept_epoch(*defines: str) -> None:
    """An epoch that storage did not keep is not answered, nor offered again, before it is kept."""
    pair = Pair(*defines)
    pair.in_step()
    for epoch, broken in ((1 << 18, pair.node), (2 << 18, pair.gateway)):
        broken.tester.stuck[:] = [0xFF] * len(broken.storage)
        for _ in range(3):  # each time under the same epoch
            told = [pair.gateway.renew(epoch), *pair.deliver(pair.gateway, pair.node)]
            assert told == ([Event.WAITING, Event.STORAGE] if broken is pair.node else [Event.STORAGE])
            assert broken.send(READING, LONG) in (Event.STORAGE, Event.BUSY)
        broken.tester.stuck[:] = [0] * len(broken.storage)
        assert pair.gateway.renew(epoch) == Event.WAITING
        assert pair.deliver(pair.gateway, pair.node) == [Event.RENEWED, Event.ACCEPTED]
        for end in (pair.node, pair.gateway):
            assert end.begin() == Event.NOTHING and end.epoch == epoch
        pair.in_step()
        used, writes = pair.node.unused, pair.node.tester.writes
        for _ in range(3):
            assert pair.gateway.renew(epoch) == Event.WAITING
            assert pair.deliver(pair.gateway, pair.node) == [Event.ACCEPTED], "nothing begins anew"
        assert (pair.node.unused, pair.node.tester.writes) == (used, writes)


SCENARIOS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "state of another key": (state_of_another_key, ("UNBOUND_STATE",)),
    "reflection": (reflection, ("REFLECTION",)),
    "two nodes with one key": (two_nodes_with_one_key, ("SHARED_KEY",)),
    "flipped bits": (flipped_bits, ("ONE_COPY",)),
    "both copies": (both_copies, ("NO_DOUBT",)),
    "stuck cells": (stuck_cells, ("NO_READ_BACK",)),
    "power cuts": (power_cuts, ("FIRST_CLAIM",)),
    "erased counters": (erased_counters, ("ERASED_IS_NEW",)),
    "broken storage": (broken_storage, ("STORAGE_IGNORED",)),
    "replays": (replays, ("NO_WINDOW",)),
    "answers before delivery": (answers_before_delivery, ("ANSWER_FIRST",)),
    "bound": (bound, ("NO_BOUND",)),
    "held back commands": (held_back_commands, ("STALE_COMMAND",)),
    "old commands": (old_commands, ("OLD_COMMAND",)),
    "commands of one message": (commands_of_one_message, ("TWO_COMMANDS",)),
    "answers in vain": (answers_in_vain, ("ANSWERS",)),
    "offer in a flood": (offer_in_a_flood, ()),
    "restart after delivery": (restart_after_delivery, ("LATE_CLAIM",)),
    "lost step": (lost_step, ("STEP=250",)),
    "malformed blocks": (malformed_blocks, ("MALFORMED",)),
    "unkept epoch": (unkept_epoch, ("UNKEPT_EPOCH",)),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_link_keeps_its_promise(name: str) -> None:
    SCENARIOS[name][0]()


@pytest.mark.parametrize(
    ("name", "fault"), [(n, fault) for n, (_, faults) in SCENARIOS.items() for fault in faults]
)
def test_a_fault_built_in_breaks_it(name: str, fault: str) -> None:
    with pytest.raises(AssertionError):
        SCENARIOS[name][0](f"MC_FAULT_{fault}")


def test_every_fault_in_the_source_has_a_scenario() -> None:
    import re

    from motecrypt.link.native import FOLDER

    named = {
        name for path in FOLDER.glob("*.[ch]") for name in re.findall(r"MC_FAULT_(\w+)", path.read_text())
    }
    assert named == {fault.split("=")[0] for _, faults in SCENARIOS.values() for fault in faults}


@pytest.mark.parametrize("lost", [130, 145, 200, 245, 385])
def test_a_node_that_hears_no_answers_is_not_out_of_step_in_silence(lost: int) -> None:
    pair = Pair(options=SHORT)
    for _ in range(200):
        pair.node.send(READING)
        assert pair.deliver(pair.node, pair.gateway) == [Event.MESSAGE]
    for _ in range(lost):
        assert pair.node.send(READING) == Event.SENT
    pair.node.packets()
    told = []
    for _ in range(32):
        names = (pair.node.unused - pair.gateway.next) % 256
        assert pair.node.send(READING) == Event.SENT
        packets = pair.node.packets()
        told.append([pair.gateway.receive(packet) for packet in packets][-1])
        if told[-1] == Event.MESSAGE:
            break
        # A counter that came is dropped unread. Another's tag is wrong, and that is counted.
        assert told[-1] == (Event.NOTHING if names >= 240 else Event.FORGED)
    assert told[-1] == Event.MESSAGE
    assert pair.gateway.failures == max(told.count(Event.FORGED) - 1, 0), "and the long one takes one back"


def test_a_command_names_no_message_ahead_of_those_received() -> None:
    """A node has stored counters ahead: after its start it names one that it has surely received, or none."""
    carried_out = 0
    for lost in (0, 7, 20, 49, 55):
        for received in range(17):
            for later, starts in (
                (0, 0),
                (15, 0),
                (16, 0),
                (17, 0),
                (31, 0),
                (0, 1),
                (1, 1),
                (16, 1),
                (30, 1),
            ):
                pair = Pair()
                pair.in_step()
                for _ in range(lost):
                    pair.gateway.send(READING, LONG)
                pair.gateway.packets()
                for _ in range(received):
                    _used(pair, pair.gateway, pair.node)
                assert pair.node.begin() == Event.NOTHING
                assert pair.node.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
                held, before = pair.node.packets(), pair.gateway.unused
                for _ in range(starts):
                    assert pair.gateway.begin() == Event.NOTHING
                for _ in range(later):
                    pair.gateway.send(READING, LONG)
                pair.gateway.packets()
                events = [pair.gateway.receive(packet) for packet in held]
                assert Event.COMMANDED not in events or (later < 16 and not starts), (received, later, before)
                carried_out += Event.COMMANDED in events
    assert carried_out > 50, "one that was received shortly before serves"


@pytest.mark.parametrize("received", range(1, 35))
def test_a_command_names_the_message_received_last(received: int) -> None:
    """However many counters its receiver has stored ahead: nothing older, which may be used up."""
    pair = Pair()
    for _ in range(received):
        _used(pair, pair.gateway, pair.node)
        assert pair.node.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
        assert pair.deliver(pair.node, pair.gateway) == [Event.COMMANDED, Event.ACCEPTED]


def test_in_a_new_epoch_no_message_of_before_is_named() -> None:
    """A command is refused before its receiver has sent anything in the epoch, at both ends."""
    for upwards in (False, True):
        pair = Pair()
        pair.in_step()
        for _ in range(20):
            _used(pair, pair.node, pair.gateway)
            _used(pair, pair.gateway, pair.node)
        assert pair.gateway.renew(1 << 18) == Event.WAITING
        assert pair.deliver(pair.gateway, pair.node) == [Event.RENEWED, Event.ACCEPTED]
        receiver, sender = (pair.gateway, pair.node) if upwards else (pair.node, pair.gateway)
        for fresh in (False, True):
            assert sender.send(b"open", CONFIRMED | COMMAND) == Event.WAITING
            told = pair.deliver(sender, receiver)
            assert told == ([Event.COMMANDED, Event.ACCEPTED] if fresh else [Event.REFUSED])
            _used(pair, receiver, sender)
