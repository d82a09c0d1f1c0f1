"""The host's requests to the file firmware, byte by byte (docs/files.md), and how it reads the answers."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.frames import Frames, ProtocolError, decode, encode
from motecrypt.simulate import file_node as node_module
from motecrypt.simulate.file_node import FileNode, JobRan, NodeFileError, Storage
from motecrypt.simulate.runners.protocol import WALL

Answer = Callable[[str, bytes], tuple[str, bytes]]


class Firmware:
    """A pipe to firmware that answers as a test says."""

    clock = WALL

    def __init__(self, answer: Answer, greeting: bytes = b"") -> None:
        self.asked: list[tuple[str, bytes]] = []
        self._answer, self._frames, self._outbox = answer, Frames(), greeting

    def write(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            sequence, kind, payload = decode(body)
            self.asked.append((kind, payload))
            self._outbox += encode(sequence, *self._answer(kind, payload))

    def read(self, deadline: float) -> bytes:
        data, self._outbox = self._outbox, b""
        return data


def status(number: int) -> tuple[str, bytes]:
    return "s", struct.pack("<i", number)


def good(kind: str, payload: bytes) -> tuple[str, bytes]:
    return status(0)


def test_the_greeting_tells_clock_and_blocks() -> None:
    payload = struct.pack("<III", 125_000_000, 4096, 384)
    assert FileNode(Firmware(good, encode(0, "h", payload))).wait_greeting() == Storage(
        125_000_000, 4096, 384
    )
    for bad in (
        encode(0, "h", payload + b"\0"),
        encode(0, "h", payload[:-1]),
        encode(0, "s", payload),
        encode(0, "d", payload),
    ):
        with pytest.raises(ProtocolError, match="greeted with"):
            FileNode(Firmware(good, bad)).wait_greeting()


def test_format_and_mount() -> None:
    firmware = Firmware(good)
    node = FileNode(firmware)
    node.format()
    node.mount()
    assert firmware.asked == [("F", b""), ("M", b"")]


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (-1, "error -1"),
        (-2, "no such file"),
        (-5, "storage failed"),
        (-28, "no space left"),
        (-84, "no file system"),
        (-200, "not genuine"),
        (-201, "too short"),
        (-202, "does not understand"),
        (-203, "library refused"),
    ],
)
def test_every_error_has_its_words_and_number(number: int, said: str) -> None:
    job = struct.pack("<iIII", number, 1, 2, 3)
    data = struct.pack("<i", number) + b"data"
    answers = {"J": ("j", job), "G": ("d", data), "D": ("d", data)}
    node = FileNode(Firmware(lambda kind, payload: answers.get(kind, status(number))))
    calls: list[Callable[[], object]] = [
        node.format,
        node.mount,
        lambda: node.write("name", b"x"),
        lambda: node.read("name"),
        lambda: node.job("aes256-gcm", "from", "to", bytes(16)),
        lambda: node.dump(Storage(1, 4, 1)),
    ]
    for call in calls:
        with pytest.raises(NodeFileError, match=said) as told:
            call()
        assert told.value.status == number


@pytest.mark.parametrize("size", [0, 1, 2047, 2048, 2049, 4096, 5000])
def test_a_file_is_written_in_pieces_with_a_first_and_a_last(size: int) -> None:
    firmware, content = Firmware(good), bytes(index % 251 for index in range(size))
    FileNode(firmware).write("log.txt", content)
    assert {kind for kind, _ in firmware.asked} == {"W"}
    flags = [payload[0] for _, payload in firmware.asked]
    count = max(1, -(-size // 2048))
    assert flags == ([3] if count == 1 else [1, *[0] * (count - 2), 2])
    assert all(payload[1:9] == b"\x07log.txt" for _, payload in firmware.asked)
    pieces = [payload[9:] for _, payload in firmware.asked]
    assert b"".join(pieces) == content and all(len(piece) == 2048 for piece in pieces[:-1])


def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_module, "FILE_BYTES_MAX", 4097)
    pieces = [bytes(2048)] * 3
    monkeypatch.setattr(FileNode, "_data", lambda *_: pieces.pop())
    with pytest.raises(ProtocolError, match=r"log\.txt: continues after 4,097 bytes"):
        FileNode(Firmware(good)).read("log.txt")
    monkeypatch.setattr(node_module, "FILE_BYTES_MAX", 4096)
    pieces = [b"", bytes(2048), bytes(2048)]
    assert FileNode(Firmware(good)).read("log.txt") == bytes(4096)


def test_a_file_has_64_mib_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    for length, taken in ((1 << 26, True), ((1 << 26) + 1, False)):
        pieces = [bytes(length), b""]
        monkeypatch.setattr(FileNode, "_data", lambda *_: pieces.pop(0))  # noqa: B023
        if taken:
            assert len(FileNode(Firmware(good)).read("log.txt")) == length
        else:
            with pytest.raises(ProtocolError, match=r"log\.txt: continues after 67,108,864 bytes"):
                FileNode(Firmware(good)).read("log.txt")


def test_a_status_above_zero_is_no_error() -> None:
    answers = {"J": ("j", struct.pack("<iIII", 1, 2, 3, 4)), "G": ("d", struct.pack("<i", 1) + b"data")}
    node = FileNode(Firmware(lambda kind, payload: answers.get(kind, status(1))))
    node.mount()
    assert node.read("name") == b"data"
    assert node.job("published", "from", "to", bytes(16)) == JobRan(2, 3, 4)


def test_an_answer_that_is_too_short_is_refused() -> None:
    answers = {"J": ("j", bytes(15)), "G": ("d", bytes(3)), "D": ("d", b"")}
    node = FileNode(Firmware(lambda kind, payload: answers.get(kind, ("s", bytes(2)))))
    calls: list[tuple[Callable[[], object], str]] = [
        (node.mount, "2 bytes; expected 4"),
        (lambda: node.read("name"), "3 bytes; expected 4"),
        (lambda: node.dump(Storage(1, 4, 1)), "0 bytes; expected 4"),
        (lambda: node.job("published", "from", "to", bytes(16)), "15 bytes; expected 16"),
    ]
    for call, said in calls:
        with pytest.raises(ProtocolError, match=rf"an answer of {said}$"):
            call()


@pytest.mark.parametrize("chunk_bytes", [0, 4095, 4097])
def test_chunks_are_powers_of_two(chunk_bytes: int) -> None:
    firmware = Firmware(good)
    with pytest.raises(InputError, match="give a power of two"):
        FileNode(firmware).job("aes256-gcm", "from", "to", bytes(32), chunk_bytes=chunk_bytes)
    assert not firmware.asked


@pytest.mark.parametrize("length", [2048, 2049, 5000])  # of one that gives more than it was asked for, too
def test_after_a_short_piece_nothing_is_asked_for(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [bytes(length), b"end"]
    monkeypatch.setattr(FileNode, "_data", lambda *_: pieces.pop(0))
    assert FileNode(Firmware(good)).read("log.txt") == bytes(length) + b"end"


@pytest.mark.parametrize("size", [0, 1, 2047, 2048, 2049, 5000])
def test_a_file_is_read_until_a_short_piece(size: int) -> None:
    content = bytes(index % 251 for index in range(size))

    def answer(kind: str, payload: bytes) -> tuple[str, bytes]:
        start, most = struct.unpack_from("<IH", payload)
        assert (kind, most, payload[6:]) == ("G", 2048, b"\x04name")
        return "d", struct.pack("<i", 0) + content[start : start + most]

    firmware = Firmware(answer)
    assert FileNode(firmware).read("name") == content
    assert len(firmware.asked) == size // 2048 + 1


def test_a_job_in_full() -> None:
    firmware = Firmware(lambda kind, payload: ("j", struct.pack("<iIII", 0, 123_456, 789, 4321)))
    node = FileNode(firmware)
    assert node.job("published", "a", "bc", b"k" * 32) == JobRan(123_456, 789, 4321)
    node.job("aes256-gcm", "a", "bc", b"k" * 16, decrypts=True, rounds=1, chunk_bytes=512, salt=bytes(32))
    node.job("chacha20-poly1305", "a", "bc", b"", chunk_bytes=1 << 20)
    names = b"\x01a\x02bc"
    assert firmware.asked == [
        ("J", bytes([0, 0, 32, 0, 32, 12, 32, 0]) + b"k" * 32 + names),
        ("J", bytes([1, 1, 1, 1, 0, 9, 16, 32]) + b"k" * 16 + bytes(32) + names),
        ("J", bytes([1, 0, 2, 0, 32, 20, 0, 0]) + names),
    ]


def test_a_storage_is_dumped_and_loaded_block_by_block() -> None:
    blocks = [b"\xff\xff\xff\xff", b"abcd", b"\xff\xff\xff\0", b"\xff\xff\xff\xff", b"\0\xff\xff\xff"]
    storage = Storage(1, 4, len(blocks))

    def answer(kind: str, payload: bytes) -> tuple[str, bytes]:
        if kind == "D":
            return "d", struct.pack("<i", 4) + blocks[struct.unpack("<I", payload)[0]]
        return status(0)

    firmware = Firmware(answer)
    assert FileNode(firmware).dump(storage) == b"".join(blocks)
    firmware.asked.clear()
    FileNode(firmware).load(storage, b"".join(blocks))
    assert firmware.asked == [("L", struct.pack("<I", index) + blocks[index]) for index in (1, 2, 4)]


def test_a_firmware_that_does_not_answer_is_told_how_long_it_had() -> None:
    class Silent(Firmware):
        def write(self, data: bytes) -> None:
            """Nothing comes back."""

    with pytest.raises(ProtocolError, match="no answer within 300 s"):
        FileNode(Silent(good)).mount()
    with pytest.raises(ProtocolError, match="no answer within 7 s"):
        FileNode(Silent(good), 7).mount()
