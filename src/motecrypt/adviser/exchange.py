"""What the secure link (docs/link.md) sends for a message, how often, and what it computes: pure arithmetic.

All lengths and rules come from `LinkFacts`. The packets are those of the core; the numbers of repetitions
are expected values under a loss of packets that is independent and equal both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import NamedTuple

from motecrypt.adviser.model import LinkFacts, Point, Question, RadioPart, SuiteWork
from motecrypt.link import lengths
from motecrypt.link.lengths import Framing

LEAST_CHANCE = 1e-6
"""What happens less often than this is not followed further."""


@dataclass(frozen=True)
class Form:
    """One form of message: "short", "long" or "alone", the bytes of each packet, and whether it is answered.
    `filling_bytes` of them carry nothing."""

    name: str
    sizes: tuple[int, ...]
    filling_bytes: int
    confirmed: bool = False


@dataclass(frozen=True)
class Exchange:
    """One message until its end, as expected numbers.

    Attributes
    ----------
    bursts : [k] is how often the last packet is sent with k others before it.
    answers : how often an answer comes. silences : how often none does in time.
    lost : the chance that it does not arrive or, confirmed, is given up.
    """

    bursts: tuple[float, ...]
    answers: float
    silences: float
    lost: float


# --- packets ---------------------------------------------------------------------------------------


def streams(radio: RadioPart) -> bool:
    """Whether the link's packets all have one length: a serial line keeps no packets apart."""
    return radio.serial_byte_us > 0


def framing(radio: RadioPart) -> Framing:
    """How the link uses this radio."""
    return Framing(radio.packet_bytes, streams(radio))


def short_room(link: LinkFacts, radio: RadioPart) -> int:
    """Message bytes of a full short packet."""
    return lengths.short_room(link, framing(radio))


def message_bytes_max(link: LinkFacts, radio: RadioPart) -> int:
    """The longest message that the link takes over this radio."""
    return lengths.message_bytes_max(link, framing(radio))


def is_short(link: LinkFacts, radio: RadioPart, message_bytes: int) -> bool:
    """Whether a message can go in one short packet; in a stream it must fill it."""
    return lengths.is_short(link, framing(radio), message_bytes)


def short_form(link: LinkFacts, message_bytes: int, confirmed: bool = False) -> Form:
    """A message in one short packet."""
    return Form("short", (message_bytes + link.short_overhead_bytes,), 0, confirmed)


def long_form(link: LinkFacts, radio: RadioPart, message_bytes: int, confirmed: bool = False) -> Form:
    """A message in fragments; in a stream zeros fill the last."""
    framed = framing(radio)
    sizes = lengths.long_sizes(link, framed, message_bytes)
    carried = lengths.content_bytes(link, framed, message_bytes) + len(sizes) * link.piece_head_bytes
    return Form("long", sizes, sum(sizes) - carried, confirmed)


def usual_form(link: LinkFacts, radio: RadioPart, message_bytes: int, confirmed: bool = False) -> Form:
    """How most messages of this length go."""
    if is_short(link, radio, message_bytes):
        return short_form(link, message_bytes, confirmed)
    return long_form(link, radio, message_bytes, confirmed)


def plain_form(radio: RadioPart, sealed_bytes: int) -> Form:
    """Bytes without the link, cut into packets; the last one is filled up where it would wait."""
    full, rest = divmod(sealed_bytes, radio.packet_bytes)
    last = (radio.packet_bytes if radio.timeout_us > 0 else rest,) if rest else ()
    sizes = (*[radio.packet_bytes] * full, *last)
    return Form("alone", sizes, sum(sizes) - sealed_bytes)


def forms(link: LinkFacts, radio: RadioPart, question: Question) -> tuple[tuple[float, Form], ...]:
    """The forms of messages, each with its share over many messages; the usual one comes first.

    Every 32nd message without an answer is long. Where both ends listen, the one after `short_after_answer`
    such messages is confirmed, too, until one is answered.
    """
    length = question.message_bytes
    usual = usual_form(link, radio, length, question.delivery == "confirmed")
    if question.delivery == "confirmed" or usual.name == "long":
        return ((1.0, usual),)
    every, long = link.long_every, long_form(link, radio, length)
    if question.delivery == "one-way":
        return ((1 - 1 / every, usual), (1 / every, long))
    step = long_form(link, radio, length, confirmed=True)
    times = 1 / max(LEAST_CHANCE, 1 - exchange(len(step.sizes), question.loss, link.tries).lost)
    messages = link.short_after_answer + times
    unasked = link.short_after_answer // every
    return (
        (1 - (unasked + times) / messages, usual),
        (unasked / messages, long),
        (times / messages, step),
    )


def power(base: float, exponent: int) -> float:
    """By multiplying: the last bit of `**` depends on the C library, and a page has another."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


# --- repetitions -----------------------------------------------------------------------------------


class _Held(NamedTuple):
    """The fragments of a message that the receiver has: the first, how many of those between that the sender
    has an acknowledgement for and how many without, the last."""

    first: int
    known: int
    fresh: int
    last: int


class _Known(NamedTuple):
    """The fragments that the receiver has acknowledged: the first, how many between, the last."""

    first: int
    others: int
    last: int


_NOTHING = _Held(0, 0, 0, 0)
_LAST_ALONE = _Held(0, 0, 0, 1)


class _State(NamedTuple):
    """Both ends, what the sender does next, and its tries so far."""

    held: _Held
    known: _Known
    told: bool  # what is missing
    tries: int  # those that brought nothing new, less those that did


def sent_once(fragments: int, loss: float) -> Exchange:
    """A message that is not confirmed."""
    bursts = (*[0.0] * (fragments - 1), 1.0)
    return Exchange(bursts, 0.0, 0.0, 1 - power(1 - loss, fragments))


@lru_cache(maxsize=256)
def exchange(fragments: int, loss: float, tries: int) -> Exchange:
    """A confirmed message of so many fragments, or of one short packet (docs/link.md, Sending, 3).

    Without an answer in time the first and the last fragment go again, and all of them once half of the tries
    are over; an answer that shows what is missing brings that and the last. The message is given up after
    `tries` of these without progress; each with progress gives one back. A receiver that has handed a message
    over gathers it again when more of its fragments come.
    """
    got = 1 - loss
    middle = max(0, fragments - 2)
    heads = 1 if fragments > 1 else 0
    arriving = [_binomial(sent, got) for sent in range(fragments)]
    bursts = [0.0] * fragments
    answers = silences = given_up = 0.0
    at: dict[_State, float] = {_State(_NOTHING, _Known(0, 0, 0), True, 0): 1.0}
    while at:
        before_last: dict[tuple[_Held, _Known, int], float] = {}
        for (held, known, told, tries_before), chance in at.items():
            if chance < LEAST_CHANCE:
                continue
            everything = not told and tries_before > tries - tries // 2
            missing = told or everything
            first_sent = heads - held.first if told else heads
            known_sent = known.others - held.known if missing else 0
            fresh_sent = middle - known.others - held.fresh if missing else 0
            bursts[heads + middle if everything else first_sent + known_sent + fresh_sent] += chance
            for first, a in enumerate(arriving[first_sent]):
                for again, b in enumerate(arriving[known_sent]):
                    for fresh, c in enumerate(arriving[fresh_sent]):
                        then = _Held(held.first | first, held.known + again, held.fresh + fresh, held.last)
                        state = (then, known, tries_before)
                        before_last[state] = before_last.get(state, 0.0) + chance * a * b * c
        at = {}
        for (held, known, tries_before), chance in before_last.items():
            whole = held.first == heads and held.known + held.fresh == middle
            for part, end, then in _endings(held, whole, heads, got):
                here = chance * part
                if end == "silence":
                    silences += here
                else:
                    answers += here
                if end == "accepted":
                    continue
                told = end == "missing"
                new = told and (then.first > known.first or then.fresh > 0 or then.last > known.last)
                vain = max(0, tries_before - 1) if new else tries_before + 1
                if vain == tries:
                    given_up += here
                else:
                    next_state = _told(then, known, vain) if told else _State(then, known, False, vain)
                    at[next_state] = at.get(next_state, 0.0) + here
    return Exchange(tuple(bursts), answers, silences, given_up)


def _told(held: _Held, known: _Known, tries: int) -> _State:
    """The state after an acknowledgement of all that the receiver has."""
    knows = _Known(max(held.first, known.first), known.others + held.fresh, max(held.last, known.last))
    return _State(_Held(held.first, held.known + held.fresh, 0, held.last), knows, True, tries)


def _binomial(sent: int, got: float) -> list[float]:
    """[n] is the chance that n of these arrive."""
    return [comb(sent, n) * power(got, n) * power(1 - got, sent - n) for n in range(sent + 1)]


def _endings(held: _Held, whole: bool, heads: int, got: float) -> list[tuple[float, str, _Held]]:
    """What the last fragment brings: (chance, "accepted", "missing" or "silence", what is held then)."""
    lost = 1 - got
    if whole and held.last and heads:  # it was whole before the last one came again
        return [
            (got, "accepted", _NOTHING),
            (lost * got * got, "missing", _LAST_ALONE),
            (lost * got * lost, "silence", _LAST_ALONE),
            (lost * lost, "silence", _NOTHING),
        ]
    then = _NOTHING if whole else held._replace(last=1)
    return [
        (lost, "silence", held),
        (got * got, "accepted" if whole else "missing", then),
        (got * lost, "silence", then),
    ]


# --- work ------------------------------------------------------------------------------------------


def unit_cycles(work: SuiteWork, point: Point) -> float:
    """Cycles of one unit of a cipher's work, from a measured length."""
    whole, part = divmod(point.message_bytes, work.block_bytes)
    blocks = whole + (1 if part and work.part_blocks else 0)
    return point.encrypt_cycles / (work.base + work.block * blocks)


def derive_cycles(work: SuiteWork, unit: float, setup_cycles: float) -> float:
    """Cycles to derive a key."""
    return work.derive * unit + (setup_cycles if work.setup else 0.0)


def prove_cycles(work: SuiteWork, unit: float, setup_cycles: float) -> float:
    """Cycles to check an answer."""
    return work.prove * unit + (setup_cycles if work.setup else 0.0)
