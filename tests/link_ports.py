"""The link core for tests: compiled with faults and checkers as wanted, over storage that fails."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from link_builds import compiled
from motecrypt.link.native import STORAGE_BYTES, SUITES, Event, KeyBlock, NativeLink, Suite, open_library

FAULTY = Path(__file__).parent / "unit" / "link" / "faulty_port.c"
CHECKED = "MOTECRYPT_LINK_CHECKED"
TRAPS = ("-fsanitize=shift", "-fsanitize-undefined-trap-on-error")
"""Without the checkers too, a shift that an int is too narrow for ends the process: an AVR's is narrower."""
WITH_AD = "LINK_TEST_WITH_AD"
"""A define: the cipher is compiled as one that could have associated data."""
CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
_FLAGS = ("-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")


class PowerLostError(Exception):
    """The power went during a write; what was in RAM is removed."""


@lru_cache(maxsize=64)
def faulty_library(suite: Suite, *defines: str) -> Path:
    """The core over faulty storage; with the checkers on where the environment asks for them."""
    checks = CHECKS if os.environ.get(CHECKED) else TRAPS
    whole = SUITES[suite].command([FAULTY], (*_FLAGS, *checks, *(f"-D{define}" for define in defines)))
    command = [part for part in whole if part != "-DCIPHER_NO_AD" or WITH_AD not in defines]
    return compiled(command)


@lru_cache(maxsize=64)
def _opened(path: Path) -> ctypes.CDLL:
    library = open_library(path)
    pointer = ctypes.c_void_p
    library.tester_join.argtypes = [pointer, pointer]
    library.tester_join.restype = None
    library.cut_call.argtypes = [pointer, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint8]
    library.cut_call.restype = ctypes.c_uint8
    library.link_begin.argtypes, library.link_begin.restype = (
        [pointer, pointer, ctypes.c_uint16],
        ctypes.c_uint8,
    )
    library.link_send.argtypes = [pointer, pointer, ctypes.c_uint16, ctypes.c_uint8]
    library.link_send.restype = ctypes.c_uint8
    library.see.argtypes = [pointer, ctypes.c_int]
    library.see.restype = ctypes.c_uint32
    library.stream_packets.argtypes = [ctypes.c_uint8, ctypes.c_char_p, pointer, ctypes.c_uint32, pointer]
    library.stream_packets.restype = ctypes.c_uint32
    return library


def stream_packets(packet_bytes: int, timed: Sequence[tuple[int, int]]) -> list[bytes]:
    """What the stream reader reads as packets in bytes with their times in ms; 0xEE begins none."""
    library = _opened(faulty_library("aes128-ccm"))
    data = bytes(byte for _, byte in timed)
    times = (ctypes.c_uint16 * len(timed))(*(time & 0xFFFF for time, _ in timed))
    found = ctypes.create_string_buffer(len(timed) + 1)
    length = library.stream_packets(packet_bytes, data, times, len(timed), found)
    return [found.raw[at : at + packet_bytes] for at in range(0, length, packet_bytes)]


class _Tester(ctypes.Structure):
    _fields_ = (
        ("writes_left", ctypes.c_int32),
        ("writes", ctypes.c_uint32),
        ("garbage", ctypes.c_uint8),
        ("stuck", ctypes.c_uint8 * STORAGE_BYTES),
    )


class FaultyLink(NativeLink):
    """One end of a link over storage that fails as the test sets it."""

    def __init__(self, suite: Suite = "aes128-ccm", *defines: str, answer_ms: int = 100) -> None:
        self._tested = _opened(faulty_library(suite, *defines))
        super().__init__(self._tested, answer_ms)
        size = ctypes.c_size_t.in_dll(self._tested, "tester_bytes").value
        self._tester_memory = ctypes.create_string_buffer(size + 64)
        place = (ctypes.addressof(self._tester_memory) + 63) & ~63
        self.tester = _Tester.from_address(place)
        self._tested.tester_join(self.address, place)
        self.now = 0

    def _call(self, what: int, data: bytes = b"", number: int = 0, how: int = 0) -> Event:
        told = self._tested.cut_call(self.address, what, data, number, how)
        if told == 255:
            raise PowerLostError
        return Event(told)

    def _see(self, what: int) -> int:
        return int(self._tested.see(self.address, what))

    def provision(self, block: KeyBlock) -> None:
        """As NativeLink does."""
        assert self._tested.cut_call(self.address, 0, block.encode(), 0, 0) == 1

    def begin(self, storage: bytes | None = None) -> Event:
        """As NativeLink does; the power may go."""
        if storage is not None:
            ctypes.memmove(self._port.storage, storage, STORAGE_BYTES)
        return self._call(1, number=self._answer_ms)

    def send(self, message: bytes, how: int = 0) -> Event:
        """As NativeLink does; the power may go."""
        return self._call(2, message, len(message), how)

    def receive(self, packet: bytes) -> Event:
        """As NativeLink does; the power may go."""
        return self._call(3, packet, len(packet))

    def receive_told(self, packet: bytes, length: int) -> Event:
        """Take a packet that is said to be shorter than what is there."""
        return self._call(3, packet, length)

    def begin_in(self, bytes_: int) -> ctypes.Array[ctypes.c_char]:
        """As `begin`, with an input buffer of that size, and 32 bytes of 0xA5 behind it."""
        self._small = ctypes.create_string_buffer(b"\xa5" * (bytes_ + 32), bytes_ + 32)
        assert self._tested.link_begin(self.address, self._small, bytes_) == Event.NOTHING
        return self._small

    def send_in(self, bytes_: int, message: bytes, how: int) -> bytes:
        """Send from a buffer of that size, of 0xA5 before and behind the message; what it holds then."""
        buffer = ctypes.create_string_buffer(22 * b"\xa5" + message.ljust(bytes_ - 22, b"\xa5"), bytes_)
        assert self._tested.link_send(self.address, buffer, len(message), how) in (Event.SENT, Event.WAITING)
        return buffer.raw

    def answer(self, taken: bool) -> None:
        """As NativeLink does; the power may go."""
        self._call(4, how=taken)

    def poll(self, now_ms: int) -> Event:
        """As NativeLink does; the power may go."""
        self._port.clock = now_ms & 0xFFFF
        return self._call(5)

    def renew(self, epoch: int, salt: int = 0x5A17) -> Event:
        """As NativeLink does; the power may go."""
        return self._call(6, salt.to_bytes(2, "little"), epoch)

    def poke(self, at: int, byte: int) -> None:
        """Change a byte of storage from outside."""
        self._port.storage[at] = byte

    @property
    def counter(self) -> int:
        """Of the message sent last."""
        return self._see(0)

    @property
    def next(self) -> int:
        """The counter that it expects next."""
        return self._see(3)

    @property
    def failures(self) -> int:
        """Failed verifications, as its record counts them."""
        return self._see(4)

    @property
    def unused(self) -> int:
        """The counter that it would use next."""
        return self._see(5)

    @property
    def since(self) -> int:
        """Counters since the other end was known to be synchronised."""
        return self._see(6)
