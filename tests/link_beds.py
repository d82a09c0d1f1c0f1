"""Nodes for tests: firmware/link/node compiled for this computer, over a flash that fails or over a file."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Literal

from link_builds import compiled
from motecrypt.catalog import FIRMWARE
from motecrypt.link.native import STORAGE_BYTES, SUITES, Event, KeyBlock

BED = Path(__file__).parent / "unit" / "link" / "node_bed.c"
NODE = FIRMWARE / "link" / "node"
START, PAGE, SECTOR = 4096, 256, 4096
MESSAGE, PACKET = 40, 32
_FLAGS = ("-std=gnu99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC")

Storage = Literal["flash", "file"]
BEGIN, SEND, RECEIVE, POLL, BYTE, PROVISION, FIRST_PROVISION, STORE, REFUSES = range(9)
FITS, NOT_A_BLOCK, OTHER_RADIO, NOT_NEWER = range(4)


class PowerLostError(Exception):
    """The power went; what was in RAM is removed."""


@lru_cache(maxsize=8)
def _opened(storage: Storage, *defines: str) -> ctypes.CDLL:
    sources = [BED, NODE / "node.c", NODE / f"{storage}.c"]
    own = ["-I", str(NODE), f'-DLINK_STORAGE_HEADER="{storage}.h"', *(f"-D{define}" for define in defines)]
    own += ["-DBED_FILE"] if storage == "file" else []
    command = [*SUITES["aes128-ccm"].command(sources, _FLAGS), *own]
    target = compiled(command, [NODE], "bed-")
    library = ctypes.CDLL(str(target), use_errno=True)
    pointer, byte = ctypes.c_void_p, ctypes.c_uint8
    library.bed_call.argtypes = [pointer, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32, byte]
    library.bed_call.restype = byte
    library.bed_set.argtypes, library.bed_set.restype = [pointer, ctypes.c_uint16, byte], None
    library.bed_load.argtypes, library.bed_load.restype = [pointer, pointer], None
    library.bed_sent.argtypes, library.bed_sent.restype = [pointer, pointer], ctypes.c_uint32
    library.bed_taken.argtypes, library.bed_taken.restype = [pointer, pointer, pointer], ctypes.c_uint32
    library.bed_clock.argtypes, library.bed_clock.restype = [pointer], ctypes.c_uint16
    if storage == "file":
        library.bed_open.argtypes, library.bed_open.restype = [pointer, ctypes.c_char_p], ctypes.c_int
        library.bed_close.argtypes, library.bed_close.restype = [pointer], None
    else:
        library.bed_cut.argtypes, library.bed_cut.restype = [ctypes.c_int32], None
        library.bed_memory.restype = library.bed_stuck.restype = library.bed_lazy.restype = ctypes.c_void_p
        library.bed_erasures.restype = library.bed_writes.restype = ctypes.c_uint32
        library.bed_reads.restype = ctypes.c_uint32
    return library


class Bed:
    """A node with the interface of `node.h`.

    There is one flash for all beds of a set of defines: a second bed is the same node after a restart.
    """

    def __init__(self, storage: Storage = "flash", *defines: str) -> None:
        self.library = _opened(storage, *defines)
        self._memory = ctypes.create_string_buffer(
            ctypes.c_size_t.in_dll(self.library, "bed_bytes").value + 16
        )
        self._address = (ctypes.addressof(self._memory) + 15) & ~15
        self.takes = 1
        self.now = 0

    def _call(self, what: int, data: bytes = b"", how: int = 0) -> int:
        self.library.bed_set(self._address, self.now & 0xFFFF, self.takes)
        event = int(self.library.bed_call(self._address, what, data, len(data), how))
        if event == 255:
            raise PowerLostError
        return event

    def begin(self) -> Event:
        return Event(self._call(BEGIN))

    def send(self, message: bytes, how: int = 0) -> Event:
        return Event(self._call(SEND, message, how))

    def receive(self, packet: bytes) -> Event:
        return Event(self._call(RECEIVE, packet))

    def poll(self, now: int) -> Event:
        self.now = now
        return Event(self._call(POLL))

    def byte(self, byte: int, packet_bytes: int, now: int) -> Event:
        self.now = now
        return Event(self._call(BYTE, bytes([byte]), packet_bytes))

    def provision(self, block: bytes, packet: int = PACKET) -> Event:
        return Event(self._call(PROVISION, block, packet))

    def refuses(self, block: bytes, packet: int = PACKET) -> int:
        """FITS, or why not."""
        return self._call(REFUSES, block, packet)

    def first_provision(self, block: KeyBlock) -> bool:
        """As `link_provision`, for any content of the storage."""
        return self._call(FIRST_PROVISION, block.encode()) == 0

    def packets(self) -> list[bytes]:
        found = ctypes.c_void_p()
        length = self.library.bed_sent(self._address, ctypes.byref(found))
        data, made, at = ctypes.string_at(found, length), [], 0
        while at < length:
            made.append(data[at + 1 : at + 1 + data[at]])
            at += 1 + data[at]
        return made

    def taken(self) -> tuple[int, bytes, Event]:
        """How many messages were handed over, the last one, and its event."""
        found, event = ctypes.c_void_p(), ctypes.c_uint8()
        said = self.library.bed_taken(self._address, ctypes.byref(found), ctypes.byref(event))
        return said >> 16, ctypes.string_at(found, said & 0xFFFF), Event(event.value)

    @property
    def storage(self) -> bytes:
        found = ctypes.create_string_buffer(STORAGE_BYTES)
        self.library.bed_load(self._address, found)
        return found.raw

    def store(self, at: int, data: bytes) -> None:
        self._call(STORE, data, at)

    def clock(self) -> int:
        return int(self.library.bed_clock(self._address))

    # --- the flash

    @property
    def flash(self) -> ctypes.Array[ctypes.c_uint8]:
        """All of the flash: a sector of somebody else's, the node's two, and one more."""
        return (ctypes.c_uint8 * (4 * SECTOR)).from_address(self.library.bed_memory())

    @property
    def stuck(self) -> ctypes.Array[ctypes.c_uint8]:
        """Bits of the flash that stay 0."""
        return (ctypes.c_uint8 * (4 * SECTOR)).from_address(self.library.bed_stuck())

    @property
    def lazy(self) -> ctypes.Array[ctypes.c_uint8]:
        """Bits of the flash that a write leaves 1."""
        return (ctypes.c_uint8 * (4 * SECTOR)).from_address(self.library.bed_lazy())

    def cut_after(self, steps: int) -> None:
        """The power fails after a number of bytes written, or parts of a sector erased."""
        self.library.bed_cut(steps)

    # --- the file

    def open(self, path: Path) -> int:
        """0, or the error's number."""
        return 0 if self.library.bed_open(self._address, bytes(path)) == 0 else ctypes.get_errno()

    def close(self) -> None:
        self.library.bed_close(self._address)


__all__ = ["MESSAGE", "PACKET", "PAGE", "SECTOR", "START", "Bed", "PowerLostError"]
