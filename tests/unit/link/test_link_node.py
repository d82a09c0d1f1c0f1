"""Nodes as in exported libraries: their glue, and their storage in a flash and in a file."""

from __future__ import annotations

import ctypes
import struct
import sys
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import link_ends
from link_beds import (
    FITS,
    MESSAGE,
    NOT_A_BLOCK,
    NOT_NEWER,
    OTHER_RADIO,
    PACKET,
    PAGE,
    SECTOR,
    START,
    Bed,
    PowerLostError,
)
from link_nodes import OPTIONS, PAGES, READING, block, down, fresh, gateway, provisioned, up
from motecrypt.link.native import (
    COMMAND,
    CONFIRMED,
    FILE,
    GATEWAY,
    LONG,
    SHORT,
    STORAGE_BYTES,
    STREAM,
    Event,
    KeyBlock,
    NativeLink,
)

# --- node.c


def test_messages_go_both_ways_and_commands_without_the_links_own_bytes() -> None:
    bed, end = provisioned(), gateway()
    assert bed.send(READING) is Event.WAITING
    assert bed.send(READING) is Event.BUSY
    assert up(bed, end) == [READING]
    assert bed.send(READING) is Event.SENT
    assert up(bed, end) == [READING]
    end.send(b"hello", CONFIRMED | LONG)
    assert down(end, bed) == [Event.MESSAGE]
    assert bed.taken() == (1, b"hello", Event.MESSAGE)
    assert bed.send(b"open", COMMAND | CONFIRMED) is Event.WAITING
    assert up(bed, end) == [b"open"]
    end.send(b"", COMMAND | CONFIRMED)
    assert down(end, bed) == [Event.COMMANDED]
    assert bed.taken() == (2, b"", Event.COMMANDED)
    bed.send(READING)
    assert up(bed, end) == [READING]
    end.send(b"light", COMMAND | CONFIRMED)
    assert down(end, bed) == [Event.COMMANDED]
    assert bed.taken() == (3, b"light", Event.COMMANDED)
    assert not end.waiting


def test_what_the_application_does_not_take_is_refused() -> None:
    for takes, outcome in ((1, Event.ACCEPTED), (0, Event.REFUSED), (2, Event.REFUSED)):  # 2: no function
        bed, end = provisioned(), gateway()
        bed.takes = takes
        bed.begin()
        end.send(b"hello", CONFIRMED | LONG)
        for packet in end.packets():
            bed.receive(packet)
        assert [end.receive(packet) for packet in bed.packets()] == [outcome]
        assert bed.taken()[0] == (takes != 2)


def test_a_part_of_a_file_goes_as_it_is() -> None:
    bed, end = provisioned(), gateway()
    assert bed.send(b"part", CONFIRMED | FILE) is Event.WAITING
    told = [end.receive(packet) for packet in bed.packets()]
    assert told[-1] is Event.FILE_PART and end.message() == b"part"
    assert bed.begin() is Event.NOTHING
    assert bed.send(bytes(MESSAGE), CONFIRMED | FILE) is Event.WAITING


def test_a_part_of_a_file_is_refused() -> None:
    bed, end = provisioned(), gateway()
    end.send(b"part", CONFIRMED | FILE)
    for packet in end.packets():
        bed.receive(packet)
    assert [end.receive(packet) for packet in bed.packets()] == [Event.REFUSED]
    assert bed.taken()[0] == 0


def test_a_message_has_the_room_that_was_given() -> None:
    bed, end = provisioned(), gateway()
    whole = bytes(range(MESSAGE))
    assert bed.send(whole + b"x", LONG) is Event.TOO_LONG
    assert bed.packets() == []
    assert bed.send(whole, LONG | CONFIRMED) is Event.WAITING
    assert up(bed, end) == [whole]
    assert bed.send(whole[4:] + b"x", COMMAND) is Event.TOO_LONG
    end.send(whole, LONG)
    assert down(end, bed) == [Event.MESSAGE]
    assert bed.taken() == (1, whole, Event.MESSAGE)
    assert bed.send(whole[4:], COMMAND | CONFIRMED) is Event.WAITING
    assert up(bed, end) == [whole[4:]]


def test_an_unanswered_message_goes_again_after_the_time_given() -> None:
    bed = provisioned()
    bed.send(READING, CONFIRMED)
    sent = bed.packets()
    assert bed.send(bytes([0xEE]) * MESSAGE, LONG) is Event.BUSY  # and leaves alone what waits
    wait_ms = 250 + 7 * 5
    assert bed.poll(wait_ms - 1) is Event.NOTHING and bed.packets() == []
    assert bed.poll(wait_ms) is Event.NOTHING and bed.packets() == sent
    for turn in range(2, 10):
        assert bed.poll(wait_ms * turn) is Event.NOTHING
    assert bed.poll(wait_ms * 10) is Event.UNCONFIRMED


def test_a_key_block_for_longer_packets_is_refused_at_the_start() -> None:
    bed = fresh()
    bed.begin()
    assert bed.first_provision(block(packet_bytes=PACKET + 1))
    assert bed.begin() is Event.NO_KEY


@pytest.mark.parametrize("packet_bytes", [12, 20])
def test_a_stream_is_cut_into_packets_and_skipped_after_what_is_none(packet_bytes: int) -> None:
    options = OPTIONS | STREAM
    bed, end = provisioned(options=options, packet_bytes=packet_bytes), gateway(options, packet_bytes)
    other = link_ends.begun(block(node=6, options=options | GATEWAY, packet_bytes=packet_bytes))
    now = 0

    def line(data: bytes, pause: int = 0) -> list[Event]:
        nonlocal now
        now += pause
        told = [bed.byte(byte, packet_bytes, now) for byte in data]
        return [event for event in told if event is not Event.NOTHING]

    def packets(of: NativeLink, message: bytes) -> bytes:
        of.send(message, LONG)
        return b"".join(of.packets())

    def first_half(data: bytes) -> bytes:
        return data[: packet_bytes // 2]

    assert line(packets(end, b"one") + packets(end, b"two")) == [Event.MESSAGE, Event.MESSAGE]
    damaged = bytearray(packets(end, b"three"))
    damaged[5] ^= 1
    assert line(bytes(damaged)) == [Event.FORGED]
    assert line(packets(end, b"lost")) == []  # until silence
    assert line(packets(end, b"four"), 20) == [Event.MESSAGE]
    assert line(packets(other, b"not for us") + first_half(packets(end, b"lost"))) == []
    assert line(packets(end, b"five"), 20) == [Event.MESSAGE]
    assert line(first_half(packets(end, b"lost"))) == []
    assert Event.MESSAGE not in line(packets(end, b"six"), 19)
    assert line(packets(end, b"seven"), 20) == [Event.MESSAGE]
    assert bed.taken()[1] == b"seven"
    end.send(b"confirmed", LONG | CONFIRMED)
    assert line(b"".join(end.packets()), 20) == [Event.MESSAGE]
    answer = b"".join(bed.packets())
    assert len(answer) == packet_bytes and answer[12:] == bytes(packet_bytes - 12)  # as long as all packets
    assert end.receive(answer) is Event.ACCEPTED


def test_an_answer_on_a_packet_radio_has_its_own_length() -> None:
    bed, end = provisioned(), gateway()
    end.send(b"confirmed", LONG | CONFIRMED)
    for packet in end.packets():
        bed.receive(packet)
    assert [len(packet) for packet in bed.packets()] == [12]


# --- new keys by a cable


def test_new_keys_are_taken_once_and_only_of_a_later_generation() -> None:
    bed = fresh()
    assert bed.begin() is Event.NO_KEY
    assert bed.provision(block(3).encode()) is Event.NOTHING
    assert bed.begin() is Event.NOTHING
    assert bed.send(READING) is Event.WAITING
    bed.packets()
    before = bed.storage
    for again in (3, 2):
        assert bed.refuses(block(again).encode()) == NOT_NEWER
        assert bed.provision(block(again).encode()) is Event.REFUSED
        assert bed.storage == before
    assert bed.begin() is Event.NOTHING
    assert bed.refuses(block(4).encode()) == FITS and bed.storage == before
    assert bed.provision(block(4).encode()) is Event.NOTHING
    assert bed.begin() is Event.NOTHING
    assert bed.storage[:24] == block(4).encode()


def test_the_keys_that_are_there_now_count_not_those_that_were() -> None:
    bed = provisioned(generation=5)
    other = link_ends.provisioned(KeyBlock(5, OPTIONS, PACKET, 7, bytes(16)))
    numbers = [struct.unpack_from("<I", page, STORAGE_BYTES)[0] for page in pages(bed)]
    newest = max(number for number in numbers if number != 2**32 - 1)
    put_page(bed, newest % PAGES, page_of(other.storage, newest))
    assert bed.provision(block(7).encode()) is Event.REFUSED
    assert bed.provision(block(8).encode()) is Event.NOTHING


def test_a_key_without_counters_counts_as_there() -> None:
    bed = provisioned(generation=300)
    bed.store(28, b"\xff" * 160)
    assert bed.begin() is Event.NO_STATE
    assert bed.provision(block(300).encode()) is Event.REFUSED
    assert bed.provision(block(301).encode()) is Event.NOTHING


@pytest.mark.parametrize(
    ("at", "wrong", "right", "reason"),
    [
        (0, 1, 2, NOT_A_BLOCK),
        (0, 4, 3, NOT_A_BLOCK),
        (1, 64, 63, NOT_A_BLOCK),
        (3, 11, 12, OTHER_RADIO),
        (3, PACKET + 1, PACKET, OTHER_RADIO),
    ],
)
def test_a_block_that_this_program_cannot_use_is_refused(
    at: int, wrong: int, right: int, reason: int
) -> None:
    for value, why, event in ((wrong, reason, Event.REFUSED), (right, FITS, Event.NOTHING)):
        bed = fresh()
        bed.begin()
        given = bytearray(block().encode())
        given[at] = value
        assert bed.refuses(bytes(given)) == why
        assert bed.provision(bytes(given)) is event


@pytest.mark.parametrize(("options", "packet_bytes"), [(OPTIONS | STREAM, 12), (OPTIONS, 13), (SHORT, 12)])
def test_a_program_for_one_radio_refuses_the_blocks_of_others(options: int, packet_bytes: int) -> None:
    fixed = (f"LINK_OPTIONS={OPTIONS}", "LINK_PACKET_BYTES=12", "LINK_ANSWER_MS=100")
    bed = fresh(*fixed)
    bed.begin()
    other = block(options=options, packet_bytes=packet_bytes).encode()
    assert bed.refuses(other) == OTHER_RADIO
    assert bed.provision(other) is Event.REFUSED
    assert bed.provision(block(packet_bytes=12).encode()) is Event.NOTHING
    assert bed.begin() is Event.NOTHING
    bed.send(READING, CONFIRMED)
    sent = bed.packets()
    assert bed.poll(134) is Event.NOTHING and bed.packets() == []
    assert bed.poll(135) is Event.NOTHING and bed.packets()[-1] == sent[-1]


def test_a_storage_that_keeps_nothing_is_told() -> None:
    bed = fresh()
    bed.begin()
    bed.stuck[START : START + SECTOR] = [1] * SECTOR
    assert bed.provision(block().encode()) is Event.STORAGE


# --- flash.c


def pages(bed: Bed) -> list[bytes]:
    data = bytes(bed.flash)[START : START + 2 * SECTOR]
    return [data[at : at + PAGE] for at in range(0, len(data), PAGE)]


def page_of(image: bytes, number: int) -> bytes:
    """A page as docs/link.md specifies."""
    told = image + struct.pack("<I", number)
    return (told + struct.pack("<I", zlib.crc32(told))).ljust(PAGE, b"\xff")


def image_of(number: int) -> bytes:
    return bytes((number + i) % 256 for i in range(STORAGE_BYTES))


def test_each_write_is_a_page_and_the_newest_counts() -> None:
    bed = fresh()
    bed.begin()
    image = bytearray(b"\xff" * STORAGE_BYTES)
    assert bed.storage == image
    erasures = bed.library.bed_erasures()
    for number in range(70):
        bed.store(number, bytes([number, 255 - number]))
        image[number : number + 2] = [number, 255 - number]
        assert pages(bed)[number % PAGES] == page_of(bytes(image), number)
        assert bed.storage == image
        assert bed.library.bed_erasures() - erasures == number // 16 + 1
        again = Bed()
        again.begin()
        assert again.storage == image
    assert set(bytes(bed.flash)[:START]) == set(bytes(bed.flash)[START + 2 * SECTOR :]) == {0xFF}


def test_what_a_flash_holds_from_before_is_no_page() -> None:
    bed = fresh(content=0)
    assert bed.begin() is Event.NO_KEY
    assert bed.storage == b"\xff" * STORAGE_BYTES
    bed.store(0, b"\x02")
    assert pages(bed)[0] == page_of(b"\x02".ljust(STORAGE_BYTES, b"\xff"), 0)
    assert bed.storage[0] == 2


def put_page(bed: Bed, place: int, page: bytes) -> None:
    bed.flash[START + place * PAGE : START + (place + 1) * PAGE] = list(page)


@pytest.mark.parametrize(
    ("there", "newest"),
    [
        ({0: 0}, 0),
        ({0: 0, 1: 1}, 1),
        ({15: 15, 16: 16}, 16),
        ({31: 31, 0: 32}, 0),
        ({31: 31, 0: 32, 5: 5}, 0),
        ({0: 64, 31: 63}, 0),
        ({3: 35, 4: 36, 20: 20}, 4),
        ({7: 2**32 - 25}, 7),
        ({7: 8}, None),  # not the place of that number
        ({8: 40, 9: 8}, 8),
    ],
)
def test_the_greatest_number_counts_in_its_own_place(there: dict[int, int], newest: int | None) -> None:
    bed = fresh()
    for place, number in there.items():
        put_page(bed, place, page_of(image_of(place), number))
    bed.begin()
    assert bed.storage == (b"\xff" * STORAGE_BYTES if newest is None else image_of(newest))


def test_to_find_the_newest_page_each_is_read_once() -> None:
    bed = fresh()
    assert ctypes.c_uint32.in_dll(bed.library, "bed_flash_bytes").value == 2 * SECTOR
    bed.begin()
    erased = bed.library.bed_reads()
    bed.begin()
    assert bed.library.bed_reads() - erased == PAGES  # there is no page that the key could be read from


def test_what_was_found_before_is_forgotten() -> None:
    bed = fresh()
    put_page(bed, 4, page_of(image_of(4), 36))
    bed.begin()
    assert bed.storage == image_of(4)
    put_page(bed, 4, b"\xff" * PAGE)
    put_page(bed, 3, page_of(image_of(3), 3))
    bed.begin()
    assert bed.storage == image_of(3)
    put_page(bed, 3, b"\xff" * PAGE)
    put_page(bed, 0, b"\x11" * PAGE)
    bed.begin()
    assert bed.storage == b"\xff" * STORAGE_BYTES


def test_a_flipped_bit_leaves_the_page_before() -> None:
    bed = fresh()
    for place in (3, 4):
        put_page(bed, place, page_of(image_of(place), place))
    flash = bed.flash
    for bit in range(8 * (STORAGE_BYTES + 8)):
        flash[START + 4 * PAGE + bit // 8] ^= 1 << bit % 8
        bed.begin()
        assert bed.storage == image_of(3), bit
        flash[START + 4 * PAGE + bit // 8] ^= 1 << bit % 8
    flash[START + 4 * PAGE] ^= 1
    bed.begin()
    bed.store(0, b"\x77")
    assert pages(bed)[5] == page_of(
        b"\x77" + image_of(3)[1:], 5
    )  # the damaged one's number is not given again


@pytest.mark.parametrize("at", [0, 31, 32, 195, 196, 255])
def test_a_page_that_is_not_erased_is_passed_over(at: int) -> None:
    bed = fresh()
    put_page(bed, 0, page_of(image_of(0), 0))
    bed.flash[START + PAGE + at] = 0xFE
    bed.begin()
    bed.store(2, b"\x99")
    changed = image_of(0)[:2] + b"\x99" + image_of(0)[3:]
    assert pages(bed)[2] == page_of(changed, 2) and bed.storage == changed
    assert pages(bed)[1][at] == 0xFE


def test_worn_pages_are_passed_over_and_a_worn_flash_keeps_the_old() -> None:
    bed = fresh()
    put_page(bed, 13, page_of(image_of(0), 13))
    bed.stuck[START + 15 * PAGE + 7] = 0x80
    for worn in range(16, 31):
        bed.stuck[START + worn * PAGE + 190] = 0x01  # a bit of the number or its CRC, or erased
    put_page(bed, 15, bytes(PAGE))
    bed.begin()
    image = bytearray(image_of(0))
    for number, value in ((14, 1), (31, 2)):
        erasures = bed.library.bed_erasures()
        bed.store(0, bytes([value]))
        image[0] = value
        assert pages(bed)[number] == page_of(bytes(image), number)
        assert bed.library.bed_erasures() - erasures == (number == 31)
    bed.stuck[START : START + SECTOR] = [0x01] * SECTOR
    writes = bed.library.bed_writes()
    bed.store(0, b"\x03")
    assert bed.storage == image
    assert bed.library.bed_writes() == writes  # nothing there is erased any more
    assert pages(bed)[31] == page_of(bytes(image), 31)


@pytest.mark.parametrize("at", [0, STORAGE_BYTES - 1, STORAGE_BYTES, STORAGE_BYTES + 4, STORAGE_BYTES + 7])
def test_a_page_that_does_not_keep_what_is_written_is_passed_over(at: int) -> None:
    bed = fresh()
    bed.lazy[START + at] = 0xFF  # which no check for an erased page shows
    bed.begin()
    bed.store(0, bytes(STORAGE_BYTES))
    assert pages(bed)[1] == page_of(bytes(STORAGE_BYTES), 1) and bed.storage == bytes(STORAGE_BYTES)
    assert pages(bed)[0][at] == 0xFF


def test_a_sector_that_is_worn_behind_its_first_page_is_left() -> None:
    bed = fresh()
    put_page(bed, 0, page_of(image_of(0), 0))
    for worn in range(1, 16):
        bed.flash[START + worn * PAGE] = 0
    bed.begin()
    bed.store(0, b"\x03")
    changed = b"\x03" + image_of(0)[1:]
    assert pages(bed)[16] == page_of(changed, 16) and bed.storage == changed


def test_power_may_go_at_any_moment_of_any_write() -> None:
    """After each cut the storage is the one before or the one after, and the next write finds its place."""
    for written in (0, 1, 14, 15, 16, 30, 31, 32):
        steps = 0
        while steps < 2000:  # a page has 256 bytes, a sector's erasure 64 parts
            bed = fresh()
            bed.begin()
            for number in range(written):
                bed.store(0, bytes([number]))
            before = bed.storage
            kept = bytes(bed.flash)
            after = b"\xaa" + before[1:]
            bed.cut_after(steps)
            try:
                bed.store(0, b"\xaa")
            except PowerLostError:
                again = Bed()
                again.begin()
                assert again.storage in (before, after), (written, steps)
                assert written == 0 or page_of(before, written - 1) in pages(again) or again.storage == after
                again.store(1, b"\xbb")
                assert again.storage[1] == 0xBB
                last = Bed()
                last.begin()
                assert last.storage[1] == 0xBB
                steps += 1 if steps < 3 else 37
                continue
            bed.cut_after(-1)
            assert bed.storage == after and bytes(bed.flash) != kept
            break
        assert 256 < steps < 2000, written


def test_the_link_over_a_flash_uses_no_counter_twice_whenever_power_goes() -> None:
    seen: set[bytes] = set()
    bed = provisioned()
    for steps in range(0, 40_000, 331):
        bed.cut_after(steps % 1201)
        try:
            for _ in range(70):
                assert bed.send(READING, LONG) is Event.SENT
                packet = b"".join(bed.packets())
                assert packet not in seen
                seen.add(packet)
        except PowerLostError:
            pass
        bed.cut_after(-1)
        bed = Bed()
        assert bed.begin() is Event.NOTHING
    assert len(seen) > 300
