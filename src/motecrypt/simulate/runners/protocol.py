"""The requests and answers spoken with the benchmark firmware, in frames over any byte pipe; docs/formats.md
lists them. Independent of devices, runners and ciphers.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from motecrypt.base.errors import FailureKind
from motecrypt.base.frames import Frames, ProtocolError, decode, encode

OPERATION_CODES = {"setup": 0, "encrypt": 1, "decrypt": 2}
STATUS_NAMES = {0: "ok", 1: "bad key", 2: "bad nonce", 3: "bad length", 4: "bad tag"}
FAILURE_NAMES = {1: "bad checksum", 2: "wrong protocol version", 3: "bad request", 4: "too long"}


@dataclass(frozen=True)
class Clock:
    """What the deadlines of a pipe count: `now` in seconds, and their name in a message."""

    now: Callable[[], float]
    unit: str


WALL = Clock(lambda: time.monotonic(), "s")
"""Of a port, where someone may never answer."""


class BytePipe(Protocol):
    """Anything that carries bytes to and from firmware. `clock`: what its deadlines count."""

    clock: Clock

    def write(self, data: bytes) -> None:
        """Send all of `data`."""

    def read(self, deadline: float) -> bytes:
        """Return at least one byte, or b"" when `deadline` of its clock has passed.

        Raises ProtocolError or a subclass when the other side is removed.
        """


@dataclass(frozen=True)
class Hello:
    """What the firmware says of itself: clock in Hz, sizes in bytes."""

    clock_hz: int
    context_bytes: int
    key_capacity: int
    nonce_capacity: int
    ad_capacity: int
    message_capacity: int
    tag_bytes: int


@dataclass(frozen=True)
class Ran:
    """The outcome of one run on the device: its own timer's cycles and painted-stack depth."""

    status: str
    timer_cycles: int
    painted_stack_bytes: int
    tag: bytes
    output: bytes


class Client:
    """Asks the benchmark firmware to do things.

    Parameters
    ----------
    pipe
        Where the firmware is.
    timeout_s
        Seconds that one answer may take, by the pipe's clock.
    attempts
        How often a request is sent before giving up (a simulator loses nothing: 1).
    together
        Send what only stores something together with the next request that is waited for: where the pipe
        holds what the firmware has not yet read.
    """

    def __init__(
        self, pipe: BytePipe, timeout_s: float = 60.0, attempts: int = 1, *, together: bool = False
    ) -> None:
        self._pipe = pipe
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._together = together
        self._held: list[tuple[int, bytes]] = []  # sequence and frame of what is not yet sent
        self._frames = Frames()
        self._pending: list[bytes] = []
        self._sequence = 0

    def _next_frame(self, deadline: float) -> bytes:
        while not self._pending:
            data = self._pipe.read(deadline)
            if not data:
                raise ProtocolError(
                    f"no answer within {self._timeout_s:g} {self._pipe.clock.unit}",
                    kind=FailureKind.SILENT,
                    transient=True,
                )
            self._pending = self._frames.feed(data)
        return self._pending.pop(0)

    def _await(self, sequence: int) -> tuple[str, bytes]:
        deadline = self._pipe.clock.now() + self._timeout_s
        while True:
            got, kind, payload = decode(self._next_frame(deadline))
            if kind == "e":
                code = payload[0] if payload else 0
                raise ProtocolError(
                    f"the firmware refused: {FAILURE_NAMES.get(code, code)}", kind=FailureKind.DENIED
                )
            if got == sequence:
                return kind, payload
            if got == 0 and kind == "h":
                raise ProtocolError(
                    "the firmware started again instead of answering", kind=FailureKind.CRASHED
                )

    def _next(self) -> int:
        self._sequence = self._sequence % 255 + 1
        return self._sequence

    def _ask(self, kind: str, payload: bytes, expected: str) -> bytes:
        held, self._held = self._held, []
        error: ProtocolError | None = None
        for _ in range(self._attempts):
            sequence = self._next()
            self._pipe.write(b"".join(frame for _, frame in held) + encode(sequence, kind, payload))
            try:
                for stored, _ in held:
                    self._expect("k", "the data to store", self._await(stored)[0])
                answer, body = self._await(sequence)
            except ProtocolError as failed:
                error = failed
                continue
            self._expect(expected, f"'{kind}'", answer)
            return body
        assert error is not None
        raise error

    def _expect(self, expected: str, asked: str, answer: str) -> None:
        if answer != expected:
            raise ProtocolError(f"answered '{answer}' to {asked}")

    def _store(self, kind: str, payload: bytes) -> None:
        if self._together:
            sequence = self._next()
            self._held.append((sequence, encode(sequence, kind, payload)))
        else:
            self._ask(kind, payload, "k")

    def wait_ready(self) -> Hello:
        """Read the greeting that the firmware sends when it starts (sequence 0)."""
        kind, payload = self._await(0)
        if kind != "h":
            raise ProtocolError(f"greeted with '{kind}'")
        return _hello(payload)

    def hello(self) -> Hello:
        """Ask for the greeting again."""
        return _hello(self._ask("H", b"", "h"))

    def set_key(self, key: bytes) -> None:
        """Store the key for the next runs."""
        self._store("K", key)

    def set_nonce(self, nonce: bytes) -> None:
        """Store the nonce or IV."""
        self._store("N", nonce)

    def set_ad(self, ad: bytes) -> None:
        """Store the associated data."""
        self._store("A", ad)

    def set_message(self, message: bytes) -> None:
        """Store the message, which runs transform in place."""
        self._store("M", message)

    def set_tag(self, tag: bytes) -> None:
        """Store the tag that decrypt compares."""
        self._store("T", tag)

    def run(self, operation: str, repetitions: int, tag_bytes: int) -> Ran:
        """Run an operation so many times on what is stored, in place."""
        payload = struct.pack("<BH", OPERATION_CODES[operation], repetitions)
        body = self._ask("R", payload, "r")
        if len(body) < 9 + tag_bytes:
            raise ProtocolError("a run's answer is too short")
        status, cycles, stack = struct.unpack_from("<BII", body)
        name = STATUS_NAMES.get(status, f"status {status}")
        return Ran(name, cycles, stack, body[9 : 9 + tag_bytes], body[9 + tag_bytes :])


def _hello(payload: bytes) -> Hello:
    try:
        clock_hz, context, key, nonce, ad, message, tag = struct.unpack("<IIHHHHB", payload)
    except struct.error as error:
        raise ProtocolError("a greeting of the wrong length") from error
    return Hello(
        clock_hz=clock_hz,
        context_bytes=context,
        key_capacity=key,
        nonce_capacity=nonce,
        ad_capacity=ad,
        message_capacity=message,
        tag_bytes=tag,
    )
