"""The frames: whatever is sent comes back, and damage costs one frame."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.runners.fake import FakeSession
from motecrypt.runners.protocol import Client, Frames, ProtocolError, crc16, decode, encode


def test_the_checksum_is_crc16_ccitt() -> None:
    assert crc16(b"123456789") == 0x29B1  # the catalogue's check value for CRC-16/CCITT-FALSE


@given(st.integers(0, 255), st.sampled_from("HKNAMTR"), st.binary(max_size=300), st.data())
def test_a_frame_survives_any_splitting(
    sequence: int, kind: str, payload: bytes, data: st.DataObject
) -> None:
    stream = encode(sequence, kind, payload)
    cut = data.draw(st.integers(0, len(stream)))
    frames = Frames()
    bodies = frames.feed(stream[:cut]) + frames.feed(stream[cut:])
    assert [decode(b) for b in bodies] == [(sequence, kind, payload)]


@given(st.binary(max_size=60), st.integers(0, 1000), st.integers(1, 255))
def test_one_changed_byte_is_noticed_and_the_next_frame_arrives(payload: bytes, at: int, change: int) -> None:
    stream = bytearray(encode(7, "M", payload))
    stream[at % len(stream)] ^= change
    bodies = Frames().feed(bytes(stream) + encode(8, "K", b"ok"))
    good = []
    for body in bodies:
        try:
            good.append(decode(body))
        except ProtocolError:
            continue
    assert (8, "K", b"ok") in good or len(bodies) < 2
    assert (7, "M", payload) not in good


@given(st.binary(max_size=200))
def test_garbage_never_crashes(garbage: bytes) -> None:
    for body in Frames().feed(garbage + b"\x7e"):
        try:
            decode(body)
        except ProtocolError:
            continue


def test_the_client_runs_an_operation() -> None:
    session = FakeSession(encrypt=lambda k, n, a, m: (bytes(b ^ k[0] for b in m), b""))
    client = Client(session, timeout_s=1)
    assert client.wait_ready().clock_hz == 16_000_000
    client.set_key(b"\x0f")
    client.set_message(b"\x00\xff")
    ran = client.run("encrypt", 1, 0)
    assert (ran.status, ran.output) == ("ok", b"\x0f\xf0")
    assert [r.cycles for r in session.regions()] == [100]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("silent", "no answer within"),
        ("garbage", "checksum"),
        ("half-frame", "no answer within"),
        ("wrong-version", "version 2, not 1"),
        ("restarts", "the firmware started again"),
        ("dies", "crashed"),
    ],
)
def test_every_fault_is_one_clear_error(fault: str, said: str) -> None:
    client = Client(FakeSession(fault=fault), timeout_s=0.05)
    client.wait_ready()
    with pytest.raises(ProtocolError, match=said):
        client.set_key(bytes(16))


def test_a_request_is_repeated_when_asked_to() -> None:
    class Flaky(FakeSession):
        lost = 0

        def write(self, data: bytes) -> None:
            self.lost += 1
            if self.lost > 2:
                super().write(data)

    client = Client(Flaky(), timeout_s=0.02, attempts=4)
    client.wait_ready()
    client.set_key(bytes(4))


class Written(FakeSession):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)
        super().write(data)


def test_what_is_stored_goes_out_with_the_next_request_where_the_pipe_holds_it() -> None:
    apart, together = Written(), Written()
    for session, asked in ((apart, False), (together, True)):
        client = Client(session, timeout_s=1, together=asked)
        client.wait_ready()
        for _ in range(2):
            client.set_key(b"\x0f")
            client.set_message(b"\x00\xff")
            assert client.run("encrypt", 1, 0).output == b"\x00\xff"
    assert len(apart.writes) == 6 and b"".join(apart.writes) == b"".join(together.writes)
    assert len(together.writes) == 2


def test_what_could_not_be_stored_is_told_at_the_next_request() -> None:
    client = Client(FakeSession(fault="restarts"), timeout_s=1, together=True)
    client.wait_ready()
    client.set_key(b"\x0f")
    with pytest.raises(ProtocolError, match="started again"):
        client.run("encrypt", 1, 0)

    class Other(FakeSession):
        def write(self, data: bytes) -> None:
            sequences = [decode(body)[0] for body in Frames().feed(data)]
            self._outbox += b"".join(encode(sequence, "h") for sequence in sequences)

    client = Client(Other(), timeout_s=1, together=True)
    client.wait_ready()
    client.set_key(b"\x0f")
    with pytest.raises(ProtocolError, match="answered 'h' to what it was to store"):
        client.run("encrypt", 1, 0)
