"""CoAP messages as bytes (RFC 7252, section 3), and the numbers that they are made of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

VERSION = 1
TOKEN_MAX = 8
OPTION_MAX = 65535
PAYLOAD_MARKER = 0xFF
_ONE_MORE, _TWO_MORE, _RESERVED = 13, 14, 15
"""Nibbles of an option's head: one byte follows, less 13; two bytes follow, less 269; none of these."""
_ONE_BASE, _TWO_BASE = 13, 269


class CoapError(ValueError):
    """Bytes that are no CoAP message: RFC 7252 calls it a message format error."""


class CoapKind(IntEnum):
    """The type of a message."""

    CON = 0
    NON = 1
    ACK = 2
    RST = 3


class Code(IntEnum):
    """Codes that the gateway uses or looks at: class in the upper three bits, detail below."""

    EMPTY = 0x00
    GET = 0x01
    POST = 0x02
    PUT = 0x03
    DELETE = 0x04
    FETCH = 0x05
    CREATED = 0x41
    CHANGED = 0x44
    CONTENT = 0x45
    CONTINUE = 0x5F
    BAD_REQUEST = 0x80
    UNAUTHORIZED = 0x81
    BAD_OPTION = 0x82
    NOT_FOUND = 0x84
    NOT_ALLOWED = 0x85
    NOT_ACCEPTABLE = 0x86
    TOO_LARGE = 0x8D
    BAD_GATEWAY = 0xA2
    UNAVAILABLE = 0xA3
    GATEWAY_TIMEOUT = 0xA4
    NO_PROXYING = 0xA5
    HOP_LIMIT_REACHED = 0xA8


class Option(IntEnum):
    """Numbers of options (RFC 7252, 7641, 7959, 8613, 8768)."""

    IF_MATCH = 1
    URI_HOST = 3
    ETAG = 4
    IF_NONE_MATCH = 5
    OBSERVE = 6
    URI_PORT = 7
    LOCATION_PATH = 8
    OSCORE = 9
    URI_PATH = 11
    CONTENT_FORMAT = 12
    MAX_AGE = 14
    URI_QUERY = 15
    HOP_LIMIT = 16
    ACCEPT = 17
    LOCATION_QUERY = 20
    BLOCK2 = 23
    BLOCK1 = 27
    SIZE2 = 28
    PROXY_URI = 35
    PROXY_SCHEME = 39
    SIZE1 = 60


UNSAFE = 2
"""The bit of an option's number: a proxy that does not know it may not forward it."""


def uint(value: int) -> bytes:
    """A number in the form of an option: no leading zero bytes."""
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


@dataclass(frozen=True)
class CoapMessage:
    """One message.

    Attributes
    ----------
    kind, code, mid : type, code and message ID.
    options : number and value each; those of one number in their order.
    """

    kind: CoapKind
    code: int
    mid: int
    token: bytes = b""
    options: tuple[tuple[int, bytes], ...] = ()
    payload: bytes = b""

    @property
    def is_request(self) -> bool:
        """Whether it asks for something."""
        return 0 < self.code < 0x20

    @property
    def is_response(self) -> bool:
        """Whether it answers."""
        return 0x40 <= self.code < 0xC0

    def values(self, number: int) -> list[bytes]:
        """The values of an option."""
        return [value for each, value in self.options if each == number]

    def number(self, option: int) -> int | None:
        """An option's value as a number; None where it is not there."""
        found = self.values(option)
        return int.from_bytes(found[0], "big") if found else None

    def without(self, *numbers: int) -> CoapMessage:
        """The same without these options."""
        return replace(self, options=tuple(each for each in self.options if each[0] not in numbers))

    def having(self, number: int, value: bytes) -> CoapMessage:
        """The same with one more option."""
        return replace(self, options=(*self.options, (number, value)))

    def encode(self) -> bytes:
        """As bytes.

        Raises
        ------
        CoapError
            Nothing can encode that: a token, option or number is too long.
        """
        if len(self.token) > TOKEN_MAX or not 0 <= self.mid <= 0xFFFF or not 0 <= self.code <= 0xFF:
            raise CoapError("its token, message ID or code is too large")
        head = bytes([VERSION << 6 | self.kind << 4 | len(self.token), self.code])
        body = b"".join(_options(sorted(self.options, key=lambda option: option[0])))
        payload = bytes([PAYLOAD_MARKER]) + self.payload if self.payload else b""
        return head + self.mid.to_bytes(2, "big") + self.token + body + payload


def _options(options: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    before = 0
    for number, value in options:
        if not 0 < number <= OPTION_MAX or len(value) > OPTION_MAX:
            raise CoapError(f"option {number} with {len(value)} bytes cannot be encoded")
        delta, delta_more = _nibble(number - before)
        length, length_more = _nibble(len(value))
        yield bytes([delta << 4 | length]) + delta_more + length_more + value
        before = number


def _nibble(value: int) -> tuple[int, bytes]:
    if value < _ONE_BASE:
        return value, b""
    if value < _TWO_BASE:
        return _ONE_MORE, bytes([value - _ONE_BASE])
    return _TWO_MORE, (value - _TWO_BASE).to_bytes(2, "big")


def decode(data: bytes) -> CoapMessage:
    """Read a message.

    Raises
    ------
    CoapError
        It is none.
    """
    if len(data) < 4 or data[0] >> 6 != VERSION:
        raise CoapError("no message of CoAP version 1")
    token_bytes, code = data[0] & 15, data[1]
    if token_bytes > TOKEN_MAX:
        raise CoapError("a token of more than 8 bytes")
    if code == Code.EMPTY and data[4:]:
        raise CoapError("an empty message with data after its head")
    if 4 + token_bytes > len(data):
        raise CoapError("the token ends too early")
    at, number = 4 + token_bytes, 0
    options = []
    while at < len(data) and data[at] != PAYLOAD_MARKER:
        head = data[at]
        delta, at = _read_nibble(data, at + 1, head >> 4)
        length, at = _read_nibble(data, at, head & 15)
        number += delta
        if number > OPTION_MAX or at + length > len(data):
            raise CoapError("an option ends too late")
        options.append((number, data[at : at + length]))
        at += length
    if at + 1 == len(data):
        raise CoapError("a payload marker without a payload")
    kind, mid = CoapKind(data[0] >> 4 & 3), int.from_bytes(data[2:4], "big")
    return CoapMessage(kind, code, mid, data[4 : 4 + token_bytes], tuple(options), data[at + 1 :])


def _read_nibble(data: bytes, at: int, nibble: int) -> tuple[int, int]:
    """What a nibble means, and where reading continues."""
    if nibble < _ONE_MORE:
        return nibble, at
    if nibble == _RESERVED:
        raise CoapError("an option's head with the reserved value 15")
    more = nibble - _ONE_MORE + 1
    if at + more > len(data):
        raise CoapError("an option's head ends too early")
    base = _ONE_BASE if more == 1 else _TWO_BASE
    return base + int.from_bytes(data[at : at + more], "big"), at + more


_HEAD_ROOM = 24
"""Bytes of a response before its payload: head, token, a few options, marker."""


def empty(kind: CoapKind, mid: int) -> bytes:
    """An empty message: an acknowledgement or a reset."""
    return CoapMessage(kind, Code.EMPTY, mid).encode()


def block_value(number: int, more: bool, size_exponent: int) -> bytes:
    """The value of Block1 or Block2 (RFC 7959): blocks of 16 << size_exponent bytes."""
    return uint(number << 4 | more << 3 | size_exponent)


def block_exponent(longest: int) -> int:
    """Of the largest block (16 << exponent bytes) that fits into a message of so many bytes."""
    return next((each for each in range(6, -1, -1) if 16 << each <= longest - _HEAD_ROOM), 0)


def plain(code: Code, why: str = "") -> CoapMessage:
    """A response with nothing but a few words for people."""
    return CoapMessage(CoapKind.NON, code, 0, payload=why.encode())
