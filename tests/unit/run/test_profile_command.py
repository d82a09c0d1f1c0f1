"""`motecrypt profile` as a user sees it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tool_sets import needs_tool_set

HERE = Path(__file__).parent
pytestmark = needs_tool_set("avr")


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "motecrypt", "profile", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("profile") / "profiled.elf"
    flags = ["-mmcu=atmega328p", "-Os", "-gdwarf-4"]
    subprocess.run(["avr-gcc", *flags, HERE / "profiled.c", "-o", target], check=True)
    return target


def test_the_table(elf: Path, tmp_path: Path) -> None:
    flame = tmp_path / "flame.json"
    done = command(elf, "--function", "twice", "--function", "d*n", "--lines", "3", "--speedscope", flame)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["twice", "8", "16,120"] in [row[:3] for row in rows]
    assert ["down", "10"] in [row[:2] for row in rows]
    assert not any(row[:1] == ["leaf"] for row in rows)
    assert sum(row[:1] != [] and row[0].startswith("profiled.c:") for row in rows) == 3
    assert json.loads(flame.read_text())["profiles"][0]["type"] == "sampled"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_is_not_modelled_is_said(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "f.c").write_text(
        "#include <avr/io.h>\nint main(void) { CLKPR = 0x80; CLKPR = 1; for (;;) { } }\n"
    )
    subprocess.run(
        ["avr-gcc", "-mmcu=atmega328p", "-Os", tmp_path / "f.c", "-o", tmp_path / "f.elf"], check=True
    )
    done = command(tmp_path / "f.elf", "--max-seconds", "0.01", *options)
    told = [line for line in done.stderr.splitlines() if "CLKPR" in line]
    assert len(told) == 2 and told[0].startswith("motecrypt: CLKPR: ") and "not modelled" in told[0]
    assert re.fullmatch("  0x00000061 CLKPR: 2 accesses, the first at 0x[0-9a-f]{8} in main", told[1])


def test_json_has_everything(elf: Path) -> None:
    told = json.loads(command(elf, "--json").stdout)
    assert told["run"]["reason"] == "sleep"
    leaf = next(f for f in told["functions"] if f["name"] == "leaf")
    assert leaf["self_cycles_range"] == [1004, 1004, 1004] and leaf["file"].endswith("profiled.c")
    assert sum(f["self_cycles"] for f in told["functions"] if f["calls"] is not None) == told["run"]["cycles"]
    assert len(told["lines"]) > 20


def test_a_function_that_did_not_run_is_named(elf: Path) -> None:
    done = command(elf, "--function", "twicee")
    assert done.returncode == 2 and "function twicee did not run" in done.stderr and "twice" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_stripped_file_says_so(elf: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["avr-strip", elf, "-o", stripped], check=True)
    done = command(stripped)
    assert done.returncode == 0 and "no symbols: functions are named by their addresses" in " ".join(
        done.stdout.split()
    )


def test_a_hex_file_is_profiled_by_addresses(elf: Path, tmp_path: Path) -> None:
    target = tmp_path / "profiled.hex"
    subprocess.run(["avr-objcopy", "-O", "ihex", elf, target], check=True)
    told = json.loads(command(target, "--json").stdout)
    assert any(f["calls"] == 10 and f["name"].startswith("0x") for f in told["functions"])


def test_a_firmware_for_another_device_is_refused(elf: Path) -> None:
    done = command(elf, "--device", "pico")
    assert done.returncode == 2 and "built for AVR, and pico is RP2040" in done.stderr
    done = command(elf, "--device", "host")
    assert done.returncode == 2 and "no simulator" in done.stderr


def test_the_page_has_the_source_of_the_folder_that_is_named(elf: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = command(elf, "--html", page, "--source", HERE)
    assert done.returncode == 0, done.stderr
    written = page.read_text()
    assert "Profile of profiled.elf on uno" in written and "__builtin_avr_delay_cycles(1000);" in written
    assert '"ret"' in written, "instructions"
    done = command(elf, "--html", page)
    assert done.returncode == 0 and "__builtin_avr_delay_cycles(1000);" not in page.read_text()


def test_a_folder_of_sources_must_be_there(elf: Path, tmp_path: Path) -> None:
    done = command(elf, "--html", tmp_path / "page.html", "--source", tmp_path / "missing")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "--source" in done.stderr
    assert not (tmp_path / "page.html").exists()
