"""The receiver's half of the link: gathers fragments, opens messages, hands each over once, answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from motecrypt.link import frames, sealing
from motecrypt.link.state import Window

SLOTS = 4
"""Messages gathered at the same time: one for each sender that talks at once, and some for ghosts."""

REMEMBERED = 8


@dataclass
class ReceiverTally:
    """What the receiver saw so far."""

    accepted: int = 0
    not_genuine: int = 0
    repeats: int = 0
    frames: int = 0
    answers: int = 0


@dataclass
class _Slot:
    pieces: dict[int, bytes] = field(default_factory=dict)
    last: int | None = None

    def complete(self) -> bool:
        return self.last is not None and len(self.pieces) == self.last + 1


class Receiver:
    """Receives messages safely, from any number of senders that share the key.

    Parameters
    ----------
    key : bytes
    window : Window
    packet_bytes : int
        The radio's packet length; both ends must agree.
    hand_over : callable
        Gets (message, stream, counter) of each accepted message, once, before it is acknowledged.
    """

    def __init__(
        self, key: bytes, window: Window, packet_bytes: int, hand_over: Callable[[bytes, int, int], None]
    ) -> None:
        self._sealer = sealing.Sealer(key)
        self._window = window
        self._length = frames.frame_bytes(packet_bytes)
        self._reader = frames.FrameReader(self._length)
        self._hand_over = hand_over
        self._slots: OrderedDict[int, _Slot] = OrderedDict()
        self._recent: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._output = bytearray()
        self.tally = ReceiverTally()
        self.closing = False
        """Set to take no new message, but still to answer questions about those already taken."""

    @property
    def skipped_bytes(self) -> int:
        """Bytes that belonged to no frame."""
        return self._reader.skipped_bytes

    def take_output(self) -> bytes:
        """The bytes to write to the port."""
        output, self._output = bytes(self._output), bytearray()
        return output

    def feed(self, data: bytes) -> None:
        """Bytes that came from the port."""
        for frame in self._reader.feed(data):
            if frame.kind in (frames.DATA, frames.LAST):
                self.tally.frames += 1
                self._fragment(frame)

    def _fragment(self, frame: frames.Frame) -> None:
        index, piece = frame.body[0], frame.body[1:]
        if index == 0 and self._known(frame.message, *sealing.header(piece)):
            return
        slot = self._slots.get(frame.message)
        if self.closing and not (frame.kind == frames.LAST and index and frame.message in self._recent):
            return
        if slot is None:
            if frame.kind == frames.LAST and index and frame.message in self._recent:
                # The end of a message just accepted, once more: its acceptance may have been lost.
                self._reply(frame.message, *self._recent[frame.message])
                return
            slot = self._slots[frame.message] = _Slot()
            if len(self._slots) > SLOTS:
                self._slots.popitem(last=False)
        self._slots.move_to_end(frame.message)
        if slot.pieces.get(index, piece) != piece or (slot.last is not None and index > slot.last):
            # Another message with the same low counter byte, or a damaged piece: begin again.
            slot.pieces, slot.last = {}, None
        slot.pieces[index] = piece
        if frame.kind == frames.LAST:
            slot.last = index
            slot.pieces = {i: p for i, p in slot.pieces.items() if i <= index}
        if slot.complete():
            del self._slots[frame.message]
            self._message(frame.message, slot)
        elif frame.kind == frames.LAST:
            self._status(frame.message, slot)

    def _known(self, message: int, stream: int, counter: int) -> bool:
        """Whether a first fragment belongs to a message dealt with before; if so, it is answered."""
        if not self._window.seen(stream, counter):
            return False
        self._slots.pop(message, None)
        self.tally.repeats += 1
        self._recent[message] = (stream, counter)
        self._trim()
        self._reply(message, stream, counter)
        return True

    def _message(self, message: int, slot: _Slot) -> None:
        sealed = frames.joined([slot.pieces[index] for index in range(len(slot.pieces))])
        content = self._sealer.open(sealed) if sealed is not None else None
        if sealed is None or content is None:
            self.tally.not_genuine += 1
            self._status(message, _Slot())
            return
        stream, counter = sealing.header(sealed)
        if not self._window.seen(stream, counter):
            if self.closing:
                return
            self._window.claim(stream, counter)
            self._hand_over(content, stream, counter)
            self._window.confirm(stream, counter)
            self.tally.accepted += 1
        self._recent[message] = (stream, counter)
        self._trim()
        self._reply(message, stream, counter)

    def _trim(self) -> None:
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    def _reply(self, message: int, stream: int, counter: int) -> None:
        accepted = self._window.handed_over(stream, counter)
        kind = sealing.ACCEPTANCE if accepted else sealing.REFUSAL
        tag = self._sealer.answer(kind, stream, counter)
        self._send(frames.Frame(frames.ACCEPTED if accepted else frames.REFUSED, message, tag))

    def _status(self, message: int, slot: _Slot) -> None:
        end = frames.FRAGMENTS_MAX if slot.last is None else slot.last + 1
        base = next((index for index in range(end) if index not in slot.pieces), 0)
        here = bytearray(self._length - frames.OVERHEAD)
        for index in slot.pieces:
            position = index - base - 1
            if 0 <= position < 8 * len(here):
                here[position // 8] |= 1 << (position % 8)
        self._send(frames.Frame(frames.STATUS, message, bytes([base]) + bytes(here)))

    def _send(self, frame: frames.Frame) -> None:
        self.tally.answers += 1
        self._output += frame.encode(self._length)
