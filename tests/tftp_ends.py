"""Ends of TFTP for tests: a node's (firmware/tftp, compiled for this computer), files in memory, and a line.

The line is in virtual time; it loses, doubles and counts packets.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random

from link_builds import compiled
from motecrypt.catalog import FIRMWARE
from motecrypt.link.tftp.packets import TftpCode, TftpError, read_packet
from motecrypt.link.tftp.transfer import Terms, TftpTransfer

BED = Path(__file__).parent / "unit" / "tftp" / "tftp_bed.c"
_FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC")
OK, LATER, SILENT, REPLACED = 0x40, 0x41, 0x42, 0x43
UNKNOWN = 0xFFFFFFFF

_P, _B, _H, _L = ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32
_PUT = ctypes.CFUNCTYPE(_B, _P, _P, _H)
_OPEN = ctypes.CFUNCTYPE(_B, _P, ctypes.c_char_p, _B, ctypes.POINTER(_L))
_READ = ctypes.CFUNCTYPE(_B, _P, _L, _P, ctypes.POINTER(_H))
_WRITE = ctypes.CFUNCTYPE(_B, _P, _L, _P, _H)
_CLOSE = ctypes.CFUNCTYPE(_B, _P, _B)


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The node's side."""
    folder = FIRMWARE / "tftp"
    made = ctypes.CDLL(str(compiled(["gcc", *_FLAGS, "-I", folder, BED, folder / "tftp.c"], (), "tftp-")))
    made.bed_begin.argtypes, made.bed_begin.restype = [_P, _P, _H, _H, _L, _B], None
    made.bed_block.argtypes, made.bed_block.restype = [_P], ctypes.POINTER(_H)
    made.tftp_busy.argtypes, made.tftp_busy.restype = [_P], _B
    for name in ("tftp_get", "tftp_put"):
        function = getattr(made, name)
        function.argtypes, function.restype = [_P, ctypes.c_char_p, _L], _B
    made.tftp_receive.argtypes, made.tftp_receive.restype = [_P, ctypes.c_char_p, _H, _L], None
    made.tftp_poll.argtypes, made.tftp_poll.restype = [_P, _L], None
    made.tftp_sent.argtypes, made.tftp_sent.restype = [_P, _L], None
    made.tftp_abort.argtypes, made.tftp_abort.restype = [_P, _B], None
    return made


class Node:
    """A node with files in memory.

    Attributes
    ----------
    files : by name; what the peer puts comes here when it is whole.
    sent : packets that it has sent.
    outcomes : of its transfers.
    takes, gives, keeps : what writing, reading and keeping a file return, if not OK.
    blocked : whether its transport takes nothing now.
    """

    def __init__(self, room: int = 516, block_max: int = 0, timeout_ms: int = 0, ack_bytes: int = 0) -> None:
        self._library = library()
        self._memory = ctypes.create_string_buffer(
            ctypes.c_size_t.in_dll(self._library, "bed_bytes").value + 16
        )
        self._address = (ctypes.addressof(self._memory) + 15) & ~15
        self._calls = (
            _PUT(self._put), _OPEN(self._open), _READ(self._read), _WRITE(self._write), _CLOSE(self._close),
        )  # fmt: skip
        pointers = (ctypes.c_void_p * 5)(*(ctypes.cast(call, _P).value for call in self._calls))
        self._names: list[bytes] = []
        self.files: dict[str, bytes] = {}
        self.sent: list[bytes] = []
        self.outcomes: list[int] = []
        self.reads: list[tuple[int, int]] = []
        self.takes = self.gives = self.keeps = self.opens = OK
        self.blocked = self.tells_size = False
        self.tells_size = True
        self.name, self.writing, self.told_size, self.arrived = "", False, UNKNOWN, bytearray()
        self._library.bed_begin(self._address, pointers, room, block_max, timeout_ms, ack_bytes)

    # --- its callbacks

    def _put(self, _: int, packet: int, count: int) -> int:
        if self.blocked:
            return 0
        self.sent.append(ctypes.string_at(packet, count))
        return 1

    def _open(self, _: int, name: bytes, writing: int, size: object) -> int:
        self.name, self.writing, self.arrived = name.decode("latin-1"), bool(writing), bytearray()
        if self.opens != OK:
            return self.opens
        if writing:
            self.told_size = int(size[0])  # type: ignore[index]
            return OK
        if self.name not in self.files:
            return TftpCode.NOT_FOUND
        if self.tells_size:
            size[0] = len(self.files[self.name])  # type: ignore[index]
        return OK

    def _read(self, _: int, at: int, to: int, count: object) -> int:
        if self.gives != OK:
            return self.gives
        wanted = int(count[0])  # type: ignore[index]
        self.reads.append((at, wanted))
        content = self.files[self.name][at : at + wanted]
        ctypes.memmove(to, content, len(content))
        count[0] = len(content)  # type: ignore[index]
        return OK

    def _write(self, _: int, at: int, data: int, count: int) -> int:
        if self.takes != OK:
            return self.takes
        assert at == len(self.arrived)
        self.arrived += ctypes.string_at(data, count)
        return OK

    def _close(self, _: int, outcome: int) -> int:
        self.outcomes.append(outcome)
        if outcome == OK and self.writing:
            if self.keeps != OK:
                return self.keeps
            self.files[self.name] = bytes(self.arrived)
        return OK

    # --- what a test does

    @property
    def busy(self) -> bool:
        """Whether a transfer is running."""
        return bool(self._library.tftp_busy(self._address))

    def count(self, block: int) -> None:
        """Count on from this block, as if all before it had been sent."""
        self._library.bed_block(self._address)[0] = block

    def get(self, name: str, now_s: float = 0.0) -> int:
        """Ask the peer for a file."""
        self._names.append(name.encode())
        return int(self._library.tftp_get(self._address, self._names[-1], _ms(now_s)))

    def put(self, name: str, now_s: float = 0.0) -> int:
        """Offer the peer a file."""
        self._names.append(name.encode())
        return int(self._library.tftp_put(self._address, self._names[-1], _ms(now_s)))

    def receive(self, packet: bytes, now_s: float = 0.0) -> list[bytes]:
        """Take a packet; returns the packets sent in answer."""
        before = len(self.sent)
        self._library.tftp_receive(self._address, packet, len(packet), _ms(now_s))
        return self.sent[before:]

    def poll(self, now_s: float) -> list[bytes]:
        """Time passes; what is sent."""
        before = len(self.sent)
        self._library.tftp_poll(self._address, _ms(now_s))
        return self.sent[before:]

    def left(self, now_s: float) -> None:
        """The transport reports that a packet has been sent."""
        self._library.tftp_sent(self._address, _ms(now_s))

    def abort(self, error: int) -> list[bytes]:
        """End it; what is sent."""
        before = len(self.sent)
        self._library.tftp_abort(self._address, error)
        return self.sent[before:]


def _ms(now_s: float) -> int:
    return round(now_s * 1000) & 0xFFFFFFFF


class Memory:
    """A file in memory, for a TftpTransfer."""

    def __init__(self, content: bytes = b"", size_known: bool = True) -> None:
        self.content, self.size_known = content, size_known
        self.arrived = bytearray()
        self.told_size: int | None = -1
        self.closed: list[TftpError | None] = []
        self.is_ready = self.is_kept = True

    def size(self) -> int | None:
        return len(self.content) if self.size_known else None

    def ready(self) -> bool:
        return self.is_ready

    def opened(self, size: int | None) -> None:
        self.told_size = size

    def read(self, at: int, count: int) -> bytes | None:
        return self.content[at : at + count] if self.is_ready else None

    def write(self, at: int, content: bytes, last: bool) -> None:
        assert at == len(self.arrived)
        self.arrived += content

    def kept(self, at: int) -> bool:
        return self.is_kept

    def close(self, error: TftpError | None) -> None:
        self.closed.append(error)


class Air:
    """A node and a transfer, joined in virtual time by a line that loses and doubles packets.

    Attributes
    ----------
    up, down : packets that the node and the other end sent.
    """

    def __init__(self, node: Node, loss: float = 0.0, doubles: float = 0.0, seed: int = 1) -> None:
        self.node, self._loss, self._doubles = node, loss, doubles
        self._random = Random(seed)
        self.now_s = 0.0
        self.up: list[bytes] = []
        self.down: list[bytes] = []
        self._seen = 0
        self.serve: Callable[[bytes], TftpTransfer | None] = lambda data: None

    def _copies(self) -> int:
        if self._random.random() < self._loss:
            return 0
        return 2 if self._random.random() < self._doubles else 1

    def run(self, transfer: TftpTransfer | None, step_s: float = 0.05, most_s: float = 1e5) -> TftpTransfer:
        """Until both ends are done."""
        end_s = self.now_s + most_s
        while self.node.busy or transfer is None or not transfer.over or transfer.packets:
            assert self.now_s < end_s, "it never ends"
            moved = False
            if transfer is not None:
                moved = self._down(transfer)
            for packet in self.node.sent[self._seen :]:
                self._seen += 1
                moved = True
                self.up.append(packet)
                for _ in range(self._copies()):
                    if transfer is None:
                        transfer = self.serve(packet)
                    else:
                        read = read_packet(packet)
                        assert read is not None
                        transfer.receive(read, self.now_s)
            if not moved:
                self.now_s += step_s
                self.node.poll(self.now_s)
                if transfer is not None:
                    transfer.poll(self.now_s)
        return transfer

    def _down(self, transfer: TftpTransfer) -> bool:
        moved = False
        while transfer.packets:
            moved = True
            packet = transfer.packets.popleft()
            transfer.sent(self.now_s)
            self.down.append(packet)
            for _ in range(self._copies()):
                self.node.receive(packet, self.now_s)
        return moved


def fetched(
    node: Node, name: str, terms: Terms, loss: float = 0.0, seed: int = 1
) -> tuple[Memory, TftpTransfer, Air]:
    """A file that the other end gets from the node."""
    file, air = Memory(), Air(node, loss, seed=seed)
    return file, air.run(TftpTransfer.ask(terms, file, name, False)), air
