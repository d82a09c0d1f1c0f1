"""What the adviser says of the secure link is what its core does: lengths, rules, numbers of packets."""

from __future__ import annotations

import inspect
import random
import re
from pathlib import Path

import pytest

from motecrypt.adviser import api as advise
from motecrypt.adviser.costs import answer_sizes, at_length, patience_us
from motecrypt.adviser.exchange import (
    derive_cycles,
    exchange,
    forms,
    is_short,
    long_form,
    message_bytes_max,
    prove_cycles,
    short_room,
    streams,
    unit_cycles,
    usual_form,
)
from motecrypt.adviser.gather import read_supplies
from motecrypt.adviser.link_data import read_link
from motecrypt.air.radios import load_radio, radio_names
from motecrypt.base.errors import InputError
from motecrypt.catalog import DATA, FIRMWARE, Catalog
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.link_node import suite_of
from motecrypt.link.gateway_end import Gateway
from motecrypt.link.native import (
    CONFIRMED,
    GATEWAY,
    LISTENS,
    SHORT,
    STREAM,
    SUITES,
    Event,
    KeyBlock,
    NativeLink,
    link_library,
    open_library,
)
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import needs_tool_set

LINK = advise.link_facts()
RADIOS = {name: advise.radio_part(load_radio(name)) for name in radio_names()}
HOW = {"unconfirmed": 0, "confirmed": CONFIRMED, "one-way": 0}


class Ends:
    """A node and its gateway over a radio that loses packets each way, in virtual time."""

    def __init__(self, radio: advise.RadioPart, delivery: str = "unconfirmed", loss: float = 0.0) -> None:
        options = SHORT | (STREAM if streams(radio) else 0) | (0 if delivery == "one-way" else LISTENS)
        library = open_library(link_library("aes128-ccm"))
        self.node, self.gateway = NativeLink(library, 10), NativeLink(library, 10)
        self.node.provision(KeyBlock(5, options, radio.packet_bytes, 1, bytes(16)))
        self.gateway.provision(KeyBlock(5, options | GATEWAY, radio.packet_bytes, 1, bytes(16)))
        assert self.node.begin() == self.gateway.begin() == Event.NOTHING
        self.how, self.loss, self.draw, self.now_ms = HOW[delivery], loss, random.Random(1), 0
        self.sent: list[bytes] = []
        self.answers: list[bytes] = []
        self.arrived = self.silences = self.given_up = 0

    def _cross(self) -> list[bytes]:
        """What the node has sent reaches the gateway, and the answers that reach the node."""
        back: list[bytes] = []
        for packet in self.node.packets():
            self.sent.append(packet)
            if self.draw.random() < self.loss:
                continue
            if self.gateway.receive(packet) is Event.MESSAGE:
                self.arrived += 1
                self.gateway.answer(True)
            back += self.gateway.packets()
        self.answers += back
        return [packet for packet in back if self.draw.random() >= self.loss]

    def send(self, message_bytes: int, how: int = 0) -> list[bytes]:
        """One message until its end; its packets the first time."""
        before = len(self.sent)
        event = self.node.send(bytes(message_bytes), self.how | how)
        coming = self._cross()
        first = self.sent[before:]
        while event is Event.WAITING:
            if not coming:
                self.silences += 1
                self.now_ms += 11 + 7 * 5
                event = self.node.poll(self.now_ms)
            for packet in coming:
                event = self.node.receive(packet)
                if event in (Event.ACCEPTED, Event.UNCONFIRMED):
                    break
            if event in (Event.ACCEPTED, Event.UNCONFIRMED):
                self.given_up += event is Event.UNCONFIRMED
                return first
            event, coming = Event.WAITING, self._cross()
        assert event is Event.SENT
        return first


def test_rules_and_limits_are_those_of_the_core() -> None:
    header = (FIRMWARE / "link" / "link.h").read_text()
    # The first of an #ifdef's two is a fault that tests build in.
    named = dict(re.findall(r"^ *(LINK_\w+) = (\d+),? .*$", header, re.MULTILINE))
    given = {name: int(value) for name, value in named.items()}
    assert LINK.pieces_max == given["LINK_PIECES_MAX"]
    assert LINK.piece_head_bytes == given["LINK_PIECE_HEAD"]
    (short_tag,) = re.findall(r"LINK_SHORT_TAG_BYTES (\d+)", header)
    assert LINK.short_tag_bytes == int(short_tag) == LINK.short_overhead_bytes - 2
    assert LINK.long_tag_bytes == 8 == LINK.long_overhead_bytes - 3 - 1
    assert LINK.tries == given["LINK_TRIES"]
    assert LINK.short_after_answer == given["LINK_STEP_MAX"] == 127
    assert LINK.long_every == given["LINK_LONG_EVERY"]
    assert LINK.claim_sent == given["LINK_SEND_BLOCK"]
    assert LINK.claim_received == given["LINK_RECEIVE_AHEAD"]
    assert LINK.packet_bytes_min == int(re.findall(r"LINK_PACKET_MIN = (\d+)", header)[0])
    assert LINK.answer_ms == inspect.signature(Gateway).parameters["answer_ms"].default
    assert LINK.answer_ms == inspect.signature(NativeLink).parameters["answer_ms"].default
    for packet_bytes in (LINK.packet_bytes_min - 1, LINK.packet_bytes_max + 1):
        with pytest.raises(InputError):
            KeyBlock(5, 0, packet_bytes, 1, bytes(16))
    for packet_bytes in (LINK.packet_bytes_min, LINK.packet_bytes_max):
        KeyBlock(5, 0, packet_bytes, 1, bytes(16))


def test_its_ciphers_are_those_of_the_links_suites() -> None:
    """AES-128-CCM with tags of 8 bytes is the catalog's aes128-ccm8."""
    ciphers = Catalog.load().ciphers
    assert [suite_of(ciphers[name]) for name in LINK.suites] == list(SUITES)
    assert all(ciphers[name].security == "recommended" for name in LINK.suites)


@pytest.mark.parametrize("name", radio_names())
def test_a_radio_is_used_as_an_export_for_it_does(name: str) -> None:
    exported = LinkRadio(load_radio(name))
    assert patience_us(LINK, RADIOS[name]) == exported.answer_ms * 1000
    assert streams(RADIOS[name]) == bool(exported.fixed.options & STREAM)


@pytest.mark.parametrize("delivery", advise.DELIVERIES)
@pytest.mark.parametrize("name", radio_names())
def test_packets_are_the_bytes_that_the_core_puts_out(name: str, delivery: str) -> None:
    """For every length around each step: the first message after a start, and the second."""
    radio = RADIOS[name]
    room, most = short_room(LINK, radio), message_bytes_max(LINK, radio)
    piece = radio.packet_bytes - LINK.piece_head_bytes
    steps = [room, *(k * piece - LINK.long_overhead_bytes for k in range(1, LINK.pieces_max + 1))]
    lengths = {n for step in steps for n in (step - 1, step, step + 1) if 1 <= n <= most}
    confirmed = delivery == "confirmed"
    for length in sorted(lengths):
        ends = Ends(radio, delivery)
        first, second = ends.send(length), ends.send(length)
        usual = usual_form(LINK, radio, length, confirmed)
        long = long_form(LINK, radio, length)
        assert tuple(map(len, first)) == long.sizes, length
        assert tuple(map(len, second)) == usual.sizes, length
        assert (usual.name == "short") == is_short(LINK, radio, length) == (second[0][0] < 0x80)
        question = advise.Question(length, 10, delivery=delivery)
        assert forms(LINK, radio, question)[0][1] == usual
        filling = len(second[-1].rstrip(b"\0")) if usual.name == "long" else len(second[-1])
        assert usual.filling_bytes == len(second[-1]) - filling
        assert {len(answer) for answer in ends.answers} <= {LINK.answer_bytes}
    if not streams(radio):
        assert answer_sizes(LINK, radio) == (LINK.answer_bytes,)
    ends = Ends(radio, delivery)
    assert ends.node.send(bytes(most + 1), ends.how) is Event.TOO_LONG
    assert ends.node.send(bytes(most), ends.how) is not Event.TOO_LONG


@pytest.mark.parametrize("delivery", ["unconfirmed", "one-way"])
def test_a_long_message_comes_between_short_ones_as_often_as_told(delivery: str) -> None:
    radio = RADIOS["srf"]
    ends = Ends(radio, delivery)
    long, answered = [], []
    for i in range(300):
        before = len(ends.answers)
        if len(ends.send(6)) > 1:
            long.append(i)
        if len(ends.answers) > before:
            answered.append(i)
    assert long == list(range(0, 300, 32))
    assert answered == (list(range(0, 300, 128)) if delivery == "unconfirmed" else [])
    (often, short), *others = forms(LINK, radio, advise.Question(6, 10, delivery=delivery))
    assert (short.name, {other.name for _, other in others}) == ("short", {"long"})
    assert sum(share for share, _ in others) == pytest.approx(1 / 32) and often == pytest.approx(1 - 1 / 32)
    asked = [share for share, other in others if other.confirmed]
    assert asked == ([pytest.approx(1 / 128)] if delivery == "unconfirmed" else [])


def test_a_confirmed_message_is_always_short_after_the_first() -> None:
    ends = Ends(RADIOS["srf"], "confirmed")
    assert [i for i in range(300) if len(ends.send(6)) > 1] == [0]
    question = advise.Question(6, 10, delivery="confirmed")
    ((share, form),) = forms(LINK, RADIOS["srf"], question)
    assert (share, form.sizes, form.confirmed) == (1, (12,), True)


@pytest.mark.parametrize("loss", [0.0, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("message_bytes", [6, 5, 20, 120])
def test_repetitions_under_loss_are_those_of_the_core(message_bytes: int, loss: float) -> None:
    """Messages of 1, 2, 4 and 15 packets, sent by the core over a line that loses packets."""
    radio = RADIOS["srf"]
    fragments = len(usual_form(LINK, radio, message_bytes).sizes)
    ends = Ends(radio, "confirmed")
    ends.send(6)
    ends.loss, count = loss, 2000
    before = len(ends.sent)
    for _ in range(count):
        ends.send(message_bytes)
    told = exchange(fragments, loss, LINK.tries)
    packets = sum((others + 1) * often for others, often in enumerate(told.bursts))
    assert packets == pytest.approx((len(ends.sent) - before) / count, rel=0.04)
    assert told.silences == pytest.approx(ends.silences / count, rel=0.12, abs=0.02)
    assert told.lost == pytest.approx(ends.given_up / count, abs=0.01)
    if not loss:
        assert (packets, told.answers, told.silences, told.lost) == (fragments, 1, 0, 0)


@pytest.mark.parametrize("message_bytes", [6, 20])
def test_unconfirmed_messages_are_lost_as_often_as_told(message_bytes: int) -> None:
    radio = RADIOS["srf"]
    ends = Ends(radio, "one-way")
    ends.send(6)
    ends.loss, ends.arrived = 0.1, 0
    for _ in range(4000):
        ends.send(message_bytes)
    fragments = len(usual_form(LINK, radio, message_bytes).sizes)
    assert 1 - 0.9**fragments == pytest.approx(1 - ends.arrived / 4000, abs=0.025)


def test_a_save_changes_as_many_bytes_as_told() -> None:
    ends = Ends(RADIOS["srf"], "one-way")
    changes, saves, before = 0, 0, ends.node.storage
    for i in range(64 * 400):
        ends.node.send(bytes(6))
        ends.node.packets()
        after = ends.node.storage
        if after != before:
            saves += i >= 64 * 8  # each slot was written once
            changes += (i >= 64 * 8) * sum(a != b for a, b in zip(before, after, strict=True))
            before = after
    assert saves == 400 - 8
    assert changes / saves == pytest.approx(LINK.save_bytes_changed, rel=0.03)


def test_the_units_of_work_are_those_of_the_standards() -> None:
    ccm, ascon = LINK.suites["aes128-ccm8"], LINK.suites["ascon-aead128"]
    for length in (0, 1, 16, 17, 40):
        mac_and_counter = 1 + -(-length // 16)  # of each: B0 and the data; the tag's pad and the data's
        cycles = 100 * 2 * mac_and_counter
        assert unit_cycles(ccm, advise.Point(length, 7, cycles, cycles)) == 100
        rounds = 12 + 8 * (length // 16) + 12  # the last part of a message is followed by the final rounds
        assert unit_cycles(ascon, advise.Point(length, 7, 100 * rounds, 0)) == 100
    assert derive_cycles(ccm, 100, 7) == 7 + (1 + 1) * 100 and prove_cycles(ccm, 100, 7) == 7 + (1 + 2) * 100
    absorbed = 1 + 1 + 1 + 16 // 8 + 1  # start, length and text of the customisation, key, end
    assert derive_cycles(ascon, 100, 7) == 12 * (absorbed + 16 // 8 + 1) * 100  # one more to squeeze 16 bytes
    assert prove_cycles(ascon, 100, 7) == 12 * (absorbed + 32 // 8 + 1) * 100


@needs_tool_set("avr")
def test_the_cycles_are_those_of_the_core_on_an_uno(results: Results, tmp_path: Path) -> None:
    """Within a tenth: what the link does around the cipher is in its own figures, not in the cipher's."""
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "link"))
    from test_link_on_uno import played

    catalog = Catalog.load()
    bodies = catalog.implementations_of("aes128-ccm8", "uno", ["motecrypt"])
    body = next(body for body in bodies if body.variant == "fast")
    cells = bench.cells_for(catalog, catalog.device("uno"), body, message_bytes=[6], placements=["flash"])
    bench.ensure(cells, results, catalog)
    found = advise.candidates_from(catalog, catalog.device("uno"), results.measurements())
    seal = at_length(next(c.points for c in found if c.points), 6)
    assert seal is not None
    core = {step.name: cycles for step, cycles, _ in played(tmp_path, "fast")}
    work = LINK.suites["aes128-ccm8"]
    unit = unit_cycles(work, seal)
    derive = derive_cycles(work, unit, seal.setup_cycles)
    assert seal.setup_cycles + seal.encrypt_cycles == pytest.approx(core["seal"], rel=0.1)
    assert derive == pytest.approx(core["derive"] - core["seal"], rel=0.15)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("answer_bytes = 12", "answer_bytes = 0", "answer_bytes"),
        ("tries = 10", "", "tries"),
        ("tries = 10", "tries = 10\nmore = 1", "more"),
        ("piece_head_bytes = 3", "piece_head_bytes = 3\nmore = 1", "more"),
        ("block_bytes = 16", "block_bytes = 16\nmore = 1", "more"),
        ("pieces_max = 15", "pieces_max = 256", "pieces_max"),
    ],
)
def test_a_damaged_file_is_told_in_one_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    text = (DATA / "link.toml").read_text()
    assert old in text
    (tmp_path / "link.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        read_link(tmp_path / "link.toml")
    assert read_link(DATA / "link.toml") == LINK


def test_a_shelf_life_without_its_source_is_refused(tmp_path: Path) -> None:
    text = (DATA / "batteries.toml").read_text()
    (tmp_path / "batteries.toml").write_text(re.sub('shelf_source = ".*"', "", text, count=1))
    with pytest.raises(InputError, match="'shelf_years' needs its 'shelf_source'"):
        read_supplies(tmp_path / "batteries.toml")


@pytest.mark.parametrize(("text", "share"), [("0", 0), ("2.5", 0.025), (" 30 ", 0.3), ("30.0", 0.3)])
def test_a_loss_is_read_in_per_cent(text: str, share: float) -> None:
    assert advise.loss_share(text, "--loss") == pytest.approx(share)


def test_a_duty_cycle_is_above_nothing_and_at_most_all_of_the_time(tmp_path: Path) -> None:
    text = (DATA / "radios" / "srf.toml").read_text()
    assert RADIOS["srf"].duty_percent == 1 and RADIOS["nrf24"].duty_percent == 100
    for value, fits in ((100, True), (100.1, False), (0, False), (0.1, True)):
        path = tmp_path / "own.toml"
        path.write_text(text.replace("duty_percent = { value = 1,", f"duty_percent = {{ value = {value},"))
        if fits:
            assert advise.radio_part(load_radio(str(path))).duty_percent == value
        else:
            with pytest.raises(InputError, match=r"figure .duty_percent. is .*; expected above 0"):
                load_radio(str(path))
