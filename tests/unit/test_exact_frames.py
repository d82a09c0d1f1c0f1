"""Frames and what is asked in them, byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from motecrypt.base.errors import FailureKind
from motecrypt.base.frames import MAX_FRAME_BYTES, Frames, ProtocolError, crc16, decode, encode
from motecrypt.simulate.runners import protocol
from motecrypt.simulate.runners.protocol import WALL, Client, Hello, Ran


def test_a_frame_byte_by_byte() -> None:
    assert crc16(b"123456789") == 0x29B1 and crc16(b"") == 0xFFFF
    assert encode(0, "h") == bytes.fromhex("7e 01 00 68") + crc16(b"\x01\x00h").to_bytes(2, "big") + b"\x7e"
    body = b"\x01\x7dK\x7e\x7d\x5d"
    check = crc16(body).to_bytes(2, "big")
    assert not set(check) & {0x7D, 0x7E}
    assert encode(0x7D, "K", b"\x7e\x7d\x5d") == b"\x7e\x01\x7d\x5dK\x7d\x5e\x7d\x5d\x5d" + check + b"\x7e"
    assert decode(encode(0x7D, "K", b"\x7e\x7d\x5d")[1:-1]) == (0x7D, "K", b"\x7e\x7d\x5d")
    assert decode(encode(255, "r")[1:-1]) == (255, "r", b"")
    # Any escaped byte has one bit flipped, though only two bytes need it.
    plain = b"\x01\x00h\x00\xff"
    flipped = b"\x7d\x21\x7d\x20h\x7d\x20\x7d\xdf"
    assert decode(flipped + crc16(plain).to_bytes(2, "big")) == (0, "h", b"\x00\xff")


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"", FailureKind.HALF_FRAME, "half a frame"),
        (b"\x01\x00\xff\xff", FailureKind.HALF_FRAME, "half a frame"),
        (encode(1, "k")[1:-1] + b"\x7d", FailureKind.HALF_FRAME, "half a frame"),
        (encode(1, "k")[1:-1] + b"\x7d" * 3, FailureKind.HALF_FRAME, "half a frame"),
        (encode(1, "k")[1:-1] + b"\x7d" * 4, FailureKind.CHECKSUM, "a frame with a wrong checksum"),
        (b"\x01\x00h\x00\x00", FailureKind.CHECKSUM, "a frame with a wrong checksum"),
        (
            encode(1, "k", version=2)[1:-1],
            FailureKind.PROTOCOL_VERSION,
            "protocol version 2, not 1: flash this motecrypt's firmware",
        ),
    ],
)
def test_a_frame_that_is_none(body: bytes, kind: FailureKind, said: str) -> None:
    with pytest.raises(ProtocolError) as told:
        decode(body)
    assert (str(told.value), told.value.kind) == (said, kind)


def test_a_stream_is_split_and_an_endless_frame_refused() -> None:
    frames = Frames()
    assert frames.feed(b"ab\x7e\x7ecd") == [b"ab"] and frames.feed(b"e\x7e") == [b"cde"]
    assert MAX_FRAME_BYTES == 2_097_152 and frames.feed(bytes(MAX_FRAME_BYTES)) == []
    with pytest.raises(ProtocolError, match="endless frame"):
        frames.feed(b"\0")


class Pipe:
    """Notes what is written, and answers each request as given."""

    clock = WALL

    def __init__(self, answer: Callable[[int, str, bytes], bytes]) -> None:
        self.asked: list[tuple[int, str, bytes]] = []
        self.reads = 0
        self._answer = answer
        self._out = b""

    def write(self, data: bytes) -> None:
        self.asked.append(decode(data[1:-1]))
        self._out += self._answer(*self.asked[-1])

    def read(self, deadline: float) -> bytes:
        self.reads += 1
        assert self.reads < 1000, "waits for ever"
        data, self._out = self._out, b""
        return data


def answering(kind: str, payload: bytes = b"") -> tuple[Pipe, Client]:
    pipe = Pipe(lambda sequence, *_: encode(sequence, kind, payload))
    return pipe, Client(pipe, 0.5)


def test_each_request_has_its_letter_and_its_number() -> None:
    pipe, client = answering("k")
    for number in range(52):
        for ask in (client.set_key, client.set_nonce, client.set_ad, client.set_message, client.set_tag):
            ask(bytes([number]))
    assert pipe.asked == [(1 + i % 255, "KNAMT"[i % 5], bytes([i // 5])) for i in range(260)]


def test_a_run_is_asked_and_answered() -> None:
    answer = struct.pack("<BII", 4, 70_000, 300) + b"tagoutput"
    pipe, client = answering("r", answer)
    assert client.run("decrypt", 515, 3) == Ran("bad tag", 70_000, 300, b"tag", b"output")
    assert pipe.asked == [(1, "R", b"\x02\x03\x02")]
    assert client.run("setup", 1, 0).output == b"tagoutput"
    assert client.run("encrypt", 1, 9).output == b""
    assert [payload[0] for _, _, payload in pipe.asked] == [2, 0, 1]
    with pytest.raises(ProtocolError, match=r"^a run's answer is too short$"):
        client.run("encrypt", 1, 10)
    for status, name in enumerate(("ok", "bad key", "bad nonce", "bad length", "bad tag", "status 5")):
        assert answering("r", bytes([status]) + bytes(8))[1].run("setup", 1, 0).status == name


def test_a_greeting_is_read() -> None:
    pipe, client = answering("h", struct.pack("<IIHHHHB", 1, 2, 3, 4, 5, 6, 7))
    assert client.hello() == Hello(1, 2, 3, 4, 5, 6, 7) and pipe.asked == [(1, "H", b"")]
    with pytest.raises(ProtocolError, match=r"^a greeting of the wrong length$"):
        answering("h", bytes(18))[1].hello()


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (encode(0, "e", b"\x01"), FailureKind.DENIED, "the firmware refused: bad checksum"),
        (encode(9, "e", b"\x04"), FailureKind.DENIED, "the firmware refused: too long"),
        (encode(0, "e"), FailureKind.DENIED, "the firmware refused: 0"),
        (encode(0, "h"), FailureKind.CRASHED, "the firmware started again instead of answering"),
        (encode(1, "r"), FailureKind.GARBLED, "answered 'r' to 'K'"),
        (b"", FailureKind.SILENT, "no answer within 0.5 s"),
    ],
)
def test_other_answers_are_errors(answer: bytes, kind: FailureKind, said: str) -> None:
    client = Client(Pipe(lambda *_: answer), 0.5)
    with pytest.raises(ProtocolError) as told:
        client.set_key(b"")
    assert (str(told.value), told.value.kind) == (said, kind)
    assert told.value.transient is (kind is FailureKind.SILENT)


def test_an_answer_to_an_earlier_request_is_passed_over() -> None:
    client = Client(Pipe(lambda sequence, *_: encode(9, "k") + encode(sequence, "k")), 0.5)
    client.set_key(b"")


def test_what_is_stored_together_is_answered_one_by_one() -> None:
    written: list[bytes] = []
    answers: list[bytes] = []
    pipe = SimpleNamespace(write=written.append, read=lambda deadline: answers.pop(0), clock=WALL)
    client = Client(pipe, 0.5, together=True)  # type: ignore[arg-type]
    ran = encode(3, "r", bytes(9))
    for kind, said in (
        ("k", ""),
        ("r", "answered 'r' to the data to store"),
        ("a", "answered 'a' to the data to store"),
    ):
        client._sequence = 0
        client.set_key(b"a")
        client.set_tag(b"b")
        assert written == []
        answers[:] = [encode(1, "k"), encode(2, kind) + ran]
        if said:
            with pytest.raises(ProtocolError, match=f"^{said}$"):
                client.run("setup", 1, 0)
        else:
            assert client.run("setup", 1, 0) == Ran("ok", 0, 0, b"", b"")
        assert written == [encode(1, "K", b"a") + encode(2, "T", b"b") + encode(3, "R", b"\0\1\0")]
        written.clear()
        client._pending.clear()


def test_a_greeting_is_one_of_its_own_and_comes_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines: list[float] = []
    greeting = b""

    def read(deadline: float) -> bytes:
        deadlines.append(deadline)
        return greeting

    monkeypatch.setattr(protocol.time, "monotonic", lambda: 1000.0)
    client = Client(SimpleNamespace(read=read, write=lambda data: None, clock=WALL), 2.5)  # type: ignore[arg-type]
    for kind in "akr":
        greeting = encode(0, kind)
        with pytest.raises(ProtocolError, match=rf"^greeted with '{kind}'$"):
            client.wait_ready()
    greeting = encode(0, "h", struct.pack("<IIHHHHB", 1, 2, 3, 4, 5, 6, 7))
    assert client.wait_ready() == Hello(1, 2, 3, 4, 5, 6, 7) and set(deadlines) == {1002.5}


def test_a_request_is_sent_again_as_often_as_told() -> None:
    pipe = Pipe(lambda *_: b"")
    with pytest.raises(ProtocolError):
        Client(pipe, 0.01, attempts=3).set_key(b"x")
    assert [number for number, _, _ in pipe.asked] == [1, 2, 3]
