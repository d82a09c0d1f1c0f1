"""How boards are flashed with the tools that their devices name: pretend tools note how they are called."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from motecrypt.app import measure
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.catalog.flashing import read_flashing
from motecrypt.simulate.emulate.images import Segment, elf_of
from motecrypt.simulate.runners import board, flashing
from motecrypt.simulate.runners.flashing import FlashError, flash_with_tool

CATALOG = Catalog.load()
TOOL = """#!/bin/sh
printf '%s\\n' "$@" > "$0.asked"
for last; do case "$last" in *.bin) cp "$last" "$0.file";; esac; done
[ -f "$0.fails" ] && {{ echo "Info : one"; echo "Error: no device found" >&2; exit 1; }}
exit 0
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("openocd", "bossac", "minichlink"):
        file = tmp_path / name
        file.write_text(TOOL.replace("{{", "{").replace("}}", "}"))
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(flashing, "SerialPort", lambda port, baud: Port())
    yield tmp_path


class Port:
    def close(self) -> None:
        pass


def elf(folder: Path, address: int, machine: int = 40) -> Path:
    file = folder / "firmware.elf"
    content = bytearray(elf_of([Segment(address, b"code"), Segment(address + 8, b"data")], machine, address))
    if machine == 243:
        content[36] = 8  # e_flags: RV32E
    file.write_bytes(content)
    return file


@pytest.mark.parametrize(
    ("device", "options"),
    [
        ("stm32l1", ["-f", "interface/stlink.cfg", "-f", "target/stm32l1.cfg"]),
        ("stm32f4", ["-f", "interface/stlink.cfg", "-f", "target/stm32f4x.cfg"]),
        ("stm32f0", ["-f", "interface/stlink.cfg", "-f", "target/stm32f0x.cfg"]),
        ("bluepill", ["-f", "interface/stlink.cfg", "-f", "target/stm32f1x.cfg"]),
        ("microbit", ["-f", "interface/cmsis-dap.cfg", "-f", "target/nrf51.cfg"]),
        ("mkrzero", ["-f", "interface/cmsis-dap.cfg", "-f", "target/at91samdXX.cfg"]),
        ("nrf52840", ["-f", "interface/jlink.cfg", "-c", "transport select swd", "-f", "target/nrf52.cfg"]),
        ("hifive1", ["-f", "board/sifive-hifive1-revb.cfg"]),
    ],
)
def test_openocd_writes_the_elf_through_the_boards_debugger(
    device: str, options: list[str], tools: Path
) -> None:
    file = elf(tools, CATALOG.device(device).memory["flash"].address)
    board.flasher_of(CATALOG.device(device))(CATALOG.device(device), file, "/dev/ttyACM0")
    asked = (tools / "openocd.asked").read_text().splitlines()
    assert asked == [*options, "-c", f"program {{{file}}} verify reset exit"]


def test_bossac_writes_the_flash_of_a_due(tools: Path) -> None:
    due = CATALOG.device("due")
    flash_with_tool(due, elf(tools, 0x80000), "/dev/ttyACM0")
    *asked, _ = (tools / "bossac.asked").read_text().splitlines()
    assert asked[:-1] == ["--port=ttyACM0", "-U", "false", "-a", "-e", "-w", "-v", "-b"]
    assert (tools / "bossac.file").read_bytes() == b"code\xff\xff\xff\xffdata"


def test_minichlink_writes_the_flash_of_a_ch32v003(tools: Path) -> None:
    flash_with_tool(CATALOG.device("ch32v003"), elf(tools, 0, 243), "/dev/ttyACM0")
    first, _, *rest = (tools / "minichlink.asked").read_text().splitlines()
    assert first == "-w" and rest == ["flash", "-b"]
    assert (tools / "minichlink.file").read_bytes() == b"code\xff\xff\xff\xffdata"


def test_a_tool_that_fails_is_one_line_with_its_error(tools: Path) -> None:
    (tools / "openocd.fails").touch()
    with pytest.raises(FlashError, match=r"^STM32F4 .*: could not be flashed: Error: no device found$"):
        flash_with_tool(CATALOG.device("stm32f4"), elf(tools, 0x08000000), "/dev/ttyACM0")


@pytest.mark.parametrize(
    ("device", "said"),
    [("stm32f4", "openocd is missing.*doctor"), ("ch32v003", "minichlink is missing.*ch32fun")],
)
def test_a_missing_tool_says_how_to_get_it(
    device: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FlashError, match=said):
        flash_with_tool(
            CATALOG.device(device), elf(tmp_path, 0, 243 if device == "ch32v003" else 40), "/dev/ttyACM0"
        )


def test_a_device_without_a_tool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FlashError, match="mega2560: nothing says how"):
        flash_with_tool(CATALOG.device("mega2560"), tmp_path / "f.elf", "/dev/ttyACM0")


def test_the_tool_set_of_the_tool_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    class Stop(Exception):
        pass

    def need(*names: str) -> None:
        asked.append(names)
        raise Stop

    monkeypatch.setattr(measure, "need", need)
    for device in ("stm32f4", "due", "ch32v003", "uno"):
        cell = type("Cell", (), {"device": device})
        with pytest.raises(Stop):
            made = measure.MeasurePlan((cell,), CATALOG, None)  # type: ignore[arg-type]
            measure.measure_on_board(made, "/dev/p", None)  # type: ignore[arg-type]
    assert asked == [("board", "openocd"), ("board", "bossac"), ("board",), ("board",)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('tool = "st-flash"\nsource = "s"', "one of openocd, bossac, minichlink"),
        ('tool = "openocd"\nconfigs = []\nsource = "s"', "OpenOCD's own files"),
        ('tool = "openocd"\nconfigs = ["/tmp/own.cfg"]\nsource = "s"', "OpenOCD's own files"),
        ('tool = "openocd"\nconfigs = ["target/../../own.cfg"]\nsource = "s"', "OpenOCD's own files"),
        ('tool = "bossac"\nconfigs = ["target/nrf52.cfg"]\nsource = "s"', "configs"),
        ('tool = "bossac"', "source"),
    ],
)
def test_wrong_data_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "device.toml"
    file.write_text("[flashing]\n" + text)
    with pytest.raises(InputError, match=said) as raised:
        read_flashing(Table.read(file).table("flashing"))
    assert "\n" not in str(raised.value)
