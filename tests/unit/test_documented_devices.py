"""What docs/fidelity.md and docs/riscv.md state of chips, boards and radios is what their descriptors have.

Most of it is cited there from data sheets: the page and the descriptor have to cite the same figure.
"""

from __future__ import annotations

import re
import tomllib

import pytest

from documented import missing
from motecrypt.air.radios import load_radio
from motecrypt.base.model import Current, Device
from motecrypt.build.setup.tool_sets import tool_sets
from motecrypt.catalog import DATA, Catalog
from motecrypt.catalog.processors import processor

KB = 1024


def _device(name: str) -> Device:
    return Catalog.load().device(name)


def _current(device: str, state: str, of: str = "chip") -> Current:
    found = _device(device).current(state, of)
    assert found is not None, (device, state)
    return found


def _ma(device: str, state: str, of: str = "chip") -> str:
    return f"{_current(device, state, of).milliamperes:g} mA"


def _ua(device: str, state: str) -> str:
    return f"{1000 * _current(device, state).milliamperes:g} uA"


def _wake_us(device: str) -> float:
    found = tomllib.loads((_device(device).folder / "device.toml").read_text(encoding="utf-8"))
    return float(found["extra"]["wake_us"])


def _cited(text: str, form: str) -> float:
    found = re.search(form, text)
    assert found is not None, text
    return float(found[1])


def test_what_was_confirmed_is_what_the_descriptors_cite() -> None:
    storage = tomllib.loads((DATA / "storage.toml").read_text(encoding="utf-8"))["flash"]
    pico = tomllib.loads((_device("pico").folder / "device.toml").read_text(encoding="utf-8"))["simulator"]
    cache, radio, strongarm = pico["flash_cache"], load_radio("cc1101"), processor("strongarm")
    now = load_radio("esp-now")
    active = _cited(_current("uno", "active").source, r"has ([0-9.]+) mA at 8 MHz")
    idle = _cited(_current("uno", "idle").source, r"has ([0-9.]+) mA at 8 MHz")
    slides = _cited(strongarm.assumption, r"([0-9.]+) A for arithmetic")
    most_ma = _cited(_current("due", "active", "board").condition, r"most ([0-9]+) mA")
    assert (
        missing(
            "fidelity.md",
            f"APB bridge ({pico['bus_write_extra']} cycles to read, {pico['bus_write_extra'] + 1} to "
            f"write), cache "
            f"of {cache['bytes'] // KB} KB, two ways, lines of {cache['line_bytes']} bytes",
            f"{_ua('uno', 'sleep')} in power-down with watchdog (3 V), {active:g} mA active and {idle:g} "
            f"mA idle at "
            f"8 MHz and 5 V, {_device('uno').volts_min:g} V at 16 MHz",
            f"at least {_ma('due', 'active', 'board')} in normal mode (no typical, at most {most_ma:g} mA)",
            f"24 + 1 + 3 + 4 + (7 + body) + {now.value('crc_bytes'):g} bytes at "
            f"{now.value('air_rate_baud') / 1e6:g} Mbps",
            f"typical {storage['program_page_us'] / 1000:g} and {storage['erase_4k_ms']} ms",
            f"sleep, {radio.value('wake_us'):g} us to wake up",
            f"StrongARM at {strongarm.clock_hz / 1e6:g} MHz and {strongarm.supply_v:g} V, {slides:g} A",
        )
        == []
    )
    assert cache["ways"] == 2 and now.value("header_bytes") == 24 + 1 + 3 + 4 + 7


def test_what_was_not_confirmed_is_what_the_descriptors_have() -> None:
    active, idle = _current("uno", "active"), _current("uno", "idle")
    at_8_mhz = [2 * _cited(each.source, r"has ([0-9.]+) mA at 8 MHz") for each in (active, idle)]
    bare = _cited(active.condition, r"measured at ([0-9.]+) mA")
    asleep = _cited(_current("uno", "sleep").source, r"([0-9.]+) uA: Cameron")
    srf, pentium, old = load_radio("srf"), processor("pentium-m-1500"), processor("i486dx2")
    assert (
        missing(
            "fidelity.md",
            f"UNO's {_ma('uno', 'active')} active and {_ma('uno', 'idle')} idle at 16 MHz",
            f"would be {at_8_mhz[0]:.1f} and {at_8_mhz[1]:.1f} mA, a bare board was measured at {bare:g} mA",
            f"one chip was measured at {asleep:g} uA",
            f"STM32F407's {_ma('stm32f4', 'active')} at 25 MHz, {_ma('stm32f4', 'sleep')} in Stop mode, "
            f"{_wake_us('stm32f4') / 1000:g} ms of the crystal's start-up",
            f"{_ua('stm32l1', 'sleep')} in Stop mode, {_wake_us('stm32l1'):g} us wake-up",
            f"STM32F103's {_ma('bluepill', 'active')} and {_ma('bluepill', 'sleep')}, SAM3X's "
            f"{_ma('due', 'active')} and {_ma('due', 'sleep')}",
            f"a few bytes of {8e6 / srf.value('air_rate_baud'):g} us",
            f"Pentium M's {pentium.supply_v * pentium.current_ma / 1000:.1f} W, the 486DX2's "
            f"{old.clock_hz / 1e6:g} MHz and {old.supply_v:g} V",
        )
        == []
    )
    l1 = _current("stm32l1", "active").milliamperes
    assert l1 == pytest.approx(0.230 * _device("stm32l1").clock_hz / 1e6, rel=0.01)
    assert missing("fidelity.md", "STM32L100's 230 uA a MHz") == []


def test_the_boards_and_chips_without_a_current_are_those_of_the_page() -> None:
    """No figure of the whole board awake, or of it asleep; and chips without any awake."""
    simulated = {name: each for name, each in Catalog.load().devices.items() if each.runner != "host"}

    def lacking(state: str, of: str) -> set[str]:
        return {name for name, device in simulated.items() if device.current(state, of) is None}

    awake, asleep = lacking("active", "board"), lacking("sleep", "board")
    assert {"nano", "microbit", "due"} == asleep - awake
    named = {"bluepill", "stm32f0", "stm32f4", "stm32l1", "nrf52840", "mkrzero", "esp32c3", "leonardo"}
    assert {*named, "hifive1"} <= awake and not awake & {
        "uno",
        "pico",
        "pico2",
        "mega2560",
        "nano",
        "microbit",
        "due",
    }
    assert {"hifive1", "ch32v003", "ch32v003-24mhz"} <= lacking("active", "chip")


def test_the_start_up_that_a_simulated_uno_leaves_out() -> None:
    uno = _device("uno")
    cycles = _wake_us("uno") * uno.clock_hz / 1e6
    assert missing("fidelity.md", f"the core wakes as from idle: {cycles:,.0f} cycles early") == []


def test_the_table_of_risc_v_devices() -> None:
    rows = []
    for name in ("hifive1", "ch32v003", "ch32v003-24mhz", "esp32c3"):
        device = _device(name)
        flash, ram = (device.memory[part].bytes for part in ("flash", "ram"))
        size = f"{round(flash / KB / KB)} MB serial" if flash > KB * KB else f"{flash // KB} KB"
        rows.append(f"{device.clock_hz / 1e6:g} MHz | {size}")
        assert missing("riscv.md", f"| `{name}` | ", rows[-1], f" | {ram // KB} KB |") == []
    esp = tomllib.loads((_device("esp32c3").folder / "device.toml").read_text(encoding="utf-8"))
    told = f"4 MB serial, cache of {esp['simulator']['flash_cache']['bytes'] // KB} KB for code and data"
    assert missing("riscv.md", told, f"picolibc ({tool_sets()['riscv'].download_mb} MB)") == []
