"""The link core (firmware/link) on this computer, from Python: the only binding.

It is the wheel's (`prebuilt.py`), or compiled at first use.

One `NativeLink` is one end of one node's link. It holds what the end's storage holds; anyone who uses it
keeps those bytes where they outlive a crash, before any packet leaves (link/gateway.py does).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import cache_dir, make_dir
from motecrypt.build.toolchain.toolchain import failure, identity, run_compiler
from motecrypt.link import lengths
from motecrypt.link.prebuilt import prebuilt_core, sources_key
from motecrypt.link.recipe import DEFINES as DEFINES
from motecrypt.link.recipe import FOLDER as FOLDER
from motecrypt.link.recipe import SUITES as SUITES
from motecrypt.link.recipe import Suite as Suite

KEY_BYTES = 16
VERSION, VERSION_2_0 = 3, 2
"""Of a key block: what is provisioned now, and by version 2.0 of the link."""
EPOCH_RANDOM_BITS = 18
"""The lower bits of an epoch are random; the rest is its number."""
STORAGE_BYTES = 188
BROADCAST = 63
NODE_BITS = 0x3F
"""Of a packet's first byte."""
SHORT, LISTENS, STREAM, TAG_16, GATEWAY = 1, 2, 4, 8, 128
BOTH_WAYS = 3
"""SHORT and LISTENS: the options of a node on a packet radio."""
CONFIRMED, COMMAND, FILE, LONG = 0x40, 0x10, 0x30, 0x01
COMMAND_HEAD = 4
"""Bytes of the link's own in front of a command."""
PIECES_MAX = 15
SPREAD_MS = 7
"""Node n waits n times this longer than an answer may take before it sends again."""
MESSAGE_MAX = PIECES_MAX * 252

Restored = int | bytes
"""Of a restoration from a backup: 15 random bytes, or its time in seconds since 1970 where version 2.0
of the link made it; 0 for none."""
RESTORED_BYTES = 15


class Event(IntEnum):
    """The result of a call of the core (`enum link_event` in link.h)."""

    NOTHING = 0
    SENT = 1
    WAITING = 2
    ACCEPTED = 3
    REFUSED = 4
    UNCONFIRMED = 5
    MESSAGE = 6
    COMMANDED = 7
    RENEWED = 8
    FORGED = 9
    BOUND = 10
    BUSY = 11
    TOO_LONG = 12
    NO_KEY = 13
    NO_STATE = 14
    STORAGE = 15
    USED_UP = 16
    FILE_PART = 17


def framing(options: int, packet_bytes: int) -> lengths.Framing:
    """How the link uses a radio, by the options of a key block."""
    stream, short, wide = (bool(options & bit) for bit in (STREAM, SHORT, TAG_16))
    return lengths.Framing(packet_bytes, stream, short, wide)


def message_bytes_max(options: int, packet_bytes: int, how: int) -> int:
    """The longest message that fits into the fragments of one counter, in bytes."""
    longest = lengths.message_bytes_max(lengths.link_lengths(), framing(options, packet_bytes))
    return longest - (COMMAND_HEAD if how & FILE == COMMAND else 0)


@lru_cache(maxsize=8)
def link_library(suite: Suite) -> Path:
    """The core as a shared library: the installation's own, or compiled and cached by content.

    BuildError with the compiler's first error.
    """
    ready = prebuilt_core(suite)
    if ready is not None:
        return ready
    key = hashlib.sha256(f"{sources_key(suite)}\0{identity('gcc')}".encode()).hexdigest()
    target = make_dir(cache_dir() / "link") / f"{suite}-{key[:16]}.so"
    if not target.exists():
        handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=".link.")
        os.close(handle)
        outcome = run_compiler([*SUITES[suite].command(), "-o", scratch])
        if not outcome.ok:
            Path(scratch).unlink(missing_ok=True)
            raise failure(outcome, target.parent, "link core: ")
        Path(scratch).replace(target)
    return target


class _Port(ctypes.Structure):
    """`struct port` of native.h behind its link."""

    _fields_ = (
        ("clock", ctypes.c_uint16),
        ("stored", ctypes.c_uint8),
        ("storage", ctypes.c_uint8 * STORAGE_BYTES),
    )


@lru_cache(maxsize=16)
def open_library(path: Path) -> ctypes.CDLL:
    """A compiled core, with the types of its functions."""
    library = ctypes.CDLL(str(path))
    pointer, byte, short = ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint16
    for name, arguments in {
        "port_begin": [pointer, short],
        "port_send": [pointer, ctypes.c_char_p, short, byte],
        "port_renew": [pointer, ctypes.c_uint32, short],
        "port_prf": [ctypes.c_char_p, ctypes.c_char_p, byte, pointer],
        "port_derive": [pointer, byte, byte, short, ctypes.c_uint32],
        "port_message": [pointer, pointer],
        "port_sent": [pointer, pointer],
        "port_place": [pointer],
        "port_state": [pointer],
        "port_epoch": [pointer],
        "port_forget": [pointer],
        "port_salt": [pointer],
        "port_claimed": [pointer],
        "port_join": [pointer, ctypes.c_char_p, ctypes.c_uint32],
        "port_counter": [pointer],
        "port_took": [pointer, ctypes.c_uint32],
        "link_provision": [pointer, ctypes.c_char_p],
        "link_receive": [pointer, ctypes.c_char_p, byte],
        "link_answer": [pointer, byte],
        "link_poll": [pointer],
    }.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, byte
    for name in ("port_message", "port_sent", "port_epoch", "port_claimed"):
        getattr(library, name).restype = ctypes.c_uint32
    library.port_counter.restype = ctypes.c_uint32
    library.port_salt.restype = short
    library.port_place.restype = ctypes.c_void_p
    library.port_prf.restype = library.port_derive.restype = library.link_answer.restype = None
    library.port_took.restype = library.port_forget.restype = None
    return library


@dataclass(frozen=True)
class KeyBlock:
    """What provisioning writes at one end (docs/link.md, Storage).

    Attributes
    ----------
    node : 0 to 62, or 63 for a broadcast group.
    options : SHORT, LISTENS, STREAM, TAG_16, the same at both ends; and GATEWAY at the gateway's.
    packet_bytes : 12 to 255.
    generation : 0 to 65535; a new one each time that a node is provisioned.
    key : the node's key, 16 bytes.
    """

    node: int
    options: int
    packet_bytes: int
    generation: int
    key: bytes

    def __post_init__(self) -> None:
        if not 0 <= self.node <= BROADCAST:
            raise InputError(f"node {self.node}; a link has nodes 0 to 62, and 63 is its broadcast group")
        if not 12 <= self.packet_bytes <= 255:
            raise InputError(f"packets of {self.packet_bytes} bytes; the link takes 12 to 255")
        if not 0 <= self.generation <= 0xFFFF:
            raise InputError(
                f"generation {self.generation}; there are 0 to 65535: begin with a new master key"
            )
        if len(self.key) != KEY_BYTES:
            raise InputError(f"a key of {len(self.key)} bytes; the link takes 16")

    def encode(self) -> bytes:
        """The 24 bytes."""
        head = bytes([VERSION, self.node, self.options, self.packet_bytes])
        return head + self.generation.to_bytes(2, "little") + bytes(2) + self.key


def derive(suite: Suite, key: bytes, use: int, node: int, generation: int, epoch: int = 0) -> bytes:
    """A key derived from another (docs/link.md, Keys)."""
    buffer = ctypes.create_string_buffer(key, KEY_BYTES)
    open_library(link_library(suite)).port_derive(buffer, use, node, generation, epoch)
    return buffer.raw


def node_key(suite: Suite, master: bytes, node: int, generation: int, restoration: Restored = 0) -> bytes:
    """The key of one node in one generation, from the gateway's master.

    `restoration` is the gateway's last one from a backup; 0 if there was none.
    """
    if isinstance(restoration, bytes):
        taken = ctypes.create_string_buffer(KEY_BYTES)
        data = b"\x02" + restoration
        open_library(link_library(suite)).port_prf(master, data, len(data), taken)
        master = taken.raw
    elif restoration:
        master = derive(suite, master, 0, 0, 0, restoration)
    return derive(suite, master, 6 << 5, node, generation)


class NativeLink:
    """One end of one node's link.

    Parameters
    ----------
    library : CDLL
        From `open_library`.
    answer_ms : int
        How long an answer may take.
    """

    def __init__(self, library: ctypes.CDLL, answer_ms: int = 250) -> None:
        size = ctypes.c_size_t.in_dll(library, "port_bytes").value
        self._library, self._answer_ms = library, answer_ms
        self._memory = ctypes.create_string_buffer(size + 16)
        self.address = (ctypes.addressof(self._memory) + 15) & ~15
        self._port = _Port.from_address(library.port_place(self.address))
        self._bytes = ctypes.c_void_p()

    @property
    def storage(self) -> bytes:
        """What the end's storage holds."""
        return bytes(self._port.storage)

    @property
    def stored(self) -> bool:
        """Whether storage was written since this was last set to False."""
        return bool(self._port.stored)

    @stored.setter
    def stored(self, value: bool) -> None:
        self._port.stored = value

    def provision(self, block: KeyBlock, takes_from: int = 0) -> None:
        """Write a key block and its first counters: no message before `takes_from` is taken."""
        written = (
            self._library.port_join(self.address, block.encode(), takes_from)
            if takes_from
            else self._library.link_provision(self.address, block.encode())
        )
        if not written:
            raise MotecryptError(f"node {block.node}: storage does not keep written data")

    @property
    def claimed(self) -> int:
        """The first counter that a start continues with."""
        return int(self._library.port_claimed(self.address))

    def begin(self, storage: bytes | None = None) -> Event:
        """Read key and counters, from other storage if given."""
        if storage is not None:
            if len(storage) != STORAGE_BYTES:
                raise InputError(f"a link's storage has {STORAGE_BYTES} bytes, not {len(storage)}")
            ctypes.memmove(self._port.storage, storage, STORAGE_BYTES)
        return Event(self._library.port_begin(self.address, self._answer_ms))

    def send(self, message: bytes, how: int = 0) -> Event:
        """Send a message; `how` is CONFIRMED, LONG, and one of COMMAND and FILE, in any sum."""
        if len(message) > MESSAGE_MAX:
            return Event.TOO_LONG
        return Event(self._library.port_send(self.address, message, len(message), how))

    def receive(self, packet: bytes) -> Event:
        """Take a packet."""
        return Event(self._library.link_receive(self.address, packet, len(packet)))

    @property
    def head(self) -> tuple[int, int, int]:
        """Node number, options and packet length, from storage."""
        _, node, options, packet_bytes = self._port.storage[:4]
        return node, options, packet_bytes

    @property
    def generation(self) -> int:
        """How often the node was provisioned, from storage."""
        return int.from_bytes(bytes(self._port.storage[4:6]), "little")

    @property
    def version(self) -> int:
        """Of the key block in storage: VERSION or VERSION_2_0."""
        return int(self._port.storage[0])

    @property
    def epoch(self) -> int:
        """The epoch that it is in."""
        return int(self._library.port_epoch(self.address))

    @property
    def salt(self) -> int:
        """Of its epoch: 16 random bits, or the generation."""
        return int(self._library.port_salt(self.address))

    @property
    def waiting(self) -> bool:
        """Whether a message waits for its outcome."""
        return bool(self._library.port_state(self.address) & 1)

    @property
    def asked(self) -> bool:
        """Whether the message just received asks for an answer."""
        return bool(self._library.port_state(self.address) & 2)

    def message(self) -> bytes:
        """The message of the last `receive` that returned MESSAGE, COMMANDED or FILE_PART."""
        length = self._library.port_message(self.address, ctypes.byref(self._bytes))
        return ctypes.string_at(self._bytes, length)

    @property
    def counter(self) -> int:
        """Of the message of that `receive`."""
        return int(self._library.port_counter(self.address))

    def took(self, counter: int) -> None:
        """After `begin`: the message that was taken last. If it comes again, it is accepted again."""
        self._library.port_took(self.address, counter)

    def answer(self, taken: bool) -> None:
        """Say whether the message was taken."""
        self._library.link_answer(self.address, taken)

    def at(self, now_ms: int) -> None:
        """Set the clock."""
        self._port.clock = now_ms & 0xFFFF

    def poll(self, now_ms: int) -> Event:
        """Set the clock, and send again what was not answered in time."""
        self.at(now_ms)
        return Event(self._library.link_poll(self.address))

    def renew(self, epoch: int, salt: int) -> Event:
        """Begin an epoch, at the gateway's end; the same one again offers it again."""
        return Event(self._library.port_renew(self.address, epoch, salt))

    def forget(self) -> None:
        """Wait no longer for the outcome of a message."""
        self._library.port_forget(self.address)

    def on_line(self, packet: bytes) -> bytes:
        """A packet as it is sent: on a stream all have one length, so zeros follow an answer."""
        options, packet_bytes = self.storage[2:4]
        return packet.ljust(packet_bytes, b"\0") if options & STREAM else packet

    def packets(self) -> list[bytes]:
        """What was sent since the last call."""
        length = self._library.port_sent(self.address, ctypes.byref(self._bytes))
        data, packets = ctypes.string_at(self._bytes, length), []
        while data:  # each after a byte with its length
            end = 1 + data[0]
            packets.append(data[1:end])
            data = data[end:]
        return packets
