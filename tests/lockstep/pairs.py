"""Which engines are compared: each of ours with one of others."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep import avr, riscv, thumb
from lockstep.engine import Core, Engine
from motecrypt.simulate.runners import Options
from tool_sets import NPM

AVR8JS = NPM / "avr8js" / "dist" / "cjs" / "index.js"
RP2040JS = NPM / "rp2040js" / "dist" / "esm" / "index.js"
TRACED = Options(cache="warm", trace=True)


@dataclass(frozen=True)
class Pair:
    """`needs`: tool sets; `batch`: how many programs fit in one firmware, which may send 128 KB in a row."""

    core: Core
    ours: tuple[Engine, ...]
    other: Engine
    needs: tuple[str, ...]
    batch: int = 200


def device_of(name: str) -> str:
    """The device of a pair; "run" behind it: in a free run."""
    return name.split()[0]


PAIRS = {
    "uno": Pair(
        avr.UNO,
        (
            avr.Simavr(avr.UNO),
            avr.Simavr(avr.UNO, trace=True),
            avr.AvrRun(avr.UNO),
            avr.AvrRun(avr.UNO, ("--bare",)),
        ),
        avr.Avr8js(avr.UNO, AVR8JS),
        ("avr", "node"),
        64,
    ),
    "mega2560": Pair(
        avr.MEGA,
        (avr.Simavr(avr.MEGA), avr.AvrRun(avr.MEGA)),
        avr.Avr8js(avr.MEGA, AVR8JS),
        ("avr", "node"),
        128,
    ),
    "pico": Pair(
        thumb.M0,
        (thumb.Ours("pico"), thumb.Ours("pico", TRACED)),
        thumb.Rp2040js(RP2040JS),
        ("pico", "node"),
        500,
    ),
    "pico run": Pair(
        thumb.M0_TIMED,
        (thumb.Free("pico"),),
        thumb.Rp2040js(RP2040JS, thumb.Free("pico").place),
        ("pico", "node"),
        1000,
    ),
    "stm32l1": Pair(thumb.M3, (thumb.Ours("stm32l1"),), thumb.AN385, ("pico", "qemu")),
    "stm32f4": Pair(
        thumb.M4, (thumb.Ours("stm32f4"), thumb.Ours("stm32f4", TRACED)), thumb.AN386, ("pico", "qemu")
    ),
    "pico2": Pair(thumb.M33, (thumb.Ours("pico2"),), thumb.AN505, ("pico", "qemu")),
    "pico2 run": Pair(thumb.M33_PENDING, (thumb.Free("pico2"),), thumb.AN505, ("pico", "qemu")),
    "hifive1": Pair(
        riscv.E31,
        (riscv.Ours(riscv.E31), riscv.Ours(riscv.E31, TRACED)),
        riscv.Unicorn(riscv.E31),
        ("riscv", "pico"),
    ),
    "esp32c3": Pair(
        riscv.ESP32C3, (riscv.Ours(riscv.ESP32C3),), riscv.Unicorn(riscv.ESP32C3), ("riscv", "pico")
    ),
    "ch32v003": Pair(
        riscv.CH32V003, (riscv.Ours(riscv.CH32V003),), riscv.Unicorn(riscv.CH32V003), ("riscv", "pico"), 24
    ),
}
