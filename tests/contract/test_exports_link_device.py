"""Exports of the link in plain C for a device: the example runs there, both ways, over a simulated board."""

from __future__ import annotations

import math
import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from exports_bed import CATALOG, CIPHERS, STRICT, Station, run
from motecrypt.air.radios import load_radio
from motecrypt.catalog import FIRMWARE
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.library import Export, choose
from motecrypt.exports.link import plan_link
from motecrypt.exports.targets import for_device, target
from motecrypt.link.native import Event
from motecrypt.link.provisioning import flash_image
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import ChipSettings, FreeRun, Uart, run_freely
from tool_sets import needs_tool_set

READINGS = 3
#: Simulated time runs on while this computer makes an answer, and a busy computer takes long for it.
MAX_SECONDS = 600.0
BOARD = """
#include "board.h"
#include "hal.h"

void board_begin(void) { hal_init(); }
void board_send(const uint8_t *bytes, uint8_t count) { while (count-- > 0) hal_write(*bytes++); }
int16_t board_receive(void) { return hal_read(); } /* the example asks only when an answer is due */
uint16_t board_ms(void) { return 0; }
void board_say(const char *text) { (void)text; }
int16_t board_reading(void) { return 0x1234; }
void board_pause(uint16_t seconds) {
    static uint8_t pauses;
    if (++pauses == READINGS)
        for (seconds = 0; seconds < 4; seconds++) hal_write('.');
}
"""
FLASH = """
#include "flash.h"
#include <string.h>
static uint8_t memory[{prefix}LINK_FLASH_BYTES] = {{{page}}};
void {prefix}link_flash_read(uint32_t at, uint8_t *to, uint16_t bytes) {{ memcpy(to, memory + at, bytes); }}
void {prefix}link_flash_write(uint32_t at, const uint8_t *page) {{
    for (int i = 0; i < 256; i++) memory[at + i] &= page[i];
}}
void {prefix}link_flash_erase(uint32_t at) {{ memset(memory + at, 0xff, 4096); }}
"""


def planned(device_name: str, cipher: str, radio: LinkRadio | None = None) -> Export:
    meant = for_device(target("c", CATALOG), CATALOG.device(device_name))
    body = choose(CATALOG, CATALOG.cipher(cipher), meant, None)
    return plan_link(CATALOG, meant, CATALOG.cipher(cipher), body, radio=radio)


def built(device_name: str, made: Export, station: Station, folder: Path) -> Path:
    """The exported example with the line that its README has, and functions for the simulated board."""
    device = CATALOG.devices[device_name]
    made.write(folder / "lib")
    (line,) = [line for line in made.files["README.md"].decode().splitlines() if "-gcc " in line]
    run(["sh", "-c", line], folder / "lib")
    parts: list[str | Path] = [*(device.folder / name for name in device.hal)]
    (folder / "board.c").write_text(BOARD)
    parts.append("board.c")
    if device.runner != "simavr":
        page = flash_image(station.image)
        text = FLASH.format(prefix=made.prefix, page=", ".join(map(str, page)))
        (folder / "flash.c").write_text(text)
        parts.append("flash.c")
    inside = f"lib/src/{made.prefix.rstrip('_')}"
    include = ["-Ilib/src", "-Ilib/examples/board", f"-I{inside}", f"-I{FIRMWARE / 'include'}"]
    compiler = device.compiler
    flags = [*compiler.machine_flags, *compiler.flags, *(f"-D{define}" for define in compiler.defines)]
    run([compiler.command, *flags, *STRICT, *include, "-c", "lib/examples/board/main.c"], folder)
    flags += ["-std=gnu99", f"-DREADINGS={READINGS}", *include]
    link = [*compiler.link_flags, *device.placements["flash"].link_flags, "-Wl,--gc-sections"]
    link = [flag.replace("{device}", str(device.folder)) for flag in link]
    objects = sorted((folder / "lib").glob("*.o"))
    run([compiler.command, *flags, "main.o", *parts, *objects, *link, "-o", "program.elf"], folder)
    return folder / "program.elf"


@pytest.mark.parametrize(
    ("device_name", "cipher"),
    [
        pytest.param("stm32f4", "aes128-ccm8", marks=needs_tool_set("pico")),
        pytest.param("stm32f4", "ascon-aead128", marks=needs_tool_set("pico")),
        pytest.param("uno", "aes128-ccm8", marks=needs_tool_set("avr")),
    ],
)
def test_the_example_talks_to_the_gateway_on_the_simulated_device(
    device_name: str, cipher: str, tmp_path: Path
) -> None:
    """With the assembly that is best there."""
    device = CATALOG.devices[device_name]
    made = planned(device_name, cipher)
    assert (
        made.body.variant
        == {"uno": "avr", "stm32f4": "armv7m-fixsliced" if cipher.startswith("aes") else "armv7m"}[
            device_name
        ]
    )
    station = Station(CIPHERS[cipher], silence_s=math.inf)
    elf = built(device_name, made, station, tmp_path)
    eeprom = tmp_path / "eeprom"
    eeprom.write_bytes(station.image.ljust(1024, b"\xff"))
    reading, writing = os.pipe()

    def take(data: bytes) -> None:
        answers = station.take(data, time.monotonic())
        if answers:
            os.write(writing, answers)

    kept = eeprom if device.runner == "simavr" else None
    how = FreeRun(
        until="....", max_seconds=MAX_SECONDS, uart=Uart(input=reading), chip=ChipSettings(eeprom=kept)
    )
    try:
        run_freely(read_image(elf, device), device, how, take)
    finally:
        os.close(reading)
        os.close(writing)
    expected = [number.to_bytes(2, "little") + b"\x34\x12\0\0" for number in range(READINGS)]
    assert [message.content for message in station.messages] == expected
    assert Event.FORGED not in station.events


@needs_tool_set("pico")
def test_the_example_compiles_for_each_kind_of_radio(tmp_path: Path) -> None:
    for number, radio in enumerate(
        (LinkRadio(load_radio("nrf24")), LinkRadio(load_radio("nrf24"), True), LinkRadio(load_radio("srf")))
    ):
        made = planned("stm32f4", "ascon-aead128", radio)
        made.write(tmp_path / str(number))
        lib = tmp_path / str(number)
        command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os", *STRICT, f"-I{lib}/src"]
        run([*command, "-c", lib / "examples/board/main.c", "-o", f"{number}.o"], tmp_path)


@needs_tool_set("cross", "pico")
@pytest.mark.crosscheck
def test_cmake_builds_the_link_for_a_device(tmp_path: Path) -> None:
    planned("stm32f4", "ascon-aead128").write(tmp_path / "lib")
    system = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    tools = [f"-DCMAKE_{language}_COMPILER=arm-none-eabi-gcc" for language in ("C", "ASM")]
    run(["cmake", "-S", "lib", "-B", "build", *tools, *system], tmp_path)
    said = run(["cmake", "--build", "build", "--verbose"], tmp_path)
    assert "-mcpu=cortex-m4" in said
    assert (tmp_path / "build" / "libmc_link_ascon_aead128_armv7m.a").is_file()
