"""The firmware's drivers of an SD card and of the flash, by their registers: what goes out, when it stops."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from motecrypt.build.toolchain.files import FOLDER
from motecrypt.catalog import FIRMWARE
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")
HERE = Path(__file__).parent
DEADLINE_S = 40
IO_ERROR = -5
AT = "#define AT(address) (*(volatile uint32_t *)(address))"
PATTERN = bytes((k * 7 + (k >> 8) + 1) & 255 for k in range(2048))


def compiled(name: str, folder: Path, *flags: str) -> Path:
    """A driver whose registers the harness rules."""
    source = (FOLDER / f"{name}.c").read_text()
    assert source.count(AT) == 1
    (folder / f"{name}.c").write_text(source.replace(AT, "#define AT(address) (*at(address))"))
    include = [f"-I{folder}", f"-I{FOLDER}", f"-I{FIRMWARE / 'include'}"]
    target = folder / name
    command = ["gcc", "-std=gnu99", "-O1", "-w", *include, *flags, HERE / "storage_harness.c", "-o", target]
    subprocess.run(command, check=True, timeout=60)
    return target


@dataclass(frozen=True)
class Told:
    """What a driver did: every line, and what its calls returned."""

    lines: list[str]

    def bytes(self) -> bytes:
        return bytes(int(line[5:], 16) for line in self.lines if line.startswith("byte "))

    def number(self, word: str) -> int:
        (found,) = (int(line.split()[1]) for line in self.lines if line.startswith(word))
        return found

    def statuses(self) -> list[int]:
        return [int(line.split()[1].strip(",")) for line in self.lines if line.startswith("status")]

    def looks(self) -> int:
        """At the timer."""
        return int(next(line for line in self.lines if line.startswith("status")).split()[-1])

    def data(self) -> bytes:
        """What was read, without the two bytes behind it, which must be as they were."""
        (text,) = (line[5:] for line in self.lines if line.startswith("data "))
        got = bytes.fromhex(text)
        assert got.endswith(b"\xee\xee")
        return got[:-2]

    def packed(self) -> list[str]:
        """The lines of bytes as one line each."""
        packed: list[str] = []
        for line in self.lines:
            if line.startswith("byte ") and packed and packed[-1].startswith("byte "):
                packed[-1] += line[4:]
            else:
                packed.append(line)
        return packed


def run(program: Path, *operations: object, answers: bytes = b"", **settings: object) -> Told:
    done = subprocess.run(
        [program, *map(str, operations)],
        input=answers,
        capture_output=True,
        timeout=DEADLINE_S,
        check=False,
        env={"PATH": os.environ["PATH"], **{name.upper(): str(value) for name, value in settings.items()}},
    )
    assert done.returncode == 0, done
    return Told(done.stdout.decode().splitlines())


# --- the card ------------------------------------------------------------------------------------------

SELECT = "d0000018 = 20000"
RELEASE = "d0000014 = 20000"
GO_IDLE, CONDITION = b"\x40\0\0\0\0\x95", b"\x48\0\0\x01\xaa\x87"
APPLICATION, OPERATE = b"\x77\0\0\0\0\x87", b"\x69\x40\0\0\0\x87"
WAKE = b"\xff" * 10


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("sd", tmp_path_factory.mktemp("sd"), "-DSTORAGE_SD")


def text(data: bytes) -> str:
    return "byte " + data.hex(" ")


def asked(command: bytes, after: int = 2, before: int = 1) -> list[str]:
    """A command as it goes out, `after` bytes until its answer has come, and the byte after the release."""
    return [SELECT, text(b"\xff" * before + command + b"\xff" * after), RELEASE, text(b"\xff")]


def merged(*parts: Sequence[str]) -> list[str]:
    """The lines of all, neighbouring bytes as one."""
    lines = [line for part in parts for line in part]
    result = lines[:1]
    for before, line in pairwise(lines):
        if before.startswith("byte ") and line.startswith("byte "):
            result[-1] += line[4:]
        else:
            result.append(line)
    return result


def answer(value: int, late: int = 1) -> bytes:
    """What the card says to a command: it is free, takes six bytes, answers `late` bytes later, lets go."""
    return b"\xff" * (1 + 6 + late) + bytes([value]) + b"\xff"


def clock(hz: int, core_hz: int = 125_000_000) -> list[str]:
    """What sets the clock; at most what was asked for (RP2040 datasheet 4.4.3.4)."""
    prescale = 2
    while core_hz // prescale > 256 * hz:
        prescale += 2
    rate = -(-(core_hz // prescale) // hz)
    return [
        "4003c004 = 0",
        f"4003c010 = {prescale:x}",
        f"4003c000 = {(rate - 1) << 8 | 7:x}",
        "4003c004 = 2",
    ]


PINS = ["40014084 = 1", "40014094 = 1", "4001409c = 1", RELEASE, "d0000024 = 20000", "4001408c = 5"]
WOKEN = ["4000f000 = 10000", *["reset?"] * 3, *PINS]


def test_a_card_is_woken_and_made_ready(card: Path) -> None:
    """Physical Layer 6.00, 7.2.1: idle, condition, and operate until it is ready."""
    answers = WAKE + answer(1) + answer(1, 3) + 2 * (answer(1) + answer(1)) + answer(1) + answer(0, 2)
    told = run(card, "start", answers=answers, late=5)
    assert told.packed() == merged(
        WOKEN,
        clock(400_000),
        [text(WAKE)],
        asked(GO_IDLE),
        asked(CONDITION, 4),
        *[asked(APPLICATION), asked(OPERATE)] * 2,
        asked(APPLICATION),
        asked(OPERATE, 3),
        clock(12_500_000),
        ["status 0, looks 8", "pause 5", "sizes 512 512 512 2048"],
    )


@pytest.mark.parametrize(
    "core_hz", [125_000_000, 204_800_000, 204_800_002, 48_000_000, 133_000_000, 409_600_000, 409_600_008]
)
def test_the_clock_is_at_most_what_was_asked_for(card: Path, core_hz: int) -> None:
    """Before the card is ready at most 400 kHz; half a byte's time is left to others."""
    told = run(card, "start", clock=core_hz, answers=WAKE + answer(0))
    assert told.lines[len(WOKEN) : len(WOKEN) + 4] == clock(400_000, core_hz)
    prescale, control = (int(line.split()[-1], 16) for line in clock(400_000, core_hz)[1:3])
    rate = (control >> 8) + 1
    assert rate <= 256 and core_hz // prescale <= 400_000 * rate
    assert told.number("pause") == prescale * rate // 2
    assert told.statuses() == [IO_ERROR]


def test_a_card_that_never_gets_ready_is_given_up(card: Path) -> None:
    """A thousand questions, and a thousand bytes for each answer."""
    told = run(card, "start", answers=WAKE + answer(1) + answer(1), rest="1")
    assert told.statuses() == [IO_ERROR]
    assert told.bytes().count(OPERATE) == told.bytes().count(APPLICATION) == 1000
    told = run(card, "start")  # no card: all ones
    assert told.packed()[len(WOKEN) + 4 :] == merged(
        [text(WAKE)],
        asked(GO_IDLE, 1000),
        [f"status {IO_ERROR}, looks 1", "pause 157", "sizes 512 512 512 2048"],
    )
    told = run(card, "start", answers=WAKE + answer(0x80))
    assert told.bytes().endswith(GO_IDLE + b"\xff" * 1001) and told.statuses() == [IO_ERROR]


def test_a_busy_card_is_waited_for_half_a_second(card: Path) -> None:
    """It answers zeros as long as it is busy; the timer may begin again meanwhile."""
    told = run(card, "read", 0, 512, rest="0", step=100)
    assert told.packed()[:-1] == merged(
        [SELECT, text(b"\xff" * 5000), RELEASE, text(b"\xff"), "data " + "ee" * 514],
        [f"status {IO_ERROR}, looks 5001", "pause 0"],
    )
    told = run(card, "read", 0, 512, answers=bytes(7) + answer(4), step=100)
    assert told.packed()[:4] == asked(b"\x51\0\0\0\0\x87", before=8)


def test_a_block_is_read(card: Path) -> None:
    """7.2.3: the response, the start token when the card has found the block, its bytes, its checksum."""
    given = answer(0)[:-1] + b"\xff" * 6 + b"\xfe" + PATTERN[:512] + b"ab" + b"\xff"
    told = run(card, "read", 0x12345600, 512, answers=given)
    block = (0x12345600 // 512).to_bytes(4, "big")
    assert told.data() == PATTERN[:512] and told.statuses() == [0]
    assert told.packed()[:4] == asked(b"\x51" + block + b"\x87", 2 + 7 + 512 + 2)


def test_blocks_are_read_until_one_fails(card: Path) -> None:
    def given(number: int) -> bytes:
        return answer(0)[:-1] + b"\xfe" + PATTERN[512 * number : 512 * number + 512] + b"ab" + b"\xff"

    told = run(card, "read", 1024, 1536, answers=given(0) + given(1) + given(2))
    assert told.data() == PATTERN[:1536] and told.statuses() == [0]
    sent = told.bytes()
    assert [sent.count(b"\x51\0\0\0" + bytes([n]) + b"\x87") for n in range(6)] == [0, 0, 1, 1, 1, 0]
    for failure in (answer(0x40), answer(0)[:-1] + b"\x0b\xff"):
        told = run(card, "read", 0, 1536, answers=given(0) + failure + given(2))
        assert told.statuses() == [IO_ERROR] and told.bytes().count(b"\x51\0\0\0") == 2
        assert told.data() == PATTERN[:512] + b"\xee" * 1024
        assert told.lines.count(RELEASE) == 2
    told = run(card, "read", 0, 512, answers=answer(0)[:-1], step=100)
    assert told.statuses() == [IO_ERROR], "the block never comes"
    assert len(told.bytes()) == 1 + 6 + 2 + 5000 + 1


def test_a_block_is_written(card: Path) -> None:
    """7.2.4: the start token, the bytes, a checksum for nobody, the response, and zeros while busy."""
    given = answer(0)[:-1] + b"\xff" * (1 + 512 + 2) + b"\xe5" + bytes(9) + b"\xff" + b"\xff"
    told = run(card, "program", 512 * 0x0102, 512, answers=given)
    assert told.statuses() == [0]
    data = b"\xfe" + PATTERN[:512] + b"\xff\xff" + b"\xff" + b"\xff" * 10
    assert told.packed()[:4] == merged(
        [SELECT, text(b"\xff" + b"\x58\0\0\x01\x02\x87" + b"\xff\xff" + data), RELEASE, text(b"\xff")]
    )


def test_blocks_are_written_until_one_fails(card: Path) -> None:
    def given(response: int, busy: bytes = b"\xff") -> bytes:
        return answer(0)[:-1] + b"\xff" * (1 + 512 + 2) + bytes([response]) + busy + b"\xff"

    told = run(card, "program", 1024, 1536, answers=3 * given(5))
    sent = told.bytes()
    assert told.statuses() == [0]
    for n in range(3):
        assert sent.count(b"\xfe" + PATTERN[512 * n : 512 * n + 512] + b"\xff\xff") == 1
    assert [sent.count(b"\x58\0\0\0" + bytes([n]) + b"\x87") for n in range(6)] == [0, 0, 1, 1, 1, 0]
    for failure in (answer(0x40), given(0x0B, b""), given(0x0D, b""), given(0x04, b"")):
        told = run(card, "program", 0, 1536, answers=given(5) + failure + given(5))
        assert told.statuses() == [IO_ERROR] and told.bytes().count(b"\x58\0\0\0") == 2
        assert told.lines.count(RELEASE) == 2
    told = run(card, "program", 0, 512, answers=given(5, b"")[:-1], rest="0", step=1000)
    assert told.statuses() == [IO_ERROR], "it stays busy"
    assert told.bytes().endswith(b"\xff\xff" + b"\xff" * (1 + 500 + 1))


def test_a_card_needs_no_erasing(card: Path) -> None:
    assert run(card, "erase", 512).lines[:-2] == ["status 0, looks 0"]


# --- the flash -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("nor", tmp_path_factory.mktemp("nor"))


def select(level: int) -> str:
    return f"4001800c = {0x5A00005C | level:x}"


LOW, HIGH = select(0x200), select(0x300)
OFF, ON = "18000008 = 0", "18000008 = 1"
PADS = [
    f"{0x40020000 + more + pad:08x} = {bit}"
    for pad in (8, 12, 16, 20)
    for more, bit in ((0x2000, 8), (0x3000, 4))
]
LEFT = [*PADS, OFF, "18000014 = 6", "18000000 = 70000", "18000004 = 0", ON, LOW, "byte ff ff", HIGH]
QUAD = ["18000000 = 5f0300", "18000004 = 0", "180000f4 = 2221", ON, "byte eb a0"]
BACK = [
    OFF,
    select(0),
    "18000014 = 2",
    *QUAD,
    "look",
    "look",
    OFF,
    "180000f4 = a0002022",
    ON,
    "14000004 = 1",
    "flushed?",
]


def done_as(*bytes_: str, polls: int = 1) -> list[str]:
    """A command from leaving execute-in-place to being back."""
    asked = [LOW, "byte 05 00", HIGH] * polls
    return [*LEFT, LOW, "byte 06", HIGH, LOW, *bytes_, HIGH, *asked, *BACK]


def test_a_sector_is_erased(flash: Path) -> None:
    """W25Q16JV, 8.2: write enable, the command with its address, the status until it is ready."""
    ready = b"\xff\xff" + b"\xff" + bytes(4) + b"\xff\x02"
    told = run(flash, "erase", 0x0A3000, answers=ready)
    assert told.packed()[:-2] == [*done_as("byte 20 1a 30 00"), "status 0, looks 21"]
    busy = bytes(7) + b"\0\x03\0\x01\0\xff\0\xfe"
    told = run(flash, "erase", 0, answers=busy, step=7)
    assert told.packed()[:-2] == [*done_as("byte 20 10 00 00", polls=4), "status 0, looks 16"]


def test_pages_are_programmed(flash: Path) -> None:
    told = run(flash, "program", 0x012300, 768, rest="0")
    pages = []
    for n in range(3):
        head = bytes([0x02, 0x11, 0x23 + n, 0])
        pages += done_as(text(head + PATTERN[256 * n : 256 * n + 256]))
    assert told.packed()[:-3] == pages
    assert told.statuses() == [0]
    assert told.number("most") == 14, "the FIFO of 16 never runs over, and is used"


@pytest.mark.parametrize("late", [0, 1, 2, 5])
def test_what_comes_in_is_taken_at_any_pace(flash: Path, late: int) -> None:
    told = run(flash, "program", 0, 256, rest="0", late=late)
    assert told.packed()[:-3] == done_as(text(b"\x02\x10\0\0" + PATTERN[:256]))


def test_it_waits_until_all_has_been_sent(flash: Path) -> None:
    """Between setting the flash to read in place and reading so: all sent, and the interface idle."""
    for ending, looks in (
        ("4", 2),
        ("0 4", 3),
        ("1 4", 3),
        ("5 4", 2),
        ("4 1 4", 4),
        ("4 5 0 4", 5),
        ("6 5 1 4", 5),
    ):
        told = run(flash, "erase", 0, rest="0", ending=ending)
        assert told.lines.count("look") == looks


def test_it_is_read_in_place(flash: Path) -> None:
    content = bytes((i * 31 + (i >> 8) + (i >> 16)) & 255 for i in range(1 << 21))
    for at, count in ((0, 64), (0x12340, 4096), ((1 << 20) - 64, 64)):
        told = run(flash, "start", "read", at, count)
        first = (1 << 20) + at
        assert told.data() == content[first : first + count] and told.statuses() == [0, 0]
        assert told.lines[0] == "status 0, looks 0" and told.lines[1].startswith("data ")
    assert told.lines[-1] == "sizes 64 256 4096 256"
