"""Hostile firmware ends as a fault and touches nothing: by hand, and made from seeds in checked drivers.

The long version is `./test fuzz` (tests/fuzz/README.md).
"""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest

from costs import ALL
from fuzz.firmware import damaged_by, loaded, pointer_set
from fuzz.main import TARGETS, checked_driver, try_once
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of
from motecrypt.simulate.runners.arm import command as arm_command
from motecrypt.simulate.runners.session import Options

SEEDS = {"avr_run": 40, "simavr": 40, "arm": 16} if ALL else {"avr_run": 20, "simavr": 20, "arm": 6}
SEND_R16 = [0xE018, 0x9310, 0x00C1, 0x9300, 0x00C6]  # ldi r17, TXEN0; sts UCSR0B, r17; sts UDR0, r16
STOP = [0x94F8, 0xCFFF]  # cli, a jump to itself


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_firmware_from_seeds_breaks_no_driver(name: str, tmp_path: Path) -> None:
    checked = checked_driver(name)
    told = {seed: try_once(name, checked, seed, tmp_path) for seed in range(SEEDS[name])}
    assert not {seed: what for seed, what in told.items() if what}


@pytest.mark.long
def test_a_fault_in_a_driver_is_noticed(tmp_path: Path) -> None:
    """A program that reads beyond its memory: without this the test above might be unable to fail."""
    program = tmp_path / "broken"
    source = (
        "#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(4); (void)v; return p[n + 3]; }\n"
    )
    subprocess.run(
        ["gcc", "-x", "c", "-", "-fsanitize=address", "-o", str(program)], input=source.encode(), check=True
    )
    work = tmp_path / "work"
    work.mkdir()
    told = try_once("avr_run", program, 1, work)
    assert told is not None and "heap-buffer-overflow" in told


def _avr(words: list[int], folder: Path, *options: str) -> tuple[dict[str, object], bytes]:
    """Runs a program at address 0; how it ended, and what its UART sent."""
    (folder / "image").write_bytes(struct.pack(f"<{len(words)}H", *words))
    command = [str(driver("avr_run")), "--mcu", "atmega328p", "--clock", "16000000", "--max-cycles", "100000"]
    command += ["--image", str(folder / "image"), *options]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    return json.loads(done.stderr.decode().splitlines()[-1]), done.stdout


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([*pointer_set(26, 0x0900), 0x930C], id="store just beyond the RAM"),
        pytest.param([*pointer_set(26, 0xFFFF), 0x930C], id="store at the end of the data space"),
        pytest.param([*pointer_set(26, 0x8000), 0x910C], id="load beyond the RAM"),
        pytest.param([0xEF0F, 0xBF0E, 0xBF0D, 0x920F], id="push beyond the RAM"),
        pytest.param([*pointer_set(30, 0x4000), 0x9409], id="jump to the end of the flash"),
        pytest.param([*pointer_set(30, 0xFFFF), 0x9409], id="jump beyond the flash"),
        pytest.param([0x95FD, 0xFFFF], id="jump beyond four megawords"),
        pytest.param([0xC800], id="jump to before the flash"),
    ],
)
@pytest.mark.parametrize("profiled", [False, True])
def test_an_access_beyond_what_the_chip_has_is_a_fault(
    words: list[int], profiled: bool, tmp_path: Path
) -> None:
    (tmp_path / "functions").write_text("0 8\n")
    options = ["--profile", str(tmp_path / "p"), "--functions", str(tmp_path / "functions")]
    end, _ = _avr([*words, *STOP], tmp_path, *(options if profiled else []))
    assert end["event"] == "fault" and "crashed" in str(end["detail"])
    if profiled:
        assert all(json.loads(line) for line in (tmp_path / "p").read_text().splitlines())


@pytest.mark.parametrize("address", [0x8000, 0x9000, 0xFFFF])
def test_a_read_beyond_the_flash_reads_erased_flash(address: int, tmp_path: Path) -> None:
    lpm = [*pointer_set(30, address), 0x9104, *SEND_R16]  # lpm r16, Z
    end, sent = _avr([*lpm, 0xCFFF], tmp_path)
    assert (end["event"], sent) == ("stop", b"\xff")


def test_a_page_written_beyond_the_flash_changes_nothing_of_it(tmp_path: Path) -> None:
    erase = [*pointer_set(30, 0xFF80), 0xE003, 0xBF07, 0x95E8]  # SPMCSR = PGERS | SELFPRGEN; spm
    end, sent = _avr([*erase, *pointer_set(30, 0), 0x9104, *SEND_R16, 0xCFFF], tmp_path)
    assert (end["event"], sent) == ("stop", bytes([pointer_set(30, 0xFF80)[0] & 0xFF]))


def _pico(halfwords: list[int], folder: Path, *options: str) -> dict[str, object]:
    image = struct.pack(f"<2I{len(halfwords)}H", 0x20001000, 0x10000109, *halfwords)
    (folder / "f.elf").write_bytes(elf_of([Segment(0x10000100, image)], ARM, 0x10000109))
    whole = [str(p) for p in arm_command(Catalog.load().device("pico"), folder / "f.elf", Options())]
    for key in ("--events", "--max-cycles"):
        del whole[whole.index(key) : whole.index(key) + 2]
    command = [*whole, "--free", "--max-seconds", "0.001", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return json.loads(done.stderr.splitlines()[-1])  # type: ignore[no-any-return]


def test_a_firmware_that_stops_its_clock_ends(tmp_path: Path) -> None:
    """clk_sys from a PLL that does not run: no second of simulated time would ever pass."""
    end = _pico([*loaded(0, 0x4000803C), *loaded(1, 1), 0x6001, 0xE7FE], tmp_path)
    assert (end["event"], end["detail"]) == ("fault", "the firmware has stopped its own clock")


def test_a_symbol_of_any_size_ends(tmp_path: Path) -> None:
    (tmp_path / "functions").write_text("10000108 ffffffff\n")
    options = ["--profile", str(tmp_path / "p"), "--functions", str(tmp_path / "functions")]
    assert _pico([0xE7FE], tmp_path, *options)["event"] == "limit"
    assert '"function":1' in (tmp_path / "p").read_text()


@pytest.mark.parametrize("name", ["simavr", "arm"])
def test_a_damaged_elf_file_is_told_of(name: str, tmp_path: Path) -> None:
    """Every prefix of a file, and every field of its headers at its most: a line, and no signal."""
    base = {"simavr": 0, "arm": 0x10000100}[name]
    whole = elf_of([Segment(base, bytes(64))], {"simavr": 83, "arm": ARM}[name], base | 1)
    if name == "arm":
        command = [str(p) for p in arm_command(Catalog.load().device("pico"), tmp_path / "f", Options())]
        for key in ("--events", "--max-cycles"):
            del command[command.index(key) : command.index(key) + 2]
        command += ["--max-cycles", "1000"]
    else:
        command = [str(driver("simavr")), "--mcu", "atmega328p", "--clock", "16000000", str(tmp_path / "f")]
        command += ["--max-cycles", "1000"]
    for data in damaged_by(whole):
        (tmp_path / "f").write_bytes(data)
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
        assert done.returncode in (0, 2, 3), (done, data)
        assert len(done.stderr.splitlines()) <= 2 and done.stderr.isascii() and b"\033" not in done.stderr


def test_a_firmware_of_nonsense_is_complained_of_once(tmp_path: Path) -> None:
    """libsimavr says something in colour of every write to an address that does not exist."""
    image = struct.pack("<4002H", *pointer_set(26, 0x0900), *[0x930C] * 4000)  # st X, r16
    (tmp_path / "f.elf").write_bytes(elf_of([Segment(0, image)], 83, 0))
    command = [str(driver("simavr")), "--mcu", "atmega328p", "--clock", "16000000", "--max-cycles", "9000"]
    done = subprocess.run([*command, str(tmp_path / "f.elf")], capture_output=True, timeout=60, check=False)
    said, end = done.stderr.decode("ascii").splitlines()
    assert said.startswith("CORE: *** ") and "\033" not in said and '"event":"fault"' in end
