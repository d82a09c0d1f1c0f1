"""ATtiny84 and ATtiny85, which have no UART: the simulator's register, what fits, and what is refused."""

from __future__ import annotations

import fnmatch
import subprocess
import time
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device, Measurement
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from motecrypt.simulate.runners import Fault, Options, simavr
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")
CATALOG = Catalog.load()
NAMES = ("attiny84", "attiny85")


def built(folder: Path, name: str, source: str, mcu: str = "") -> Path:
    device = CATALOG.device(name)
    (folder / "a.c").write_text('#include "hal.h"\n' + source)
    flags = [f"-mmcu={mcu or name}", "-Os", "-DF_CPU=8000000UL", f"-I{FIRMWARE / 'include'}"]
    sources = [folder / "a.c", *(device.folder / file for file in device.hal)]
    subprocess.run(["avr-gcc", *flags, *sources, "-o", folder / "a.elf"], check=True, timeout=60)
    return folder / "a.elf"


def sent(device: Device, elf: Path, frames: bytes, want: int) -> bytes:
    """What a firmware answers to frames."""
    with simavr.open_session(device, elf, 0, Options()) as session:
        session.write(frames)
        got = b""
        while len(got) < want:
            got += session.read(time.monotonic() + 30)
    return got


ECHO = """
int main(void) {
    hal_init();
    hal_write('!'); /* the driver waits for a first frame */
    hal_write(0x7e);
    for (;;) {
        uint8_t byte = hal_read();
        hal_write(byte == 0x7e ? byte : (uint8_t)(byte + 1));
    }
}
"""


@pytest.mark.parametrize("name", NAMES)
def test_bytes_go_both_ways_in_order(tmp_path: Path, name: str) -> None:
    text = bytes(range(10, 90))
    got = sent(CATALOG.device(name), built(tmp_path, name, ECHO), text + b"\x7e", len(text) + 3)
    assert got == b"!\x7e" + bytes(byte + 1 for byte in text) + b"\x7e"


@pytest.mark.parametrize("name", NAMES)
def test_a_firmware_that_never_answers_is_reported(tmp_path: Path, name: str) -> None:
    silent = built(tmp_path, name, "int main(void) { hal_init(); for (;;) { hal_read(); } }")
    with (
        pytest.raises(Fault, match="no answer within 5000 cycles"),
        simavr.open_session(CATALOG.device(name), silent, 0, Options(max_cycles=5000)) as session,
    ):
        session.write(b"ab\x7e")
        session.read(time.monotonic() + 30)


def measured(results: Results, name: str, variant: str, placement: str) -> dict[str, Measurement]:
    body = next(
        body
        for body in CATALOG.implementations_of("aes128-ccm8", name, ["motecrypt"])
        if body.variant == variant
    )
    cells = bench.cells_for(CATALOG, CATALOG.device(name), body, message_bytes=[16], placements=[placement])
    return {m.operation: m for m in bench.ensure(cells, results, CATALOG).values()}


def test_what_does_not_fit_says_by_how_much(results: Results) -> None:
    for m in measured(results, "attiny85", "tables", "flash").values():
        assert m.status != "ok" and "of 512 bytes of RAM" in m.reason, m.reason
    for m in measured(results, "attiny85", "avr", "flash").values():
        assert m.status == "ok", m.reason
        assert m.stack_bytes is not None and m.stack_bytes < 128


def test_no_code_that_multiplies_is_offered() -> None:
    for cipher in ("ascon-aead128", "chacha20-poly1305"):
        for name in NAMES:
            bodies = CATALOG.implementations_of(cipher, name, ["motecrypt"])
            assert bodies and not [body for body in bodies if body.variant.startswith("avr")]
        assert [b for b in CATALOG.implementations_of(cipher, "uno", ["motecrypt"]) if b.variant == "avr"]
    assert fnmatch.fnmatch("avr51", "avr[456]*") and not fnmatch.fnmatch("avr25", "avr[456]*")


def test_other_firmware_runs_and_is_checked(tmp_path: Path) -> None:
    device = CATALOG.device("attiny85")
    sleeps = built(
        tmp_path,
        "attiny85",
        '#include <avr/sleep.h>\nint main(void) { __asm__("cli"); sleep_enable(); sleep_cpu(); }',
    )
    ended = run_freely(read_image(sleeps, device), device, FreeRun(max_seconds=1), lambda _: None)
    assert ended.cycles < 1000
    with pytest.raises(
        InputError, match="built for attiny84, and attiny85 is ATtiny85; compile with -mmcu=attiny85"
    ):
        read_image(built(tmp_path, "attiny84", ECHO), device)
    large = "#include <avr/pgmspace.h>\nconst uint8_t big[8100] PROGMEM = {1};\n"
    large += "int main(void) { hal_init(); hal_write(pgm_read_byte(&big[hal_read()])); }"
    flags = "-Wl,--defsym=__TEXT_REGION_LENGTH__=0x100000"
    (tmp_path / "a.c").write_text('#include "hal.h"\n' + large)
    command = ["avr-gcc", "-mmcu=attiny85", "-Os", "-DF_CPU=8000000UL", f"-I{FIRMWARE / 'include'}", flags]
    command += [str(tmp_path / "a.c"), str(device.folder / "hal.c"), "-o", str(tmp_path / "b.elf")]
    subprocess.run(command, check=True, timeout=60)
    with pytest.raises(InputError, match=r"too large: needs 8,\d\d\d of 8,192 bytes of flash"):
        read_image(tmp_path / "b.elf", device)
