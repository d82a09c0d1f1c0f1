"""The paper's modes, and files as safe messages."""

from __future__ import annotations

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


def test_a_plain_message_is_itself(tmp_path: Path) -> None:
    assert collect(tmp_path, [plain(b""), plain(b"hello")]) == [b"", b"hello"]
