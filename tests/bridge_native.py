"""The core of a bridge, compiled for this computer (unit/link/bridge_bed.c)."""

from __future__ import annotations

import ctypes
from pathlib import Path

from host_programs import compiled
from motecrypt.base.frames import Frames, decode
from motecrypt.catalog import FIRMWARE

BED = Path(__file__).parent / "unit" / "link" / "bridge_bed.c"
FOLDER = FIRMWARE / "bridge"
FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC")
PACKET_MAX = 32
FAULT = 0xFFFF


def compiled_bridge(target: Path, *defines: str) -> Path:
    """Compile the bed with the core: packets of up to 32 bytes, four of them held."""
    sizes = [f"-DBRIDGE_PACKET_MAX={PACKET_MAX}", *defines]
    return compiled(target, ["gcc", *FLAGS, *sizes, f"-I{FOLDER}", str(BED), str(FOLDER / "bridge.c")])


class NativeBridge:
    """A bridge whose clock is set, and whose line and radio remember."""

    def __init__(self, library: Path, at_ms: int = 0) -> None:
        self._library = ctypes.CDLL(str(library))
        self._out = ctypes.create_string_buffer(1 << 16)
        self.air_ms, self.full, self.now_ms = 0, False, at_ms
        self._library.bed_begin(ctypes.c_uint32(at_ms))

    def at(self, now_ms: int) -> None:
        """Set the clock, the air time of packets, and whether the line is full."""
        self.now_ms = now_ms
        self._library.bed_set(ctypes.c_uint32(now_ms), ctypes.c_uint16(self.air_ms), int(self.full))

    def numbers(self) -> tuple[int, int]:
        """BRIDGE_UNKNOWN and BRIDGE_FAULT."""
        return self._library.bed_unknown(), self._library.bed_fault()

    def hear(self, data: bytes) -> None:
        """Bytes from the computer."""
        self._library.bed_hear(data, len(data))

    def came(self, packet: bytes, rssi: int = 127, snr: int = 127) -> None:
        """A packet from the radio."""
        self._library.bed_came(packet, len(packet), ctypes.c_int8(rssi), ctypes.c_int8(snr))

    def poll(self) -> None:
        """Let it send."""
        self._library.bed_poll()

    def output(self) -> bytes:
        """What it has written since."""
        return ctypes.string_at(self._out, self._library.bed_written(self._out))

    def frames(self) -> list[tuple[int, str, bytes]]:
        """The same as frames."""
        return [decode(body) for body in Frames().feed(self.output())]

    def sent(self) -> list[bytes]:
        """The packets that it has sent since."""
        data = ctypes.string_at(self._out, self._library.bed_sent(self._out))
        packets = []
        while data:
            packets.append(data[1 : 1 + data[0]])
            data = data[1 + data[0] :]
        return packets
