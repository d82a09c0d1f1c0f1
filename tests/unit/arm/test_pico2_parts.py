"""Parts of the RP2350 in a free run that differ from the RP2040's: ticks, boot ROM, DMA."""

from __future__ import annotations

from pathlib import Path

import pytest
from pico2_board import built, go, numbers

from motecrypt.simulate.emulate.run import Ended
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
EXPECTED = {
    # 4000 us are 1000 ticks; none while its generator is off; some while the timer's is
    "watchdog": "00000001 00000000 00000001",
    # programmed, cached and not; again, by storage addresses; in RAM; that is read from the flash
    "code": "00000101 00000202 00000003 00000002",
    # alignment, four times; bytes are read; no level, operation or flag; no storage; another alias; kept
    # how many; the last word; one interrupt; what is enabled; CTRL, and through each alias
    "channels": "00000010 00000004 00000001 00008000 007fe059 007fe059 007fe059 007fe059",
    # forced, on its line alone; five interrupts; all cleared; five times 200 words
    "lines": "00080000 00000500 00000000 00000fa0",
    # endless: the mode is kept; busy; aborted; no interrupt; one word for each microsecond
    "count": "f0000000 04000000 00000000 00000000 00000001",
    # down; by two; written down; nothing is kept by a reset
    "down": "04030201 01030507 04030201 00000000",
    "refused": " ".join(
        [*["fffffff5"] * 4, "00000000", *["fffffffb"] * 3, "fffffffc", "fffffff6", "00000002"]
    ),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Ended]:
    return go(built(tmp_path_factory.mktemp("pico2"), "pico2_parts.c"))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_part_does_what_the_datasheet_says(ran: tuple[str, Ended], name: str) -> None:
    assert numbers(ran[0], name) == [EXPECTED[name]]
    assert ran[1].reason == "stop"


def test_the_boot_rom_restarts_at_an_address_and_as_usual(tmp_path: Path) -> None:
    said, ended = go(built(tmp_path, "pico2_reboots.c"))
    lines = [line for line in said.splitlines() if line]
    # it returns, waits for five milliseconds, and is there with its stack; again by the vectors
    assert lines == ["reboot 00000000", "still", "inside 20040000 00000001 00000000", "again 00000708"]
    assert (ended.reason, ended.notes) == ("stop", ("the watchdog resets the chip",) * 2)


@pytest.mark.parametrize("kind", [2, 0x102])
def test_a_restart_into_the_roms_usb_mode_ends_the_run(tmp_path: Path, kind: int) -> None:
    text, ended = go(built(tmp_path, "pico2_reboots.c", f"-DTYPE={kind}"))
    assert (ended.reason, text) == ("stop", "")
    assert ended.detail == "the firmware has restarted into the boot ROM's USB mode (BOOTSEL)"


@pytest.mark.parametrize(
    ("kind", "said"),
    [(0x103, "into an image in RAM"), (4, "into an update in the flash"), (0x20, "with the RISC-V cores")],
)
def test_a_restart_that_is_not_modelled_is_told(tmp_path: Path, kind: int, said: str) -> None:
    text, ended = go(built(tmp_path, "pico2_reboots.c", f"-DTYPE={kind}"))
    assert (ended.reason, text) == ("fault", "")
    flags = f"flags {kind:#x}: not modelled"
    assert ended.detail == f"the firmware restarts {said}, by the boot ROM's function reboot with {flags}"


def test_the_end_lists_what_is_not_modelled(ran: tuple[str, Ended]) -> None:
    names = {0x400E8020: "ROSC_RANDOMBIT", 0x500004C0: "DMA", 0x50000804: "DMA", 0x400C800C: "XIP_CTR_HIT"}
    names[0x400100A4] = "CLOCKS_FC0_STATUS"
    assert {use.address: use.name for use in ran[1].touched} == {**names, 0x400D0034: "QMI_ATRANS0"}
    assert len(ran[1].notes) == 6 and all("not modelled" in note for note in ran[1].notes)


def test_the_ring_oscillator_is_that_of_this_chip(tmp_path: Path) -> None:
    """At 11 MHz, by the datasheet: 11 million cycles and a short start."""
    ended = go(built(tmp_path, "pico2_rosc.c"))[1]
    assert 11_000_000 < ended.cycles < 11_010_000 and 1.0 < ended.seconds < 1.001
