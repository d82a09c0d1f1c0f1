"""The paper's modes, and files as safe messages."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from Crypto.Cipher import AES
from Crypto.Util.Padding import pad
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.errors import MotecryptError
from motecrypt.link.files import FileCollector, FileReceived, file_messages, plain
from motecrypt.link.modes import MODES, decode, encode, encoded_bytes

KEY = bytes(range(32))


@given(st.sampled_from(sorted(MODES)), st.binary(max_size=300), st.sampled_from([12, 24, 50]))
def test_every_mode_gives_the_message_back(mode: str, message: bytes, packet_bytes: int) -> None:
    sent = encode(mode, KEY, message, packet_bytes)
    assert decode(mode, KEY, sent) == message
    assert len(sent) == encoded_bytes(mode, len(message), packet_bytes)
    assert mode != "P" or len(sent) % packet_bytes == 0


def test_mode_c_is_cbc_by_the_book() -> None:
    expected = AES.new(KEY, AES.MODE_CBC, bytes(16)).encrypt(pad(b"fourteen bytes", 16))
    assert encode("C", KEY, b"fourteen bytes") == expected.hex().upper().encode()
    assert encode("P", KEY, b"fourteen bytes") == expected.hex().upper().encode() + b"++++"


def test_equal_messages_show_without_an_iv_and_not_with_one() -> None:
    assert encode("C", KEY, b"alarm") == encode("C", KEY, b"alarm")
    assert encode("B", KEY, b"alarm") != encode("B", KEY, b"alarm")


@pytest.mark.parametrize("mode", ["C", "P", "B"])
@pytest.mark.parametrize("received", [b"", b"+", b"xyz", b"\xff" * 33, b"A" * 31, bytes(16)])
def test_what_is_no_message_is_one_line(mode: str, received: bytes) -> None:
    with pytest.raises(MotecryptError, match=f"mode {mode}"):
        decode(mode, KEY, received)


def collect(folder: Path, messages: list[bytes]) -> list[bytes | FileReceived]:
    collector = FileCollector(folder)
    return [item for item in map(collector.take, messages) if item is not None]


@pytest.mark.parametrize("length", [0, 1, 51, 52, 1000])
def test_files_come_together_in_any_order_and_when_doubled(tmp_path: Path, length: int) -> None:
    content = bytes(index * 7 % 256 for index in range(length))
    announcement, *pieces = file_messages("data.bin", content, 60)
    messages = [announcement, *reversed(pieces)]
    if len(pieces) > 1:
        messages.insert(2, pieces[-1])
    items = collect(tmp_path, messages)
    assert items == [FileReceived(tmp_path / "data.bin", length)]
    assert (tmp_path / "data.bin").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["data.bin"]


@pytest.mark.parametrize("longest", [45, 60, 141, 142, 200, 2000])
def test_no_message_of_a_file_is_longer_than_asked(longest: int) -> None:
    content = bytes(index % 251 for index in range(5000))
    announcement, *pieces = file_messages("x" * 300, content, longest)
    assert announcement == bytes([1]) + hashlib.sha256(content).digest()[:4] + (5000).to_bytes(
        4, "big"
    ) + hashlib.sha256(content).digest() + b"x" * min(100, longest - 41)
    assert len(announcement) <= longest
    assert all(len(piece) == longest for piece in pieces[:-1]) and 9 < len(pieces[-1]) <= longest
    place = 0
    for piece in pieces:
        assert piece[0] == 2 and piece[1:5] == announcement[1:5]
        assert piece[5:9] == place.to_bytes(4, "big") and piece[9:] == content[place : place + longest - 9]
        place += longest - 9


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", "a\0b/passwd"])
def test_names_from_the_air_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    announcement, *pieces = file_messages("x", b"content", 200)
    (item,) = collect(folder, [announcement[:-1] + name.encode(), *pieces])
    assert isinstance(item, FileReceived) and item.path.parent == folder
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    for _ in range(3):
        collect(tmp_path, list(file_messages("log.txt", b"line", 100)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log-2.txt", "log-3.txt", "log.txt"]


def test_a_wrong_piece_never_becomes_a_file(tmp_path: Path) -> None:
    announcement, piece = file_messages("x", b"content", 200)
    with pytest.raises(MotecryptError, match="wrong digest"):
        collect(tmp_path, [announcement, piece[:-1] + b"!"])
    with pytest.raises(MotecryptError, match="beyond its end"):
        collect(tmp_path, [announcement, piece + b"more"])
    with pytest.raises(MotecryptError, match="announcement is missing"):
        collect(tmp_path, [piece])
    with pytest.raises(MotecryptError, match="unknown kind"):
        collect(tmp_path, [b"\x09what"])
    assert not (tmp_path / "x").exists()


def test_so_many_files_arrive_at_a_time_and_the_oldest_goes(tmp_path: Path) -> None:
    files = [list(file_messages(f"file{number}", bytes([number]) * 100, 80)) for number in range(9)]
    collector = FileCollector(tmp_path)
    for announcement, *_ in files[:8]:
        assert collector.take(announcement) is None
    assert len(list(tmp_path.glob(".*.part"))) == 8
    assert collector.take(files[8][0]) is None
    assert len(list(tmp_path.glob(".*.part"))) == 8
    with pytest.raises(MotecryptError, match="announcement is missing"):
        collector.take(files[0][1])
    for number in (1, 8):
        first, second = (collector.take(piece) for piece in files[number][1:])
        assert first is None and second == FileReceived(tmp_path / f"file{number}", 100)


def test_a_hidden_file_that_someone_removed_does_not_stop_the_next(tmp_path: Path) -> None:
    files = [list(file_messages(f"file{number}", bytes([number]) * 100, 80)) for number in range(9)]
    collector = FileCollector(tmp_path)
    for announcement, *_ in files[:8]:
        collector.take(announcement)
    for part in tmp_path.glob(".*.part"):
        part.unlink()
    assert [collector.take(message) for message in files[8]][-1] == FileReceived(tmp_path / "file8", 100)


def test_a_piece_that_comes_twice_does_not_count_twice(tmp_path: Path) -> None:
    announcement, one, two = file_messages("x", bytes(range(100)), 59)
    collector = FileCollector(tmp_path)
    for message in (announcement, one, one, one):
        assert collector.take(message) is None
    assert collector.take(two) == FileReceived(tmp_path / "x", 100)


@pytest.mark.parametrize("cut", [1, 5, 8, 20, 40])
def test_half_an_announcement_or_piece_is_refused(tmp_path: Path, cut: int) -> None:
    announcement, piece = file_messages("", b"content", 200)
    with pytest.raises(MotecryptError, match="unknown kind"):
        collect(tmp_path, [announcement[:cut]])
    if cut < 9:
        with pytest.raises(MotecryptError, match="unknown kind"):
            collect(tmp_path, [piece[:cut]])
    with pytest.raises(MotecryptError, match=r"unknown kind \(empty\)"):
        collect(tmp_path, [b""])


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/.."])
def test_a_file_without_a_name_gets_one(tmp_path: Path, name: str) -> None:
    announcement, piece = file_messages("", b"content", 200)
    assert collect(tmp_path, [announcement + name.encode(), piece]) == [FileReceived(tmp_path / "unnamed", 7)]


def test_the_papers_metrics() -> None:
    from motecrypt.link import metrics

    assert metrics.throughput_kb_s(3000, 6) == 500
    assert metrics.time_difference_ms(13.5, 6) == 7.5
    assert metrics.expansion(48, 20) == 2.4


def test_packets_of_the_papers_modes_by_hand() -> None:
    assert [encoded_bytes("B", length) for length in (0, 15, 16, 31)] == [32, 32, 48, 48]
    assert [encoded_bytes("C", length) for length in (0, 15, 16)] == [32, 32, 64]
    assert [encoded_bytes("P", length, 12) for length in (0, 16)] == [36, 72]
    assert encoded_bytes("P", 0, 32) == 32 and encoded_bytes("T", 7) == 7
    assert [(mode.letter, mode.keyed) for mode in MODES.values()] == [
        ("T", False),
        ("C", True),
        ("P", True),
        ("B", True),
    ]


def test_a_plain_message_is_itself(tmp_path: Path) -> None:
    assert collect(tmp_path, [plain(b""), plain(b"hello")]) == [b"", b"hello"]
