"""A firmware in Python, for tests of everything above the runner; faults are injected by name.

It ships with the package, as the pretend device behind `Fake`, so that others can test against it too.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from types import TracebackType

from motecrypt.base.frames import Frames, ProtocolError, decode, encode
from motecrypt.simulate.runners.protocol import WALL
from motecrypt.simulate.runners.session import Fault, Region

Transform = Callable[[bytes, bytes, bytes, bytes], tuple[bytes, bytes]]


class FakeSession:
    """Speaks the protocol as the benchmark firmware does.

    Parameters
    ----------
    encrypt, decrypt
        (key, nonce, ad, message) -> (output, tag); the identity by default.
    fault
        None, or one of "silent" (never answers), "garbage", "half-frame", "wrong-version",
        "restarts" (greets again instead of answering), "dies", "flips" (a damaged output).
    cycles
        Cycles that each region reports, given the number of the run.
    """

    cycles_exact = True
    holds_input = True
    clock = WALL

    def __init__(
        self,
        encrypt: Transform = lambda key, nonce, ad, message: (message, b""),
        decrypt: Transform = lambda key, nonce, ad, message: (message, b""),
        fault: str | None = None,
        cycles: Callable[[int], int] = lambda run: 100,
    ) -> None:
        self._encrypt, self._decrypt = encrypt, decrypt
        self._fault = fault
        self._cycles = cycles
        self._frames = Frames()
        self._store: dict[str, bytes] = dict.fromkeys("KNAMT", b"")
        self._runs = 0
        self._regions: list[Region] = []
        self._greeting = struct.pack("<IIHHHHB", 16_000_000, 0, 64, 32, 64, 256, 0)
        self._outbox = encode(0, "h", self._greeting)

    def write(self, data: bytes) -> None:
        """Take requests and put the answers into the outbox."""
        if self._fault == "dies":
            raise Fault("the firmware crashed at 0x123")
        for body in self._frames.feed(data):
            try:
                sequence, kind, payload = decode(body)
            except ProtocolError:
                self._outbox += encode(0, "e", b"\x01")
                continue
            self._outbox += self._damage(self._answer(sequence, kind, payload))

    def _damage(self, frame: bytes) -> bytes:
        if self._fault == "garbage":
            return b"\x00\xff" * 20 + b"\x7e"
        if self._fault == "half-frame":
            return frame[: len(frame) // 2]
        if self._fault == "silent":
            return b""
        if self._fault == "restarts":
            return encode(0, "h", self._greeting)
        if self._fault == "wrong-version":
            return encode(frame[2], chr(frame[3]), version=2)
        return frame

    def _answer(self, sequence: int, kind: str, payload: bytes) -> bytes:
        if kind in self._store:
            self._store[kind] = payload
            return encode(sequence, "k")
        if kind == "H":
            return encode(sequence, "h", self._greeting)
        if kind != "R":
            return encode(sequence, "e", b"\x03")
        operation = payload[0]
        self._runs += 1
        self._regions.append(Region(self._cycles(self._runs), 10, "0" * 16))
        output, tag = self._store["M"], b""
        arguments = (self._store["K"], self._store["N"], self._store["A"], self._store["M"])
        if operation == 1:
            output, tag = self._encrypt(*arguments)
        elif operation == 2:
            output, tag = self._decrypt(*arguments)
        if self._fault == "flips" and output:
            output = bytes([output[0] ^ 1]) + output[1:]
        self._store["M"] = output
        return encode(sequence, "r", bytes([0]) + (100).to_bytes(4, "little") + bytes(4) + tag + output)

    def read(self, deadline: float) -> bytes:
        """The content of the outbox; does not wait for more."""
        if not self._outbox:
            time.sleep(max(0.0, min(0.01, deadline - time.monotonic())))
            return b""
        data, self._outbox = self._outbox, b""
        return data

    def regions(self) -> list[Region]:
        """The regions since the last call."""
        new, self._regions = self._regions, []
        return new

    restartable = False

    def restart(self) -> bool:
        """Never: another session starts it."""
        return False

    def close(self) -> None:
        """Nothing to end."""

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
