"""A node and its gateway for tests: the core as in an exported library, over a flash with faults."""

from __future__ import annotations

import link_ends
from link_beds import PACKET, PAGE, SECTOR, Bed
from motecrypt.link.native import GATEWAY, LISTENS, SHORT, Event, KeyBlock, NativeLink

KEY = bytes(range(16))
OPTIONS = SHORT | LISTENS
READING = b"21.4 C"
PAGES = 2 * SECTOR // PAGE


def block(generation: int = 1, node: int = 5, options: int = OPTIONS, packet_bytes: int = PACKET) -> KeyBlock:
    """The keys of a node on a packet radio."""
    return KeyBlock(node, options, packet_bytes, generation, KEY)


def gateway(options: int = OPTIONS, packet_bytes: int = PACKET) -> NativeLink:
    """The other end of that node, ready."""
    return link_ends.begun(block(options=options | GATEWAY, packet_bytes=packet_bytes))


def fresh(*defines: str, content: int = 0xFF) -> Bed:
    """A node over a flash that holds one byte everywhere, and no faults."""
    bed = Bed("flash", *defines)
    bed.cut_after(-1)
    bed.flash[:] = [content] * len(bed.flash)
    bed.stuck[:] = bed.lazy[:] = [0] * len(bed.stuck)
    return bed


def provisioned(*defines: str, **given: int) -> Bed:
    """A node that has its keys and has begun."""
    bed = fresh(*defines)
    assert bed.begin() is Event.NO_KEY
    assert bed.first_provision(block(**given))
    assert bed.begin() is Event.NOTHING
    return bed


def up(bed: Bed, end: NativeLink, taken: bool = True) -> list[bytes]:
    """Carry the node's packets to the gateway and its answers back; what the gateway got."""
    got = []
    for packet in bed.packets():
        if end.receive(packet) in (Event.MESSAGE, Event.COMMANDED):
            got.append(end.message())
            end.answer(taken)
    for packet in end.packets():
        bed.receive(packet)
    return got


def down(end: NativeLink, bed: Bed) -> list[Event]:
    """Carry the gateway's packets to the node and its answers back; returns the node's events."""
    told = [bed.receive(packet) for packet in end.packets()]
    for packet in bed.packets():
        end.receive(packet)
    return [event for event in told if event is not Event.NOTHING]
