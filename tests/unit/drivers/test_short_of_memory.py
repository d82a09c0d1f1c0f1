"""A driver that gets no memory ends with a line about it, whichever of its requests fails."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from arm_assembly import ENTRY, VECTORS, options
from natively import HERE

from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import ARM, RISCV, Segment, elf_of
from motecrypt.simulate.runners import Options, riscv
from tool_sets import needs_tool_set

BAD_INPUT = 2
PROFILE = ("no memory for the profile",) * 2
NAMES = "FOLDER/functions"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memory")
    command = ["gcc", "-shared", "-fPIC", "-O1", HERE / "short_of_memory.c", "-o", folder / "short.so"]
    subprocess.run(command, check=True, timeout=60)
    (folder / "functions").write_text("")
    return folder


def check(folder: Path, command: Sequence[str | Path], messages: Sequence[str]) -> None:
    """The first request for memory fails with the first message, and so on up to the last."""

    def ran(number: int) -> tuple[int, str]:
        environment = {**os.environ, "LD_PRELOAD": str(folder / "short.so"), "FAILS_AT": str(number)}
        told = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        last = (told.stderr.strip().splitlines() or [""])[-1]
        return told.returncode, last.replace(str(folder), "FOLDER")

    code, last = ran(0)
    assert code != BAD_INPUT, last
    assert [ran(number) for number in range(1, len(messages) + 1)] == [(BAD_INPUT, each) for each in messages]
    assert ran(len(messages) + 1)[0] == code


@needs_tool_set("pico")
def test_the_arm_driver(folder: Path) -> None:
    code = struct.pack("<II", 0x20008000, ENTRY | 1) + b"\xfe\xe7"
    (folder / "f.elf").write_bytes(elf_of([Segment(VECTORS, code)], ARM, ENTRY | 1))
    command = [
        driver("arm"),
        *options(),
        "--chip",
        "RP2040",
        "--sd",
        "4:1:1",
        "--free",
        "--max-seconds",
        "0.0001",
    ]
    command += ["--profile", folder / "p", "--functions", folder / "functions", folder / "f.elf"]
    messages = ["arm: --flash finds no memory", "arm: --ram finds no memory", "arm: --sd finds no memory"]
    messages += ["arm: FOLDER/f.elf cannot be read", *PROFILE, *(f"arm: {NAMES}: cannot be read",) * 2]
    check(folder, command, messages)


@needs_tool_set("riscv")
def test_the_riscv_driver(folder: Path) -> None:
    device = Catalog.load().device("esp32c3")
    flash = device.memory["flash"].address
    (folder / "f.elf").write_bytes(elf_of([Segment(flash, b"\x01\xa0")], RISCV, flash))
    command = [*riscv.command(device, folder / "f.elf", Options())[:-1], "--free", "--max-seconds", "0.0001"]
    command += [
        "--profile",
        str(folder / "p"),
        "--functions",
        str(folder / "functions"),
        str(folder / "f.elf"),
    ]
    messages = [
        f"riscv: {what} finds no memory" for what in ("--ram", "--flash", "a memory's second address")
    ]
    messages = [each for each in messages for _ in range(2)]
    messages += ["riscv: FOLDER/f.elf cannot be read", *PROFILE, *(f"riscv: {NAMES}: cannot be read",) * 4]
    check(folder, command, [*messages, *("riscv: registers finds no memory",) * 3])


@needs_tool_set("avr")
def test_the_avr_driver(folder: Path) -> None:
    (folder / "image").write_bytes(b"\xff\xcf")
    command = [driver("avr_run"), "--mcu", "atmega328p", "--clock", "16000000", "--image", folder / "image"]
    command += ["--max-cycles", "1000", "--profile", folder / "p", "--functions", folder / "functions"]
    messages = ["avr_run: finds no memory", "avr_run: finds no memory", *PROFILE]
    check(folder, command, [*messages, f"avr_run: cannot be read: {NAMES}"])
