"""What forgeries and noise cost a link, and how much of a forger's luck the bound on short tags leaves."""

from __future__ import annotations

import re
import sys
from math import log2
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from campaign.attacks import RATES, REFUSE_CYCLES, WAYS, Harm, Line, harm, noisy, outcome
from link_model import Model
from link_pair import KEY, READING, SLOT_BYTES, SLOTS_AT, Pair
from motecrypt.link.native import CONFIRMED, FOLDER, LISTENS, LONG, SHORT, Event

NUMBERS = {
    name: int(value) for name, value in re.findall(r"LINK_(\w+) = (\d+)", (FOLDER / "link.h").read_text())
}
MINUTES_A_YEAR = 365 * 24 * 60
DOCS = Path(__file__).resolve().parents[3] / "docs"
LINK = Model(1, KEY, 5, SHORT | LISTENS, 32, 1)
FULL = NUMBERS["FAILURES_MAX"]
ERASED = bytes([0xFF]) * SLOT_BYTES


def test_the_forgeries_of_a_year_are_few() -> None:
    """Of a link with a message a minute: one key, and all keys of a network, up and down."""
    starts = 365
    tags = FULL + MINUTES_A_YEAR / NUMBERS["FORGIVEN"] + starts
    assert log2(tags) - 32 < -17.6
    assert log2(2 * 63 * tags) - 32 < -10.6
    assert log2(FULL + 60 * MINUTES_A_YEAR / NUMBERS["FORGIVEN"]) - 32 < -12, "one a second"
    assert log2(FULL + MINUTES_A_YEAR) - 32 < -12.9, "a start for each message"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "days", "during"), [("one an hour", 1, 0.99), ("ten a second", 0.2, 0.02)])
def test_after_an_attack_all_is_as_before(way: str, name: str, days: float, during: float) -> None:
    found = outcome(WAYS[way], RATES[name], days)
    assert found.before == found.after == 1.0 and found.at_once > 0
    assert found.during >= (1.0 if way == "listens" else during)
    assert found.answered == 0 and found.verified == min(found.forged, found.verified)
    assert found.verified <= FULL + (1000 + days * 1440) / NUMBERS["FORGIVEN"] + 1


@pytest.mark.parametrize("way", WAYS)
def test_noise_ends_nothing(way: str) -> None:
    """1 % of the packets, for more readings than the bound has failures to give."""
    first, last = noisy(WAYS[way], 0.25, 20_000)
    assert first > 0.5, "much noise is borne as long as there are failures left"
    line = Line(WAYS[way], 1)
    for _ in range(4000):
        line.reading(0.01)
    assert line.gateway.failures & 0x7FFF <= 4, "and what 1 % costs is forgiven as it comes"
    assert last > 0


@pytest.mark.parametrize("down", [False, True])
def test_a_failure_is_forgiven_for_each_32_counters(down: bool) -> None:
    pair = Pair()
    pair.in_step()
    sender, receiver = (pair.gateway, pair.node) if down else (pair.node, pair.gateway)
    forged = bytes([5, receiver.next & 0xFF]) + bytes(10)
    for count in range(1, 21):
        assert receiver.receive(forged) is Event.FORGED and receiver.failures == count
    begun = receiver.next
    while receiver.failures:
        before, failures = receiver.next, receiver.failures
        sender.send(READING, LONG)
        pair.deliver(sender, receiver)
        assert receiver.next == before + 1 and failures - 1 <= receiver.failures <= failures
    assert 19 * 32 <= receiver.next - begun <= 21 * 32
    for _ in range(100):
        sender.send(READING, LONG)
        pair.deliver(sender, receiver)
    assert receiver.failures == 0, "none is saved up"


def exhausted() -> Pair:
    """A pair whose gateway bears no further failure."""
    pair = Pair()
    pair.in_step()
    record = LINK.slot(0, pair.gateway.next, FULL)
    assert pair.gateway.begin(LINK.key_block(True) + 2 * record + 6 * ERASED) is Event.NOTHING
    return pair


def guesses(pair: Pair) -> int:
    """How many forged short packets the gateway reads now."""
    for read in range(10):
        told = pair.gateway.receive(bytes([5, pair.gateway.next & 0xFF]) + bytes(10))
        if told is not Event.FORGED:
            assert told is Event.BOUND
            return read
    raise AssertionError("without an end")


@pytest.mark.parametrize(("starts", "lost"), [(0, 0), (0, 0.5), (0.1, 0.2), (1, 0), (0.5, 0.5)])
def test_so_many_guesses_are_tried_while_counters_pass(starts: float, lost: float) -> None:
    """One for each 32 counters that pass, and for each start of the sender at most one more."""
    pair, random = exhausted(), Random(11)
    begun, tried, messages, started = pair.gateway.next, 0, 0, 0
    assert guesses(pair) == 0
    for _ in range(400):
        if random.random() < starts:
            before = pair.node.unused
            assert pair.node.begin() is Event.NOTHING and pair.node.unused - before <= 63
            started += 1
        pair.node.send(READING, LONG)
        if random.random() < lost:
            pair.node.packets()
            continue
        assert pair.deliver(pair.node, pair.gateway) == [Event.MESSAGE]
        messages += 1
        tried += guesses(pair)
        passed = pair.gateway.next - begun
        assert tried <= -(-passed // NUMBERS["FORGIVEN"]) and tried <= messages
        if not lost:
            assert tried <= messages // NUMBERS["FORGIVEN"] + started + 1
    assert tried == messages if starts == 1 else tried > 5


def test_a_forgery_costs_a_record_only_with_a_short_tag_and_while_failures_are_left() -> None:
    pair = Pair()
    pair.in_step()
    short = bytes([5, pair.gateway.next & 0xFF]) + bytes(10)
    (long,) = LINK.long(0, pair.gateway.next, READING, 0).packets
    for end, packet, told, records in (
        (pair.gateway, short, Event.FORGED, 1),
        (pair.gateway, long[:-2] + bytes([long[-2] ^ 1]) + long[-1:], Event.FORGED, 0),
        (exhausted().gateway, short, Event.BOUND, 0),
    ):
        before = end.storage
        assert end.receive(packet) is told
        slots = [end.storage[at : at + SLOT_BYTES] for at in range(SLOTS_AT, len(before), SLOT_BYTES)]
        old = [before[at : at + SLOT_BYTES] for at in range(SLOTS_AT, len(before), SLOT_BYTES)]
        written = [slot for slot, was in zip(slots, old, strict=True) if slot != was]
        assert len(written) == 2 * records and len(set(written)) == records, "each in two copies"


def test_a_restart_neither_forgives_nor_counts() -> None:
    pair = Pair()
    pair.in_step()
    forged = bytes([5, pair.gateway.next & 0xFF]) + bytes(10)
    for count in range(1, 100):
        assert pair.gateway.receive(forged) is Event.FORGED
        assert pair.gateway.begin() is Event.NOTHING and pair.gateway.failures == count
        for _ in range(3):
            pair.gateway.begin()
        assert pair.gateway.failures == count


def test_short_packets_come_back() -> None:
    """A sender that listens learns in time that few failures are left, and later that more are."""
    pair = Pair(options=SHORT | LISTENS)
    pair.in_step()
    told = []
    for left in range(FULL, -1, -1):
        if left in (66, 65, 64, 63, 1, 0):
            pair.node.send(READING, CONFIRMED)
            assert pair.deliver(pair.node, pair.gateway) == [Event.MESSAGE, Event.ACCEPTED]
            told.append((left, pair.node.failures >> 15))
        if left:
            assert pair.gateway.receive(bytes([5, pair.gateway.next & 0xFF]) + bytes(10)) is Event.FORGED
    assert told == [(66, 0), (65, 0), (64, 1), (63, 1), (1, 1), (0, 1)]
    assert pair.gateway.receive(bytes([5, pair.gateway.next & 0xFF]) + bytes(10)) is Event.BOUND
    messages = 0
    while pair.node.failures >> 15:
        messages += 1
        pair.node.send(READING, CONFIRMED)
        (first, *_) = packets = pair.node.packets()
        assert first[0] >> 6 == 2, "long ones meanwhile"
        for packet in packets:
            pair.gateway.receive(packet)
        pair.gateway.answer(True)
        for packet in pair.gateway.packets():
            assert pair.node.receive(packet) is Event.ACCEPTED
    assert 64 * 32 < messages <= 66 * 32
    assert pair.node.begin() is Event.NOTHING and pair.node.failures == 0, "which it keeps"


def test_what_a_restart_finds_is_the_newest_record() -> None:
    """Records whose failures grow, are forgiven, and whose mark of the other end comes and goes."""
    random = Random(5)
    pair = Pair()
    pair.in_step()
    for end, other in ((pair.node, pair.gateway), (pair.gateway, pair.node)):
        for _ in range(600):
            what = random.randrange(4)
            if what == 0:
                end.receive(bytes([5, end.next & 0xFF]) + bytes(10))
            elif what == 1:
                other.send(READING, LONG)
                pair.deliver(other, end)
            else:  # accepted, with either word about short packets
                down, counter = int(end is pair.gateway), end.unused
                end.send(READING, CONFIRMED | LONG)
                end.packets()
                tag = LINK.long(down, counter, READING, CONFIRMED).full_tag
                answer = LINK.answer(down, counter, tag, 0, random.randrange(2))
                assert end.receive(answer) is Event.ACCEPTED
            failures, unused, following = end.failures, end.unused, end.next
            if random.random() < 0.2:
                assert end.begin() is Event.NOTHING
                assert end.failures == failures and end.unused >= unused and end.next >= following


@pytest.mark.parametrize("repeats", [1, 9])
def test_answers_that_show_what_is_missing_bring_few_packets(repeats: int) -> None:
    """Fragments without a key make a receiver show new ones as received; its answers come again and again."""
    pair = Pair(packet_bytes=12)
    pair.in_step()
    pair.node.send(bytes(13), CONFIRMED)
    first, answers = pair.node.packets(), []
    for index in range(14):
        head = bytes([first[0][0], first[0][1]])
        pair.gateway.receive(head + bytes([CONFIRMED | index]) + bytes(9))
        pair.gateway.receive(head + bytes([CONFIRMED | 0x8E]) + bytes(9))
        answers += pair.gateway.packets()
    assert len(first) == 3 and len(set(answers)) == 14
    sent, old = len(first), answers[0]
    for answer in (*(each for new in answers for each in (new, *[old] * repeats)), *[old] * 20):
        pair.node.receive(answer)
        sent += len(pair.node.packets())
    assert not pair.node.waiting and sent <= 80


@pytest.mark.parametrize("name", ["one an hour", "one a minute"])
@pytest.mark.parametrize("way", WAYS)
def test_the_page_has_what_attacks_cost(way: str, name: str) -> None:
    found = outcome(WAYS[way], RATES[name])
    shares = (f"{100 * share:.1f}".removesuffix(".0") for share in (found.during, found.at_once, found.after))
    row = f"| {way} | {name} | {' % | '.join(shares)} % | {found.verified:,} |"
    assert row in (DOCS / "link.md").read_text()


@pytest.mark.parametrize("name", ["one an hour", "one a minute"])
def test_the_page_has_the_energy_that_attacks_take(name: str) -> None:
    text = (DOCS / "link.md").read_text()
    short, long = harm(RATES[name], False), harm(RATES[name], True)
    assert f"| {name} | {short.joules:.2f} J | {long.joules:.2f} J |" in text
    assert (short.answered, long.verified, long.answered) == (0, 0, long.forged)
    assert f"| {REFUSE_CYCLES:,} cycles;" in text


def test_a_flood_takes_no_more_than_the_bound_and_an_answer_in_33_s() -> None:
    short, long = harm(RATES["ten a second"], False, 0.1), harm(RATES["ten a second"], True, 0.1)
    assert short == Harm(86_400, FULL, 0) and f"| {short.joules:.2f} J |" in (DOCS / "link.md").read_text()
    assert long.answered <= 32 + 144 * 60 / 30 + 1 and long.verified == 0
