"""The pretend firmware, frame by frame."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.frames import encode
from motecrypt.simulate.runners import Fault, Region, fake
from motecrypt.simulate.runners.fake import FakeSession

GREETING = struct.pack("<IIHHHHB", 16_000_000, 0, 64, 32, 64, 256, 0)
RAN = b"\0" + (100).to_bytes(4, "little") + bytes(4)


def answer(session: FakeSession, *frames: bytes) -> bytes:
    for frame in frames:
        session.write(frame)
    return session.read(0.0)


def test_each_request_has_its_answer() -> None:
    session = FakeSession()
    assert (session.cycles_exact, session.holds_input, session.restartable) == (True, True, False)
    assert session.read(0.0) == encode(0, "h", GREETING) and not session.restart()
    for kind in "KNAMT":
        assert answer(session, encode(9, kind, b"abc")) == encode(9, "k")
    assert answer(session, encode(3, "H")) == encode(3, "h", GREETING)
    for kind in "GIQSz":
        assert answer(session, encode(3, kind)) == encode(3, "e", b"\x03")
    assert answer(session, b"\x7eabc\x7e" + encode(4, "K")) == encode(0, "e", b"\x01") + encode(4, "k")


def test_what_is_run_is_what_was_stored() -> None:
    asked: list[Any] = []

    def transform(name: str) -> Any:
        return lambda *given: asked.append((name, *given)) or (given[3][::-1], b"tag")

    with FakeSession(transform("encrypt"), transform("decrypt"), cycles=lambda run: 10 * run) as session:
        session.read(0.0)
        stored = [encode(1, kind, bytes([at])) for at, kind in enumerate("KNAT")]
        for operation, name, tag in ((0, "setup", b""), (1, "encrypt", b"tag"), (2, "decrypt", b"tag")):
            asked.clear()
            answer(session, *stored, encode(1, "M", b"xyz"))
            output = b"xyz" if operation == 0 else b"zyx"
            assert answer(session, encode(5, "R", bytes([operation]))) == encode(5, "r", RAN + tag + output)
            assert asked == ([] if operation == 0 else [(name, b"\0", b"\1", b"\2", b"xyz")])
        assert answer(session, encode(6, "R", b"\1"))[13:].startswith(b"tagxyz")  # in place
        assert session.regions() == [Region(10 * run, 10, "0" * 16) for run in (1, 2, 3, 4)]
        assert session.regions() == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("silent", b""),
        ("garbage", b"\x00\xff" * 20 + b"\x7e"),
        ("half-frame", encode(7, "r", RAN + b"ab")[:9]),
        ("restarts", encode(0, "h", GREETING)),
        ("wrong-version", encode(7, "r", version=2)),
        ("flips", encode(7, "r", RAN + b"`b")),
    ],
)
def test_each_fault_damages_the_answer(fault: str, told: bytes) -> None:
    session = FakeSession(fault=fault)
    session.read(0.0)
    session.write(encode(6, "M", b"ab"))
    session._outbox = b""
    assert len(encode(7, "r", RAN + b"ab")) == 18
    assert answer(session, encode(7, "R", b"\1")) == told


def test_nothing_to_damage_and_a_crash() -> None:
    session = FakeSession(fault="flips")
    session.read(0.0)
    assert answer(session, encode(7, "R", b"\0")) == encode(7, "r", RAN)
    assert answer(session, encode(6, "M", b"bc")) and answer(session, encode(7, "R", b"\0"))[13:15] == b"cc"
    with pytest.raises(Fault, match=r"^the firmware crashed at 0x123$"):
        FakeSession(fault="dies").write(b"")


def test_an_empty_outbox_waits_a_moment_but_not_beyond_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(fake, "time", SimpleNamespace(monotonic=lambda: 100.0, sleep=slept.append))
    session = FakeSession()
    session.read(0.0)
    assert [session.read(deadline) for deadline in (99.0, 100.5, 100.0078125)] == [b""] * 3
    assert slept == [0.0, 0.01, 0.0078125]
