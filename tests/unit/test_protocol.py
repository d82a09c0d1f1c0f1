"""The frames: any payload comes back, and damage costs one frame."""

from __future__ import annotations

import struct
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.base.frames import Frames, ProtocolError, crc16, decode, encode
from motecrypt.simulate.runners import Fault, Region, fake
from motecrypt.simulate.runners.fake import FakeSession
from motecrypt.simulate.runners.protocol import Client


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
    with pytest.raises(ProtocolError, match="answered 'h' to the data to store"):
        client.run("encrypt", 1, 0)


# --- the firmware in Python --------------------------------------------------------------------------------

GREETING = struct.pack("<IIHHHHB", 16_000_000, 0, 64, 32, 64, 256, 0)


def asked(session: FakeSession, *requests: bytes) -> bytes:
    for request in requests:
        session.write(request)
    return session.read(0.0)


def test_the_firmware_in_python_answers_as_the_other_does() -> None:
    def encrypts(*given: bytes) -> tuple[bytes, bytes]:
        return b"|".join(given), b"tag"

    session = FakeSession(encrypts, lambda *given: (b"/".join(given), b""), cycles=lambda run: 7 * run)
    assert (session.cycles_exact, session.holds_input, session.restartable) == (True, True, False)
    assert session.read(0.0) == encode(0, "h", GREETING) and session.read(0.0) == b""
    assert asked(session, encode(5, "H")) == encode(5, "h", GREETING)
    for number, kind in enumerate("KNAMT"):
        assert asked(session, encode(number, kind, kind.lower().encode())) == encode(number, "k")
    for kind in "BGIJLOSUXZ":
        assert asked(session, encode(9, kind)) == encode(9, "e", b"\x03")
    damaged = bytearray(encode(9, "K", b"k"))
    damaged[4] ^= 1
    assert asked(session, bytes(damaged)) == encode(0, "e", b"\x01")
    head = b"\0" + (100).to_bytes(4, "little") + bytes(4)
    runs = [encode(number, "R", bytes([operation, 1, 0])) for number, operation in ((1, 0), (2, 1), (3, 2))]
    assert asked(session, b"".join(runs)) == b"".join(
        encode(number, "r", head + output)
        for number, output in ((1, b"m"), (2, b"tagk|n|a|m"), (3, b"k/n/a/k|n|a|m"))
    )
    assert session.regions() == [Region(7 * run, 10, "0" * 16) for run in (1, 2, 3)] and not session.regions()
    assert session.restart() is False
    with FakeSession() as plain:
        plain.read(0.0)
        for operation in (0, 1, 2):
            said = asked(plain, encode(1, "M", b"ab") + encode(2, "R", bytes([operation, 1, 0])))
            assert said == encode(1, "k") + encode(2, "r", head + b"ab")
        assert plain.regions() == [Region(100, 10, "0" * 16)] * 3


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("silent", b""),
        ("garbage", b"\x00\xff" * 20 + b"\x7e"),
        ("half-frame", encode(3, "k")[:3]),
        ("wrong-version", encode(3, "k", version=2)),
        ("restarts", encode(0, "h", GREETING)),
        ("flips", encode(3, "k")),
        ("a", encode(3, "k")),
        ("z", encode(3, "k")),
    ],
)
def test_each_fault_of_the_firmware_in_python(fault: str, said: bytes) -> None:
    session = FakeSession(fault=fault)
    session.read(0.0)
    assert asked(session, encode(3, "K", b"k")) == said


def test_a_flipped_bit_and_a_crash_of_the_firmware_in_python() -> None:
    run = encode(2, "R", b"\x01\x01\x00")
    for message, output in ((b"ab", b"`b"), (b"", b"")):
        session = FakeSession(fault="flips")
        session.read(0.0)
        said = asked(session, encode(1, "M", message) + run)
        assert said.endswith(encode(2, "r", b"\0\x64" + bytes(7) + output))
    with pytest.raises(Fault, match=r"^the firmware crashed at 0x123$"):
        FakeSession(fault="dies").write(b"")


def test_the_firmware_in_python_waits_a_little_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(fake, "time", SimpleNamespace(monotonic=lambda: 1000.0, sleep=slept.append))
    session = FakeSession()
    session.read(0.0)
    for deadline in (999.0, 1000.0, 1000.0 + 2**-8, 1001.0):
        assert session.read(deadline) == b""
    assert slept == [0.0, 0.0, 2**-8, 0.01]
