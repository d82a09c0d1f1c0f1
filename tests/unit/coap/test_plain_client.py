"""A node's client without OSCORE: requests as bytes, and the order of notifications (RFC 7641, 3.4)."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from motecrypt.catalog import FIRMWARE
from motecrypt.link.gateway.protocols.coap.message import CoapKind, CoapMessage, Code, Option, decode, uint
from tool_sets import needs_tool_set

pytestmark = [needs_tool_set("host")]
FOLDER = FIRMWARE / "coap"


class Plain:
    """The client, with what it has taken."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.bed_begin()

    def asks(self, now_ms: int, room: int = 64) -> bytes:
        """Its request, if one is due."""
        out = ctypes.create_string_buffer(64)
        count = self._library.bed_poll(ctypes.c_uint32(now_ms), out, ctypes.c_uint16(room))
        return out.raw[:count]

    def told(self, number: int, payload: bytes, now_ms: int, code: int = Code.CONTENT) -> tuple[int, bytes]:
        """How many notifications it has taken, and the newest."""
        options = ((int(Option.OBSERVE), uint(number)),)
        data = CoapMessage(CoapKind.NON, code, 1, b"c", options, payload).encode()
        said = self._library.bed_take(data, ctypes.c_uint16(len(data)), ctypes.c_uint32(now_ms))
        return said >> 8, bytes([said & 255])


@pytest.fixture
def client(tmp_path: Path) -> Plain:
    target = tmp_path / "client.so"
    sources = [Path(__file__).parent / "client_bed.c", FOLDER / "client.c", FOLDER / "coap.c"]
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC"]
    command = ["gcc", *flags, f"-I{FOLDER}", *map(str, sources), "-o", str(target)]
    subprocess.run(command, check=True, timeout=120)
    return Plain(target)


def test_it_asks_for_each_part_of_the_path(client: Plain) -> None:
    asked = decode(client.asks(0))
    assert (asked.kind, asked.code, asked.token) == (CoapKind.NON, Code.GET, b"c")
    assert asked.options == ((Option.OBSERVE, b""), (Option.URI_PATH, b"a"), (Option.URI_PATH, b"b"))
    assert client.asks(5000, room=9) == b"", "no room"


def test_notifications_are_ordered_by_number_and_time(client: Plain) -> None:
    client.asks(0)
    assert client.told(10, b"1", 0) == (1, b"1")
    assert client.told(10, b"2", 1) == client.told(9, b"3", 2) == (1, b"1"), "not newer"
    assert client.told(11, b"4", 3) == (2, b"4")
    assert client.told(11 + 0x800000, b"5", 4) == (2, b"4"), "half the circle ahead is behind"
    assert client.told(10 + 0x800000, b"6", 5) == (3, b"6")
    assert client.told(3, b"7", 6) == (4, b"7"), "round the circle"
    assert client.told(2, b"8", 6 + 128_000) == (4, b"7")
    assert client.told(2, b"9", 6 + 128_001) == (5, b"9"), "after 128 s any number is newer"


def test_a_server_that_has_restarted_counts_from_its_beginning(client: Plain) -> None:
    client.asks(0)
    assert client.told(1000, b"1", 0) == (1, b"1")
    assert client.asks(65_000), "stale"
    assert client.told(1, b"2", 65_001) == (2, b"2")
