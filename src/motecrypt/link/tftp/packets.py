"""The packets of TFTP: read from bytes that anybody may have sent, and made."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from motecrypt.base.errors import MotecryptError

HEAD = 4
"""Bytes of a DATA packet in front of its block."""
BLOCK, BLOCK_MIN, BLOCK_MAX = 512, 8, 65464
"""Without the option blksize; and what it may be (RFC 2348)."""
NUMBER_MAX = 2**32 - 1
OCTET, NETASCII = "octet", "netascii"


class Opcode(IntEnum):
    """The first two bytes."""

    READ = 1
    WRITE = 2
    DATA = 3
    ACK = 4
    ERROR = 5
    OACK = 6


class TftpCode(IntEnum):
    """Codes of an ERROR packet."""

    UNDEFINED = 0
    NOT_FOUND = 1
    NO_ACCESS = 2
    DISK_FULL = 3
    ILLEGAL = 4
    UNKNOWN_ID = 5
    EXISTS = 6
    NO_USER = 7
    NO_OPTION = 8


class TftpError(MotecryptError):
    """A transfer fails, or may not begin.

    Attributes
    ----------
    code : the error for the peer, or from it.
    """

    def __init__(self, code: TftpCode, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Packet:
    """One packet.

    Attributes
    ----------
    block : of DATA and ACK its number; of ERROR its code.
    content : of DATA.
    name, mode : of a request; of ERROR the name is its text.
    options : of a request or an OACK; names in lower case, the first of equal ones counts.
    """

    opcode: Opcode
    block: int = 0
    content: bytes = b""
    name: str = ""
    mode: str = OCTET
    options: dict[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Its bytes."""
        head = self.opcode.to_bytes(2, "big")
        if self.opcode in (Opcode.READ, Opcode.WRITE):
            return head + _texts(self.name, self.mode, *_flat(self.options))
        if self.opcode is Opcode.OACK:
            return head + _texts(*_flat(self.options))
        numbered = head + self.block.to_bytes(2, "big")
        if self.opcode is Opcode.ERROR:
            return numbered + _texts(self.name)
        return numbered + self.content


def read_packet(data: bytes) -> Packet | None:
    """The decoded packet; None if it is not a TFTP packet. Bytes after an ACK are ignored."""
    if len(data) < HEAD or not Opcode.READ <= int.from_bytes(data[:2], "big") <= Opcode.OACK:
        return None
    opcode, block = Opcode(data[1]), int.from_bytes(data[2:4], "big")
    if opcode is Opcode.DATA:
        return Packet(opcode, block, data[HEAD:])
    if opcode is Opcode.ACK:
        return Packet(opcode, block)
    if opcode is Opcode.ERROR:
        return Packet(opcode, block, name=data[HEAD:].partition(b"\0")[0].decode("ascii", "replace"))
    *texts, rest = data[2:].split(b"\0")
    words = [text.decode("ascii", "replace") for text in texts]
    first = 0 if opcode is Opcode.OACK else 2
    if rest or len(words) < first or len(words) % 2:
        return None
    options: dict[str, str] = {}
    for at in range(first, len(words), 2):
        options.setdefault(words[at].lower(), words[at + 1])
    if opcode is Opcode.OACK:
        return Packet(opcode, options=options)
    return Packet(opcode, name=words[0], mode=words[1].lower(), options=options)


def number_in(options: dict[str, str], name: str, least: int, most: int) -> int | None:
    """An option's value, or None: it is not there, or no number between the two."""
    text = options.get(name, "")
    if not (text.isascii() and text.isdigit()) or len(text) > 20 or not least <= int(text) <= most:
        return None
    return int(text)


def error_packet(code: int, text: str = "") -> bytes:
    """An ERROR packet."""
    return Packet(Opcode.ERROR, code, name=text).encode()


def _texts(*texts: str) -> bytes:
    return b"".join(text.encode("ascii", "replace").replace(b"\0", b"?") + b"\0" for text in texts)


def _flat(options: dict[str, str]) -> list[str]:
    return [text for pair in options.items() for text in pair]
