"""The mote's half of the link, compiled for the host and driven from Python: no simulator, no waiting."""

from __future__ import annotations

import ctypes
import subprocess
from collections import deque
from collections.abc import Callable
from pathlib import Path

from motecrypt.catalog import FIRMWARE

FRAME_BYTES = 12
ACCEPTED, REFUSED, UNCONFIRMED, NO_COUNTER, TOO_LONG = range(5)
COUNTER_OK, COUNTER_USED_UP = 0, 2

Answer = Callable[[list[bytes]], bytes]
"""Gets the frames of a burst, gives the bytes that come back."""


def build(folder: Path) -> Path:
    """Link, counter, CCM and AES as one shared library."""
    motes, aes, modes = FIRMWARE / "motes" / "link", FIRMWARE / "ciphers" / "aes", FIRMWARE / "modes"
    sources = [Path(__file__).with_name("mote_shim.c"), motes / "link.c", motes / "counter.c"]
    sources += [modes / "ccm.c", aes / "aes_fast.c"]
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-DCIPHER_TAG_BYTES=8"]
    flags += ['-DCIPHER_HEADER="ccm.h"', '-DBLOCK_HEADER="aes_fast.h"']
    folders = [part for place in (FIRMWARE / "include", modes, aes, motes) for part in ("-I", str(place))]
    target = folder / "mote.so"
    command = ["gcc", *flags, *folders, *map(str, sources), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return target


class HostMote:
    """One mote. Its memory starts erased; `answer` plays the receiver."""

    def __init__(self, library: Path, answer: Answer = lambda frames: b"") -> None:
        self._library = ctypes.CDLL(str(library))
        self.memory = (ctypes.c_uint8 * 64).in_dll(self._library, "shim_memory")
        self.memory[:] = [0xFF] * 64
        self.answer = answer
        self.bursts: list[list[bytes]] = []
        self.patience: list[int] = []
        self._sent = bytearray()
        self._coming: deque[int] = deque()
        self._asked = False
        sizes = ("shim_link_bytes", "shim_counter_bytes")
        link_bytes, counter_bytes = (ctypes.c_size_t.in_dll(self._library, name).value for name in sizes)
        self._link = ctypes.create_string_buffer(link_bytes)
        self._counter = ctypes.create_string_buffer(counter_bytes)
        self._library.link_init.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint8, ctypes.c_uint32]
        self._library.link_send.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint8]
        for name in ("link_init", "link_send", "counter_init", "counter_take"):
            getattr(self._library, name).restype = ctypes.c_uint8
        self._callbacks = (
            ctypes.CFUNCTYPE(None, ctypes.c_uint8)(self._write),
            ctypes.CFUNCTYPE(ctypes.c_int16, ctypes.c_uint16)(self._read),
        )
        self._library.shim_radio(*self._callbacks)

    def _write(self, byte: int) -> None:
        self._sent.append(byte)
        self._asked = False

    def _read(self, milliseconds: int) -> int:
        if not self._asked:
            sent = bytes(self._sent)
            assert len(sent) % FRAME_BYTES == 0
            frames = [sent[at : at + FRAME_BYTES] for at in range(0, len(sent), FRAME_BYTES)]
            self.bursts.append(frames)
            assert len(self.bursts) < 1000, "the mote goes on for ever"
            self._sent.clear()
            self._coming = deque(self.answer(frames))
            self._asked = True
        self.patience.append(milliseconds)
        return self._coming.popleft() if self._coming else -1

    def left_unread(self) -> int:
        """How many bytes of the last answer the mote did not take."""
        return len(self._coming)

    def init(self, key: bytes, stream: int) -> int:
        """link_init."""
        return int(self._library.link_init(self._link, key, len(key), stream))

    def send(self, message: bytes) -> int:
        """link_send."""
        return int(self._library.link_send(self._link, message, len(message)))

    def counter_init(self) -> int:
        """counter_init: the power comes on."""
        return int(self._library.counter_init(self._counter))

    def counter_take(self) -> int | None:
        """counter_take: the number; None when all are used up."""
        number = ctypes.c_uint32(0xDEADBEEF)
        status = self._library.counter_take(self._counter, ctypes.byref(number))
        if status != COUNTER_OK:
            assert status == COUNTER_USED_UP
            assert number.value == 0xDEADBEEF, "a number was given with a refusal"
            return None
        return number.value


def crc8(data: bytes) -> int:
    """Bit by bit, from the polynomial: not the code under test."""
    rest = int.from_bytes(data, "big") << 8
    for bit in range(8 * len(data) - 1, -1, -1):
        if rest >> (bit + 8) & 1:
            rest ^= 0x107 << bit
    return rest


def slot(number: int) -> bytes:
    """A slot as it is stored: big-endian, and the CRC with some bits turned."""
    data = number.to_bytes(4, "big")
    return data + bytes([crc8(data) ^ 0x55])


def load(mote: HostMote, *slots: bytes) -> None:
    """Memory that holds these slots and is erased behind them."""
    content = b"".join(slots)
    mote.memory[:] = list(content + b"\xff" * (64 - len(content)))
