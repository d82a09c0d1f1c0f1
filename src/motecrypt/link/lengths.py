"""How long the packets of the secure link are (docs/link.md, Packets): pure arithmetic over data/link.toml.

The core in firmware/link decides: tests/unit/advise/test_advise_link.py compares the file with it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

from motecrypt.base.descriptor import Table
from motecrypt.catalog.places import DATA

FILE = DATA / "link.toml"


@dataclass(frozen=True)
class LinkLengths:
    """In bytes, except for `pieces_max`, the fragments of a message; see data/link.toml."""

    packet_bytes_min: int
    packet_bytes_max: int
    short_overhead_bytes: int
    short_tag_bytes: int
    piece_head_bytes: int
    long_overhead_bytes: int
    long_tag_bytes: int
    pieces_max: int
    answer_bytes: int


LENGTHS = tuple(field.name for field in fields(LinkLengths))
WIDE_TAG_BYTES = 16
"""Of a long message, where a node is provisioned so."""


@lru_cache(maxsize=1)
def link_lengths() -> LinkLengths:
    """Those of data/link.toml."""
    packets = Table.read(FILE).table("packets")
    return LinkLengths(**{name: packets.integer(name, low=1, high=255) for name in LENGTHS})


@dataclass(frozen=True)
class Framing:
    """How the link uses a radio.

    Attributes
    ----------
    packet_bytes : of the radio's packets.
    stream : whether all packets have that length, because a serial line keeps them not apart.
    short : whether there are short packets. wide_tag : whether long messages have tags of 16 bytes.
    """

    packet_bytes: int
    stream: bool
    short: bool = True
    wide_tag: bool = False


def short_room(link: LinkLengths, framing: Framing) -> int:
    """Message bytes of a full short packet."""
    return framing.packet_bytes - link.short_overhead_bytes


def is_short(link: LinkLengths, framing: Framing, message_bytes: int) -> bool:
    """Whether a message can go in one short packet; in a stream it must fill it."""
    room = short_room(link, framing)
    return framing.short and (message_bytes == room if framing.stream else message_bytes <= room)


def content_bytes(link: LinkLengths, framing: Framing, message_bytes: int) -> int:
    """What is cut into the fragments of a long message."""
    wider = WIDE_TAG_BYTES - link.long_tag_bytes if framing.wide_tag else 0
    return message_bytes + link.long_overhead_bytes + wider


def long_sizes(link: LinkLengths, framing: Framing, message_bytes: int) -> tuple[int, ...]:
    """The packets of a long message; in a stream zeros fill the last."""
    piece = framing.packet_bytes - link.piece_head_bytes
    content = content_bytes(link, framing, message_bytes)
    count = -(-content // piece)
    last = framing.packet_bytes if framing.stream else content - (count - 1) * piece + link.piece_head_bytes
    return (*[framing.packet_bytes] * (count - 1), last)


def message_bytes_max(link: LinkLengths, framing: Framing) -> int:
    """The longest message."""
    whole = link.pieces_max * (framing.packet_bytes - link.piece_head_bytes)
    return whole - content_bytes(link, framing, 0)
