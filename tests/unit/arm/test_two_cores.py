"""Both cores of RP2040: how the second starts, what they say to each other, and in which order."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from pico_assembly import run as assembly
from pico_assembly import store
from test_pico_firmware import CHIP, UART_ON
from two_core_builds import build

from motecrypt.base.errors import InputError
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import ChipSettings, Ended, FreeRun, run_freely
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
PICO = Catalog.load().device("pico")
ALL, SLEEPER, _, FAULT, RESET, NO_EVENT, BUSY, SAME_BANK, OTHER_BANK, ONE = range(10)


def run(
    folder: Path, part: int, cache: str = "none", contention: bool = False
) -> tuple[Ended, dict[str, int]]:
    text = bytearray()
    how = FreeRun(max_seconds=0.1, chip=ChipSettings(cache=cache, contention=contention))
    ended = run_freely(read_image(build(folder, part), PICO), PICO, how, text.extend)
    lines = (line.rpartition(" ") for line in text.decode().splitlines())
    return ended, {name: int(value) for name, _, value in lines}


@pytest.mark.parametrize("contention", [False, True])
@pytest.mark.parametrize("cache", ["none", "kept"])
def test_all_ways_to_speak_to_each_other(tmp_path: Path, cache: str, contention: bool) -> None:
    ended, said = run(tmp_path, ALL, cache, contention)
    squares = sum(n * n for n in range(20))
    assert said == {
        "core": 1,
        "squares": squares,
        "quotient 0": 33,
        "quotient 1": 142,
        "shared": 1000,
        "turns of both": 1,
        "flag": 2,
        "status": 2,
    }
    assert not ended.notes and ended.reason == "limit"


@pytest.mark.parametrize("contention", [False, True])
def test_two_runs_are_the_same(tmp_path: Path, contention: bool) -> None:
    assert run(tmp_path, ALL, "kept", contention) == run(tmp_path, ALL, "kept", contention)


def test_beside_a_core_that_sleeps_work_takes_the_same_cycles(tmp_path: Path) -> None:
    for contention in (False, True):
        said = run(tmp_path, SLEEPER, contention=contention)[1]
        assert said["alone"] == said["beside"] > 10_000


@pytest.mark.parametrize("cache", ["none", "kept"])
def test_one_core_never_waits_for_a_bank(tmp_path: Path, cache: str) -> None:
    free, waits = (run(tmp_path, ONE, cache, contention)[0] for contention in (False, True))
    assert (free.cycles, free.seconds) == (waits.cycles, waits.seconds)
    assert free.extra["instructions"] == waits.extra["instructions"] > 1_000_000
    assert waits.extra["bus_waits"] == 0


def test_a_bank_that_both_want_is_theirs_in_turn(tmp_path: Path) -> None:
    """Each round takes its bank 25 times, so two rounds take at least 50 cycles, and alone one takes 35."""
    free = run(tmp_path, SAME_BANK)[1]["cycles"]
    own = run(tmp_path, OTHER_BANK, contention=True)[1]["cycles"]
    shared = run(tmp_path, SAME_BANK, contention=True)[1]["cycles"]
    assert 35_000 <= free < 35_100 and 35_000 <= own < 35_100
    assert 49_500 <= shared < 50_200


def test_contention_is_for_a_chip_with_two_cores(tmp_path: Path) -> None:
    microbit = Catalog.load().device("microbit")
    with pytest.raises(InputError, match="--contention: microbit has one core"):
        run_freely(
            read_image(build(tmp_path, SLEEPER), PICO), microbit, FreeRun(chip=ChipSettings(contention=True))
        )


def test_a_fault_names_the_second_core(tmp_path: Path) -> None:
    ended, _ = run(tmp_path, FAULT)
    assert ended.reason == "fault" and ended.detail.startswith("core 1: the firmware wrote to 0x60000000")


def test_the_second_core_begins_again_after_its_reset(tmp_path: Path) -> None:
    assert run(tmp_path, RESET)[1] == {"first": 1, "waits": 0, "second": 1}


def test_a_core_that_nothing_wakes_ends_the_run(tmp_path: Path) -> None:
    ended, _ = run(tmp_path, NO_EVENT)
    assert ended.reason == "fault" and "sleeps, and nothing can wake it" in ended.detail


@pytest.mark.parametrize("wait", ["sev\n    wfe", "wfi"])
def test_a_fault_behind_a_wait_is_no_wait(tmp_path: Path, wait: str) -> None:
    """It is undefined; the wait before it has an event, or an interrupt that is masked."""
    pended = store(0xE000E100, 1) + store(0xE000E200, 1)
    ran = assembly(UART_ON + f"    cpsid i\n{pended}    {wait}\n    udf #0\n", tmp_path, *CHIP)
    assert ran.end["event"] == "fault" and "undefined instruction" in ran.end["detail"]


def test_the_boot_roms_code_is_its_assembly(tmp_path: Path) -> None:
    header = (FIRMWARE.parent / "simulate" / "drivers" / "arm_rom_core1.h").read_text()
    rows = re.findall(r"^    ((?:0x[0-9A-F]{4}, )+)/\* (.*) \*/$", header, re.MULTILINE)
    text = "\n".join(assembly.replace(": ", ":\n") for _, assembly in rows)
    (tmp_path / "rom.S").write_text(f".syntax unified\n.cpu cortex-m0plus\n.thumb\n{text}\n")
    subprocess.run(["arm-none-eabi-as", tmp_path / "rom.S", "-o", tmp_path / "rom.o"], check=True)
    subprocess.run(
        ["arm-none-eabi-objcopy", "-O", "binary", tmp_path / "rom.o", tmp_path / "rom.bin"], check=True
    )
    words = [int(word, 16) for words, _ in rows for word in words.split(", ") if word]
    assert (tmp_path / "rom.bin").read_bytes() == b"".join(word.to_bytes(2, "little") for word in words)
    label = next(n for n, (_, line) in enumerate(rows) if line.startswith("wait:"))
    assert f"ROM_CORE1_WAIT = {2 * label:#x}".lower() in header.lower()
