"""Asks the file firmware (firmware/files) for things. docs/files.md lists the requests."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.frames import ProtocolError
from motecrypt.simulate.runners.protocol import BytePipe, Client

PIECE_BYTES = 2048
FORMATS = {"published": (0, 32), "aes256-gcm": (1, 1), "chacha20-poly1305": (1, 2)}
"""Format of a job: its number and its cipher's (for the published one the AES key's bytes)."""

_ERRORS = {
    -2: "no such file",
    -5: "the storage failed",
    -28: "no space left on the file system",
    -84: "no file system, or a damaged one",
    -200: "not genuine: wrong key, or the file was changed",
    -201: "too short to be an encrypted file",
    -202: "the firmware does not understand the request",
    -203: "the firmware's library refused",
}


_FLAGS = {(True, True): 3, (True, False): 1, (False, False): 0, (False, True): 2}
"""Of a piece that is written: whether it is the first, and whether it is the last."""


class NodeFileError(MotecryptError):
    """The firmware answered with an error; `status` is its number (littlefs's, or -200 and below)."""

    def __init__(self, what: str, status: int) -> None:
        super().__init__(f"{what}: {_ERRORS.get(status, f'error {status}')}")
        self.status = status


@dataclass(frozen=True)
class JobRan:
    """What a job took by the board's own timer, its stack and all heap so far, in bytes."""

    time_us: int
    stack_bytes: int
    heap_bytes: int


@dataclass(frozen=True)
class Storage:
    """The board's clock in Hz, and the blocks of its storage."""

    clock_hz: int
    block_bytes: int
    block_count: int


def _text(name: str) -> bytes:
    encoded = name.encode()
    return bytes([len(encoded)]) + encoded


def _fields(layout: struct.Struct, answer: bytes) -> tuple[int, ...]:
    """The numbers at the start of an answer; a ProtocolError if it is too short."""
    if len(answer) < layout.size:
        raise ProtocolError(f"an answer of {len(answer)} bytes; expected {layout.size}")
    return layout.unpack_from(answer)


_STATUS, _JOB = struct.Struct("<i"), struct.Struct("<iIII")
FILE_BYTES_MAX = 64 << 20


class FileNode(Client):
    """A board with the file firmware. Every method raises NodeFileError when the firmware reports it."""

    def __init__(self, pipe: BytePipe, timeout_s: float = 300.0) -> None:
        super().__init__(pipe, timeout_s)

    def wait_greeting(self) -> Storage:
        """The greeting that the firmware sends when it starts."""
        kind, payload = self._await(0)
        if kind != "h" or len(payload) != 12:
            raise ProtocolError(f"greeted with '{kind}'")
        clock_hz, block_bytes, block_count = struct.unpack("<III", payload)
        return Storage(clock_hz=clock_hz, block_bytes=block_bytes, block_count=block_count)

    def _status(self, what: str, kind: str, payload: bytes = b"") -> None:
        (status,) = _fields(_STATUS, self._ask(kind, payload, "s"))
        if status < 0:
            raise NodeFileError(what, status)

    def _data(self, what: str, kind: str, payload: bytes) -> bytes:
        answer = self._ask(kind, payload, "d")
        (status,) = _fields(_STATUS, answer)
        if status < 0:
            raise NodeFileError(what, status)
        return answer[4:]

    def format(self) -> None:
        """Make an empty file system and take it into use."""
        self._status("format", "F")

    def mount(self) -> None:
        """Take the file system there is into use."""
        self._status("mount", "M")

    def write(self, name: str, content: bytes) -> None:
        """Write a whole file."""
        for start in range(0, len(content), PIECE_BYTES) or range(1):
            end = start + PIECE_BYTES
            piece, flags = content[start:end], _FLAGS[not start, end >= len(content)]
            self._status(name, "W", bytes([flags]) + _text(name) + piece)

    def read(self, name: str) -> bytes:
        """A whole file."""
        content = b""
        while True:
            piece = self._data(name, "G", struct.pack("<IH", len(content), PIECE_BYTES) + _text(name))
            content += piece
            if len(piece) < PIECE_BYTES:
                return content
            if len(content) > FILE_BYTES_MAX:
                raise ProtocolError(f"{name}: continues after {FILE_BYTES_MAX:,} bytes")

    def job(
        self,
        form: str,
        source: str,
        target: str,
        key: bytes,
        *,
        decrypts: bool = False,
        rounds: int = 8192,
        chunk_bytes: int = 4096,
        salt: bytes = b"",
    ) -> JobRan:
        """Encrypt or decrypt a file of the board into another one.

        Parameters
        ----------
        form
            A key of FORMATS.
        rounds
            Hashes of the published key derivation; the format has 8192.
        salt
            32 random bytes, to encrypt in the modern format.
        """
        number, cipher = FORMATS[form]
        if chunk_bytes.bit_count() != 1:
            raise InputError(f"chunks of {chunk_bytes} bytes; give a power of two")
        fixed = struct.pack(
            "<BBBHBBB",
            number,
            decrypts,
            cipher,
            rounds,
            chunk_bytes.bit_length() - 1,
            len(key),
            len(salt),
        )
        answer = self._ask("J", fixed + key + salt + _text(source) + _text(target), "j")
        status, time_us, stack, heap = _fields(_JOB, answer)
        if status < 0:
            raise NodeFileError(f"{source} to {target}", status)
        return JobRan(time_us, stack, heap)

    def dump(self, storage: Storage) -> bytes:
        """The whole storage: an image that littlefs on any machine opens."""
        blocks = range(storage.block_count)
        return b"".join(self._data(f"block {index}", "D", struct.pack("<I", index)) for index in blocks)

    def load(self, storage: Storage, image: bytes) -> None:
        """Write an image of the whole storage; blocks that are erased (all ones) are left out."""
        for index in range(storage.block_count):
            block = image[index * storage.block_bytes : (index + 1) * storage.block_bytes]
            if block.strip(b"\xff"):
                self.load_block(index, block)

    def load_block(self, index: int, content: bytes) -> None:
        """Erase one block and write its whole content."""
        self._status(f"block {index}", "L", struct.pack("<I", index) + content)
