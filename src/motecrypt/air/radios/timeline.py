"""When each byte and packet of one message is where: the events of `RadioPair`, written down. Pure.

It is the same model as that of `costs` and of the virtual ports; nothing is computed twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from motecrypt.air.radios.air import air_time_us
from motecrypt.air.radios.catalog import Radio
from motecrypt.air.radios.pair import RadioPair

SpanKind = Literal["serial in", "wait", "air", "serial out"]


@dataclass(frozen=True)
class Span:
    """Something that takes time: `sender` is 0 for the message and 1 for the answer.

    Attributes
    ----------
    kind
        "serial in": bytes come into the sending radio and fill a packet; "wait": a packet that is not full
        waits for its timeout; "air": it is sent; "serial out": it leaves the receiving radio.
    begin_us, end_us
        From the first bit of the message on the sender's serial line.
    payload_bytes
        Of the message, in this piece of it.
    """

    kind: SpanKind
    sender: int
    begin_us: float
    end_us: float
    payload_bytes: int


@dataclass(frozen=True)
class Timeline:
    """The spans in the order in which they begin; `delivered_us`: the last byte of the message has left the
    receiving radio; `answered_us`: the same of the answer, None without one."""

    spans: tuple[Span, ...]
    delivered_us: float
    answered_us: float | None


class _Watched(RadioPair):
    """Two radios whose events are written down. Nothing is lost between them."""

    def __init__(self, radio: Radio) -> None:
        super().__init__(radio)
        self.spans: list[Span] = []
        self._filled_us = [0.0, 0.0]

    def _segment(self, end: int, data: bytes, begin_us: float, now_us: float) -> None:
        self._add("serial in", end, begin_us, now_us, len(data))
        self._filled_us[end] = now_us
        super()._segment(end, data, begin_us, now_us)

    def _ready(self, end: int, packet: bytes, now_us: float) -> None:
        if now_us > self._filled_us[end]:
            self._add("wait", end, self._filled_us[end], now_us, len(packet))
        super()._ready(end, packet, now_us)

    def _heard(self, sender: int, packet: bytes, now_us: float) -> None:
        begin_us = now_us - air_time_us(self.radio(sender), len(packet))
        self._add("air", sender, begin_us, now_us, len(packet))
        super()._heard(sender, packet, now_us)

    def _answer(self, end: int, data: bytes, now_us: float) -> None:
        begin_us = max(now_us, self._ends[end].out_free_us)
        super()._answer(end, data, now_us)
        self._add("serial out", 1 - end, begin_us, self._ends[end].out_free_us, len(data))

    def _add(self, kind: SpanKind, sender: int, begin_us: float, end_us: float, size: int) -> None:
        self.spans.append(Span(kind, sender, begin_us, end_us, size))


def timeline(radio: Radio, message_bytes: int, answer_bytes: int = 0) -> Timeline:
    """One message, and perhaps an answer that the receiver's program writes once it has the whole message.

    Parameters
    ----------
    message_bytes
        1 or more.
    answer_bytes
        0: no answer.
    """
    pair = _Watched(radio)
    pair.write(0, b"m" * message_bytes, 0.0)
    delivered_us = max(arrival.time_us for arrival in pair.advance(inf))
    answered_us = None
    if answer_bytes:
        again = _Watched(radio)
        again.write(0, b"m" * message_bytes, 0.0)
        again.advance(delivered_us)
        again.write(1, b"a" * answer_bytes, delivered_us)
        answered_us = max(arrival.time_us for arrival in again.advance(inf))
        pair = again
    spans = sorted(pair.spans, key=lambda span: (span.begin_us, span.end_us))
    return Timeline(tuple(spans), delivered_us, answered_us)
