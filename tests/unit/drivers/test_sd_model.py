"""The model of an SD card: its commands byte by byte (SD Physical Layer 6.00, chapter 7), and its SPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from natively import ask, compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

BLOCKS, READ, WRITE = 5, 1000, 3000
CONTROL, DATA, STATUS, PRESCALE = 0x00, 0x08, 0x0C, 0x10
EMPTY, ROOM, RECEIVED, BUSY = 1, 2, 4, 16
READY = [0xFF, 0x00]
IDLE = [0xFF, 0x01]
BAD_PARAMETER, ILLEGAL = [0xFF, 0x40], [0xFF, 0x04]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("arm_parts_harness.c", tmp_path_factory.mktemp("sd"))


class Card:
    """A conversation that is recorded first and then run in one go."""

    def __init__(self, program: Path, blocks: int = BLOCKS, there: int = 0) -> None:
        self._program = program
        self._lines: list[tuple[object, ...]] = [("card", blocks, READ, WRITE, there), ("chosen", 1)]
        self._expected: list[int | None] = [None, None]

    def expect(self, answer: int | None, *line: object) -> None:
        """An operation, and what it must return."""
        self._lines.append(line)
        self._expected.append(answer)

    def select(self, on: bool) -> None:
        self.expect(None, "chosen", int(on))

    def bytes(self, sent: list[int], answers: list[int], now: int = 0) -> None:
        """Bytes out, and the bytes that come in meanwhile."""
        for out, answer in zip(sent, answers, strict=True):
            self.expect(answer, "exchange", out, now)

    def command(self, code: int, argument: int, answer: list[int], now: int = 0) -> None:
        """A command of six bytes, then its answer, then nothing."""
        sent = [0x40 | code, *argument.to_bytes(4, "big"), 0xFF]
        self.bytes([*sent, *([0xFF] * len(answer))], [0xFF] * 6 + answer, now)

    def wake(self) -> None:
        """What a host says first."""
        self.command(0, 0, IDLE)
        self.command(55, 0, IDLE)
        self.command(41, 1 << 30, READY)

    def counted(self, reads: int, writes: int, busy: int) -> None:
        for what, count in enumerate((reads, writes, busy)):
            self.expect(count, "counted", what)

    def done(self) -> None:
        """Have it."""
        answers = ask(self._program, lines=self._lines)
        told = list(zip(self._lines, self._expected, answers, strict=True))
        wrong = [
            (n, line, want, got)
            for n, (line, want, got) in enumerate(told)
            if want is not None and want != got
        ]
        assert not wrong, wrong[:5]


def block(seed: int) -> list[int]:
    return [(seed + 7 * n) & 0xFF for n in range(512)]


def test_it_wakes_up_as_a_card_of_high_capacity_does(program: Path) -> None:
    card = Card(program)
    card.command(17, 0, BAD_PARAMETER)  # not before it is ready
    card.command(41, 0, ILLEGAL)  # not without 55 before it
    card.command(0, 0, IDLE)
    card.command(8, 0x1AA, [0xFF, 0x01, 0, 0, 0x01, 0xAA])
    card.command(55, 0, IDLE)
    card.command(8, 0x1AA, [0xFF, 0x01, 0, 0, 0x01, 0xAA])
    card.command(41, 0, ILLEGAL)  # 55 counts for the next command alone
    card.command(55, 0, IDLE)
    card.command(41, 1 << 30, READY)
    card.command(55, 0, READY)
    card.command(58, 0, [0xFF, 0, 0xC0, 0xFF, 0x80, 0])
    card.command(1, 0, ILLEGAL)
    card.command(0, 0, IDLE)
    card.command(17, 0, BAD_PARAMETER)  # asleep again
    card.bytes([0xFF] * 3, [0xFF] * 3)
    card.done()


def test_what_is_written_is_read(program: Path) -> None:
    card = Card(program)
    card.wake()
    for number in (0, BLOCKS - 1):
        now = 100_000 * (number + 1)
        card.command(24, number, READY, now)
        card.bytes([0xFF, 0x00, 0xFE], [0xFF] * 3, now)
        card.bytes([*block(number), 0xAA, 0x55], [0xFF] * 514, now + 5)
        card.bytes([0xFF], [0x05], now + 6)
        card.bytes([0xFF], [0x00], now + 6)
        card.bytes([0x40], [0x00], now + 5 + WRITE - 1)  # busy: nothing is taken
        card.bytes([0xFF], [0xFF], now + 5 + WRITE)
    for number in (BLOCKS - 1, 0):
        now = 10_000_000 - number * 1_000_000
        card.command(17, number, READY, now)
        card.bytes([0xFF], [0xFF], now + READ - 1)
        card.bytes([0xFF] * 515, [0xFE, *block(number), 0, 0], now + READ)
        card.bytes([0xFF] * 2, [0xFF] * 2, now + READ)
    card.counted(2, 2, 2 * (READ + WRITE))
    for at, byte in enumerate(block(BLOCKS - 1)):
        card.expect(byte, "content", 512 * (BLOCKS - 1) + at)
    card.expect(0, "content", 512 * (BLOCKS - 2) + 511)
    card.done()


def test_a_block_that_is_not_there(program: Path) -> None:
    card = Card(program)
    card.wake()
    for code in (17, 24):
        for number in (BLOCKS, 1 << 8, 1 << 16, 1 << 24, 2**32 - 1):
            card.command(code, number, BAD_PARAMETER)
    card.command(17, BLOCKS - 1, READY)
    card.counted(1, 0, READ)
    card.done()


@pytest.mark.parametrize("number", [1 << bit for bit in range(32)])
def test_a_blocks_number_has_four_bytes(program: Path, number: int) -> None:
    for blocks, answer in ((number, BAD_PARAMETER), (number + 1, READY)):
        card = Card(program, blocks, 1)
        card.wake()
        card.command(17, number, answer)
        card.done()


def test_a_card_that_is_not_selected_says_nothing(program: Path) -> None:
    card = Card(program)
    card.wake()
    card.bytes([0x40 | 58, 0, 0], [0xFF] * 3)
    card.select(False)
    card.bytes([0, 0, 0xFF, 0xFF, 0xFF], [0xFF] * 5)
    card.select(True)
    card.bytes([0, 0, 0xFF, 0xFF], [0xFF] * 4)  # the half command is forgotten
    card.command(58, 0, [0xFF, 0])
    card.select(True)  # no change: the answer continues
    card.bytes([0xFF], [0xC0])
    card.select(False)
    card.select(True)
    card.bytes([0xFF], [0xFF])  # and is forgotten here
    card.command(17, 1, READY)
    card.select(False)
    card.select(True)
    card.bytes([0xFF], [0xFF], 10**6)  # the block, too
    card.done()
    empty = Card(program, blocks=0)
    empty.bytes([0x40, 0, 0, 0, 0, 0x95, 0xFF, 0xFF], [0xFF] * 8)
    empty.done()


def test_bytes_before_a_command_are_none(program: Path) -> None:
    card = Card(program)
    card.bytes([0xFF, 0x00, 0x80, 0xC0, 0x3F], [0xFF] * 5)
    card.command(0x3F, 0, ILLEGAL)
    card.bytes([0x40, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xFF] * 7 + [1])
    card.done()


@pytest.mark.parametrize(
    ("control", "prescale", "cycles"),
    [
        (0, 0, 16),
        (0, 2, 16),
        (0, 3, 16),
        (0, 4, 32),
        (7 | 1 << 8, 2, 32),
        (0xFF07, 254, 8 * 254 * 256),
        (7, 1, 16),
    ],
)
def test_a_byte_takes_eight_clocks(program: Path, control: int, prescale: int, cycles: int) -> None:
    card = Card(program)
    card.expect(0, "poke", CONTROL, control, 0)
    card.expect(0, "poke", PRESCALE, prescale, 0)
    card.expect(control, "peek", CONTROL, 0)
    card.expect(prescale, "peek", PRESCALE, 0)
    card.expect(0, "peek", 0x04, 0)
    card.expect(EMPTY | ROOM, "peek", STATUS, 50)
    card.expect(0, "peek", DATA, 50)
    card.expect(0, "poke", DATA, 0xFF, 50)
    card.expect(EMPTY | ROOM | BUSY, "peek", STATUS, 50 + cycles - 1)
    card.expect(0, "peek", DATA, 50 + cycles - 1)
    card.expect(EMPTY | ROOM | RECEIVED, "peek", STATUS, 50 + cycles)
    card.expect(0xFF, "peek", DATA, 50 + cycles)
    card.expect(0, "peek", DATA, 50 + cycles)
    card.done()


def test_the_fifo_holds_eight(program: Path) -> None:
    card = Card(program)
    sent = [0x40 | 8, 0, 0, 0x01, 0xAA, 0x87, 0xFF, 0xFF]
    for n, byte in enumerate(sent):
        card.expect(0, "poke", DATA, byte, n)
    card.expect(BUSY, "peek", STATUS, 0)  # eight and more wait: there is no room, and it is not empty
    card.expect(0, "poke", DATA, 0xFF, 9)  # lost, as on a board, but it takes its time
    card.expect(BUSY | RECEIVED, "peek", STATUS, 16)
    card.expect(BUSY | ROOM | RECEIVED, "peek", STATUS, 17)
    card.expect(EMPTY | ROOM | RECEIVED | BUSY, "peek", STATUS, 9 * 16 - 1)
    card.expect(BUSY | ROOM | RECEIVED, "peek", STATUS, 8 * 16 - 1)
    card.expect(EMPTY | ROOM | RECEIVED | BUSY, "peek", STATUS, 8 * 16)
    card.expect(EMPTY | ROOM | RECEIVED, "peek", STATUS, 9 * 16)
    for answer in [0xFF] * 7 + [0x01]:
        card.expect(answer, "peek", DATA, 9 * 16)
    card.expect(EMPTY | ROOM, "peek", STATUS, 9 * 16)
    # Round the ring: in and out one by one, the answer continues where it was.
    for n, answer in enumerate([0, 0, 0x01, 0xAA, 0xFF, 0xFF]):
        card.expect(0, "poke", DATA, 0xFF, 1000 + 100 * n)
        card.expect(0, "poke", 0x04, 0x40, 1000 + 100 * n)
        card.expect(0, "peek", DATA, 1015 + 100 * n)
        card.expect(answer, "peek", DATA, 1016 + 100 * n)
    card.done()
