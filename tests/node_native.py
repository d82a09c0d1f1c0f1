"""A node with OSCORE over the bare transport, compiled for this computer (unit/coap/node_bed.c)."""

from __future__ import annotations

import ctypes
from pathlib import Path

from host_programs import compiled
from motecrypt.catalog import FIRMWARE

BED = Path(__file__).parent / "unit" / "coap" / "node_bed.c"
STORED_BYTES = 242
_FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-DCIPHER_TAG_BYTES=8", "-DLINK_SUITE=1")
_CIPHER = ('-DCIPHER_HEADER="ccm.h"', '-DBLOCK_HEADER="aes_tables.h"', "-DCIPHER_KEY_BYTES_MAX=16")
_FOLDERS = ("coap", "include", "link", "modes", "ciphers/aes")
_COAP = ("bare", "client", "coap", "endpoint", "oscore", "oscore_store", "server")
_SOURCES = (
    *(f"coap/{name}.c" for name in _COAP),
    *("link/keys.c", "link/store.c", "link/suite_ccm.c", "modes/ccm.c", "ciphers/aes/aes_tables.c"),
)


def compiled_node(target: Path, *flags: str) -> Path:
    """Compile the bed with what it needs."""
    places = [f"-I{FIRMWARE / name}" for name in _FOLDERS]
    sources = [str(BED), *(str(FIRMWARE / name) for name in _SOURCES)]
    return compiled(target, ["gcc", *_FLAGS, *_CIPHER, *flags, *places, *sources])


class NativeNode:
    """A node with the resources temperature and led, which may observe the resource setpoint of a server.

    Parameters
    ----------
    library : Path
        From `compiled_node`.
    storage : bytes
        As `motecrypt provision --oscore` writes it, or as a node before it left it.

    Attributes
    ----------
    status : 0, or why it did not start.
    event : what the packet that came last was (`enum coap_bare_event`).
    """

    def __init__(self, library: Path, storage: bytes, observes: bool = False) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.bed_start.restype = ctypes.c_uint8  # what a register has above a byte may be anything
        self._node = ctypes.create_string_buffer(self._library.bed_bytes())
        self._out = ctypes.create_string_buffer(32 * 255)
        self.packet_bytes, self.event = storage[3], 0
        self.status = self._library.bed_start(self._node, storage[:STORED_BYTES], observes)

    def _packets(self, count: int) -> list[bytes]:
        said = ctypes.string_at(self._out, count * self.packet_bytes)
        return [said[at : at + self.packet_bytes] for at in range(0, len(said), self.packet_bytes)]

    def receive(self, packet: bytes, now_ms: int = 0) -> list[bytes]:
        """The packets that it sends in answer to one."""
        event, now = ctypes.c_uint8(), ctypes.c_uint32(now_ms)
        arguments = (packet, len(packet), now, self._out, ctypes.byref(event))
        count = self._library.bed_receive(self._node, *arguments)
        self.event = event.value
        return self._packets(count)

    def poll(self, now_ms: int) -> list[bytes]:
        """The packets of a request of its own."""
        return self._packets(self._library.bed_poll(self._node, ctypes.c_uint32(now_ms), self._out))

    def notify(self, text: bytes) -> list[list[bytes]]:
        """A new temperature: the packets for each observer."""
        self._library.bed_text(self._node, text, len(text))
        turn, told = ctypes.c_uint8(0), []
        while count := self._library.bed_notify(self._node, ctypes.byref(turn), self._out):
            told.append(self._packets(count))
        return told

    def end(self, now_ms: int) -> None:
        """End the observation."""
        self._library.bed_end(self._node, ctypes.c_uint32(now_ms))

    def break_storage(self, broken: bool) -> None:
        """Whether its storage keeps nothing."""
        self._library.bed_break(self._node, broken)

    @property
    def storage(self) -> bytes:
        """What outlives a loss of power."""
        out = ctypes.create_string_buffer(STORED_BYTES)
        self._library.bed_storage(self._node, out)
        return out.raw

    @property
    def led(self) -> bytes:
        """What was put there."""
        return bytes([self._library.bed_get(self._node, 0)])

    @property
    def setpoint(self) -> tuple[int, bytes, int]:
        """Code and payload of the newest, and how many came."""
        out = ctypes.create_string_buffer(16)
        self._library.bed_setpoint(self._node, out)
        code, count, taken = (self._library.bed_get(self._node, what) for what in (1, 2, 3))
        return code, out.raw[:count], taken
