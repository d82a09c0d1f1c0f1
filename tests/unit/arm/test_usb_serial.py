"""A serial port on the Pico's USB: a device of our own (usb_serial.c) with our host and that of rp2040js."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from two_core_builds import DEVICE

from motecrypt.base import process
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import Ended, FreeRun, Uart, run_freely
from tool_sets import NPM, needs_npm, needs_tool_set

pytestmark = needs_tool_set("pico")
HERE = Path(__file__).resolve().parent
MODULE = NPM / "rp2040js" / "dist" / "esm" / "index.js"
PICO = Catalog.load().device("pico")
TEXT = bytes(ord("A") + i % 26 for i in range(200))
INPUT = b"hello, nodes; " * 15 + b"~"
ECHO = bytes(byte ^ 32 for byte in INPUT)
#: USB 2.0, 9.4, and CDC PSTN, 6.3: what a host asks for, in the order of ours.
ASKED = [
    "8006000100001200",  # the device's descriptor
    "0005010000000000",  # SET_ADDRESS: 1
    "8006000200000900",  # the configuration's first 9 bytes, then all of it
    "8006000200004b00",
    "0009010000000000",  # SET_CONFIGURATION: 1
    "2120000000000700",  # SET_LINE_CODING, of 7 bytes
    "2122030000000000",  # SET_CONTROL_LINE_STATE: DTR and RTS
]


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("usb") / "usb.elf"
    own = [DEVICE / name for name in ("hal.c", "startup.S", "boot2.S")]
    link = ["-nostartfiles", "--specs=nano.specs", f"-T{DEVICE / 'flash.ld'}", f"-I{FIRMWARE / 'include'}"]
    flags = ["-mcpu=cortex-m0plus", "-mthumb", "-Os"]
    command = ["arm-none-eabi-gcc", *flags, *link, *own, HERE / "usb_serial.c", "-o", target]
    subprocess.run(command, check=True, timeout=60)
    return target


def ours(firmware: Path, folder: Path) -> tuple[bytes, Ended]:
    """All that comes from the board, with INPUT for it from the beginning."""
    said = bytearray()
    source = folder / "input"
    source.write_bytes(INPUT)
    descriptor = os.open(source, os.O_RDONLY)
    try:
        free = FreeRun(max_seconds=2, uart=Uart(input=descriptor))
        ended = run_freely(read_image(firmware, PICO), PICO, free, said.extend)
    finally:
        os.close(descriptor)
    return bytes(said), ended


def test_our_host_opens_the_port_and_moves_every_byte(firmware: Path, tmp_path: Path) -> None:
    said, ended = ours(firmware, tmp_path)
    text, *asked = said.decode("latin-1").rstrip(".").split("\n")
    assert text.encode("latin-1") == TEXT + ECHO
    assert asked == ASKED
    assert not ended.notes


@pytest.mark.crosscheck
@needs_npm(MODULE)
def test_the_host_of_rp2040js_gets_the_same_bytes(firmware: Path, tmp_path: Path) -> None:
    with firmware.open("rb") as file:
        elf = ELFFile(file)
        parts = [(s["p_paddr"], s.data()) for s in elf.iter_segments("PT_LOAD") if s["p_filesz"]]
        symbols = elf.get_section_by_name(".symtab")
        stack = symbols.get_symbol_by_name("__stack_top")[0]["st_value"]
        entry = symbols.get_symbol_by_name("reset")[0]["st_value"]
    job = {"segments": [[at, data.hex()] for at, data in parts], "sp": stack, "pc": entry, "limit": 3_000_000}
    path = tmp_path / "job.json"
    path.write_text(json.dumps({**job, "input": INPUT.hex(), "end": ECHO[-1]}))
    outcome = process.run(["node", HERE / "rp2040js_program.mjs", MODULE, path], timeout_s=60)
    assert outcome.ok, outcome.errors
    assert bytes.fromhex(outcome.output) == TEXT + ECHO == ours(firmware, tmp_path)[0].split(b"\n")[0]
