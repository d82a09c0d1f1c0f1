"""The stream reader of this computer next to the one in C: the same packets of the same bytes."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from link_ports import stream_packets
from motecrypt.link.stream import SILENCE_MS, StreamReader

NONE = 0xEE
"""The first byte of what is no packet, in the C reader's harness."""


def read(packet_bytes: int, chunks: list[tuple[int, bytes]]) -> tuple[list[bytes], int]:
    """What is read as packets in chunks that come at times in ms, and how many bytes were skipped."""
    reader, found = StreamReader(packet_bytes), []
    for now_ms, data in chunks:
        for packet in reader.packets(data, now_ms):
            if packet[0] == NONE:
                reader.slip()
            found.append(packet)
    return found, reader.skipped_bytes


def test_it_reads_what_the_one_in_c_reads() -> None:
    random = Random("streams")
    lost = 0
    for _ in range(300):
        packet_bytes, now_ms = random.randrange(3, 20), 0
        chunks: list[tuple[int, bytes]] = []
        for _ in range(random.randrange(1, 12)):
            now_ms += random.choice((0, 1, 5, SILENCE_MS - 1, SILENCE_MS, SILENCE_MS + 1, 300))
            data = random.choices((1, 2, 3, NONE), (9, 9, 9, 1), k=random.randrange(3 * packet_bytes))
            chunks.append((now_ms, bytes(data)))
        timed = [(at, byte) for at, data in chunks for byte in data]
        found, skipped = read(packet_bytes, chunks)
        assert found == stream_packets(packet_bytes, timed)
        assert packet_bytes * len(found) + skipped <= len(timed)
        lost += skipped
    assert lost > 1000


def test_a_packet_begins_after_silence_or_behind_a_packet() -> None:
    assert read(3, [(0, b"ab"), (19, b"cabcd"), (39, b"efg"), (58, b"h")]) == ([b"abc", b"abc", b"efg"], 1)
    assert read(3, [(5, b"ab"), (25, b"c"), (44, b"de")]) == ([b"cde"], 2)
    assert SILENCE_MS == 20


def test_nothing_is_no_silence() -> None:
    assert read(3, [(0, b"ab"), (15, b""), (25, b"cd"), (44, b"efg")]) == ([b"cde"], 2)


def test_behind_what_is_no_packet_all_is_skipped_to_the_next_silence() -> None:
    none = bytes([NONE])
    assert read(2, [(0, none + b"xabab"), (10, b"cd"), (29, b"e"), (49, b"fg")]) == ([none + b"x", b"fg"], 7)


def test_a_reader_counts_silence_from_the_clocks_beginning() -> None:
    for now_ms, found in ((19, []), (20, [b"ab"])):
        reader = StreamReader(2)
        reader.slip()
        assert list(reader.packets(b"ab", now_ms)) == found
        assert reader.skipped_bytes == 2 - 2 * len(found)
