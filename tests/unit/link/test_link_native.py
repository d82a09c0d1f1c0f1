"""The link core in the host's programs (native.c): what it keeps, refuses and returns."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_model as model
from link_ports import FaultyLink
from motecrypt.link.native import (
    COMMAND,
    CONFIRMED,
    FILE,
    LISTENS,
    LONG,
    SHORT,
    Event,
    NativeLink,
    Suite,
    derive,
    link_library,
    open_library,
)

LINK = model.Model(1, bytes(range(16)), 5, SHORT | LISTENS, 32, 1)
UP, DOWN = 0, 1
ERASED = b"\xff" * 20


def host_end(gateway: bool = True, packet_bytes: int = 255, node: int = 5, send: int = 0) -> NativeLink:
    link = replace(LINK, packet_bytes=packet_bytes, node=node)
    made = NativeLink(open_library(link_library("aes128-ccm")), 100)
    storage = link.key_block(gateway) + 2 * link.slot(send, 0) + 6 * ERASED
    assert made.begin(storage) is Event.NOTHING
    return made


def test_a_host_keeps_128_packets_of_255_bytes_until_they_are_fetched() -> None:
    made = host_end()
    for pieces in 8 * [15] + [8]:
        assert made.send(bytes(252 * pieces - 12)) is Event.SENT
    assert made.send(b"no room", LONG) is Event.SENT
    packets = made.packets()
    assert [len(packet) for packet in packets] == 128 * [255]
    assert made.packets() == []
    # 256 bytes are left: 127 and a length byte fit, then 128 and a length byte do not.
    for pieces in 8 * [15] + [7]:
        made.send(bytes(252 * pieces - 12))
    for length in (127, 128, 127):
        assert made.send(bytes(length - 3 - 12), LONG) is Event.SENT
    assert [len(packet) for packet in made.packets()] == 127 * [255] + [127, 127]


def test_a_host_refuses_what_has_no_room() -> None:
    made = FaultyLink()
    link = replace(LINK, packet_bytes=255)
    assert made.begin(link.key_block(False) + 2 * link.slot(0, 0) + 6 * ERASED) is Event.NOTHING
    longest = 15 * 252 - 12
    for length, how in ((longest + 1, LONG), (2**16 - 1, LONG), (longest - 3, COMMAND), (longest, COMMAND)):
        assert made.send(bytes(length), how) is Event.TOO_LONG
    assert made.packets() == []
    for length, how in ((longest, 0), (longest - 4, COMMAND | CONFIRMED)):
        assert made.send(bytes(length), how) in (Event.SENT, Event.WAITING)
        assert len(made.packets()) == 15
    first = made.poll(135), made.packets()
    assert made.send(bytes([0xEE]) * 100) is Event.BUSY
    assert (made.poll(270), made.packets()) == first, "what waits is as it was"


def test_a_host_is_told_what_a_link_waits_for_and_whether_storage_was_written() -> None:
    made, link = host_end(send=64), replace(LINK, packet_bytes=255)
    assert not made.waiting and not made.asked and not made.stored
    assert made.send(b"at this time", CONFIRMED) is Event.WAITING
    assert made.waiting and not made.asked and made.stored
    made.stored = False
    assert made.send(b"later", CONFIRMED) is Event.BUSY and not made.stored
    (packet,) = link.long(UP, 0, bytes(4) + b"go", CONFIRMED | COMMAND).packets
    assert made.receive(packet) is Event.NOTHING, "no fresh command"
    (packet,) = link.long(UP, 1, (64).to_bytes(4, "little") + b"go", CONFIRMED | COMMAND).packets
    assert made.receive(packet) is Event.COMMANDED and made.message() == b"go"
    assert made.waiting and made.asked and made.stored
    (packet,) = link.long(UP, 2, b"plain", 0).packets
    assert made.receive(packet) is Event.MESSAGE and made.message() == b"plain" and not made.asked
    (packet,) = link.long(UP, 3, b"file", CONFIRMED | FILE).packets
    assert made.receive(packet) is Event.FILE_PART and made.message() == b"file"
    tag = link.long(DOWN, 64, b"at this time", CONFIRMED).full_tag
    assert made.receive(link.answer(DOWN, 64, tag, model.ACCEPTED, 0)) is Event.ACCEPTED
    assert not made.waiting and made.asked


def test_a_host_waits_for_the_time_that_it_was_given() -> None:
    made = host_end()
    made.at(65500)
    assert made.send(b"x", CONFIRMED) is Event.WAITING
    sent = made.packets()
    assert made.poll(65599) is Event.NOTHING and made.packets() == []
    assert made.poll(65600) is Event.NOTHING and made.packets() == sent
    assert (made.epoch, made.salt, made.version) == (0, made.generation, 3)
    assert made.renew(0xFEDCBA98, 0xFACE) is Event.WAITING
    assert (made.epoch, made.salt) == (0xFEDCBA98, 0xFACE)


@pytest.mark.parametrize("suite", ["aes128-ccm", "ascon-aead128"])
def test_a_host_derives_the_keys_of_the_specification(suite: Suite) -> None:
    key, number = bytes(range(3, 19)), model.SUITES[suite]
    for use, node, generation, epoch in (
        (4, 5, 0x0102, 0x03040506),
        (2 << 5 | 8, 62, 0xFFFF, 0xFFFFFFFF),
        ((4 << 5) - 1, 0, 1, 0x01000000),
    ):
        expected = model.derive(number, key, use, node, generation, epoch)
        assert derive(suite, key, use, node, generation, epoch) == expected
    for use in (4 << 5, 5 << 5 | 4, 6 << 5, 255):
        expected = model.derive(number, key, use, 5, 7, 0)
        assert derive(suite, key, use, 5, 7, 0xFFFFFFFF) == expected, "without the epoch"
