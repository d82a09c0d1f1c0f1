"""What the secure link (docs/link.md) sends for a message, how often, and what it computes: pure arithmetic.

All lengths and rules come from `LinkFacts`. The packets are those of the core; the numbers of repetitions
are expected values under a loss of packets that is independent and equal both ways.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import NamedTuple

from motecrypt.advise.records import LinkFacts, Point, Question, RadioPart, SuiteWork

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


def short_room(link: LinkFacts, radio: RadioPart) -> int:
    """Message bytes of a full short packet."""
    return radio.packet_bytes - link.short_overhead_bytes


def message_bytes_max(link: LinkFacts, radio: RadioPart) -> int:
    """The longest message that the link takes over this radio."""
    return link.pieces_max * (radio.packet_bytes - link.piece_head_bytes) - link.long_overhead_bytes


def is_short(link: LinkFacts, radio: RadioPart, message_bytes: int) -> bool:
    """Whether a message can go in one short packet; in a stream it must fill it."""
    room = short_room(link, radio)
    return message_bytes == room if streams(radio) else message_bytes <= room


def short_form(link: LinkFacts, message_bytes: int, confirmed: bool = False) -> Form:
    """A message in one short packet."""
    return Form("short", (message_bytes + link.short_overhead_bytes,), 0, confirmed)


def long_form(link: LinkFacts, radio: RadioPart, message_bytes: int, confirmed: bool = False) -> Form:
    """A message in fragments; in a stream zeros fill the last."""
    piece = radio.packet_bytes - link.piece_head_bytes
    content = message_bytes + link.long_overhead_bytes
    count = -(-content // piece)
    rest = content - (count - 1) * piece
    last = piece if streams(radio) else rest
    sizes = (*[radio.packet_bytes] * (count - 1), last + link.piece_head_bytes)
    return Form("long", sizes, last - rest, confirmed)


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
    """The forms that messages take in the long run, each with its share; the usual one comes first.

    Where both ends listen, a message after `short_after_answer` others without an answer goes long and
    confirmed until one is answered; a one-way node sends every 32nd long.
    """
    length = question.message_bytes
    usual = usual_form(link, radio, length, question.delivery == "confirmed")
    if question.delivery == "confirmed" or usual.name == "long":
        return ((1.0, usual),)
    if question.delivery == "one-way":
        every = link.one_way_long_every
        return ((1 - 1 / every, usual), (1 / every, long_form(link, radio, length)))
    step = long_form(link, radio, length, confirmed=True)
    times = 1 / max(LEAST_CHANCE, 1 - exchange(len(step.sizes), question.loss, link.tries).lost)
    share = times / (link.short_after_answer + times)
    return ((1 - share, usual), (share, step))


# --- repetitions -----------------------------------------------------------------------------------


class _Held(NamedTuple):
    """Which fragments: the first, how many between, the last."""

    first: int
    others: int
    last: int


_NOTHING = _Held(0, 0, 0)


class _State(NamedTuple):
    """What the receiver holds of a message, what the sender was told that it held once, what the sender does
    next, and how many tries in a row brought nothing new."""

    held: _Held
    known: _Held
    mends: bool  # it was told what is missing
    tries: int


def sent_once(fragments: int, loss: float) -> Exchange:
    """A message that is not confirmed."""
    bursts = (*[0.0] * (fragments - 1), 1.0)
    return Exchange(bursts, 0.0, 0.0, 1 - (1 - loss) ** fragments)


@lru_cache(maxsize=256)
def exchange(fragments: int, loss: float, tries: int) -> Exchange:
    """A confirmed message of so many fragments, or of one short packet (docs/link.md, Sending, 3).

    Without an answer in time the first and the last fragment go again; an answer that tells what is missing
    brings that and the last. After `tries` of these in a row without progress the message is given up. A
    receiver that has handed a message over gathers it anew when more of its fragments come. Of two sets of
    fragments between first and last the smaller is taken as part of the other.
    """
    got = 1 - loss
    middle = max(0, fragments - 2)
    heads = 1 if fragments > 1 else 0
    bursts = [0.0] * fragments
    answers = silences = given_up = 0.0
    at: dict[_State, float] = {_State(_NOTHING, _NOTHING, True, 0): 1.0}
    while at:
        following: dict[_State, float] = defaultdict(float)
        for state, chance in at.items():
            if chance < LEAST_CHANCE:
                continue
            held, known = state.held, state.known
            first_sent = heads - held.first if state.mends else heads
            others_sent = middle - held.others if state.mends else 0
            bursts[first_sent + others_sent] += chance
            for part, first, others in _arrivals(held, first_sent, others_sent, got):
                whole = first == heads and others == middle
                for more, end, then in _endings(_Held(first, others, held.last), whole, heads, got):
                    here = chance * part * more
                    if not here:
                        continue
                    answers += here * (end != "silence")
                    silences += here * (end == "silence")
                    if end == "accepted":
                        continue
                    told = end == "missing"
                    new = told and any(one > other for one, other in zip(then, known, strict=True))
                    vain = 0 if new else state.tries + 1
                    if vain == tries:
                        given_up += here
                        continue
                    knows = _Held(*map(max, then, known)) if told else known
                    following[_State(then, knows, told, vain)] += here
        at = following
    return Exchange(tuple(bursts), answers, silences, given_up)


def _arrivals(held: _Held, first_sent: int, others_sent: int, got: float) -> list[tuple[float, int, int]]:
    """(chance, first, others) that the receiver holds once all but the last fragment were sent."""
    found = []
    for count in range(others_sent + 1):
        chance = comb(others_sent, count) * got**count * (1 - got) ** (others_sent - count)
        if first_sent:
            found.append((chance * got, 1, held.others + count))
            found.append((chance * (1 - got), held.first, held.others + count))
        else:
            found.append((chance, held.first, held.others + count))
    return found


def _endings(held: _Held, whole: bool, heads: int, got: float) -> list[tuple[float, str, _Held]]:
    """What the last fragment brings: (chance, "accepted", "missing" or "silence", what is held then)."""
    lost = 1 - got
    if whole and held.last and heads:  # it was whole before the last one came again
        anew = _Held(0, 0, 1)
        return [
            (got, "accepted", _NOTHING),
            (lost * got * got, "missing", anew),
            (lost * got * lost, "silence", anew),
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
