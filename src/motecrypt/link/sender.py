"""The sender's half of the link: one message at a time, until it is accepted, refused or given up."""

from __future__ import annotations

import enum
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from motecrypt.errors import InputError
from motecrypt.link import frames, sealing
from motecrypt.link.state import Counters
from motecrypt.link.timing import Timing


class SendOutcome(enum.Enum):
    """What became of a message."""

    ACCEPTED = "accepted"
    """The receiver has it; proven by its tag."""

    REFUSED = "refused"
    """The receiver crashed with it in its hands: it may have it, and will not take it again."""

    UNCONFIRMED = "unconfirmed"
    """No proof came in time: it may or may not have arrived."""


@dataclass
class SenderTally:
    """What the sender did so far."""

    messages: int = 0
    accepted: int = 0
    refused: int = 0
    unconfirmed: int = 0
    frames: int = 0
    frames_again: int = 0
    bursts: int = 0
    forged_answers: int = 0
    sealing_s: float = 0.0


class Sender:
    """Sends messages safely over a link that loses, damages, doubles and reorders.

    Parameters
    ----------
    key : bytes
        16, 24 or 32 bytes.
    counters : Counters
    timing : Timing
    clock : callable, optional
        A clock in seconds, to time the encryption alone; the protocol itself asks no clock.
    """

    def __init__(
        self,
        key: bytes,
        counters: Counters,
        timing: Timing,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._clock = clock
        self._sealer = sealing.Sealer(key)
        self._counters = counters
        self._timing = timing
        self._length = frames.frame_bytes(timing.packet_bytes)
        self._reader = frames.FrameReader(self._length)
        self._output = bytearray()
        self._pieces: list[bytes] = []
        self._counter: int
        self._fewest_missing = 0
        self._failures: int
        self._busy_until_us: float
        self._deadline_us: float | None = None
        self.outcome: SendOutcome | None = None
        self.heard = False
        """Whether anything at all answered the message on its way."""
        self.tally = SenderTally()

    @property
    def frame_bytes(self) -> int:
        """The length of each frame."""
        return self._length

    @property
    def busy(self) -> bool:
        """Whether a message is on its way."""
        return self._deadline_us is not None

    def deadline_us(self) -> float | None:
        """When `tick` wants to be called at the latest; None when idle."""
        return self._deadline_us

    def submit(self, message: bytes, now_us: float) -> int:
        """Seal a message under a fresh counter and begin to send it.

        Returns
        -------
        int
            Its counter.

        Raises
        ------
        InputError
            The message is too long for this packet length, or another one is still on its way.
        """
        largest = frames.largest_message_bytes(self._timing.packet_bytes)
        if len(message) > largest:
            raise InputError(
                f"a message of {len(message)} bytes; with packets of {self._timing.packet_bytes} bytes "
                f"{largest} is the most"
            )
        if self.busy:
            raise InputError("the message before this one is still on its way")
        self._counter = self._counters.take()
        begun = self._clock() if self._clock else 0.0
        sealed = self._sealer.seal(self._counters.stream, self._counter, message)
        self.tally.sealing_s += self._clock() - begun if self._clock else 0.0
        self._pieces = frames.fragments(sealed, self._length)
        self._fewest_missing = len(self._pieces) + 1
        self._failures, self.outcome, self.heard = 0, None, False
        self.tally.messages += 1
        self._burst(list(range(len(self._pieces))), now_us)
        return self._counter

    def take_output(self) -> bytes:
        """The bytes to write to the port."""
        output, self._output = bytes(self._output), bytearray()
        return output

    def feed(self, data: bytes, now_us: float) -> None:
        """Bytes that came from the port."""
        for frame in self._reader.feed(data):
            if not self.busy or frame.message != self._counter & 0xFF:
                continue
            if frame.kind in (frames.ACCEPTED, frames.REFUSED):
                self._answer(frame)
            elif frame.kind == frames.STATUS and now_us >= self._busy_until_us:
                self._status(frame, now_us)

    def tick(self, now_us: float) -> None:
        """Time has passed: ask again, or give up, when the deadline is over."""
        if self._deadline_us is None or now_us < self._deadline_us:
            return
        if self._failed():
            return
        # The first fragment names the message in full; the last asks for its state.
        self._burst(sorted({0, len(self._pieces) - 1}), now_us)

    def abandon(self) -> None:
        """Give the message on its way up, as a program that ends must."""
        if self.busy:
            self._finish(SendOutcome.UNCONFIRMED)

    def _burst(self, indexes: list[int], now_us: float) -> None:
        last = len(self._pieces) - 1
        if indexes[-1] != last:
            indexes = [*indexes, last]
        for index in indexes:
            kind = frames.LAST if index == last else frames.DATA
            frame = frames.Frame(kind, self._counter & 0xFF, bytes([index]) + self._pieces[index])
            self._output += frame.encode(self._length)
        if self.tally.bursts and len(indexes) < len(self._pieces):
            self.tally.frames_again += len(indexes)
        self.tally.frames += len(indexes)
        self.tally.bursts += 1
        # A status that comes while the burst is still on the line is older than the burst.
        self._busy_until_us = now_us + self._timing.frame_us * len(indexes)
        self._deadline_us = now_us + self._timing.deadline_us(len(indexes), self._failures)

    def _answer(self, frame: frames.Frame) -> None:
        accepted = frame.kind == frames.ACCEPTED
        kind = sealing.ACCEPTANCE if accepted else sealing.REFUSAL
        expected = self._sealer.answer(kind, self._counters.stream, self._counter)
        if hmac.compare_digest(frame.body[: sealing.TAG_BYTES], expected):
            self._finish(SendOutcome.ACCEPTED if accepted else SendOutcome.REFUSED)
        else:
            self.tally.forged_answers += 1

    def _status(self, frame: frames.Frame, now_us: float) -> None:
        base, self.heard = frame.body[0], True
        missing = [
            index
            for index in range(base, len(self._pieces))
            if index == base or not _bit(frame.body, index - base - 1)
        ]
        if not missing:
            return
        if len(missing) < self._fewest_missing:
            self._fewest_missing, self._failures = len(missing), 0
        elif self._failed():
            # Answered again and again without progress: another key, or someone who forges answers.
            return
        self._burst(missing, now_us)

    def _failed(self) -> bool:
        """Count a burst that brought nothing; True when it was one too many."""
        self._failures += 1
        if self._failures >= self._timing.tries:
            self._finish(SendOutcome.UNCONFIRMED)
            return True
        return False

    def _finish(self, outcome: SendOutcome) -> None:
        self.outcome = outcome
        self._deadline_us = None
        if outcome is SendOutcome.ACCEPTED:
            self.tally.accepted += 1
        elif outcome is SendOutcome.REFUSED:
            self.tally.refused += 1
        else:
            self.tally.unconfirmed += 1


def _bit(body: bytes, position: int) -> bool:
    """Bit `position` of a status frame's map; fragments beyond the map count as missing."""
    byte = 1 + position // 8
    return byte < len(body) and bool(body[byte] >> (position % 8) & 1)
