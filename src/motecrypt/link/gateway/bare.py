"""The bare transport: messages over the packets of a radio, without the link (docs/coap.md). Pure.

The same as firmware/coap/bare.c: a message in parts, in order, with a checksum, neither protected nor
confirmed.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass

from motecrypt.base.errors import InputError

MESSAGE_MAX = 160
PACKET_MIN = 8
DOWN = 0x80
"""Of a packet's first byte: to the node. The lower seven bits are the node's number."""
_HEAD, _INDEX, _NUMBER_SHIFT, _NUMBERS = 2, 31, 5, 8
_AROUND = 3
"""Bytes around a message: its length before it, its checksum behind it."""


def bare_packets(node: int, message: bytes, number: int, packet_bytes: int, down: bool = True) -> list[bytes]:
    """The packets of a message.

    Parameters
    ----------
    number : int
        Of the message: the next one of this node and direction; its lower three bits are used.

    Raises
    ------
    InputError
        The message or the packets have a length that the transport does not take.
    """
    if not 0 < len(message) <= MESSAGE_MAX:
        raise InputError(f"a message of {len(message)} bytes; the bare transport takes 1 to {MESSAGE_MAX}")
    if packet_bytes < PACKET_MIN:
        raise InputError(f"packets of {packet_bytes} bytes; the bare transport needs {PACKET_MIN}")
    sent = bytes([len(message)]) + message
    sent += _checksum(sent)
    part = packet_bytes - _HEAD
    first = node | (DOWN if down else 0)
    return [
        bytes([first, number % _NUMBERS << _NUMBER_SHIFT | index]) + sent[at : at + part].ljust(part, b"\0")
        for index, at in enumerate(range(0, len(sent), part))
    ]


def _checksum(data: bytes) -> bytes:
    return binascii.crc_hqx(data, 0xFFFF).to_bytes(2, "big")


@dataclass(frozen=True)
class BareHeard:
    """What a packet brought.

    Attributes
    ----------
    message : the message that is whole with it; empty: none yet.
    broken : whether a message had a wrong length or checksum.
    """

    message: bytes = b""
    broken: bool = False


_NOTHING, _BROKEN = BareHeard(), BareHeard(broken=True)


class BareReader:
    """Joins the packets of one node."""

    def __init__(self) -> None:
        self._parts = b""
        self._number = 0
        self._next: int | None = None

    def take(self, packet: bytes) -> BareHeard:
        """The packet that came next; its first byte is known to be this node's."""
        number, index, part = packet[1] >> _NUMBER_SHIFT, packet[1] & _INDEX, packet[_HEAD:]
        if index == 0:
            self._parts, self._number, self._next = b"", number, 0
        elif number != self._number or index != self._next:
            if number != self._number or self._next is None or index + 1 != self._next:
                self._next = None  # else the radio has doubled the part that came last
            return _NOTHING
        self._parts += part
        self._next = index + 1
        count = self._parts[0]
        if not 0 < count <= MESSAGE_MAX:
            self._next = None
            return _BROKEN
        if len(self._parts) < count + _AROUND:
            return _NOTHING
        self._next = None
        sent = self._parts[: count + 1]
        if self._parts[count + 1 : count + _AROUND] != _checksum(sent):
            return _BROKEN
        return BareHeard(sent[1:])


class BareNode:
    """One node at the gateway: what comes from it, and the number of the next message to it.

    Attributes
    ----------
    broken : messages that came with a wrong length or checksum.
    """

    def __init__(self, node: int, packet_bytes: int) -> None:
        self._node, self._packet_bytes, self._number = node, packet_bytes, 0
        self._reader = BareReader()
        self.broken = 0

    def take(self, packet: bytes) -> BareHeard:
        """A packet of this node."""
        heard = self._reader.take(packet)
        self.broken += heard.broken
        return heard

    def packets(self, message: bytes) -> list[bytes]:
        """The packets of a message to it; InputError where it is too long."""
        self._number += 1
        return bare_packets(self._node, message, self._number, self._packet_bytes)
