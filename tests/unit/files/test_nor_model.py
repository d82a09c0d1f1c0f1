"""The model of the serial flash: what its datasheet says of its commands, and what goes wrong on it."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest

from motecrypt.build.setup import need
from motecrypt.build.toolchain.drivers import DRIVERS

WRITE_ENABLE, STATUS, PROGRAM, ERASE, ERASE_64K, IDENTIFY = 0x06, 0x05, 0x02, 0x20, 0xD8, 0x9F
BUSY, ENABLED = 1, 2


class Nor:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.converse.restype = ctypes.c_uint64
        library.send.restype = library.at.restype = library.unheard.restype = ctypes.c_uint8
        library.reset()

    def send(self, *values: int, data: bytes = b"", now: int = 0) -> int:
        sent = bytes(values) + data
        return int(self._library.send(sent, len(sent), ctypes.c_uint64(now)))

    def status(self, now: int = 0) -> int:
        return self.send(STATUS, 0, now=now)

    def __getitem__(self, address: int) -> int:
        return int(self._library.at(address))

    def counted(self) -> tuple[int, int, int]:
        return tuple(self._library.counted(what) for what in range(3))  # type: ignore[return-value]

    def burst(self, count: int, divider: int) -> int:
        return int(self._library.burst(count, divider))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    need("host")
    target = tmp_path_factory.mktemp("nor") / "nor.so"
    source = Path(__file__).with_name("nor_harness.c")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsanitize=undefined"]
    command = ["gcc", "-O1", *strict, "-shared", "-fPIC", f"-I{DRIVERS}", str(source), "-o", str(target)]
    subprocess.run(command, check=True, timeout=60)
    return ctypes.CDLL(str(target))


@pytest.fixture
def nor(library: ctypes.CDLL) -> Nor:
    return Nor(library)


def test_nothing_is_written_without_being_enabled(nor: Nor) -> None:
    nor.send(PROGRAM, 0, 0, 0, data=b"abc")
    nor.send(ERASE, 0, 0, 0)
    assert nor[0] == 0xFF
    assert nor.counted() == (0, 0, 0)
    nor.send(WRITE_ENABLE)
    assert nor.status() == ENABLED
    nor.send(PROGRAM, 0, 0, 0, data=b"abc")
    assert bytes(nor[i] for i in range(4)) == b"abc\xff"
    assert nor.status() == BUSY, "and no longer enabled"
    assert nor.status(now=999) == BUSY
    assert nor.status(now=1000) == 0


def test_a_busy_chip_answers_its_status_alone(nor: Nor) -> None:
    nor.send(WRITE_ENABLE)
    nor.send(PROGRAM, 0, 0, 0, data=b"a")
    nor.send(WRITE_ENABLE, now=500)
    nor.send(PROGRAM, 0, 0, 1, data=b"b", now=500)
    assert nor[1] == 0xFF
    assert nor.status(now=1001) == 0


def test_programs_clear_bits_and_wrap_within_their_page(nor: Nor) -> None:
    for now, data in ((0, bytes([0xF0])), (5000, bytes([0x3C]))):
        nor.send(WRITE_ENABLE, now=now)
        nor.send(PROGRAM, 0, 1, 0, data=data, now=now)
    assert nor[256] == 0x30
    nor.send(WRITE_ENABLE, now=10_000)
    nor.send(PROGRAM, 0, 2, 254, data=b"wxyz", now=10_000)
    assert bytes(nor[a] for a in (0x2FE, 0x2FF, 0x200, 0x201)) == b"wxyz"
    assert nor[0x300] == 0xFF


def test_an_erase_takes_its_block_and_its_time(nor: Nor) -> None:
    for page in (0x0FFF, 0x1000, 0x1FFF, 0x2000):
        nor.send(WRITE_ENABLE, now=page * 10_000)
        nor.send(PROGRAM, 0, page >> 8, page & 0xFF, data=b"\0", now=page * 10_000)
    nor.send(WRITE_ENABLE, now=10**9)
    nor.send(ERASE, 0, 0x12, 0x34, now=10**9)
    assert [nor[a] for a in (0x0FFF, 0x1000, 0x1FFF, 0x2000)] == [0, 0xFF, 0xFF, 0]
    assert nor.status(now=10**9 + 49_999) == BUSY
    nor.send(WRITE_ENABLE, now=2 * 10**9)
    nor.send(ERASE_64K, 0, 0, 0, now=2 * 10**9)
    assert nor[0x2000] == 0xFF
    assert nor.counted() == (4, 2, 4 * 1000 + 50_000 + 70_000)


def test_half_a_command_does_nothing(nor: Nor) -> None:
    nor.send(WRITE_ENABLE)
    nor.send(ERASE, 0, 0)
    nor.send(PROGRAM, 0, 0, 0)
    assert nor.counted() == (0, 0, 0)
    assert [nor.send(IDENTIFY, data=bytes(n)) for n in (1, 2, 3)] == [0xEF, 0x40, 0x15]


def test_bytes_take_eight_clocks_and_the_fifo_holds_sixteen(nor: Nor) -> None:
    for divider in (2, 6):
        assert nor.burst(1, divider) == 1
        assert nor.burst(16, divider) == 16
        assert nor.burst(20, divider) == 16, "what comes beyond is lost, as on a board"


def test_a_chip_that_is_not_selected_hears_and_says_nothing(nor: Nor) -> None:
    assert nor._library.unheard(WRITE_ENABLE) == 0xFF
    assert nor.status() == 0


def test_a_byte_comes_back_when_it_has_gone_out(nor: Nor) -> None:
    for divider in (1, 4):
        answers = nor._library.converse(bytes([IDENTIFY, 0, 0, 0]), 4, divider)
        assert answers.to_bytes(8, "big") == bytes([0, 0xFF, 0, 0xEF, 0, 0x40, 0, 0x15])


BUSY_LINE, ROOM, EMPTY, RECEIVED = 1, 2, 4, 8


@pytest.mark.parametrize(
    ("count", "divider", "now", "status"),
    [
        (0, 2, 0, ROOM | EMPTY),
        (0, 0, 0, ROOM | EMPTY),
        (1, 2, 0, BUSY_LINE | ROOM),
        (1, 2, 1, BUSY_LINE | ROOM | EMPTY),
        (1, 2, 15, BUSY_LINE | ROOM | EMPTY),
        (1, 2, 16, ROOM | EMPTY | RECEIVED),
        (2, 2, 16, BUSY_LINE | ROOM | RECEIVED),
        (2, 2, 17, BUSY_LINE | ROOM | EMPTY | RECEIVED),
        (16, 2, 0, BUSY_LINE),
        (16, 2, 1, BUSY_LINE | ROOM),
        (17, 2, 16, BUSY_LINE | RECEIVED),
        (17, 2, 17, BUSY_LINE | ROOM | RECEIVED),
        (17, 2, 17 * 16, ROOM | EMPTY | RECEIVED),
    ],
)
def test_the_interface_tells_its_state(nor: Nor, count: int, divider: int, now: int, status: int) -> None:
    assert nor._library.status_of(count, divider, ctypes.c_uint64(now)) == status


def test_every_command_of_the_chip(nor: Nor) -> None:
    nor.send(WRITE_ENABLE)
    assert nor.status() == ENABLED
    nor.send(0x04)
    assert nor.status() == 0, "writing disabled again"
    assert nor.send(0x35, 0) == 2, "the quad-enable bit"
    nor.send(WRITE_ENABLE)
    nor.send(PROGRAM, 0, 1, 2, data=b"abc")
    later = 10_000
    assert nor.send(0x03, 0, 1, 2, 0, now=999) == 0xFF, "busy"
    assert [nor.send(0x03, 0, 1, 2, data=bytes(n), now=later) for n in (1, 2, 3, 4)] == [*b"abc", 0xFF]
    assert nor.send(0x03, 0x10, 1, 2, 0, now=later) == ord("a"), "beyond its end it begins anew"
    assert nor.send(0x77, 0, 1, 2, 0, now=later) == 0xFF
    assert nor.send(IDENTIFY, data=bytes(4), now=later) == 0xFF
    for command, size, takes in ((0x20, 4096, 50_000), (0x52, 32768, 60_000), (0xD8, 65536, 70_000)):
        now = later + takes * 1000
        edges = (2 * 65536 - 1, 2 * 65536, 2 * 65536 + size - 1, 2 * 65536 + size)
        for edge in edges:
            nor.send(WRITE_ENABLE, now=now)
            nor.send(PROGRAM, edge >> 16, edge >> 8 & 255, edge & 255, data=b"\0", now=now)
            now += 1000
        nor.send(command, 2, 0, 5, now=now)
        assert nor[edges[1]] == 0, "not without being enabled"
        nor.send(WRITE_ENABLE, now=now)
        before = nor.counted()
        nor.send(command, 2, 0, 5, now=now)
        assert [nor[edge] for edge in edges] == [0, 0xFF, 0xFF, 0]
        assert nor.counted() == (before[0], before[1] + 1, before[2] + takes)
        assert nor.status(now=now + takes - 1) == BUSY and nor.status(now=now + takes) == 0
        nor.send(WRITE_ENABLE, now=now + takes)
        nor.send(command, 2, 0, 5, 0, now=now + takes)
        nor.send(command, 2, 0, now=now + takes)
        assert nor.counted()[1] == before[1] + 1, "an address of three bytes, no more and no less"
