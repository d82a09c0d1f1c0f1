"""From cycles, air time and currents to joules and battery life. Pure: no files, no clocks, no radios.

The model is E = V x I x t with an average current while the processor (or the radio) works, as in K. Naik
and D. S. L. Wei, "Software Implementation Strategies for Power-Conscious Systems", Mobile Networks and
Applications 6, 2001. It does not include caches, peripherals or other work of the device: a
figure from it is as good as the current that went into it, so every current has its source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from motecrypt.base.errors import InputError

HOURS_PER_YEAR = 24 * 365.25


@dataclass(frozen=True)
class Processor:
    """What the energy model needs to know of a processor.

    Parameters
    ----------
    name, title
        How commands name it and how tables show it.
    clock_hz
        Cycles a second.
    supply_v
        Supply voltage of what the current flows into, in volts.
    current_ma
        Average current while it computes, in milliamperes.
    source
        Where the figures come from.
    assumption
        What is not in the source and was assumed; empty if nothing was.
    """

    name: str
    title: str
    clock_hz: float
    supply_v: float
    current_ma: float
    source: str
    assumption: str = ""


@dataclass(frozen=True)
class Energy:
    """Time, charge and energy of one piece of work.

    Parameters
    ----------
    time_us
        Microseconds.
    charge_mas
        Milliampere-seconds.
    energy_uj
        Microjoules.
    """

    time_us: float
    charge_mas: float
    energy_uj: float


@dataclass(frozen=True)
class Battery:
    """A battery by its rated charge (mAh) and its average voltage while it empties (V)."""

    capacity_mah: float
    voltage_v: float

    @property
    def energy_j(self) -> float:
        """The rated energy in joules; a load gets less of it in the cold and at high currents."""
        return self.capacity_mah * 3.6 * self.voltage_v


_NUMBER = r"(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+))"
_CHARGE = re.compile(_NUMBER + "(m?)ah," + _NUMBER + "v?")


def parse_battery(text: str) -> Battery:
    """Read ``"1200mAh,3.7V"`` (also with spaces, in any case, Ah for mAh).

    Raises
    ------
    InputError
        If the text is not a battery, or not above zero.
    """
    found = _CHARGE.fullmatch(text.lower().replace(" ", ""))
    if found is None:
        raise InputError(f"--battery '{text}': write charge and voltage, as in 1200mAh,3.7V")
    battery = Battery(float(found[1]) * (1 if found[2] else 1000), float(found[3]))
    if battery.capacity_mah <= 0 or battery.voltage_v <= 0:
        raise InputError(f"--battery '{text}': charge and voltage must be above zero")
    return battery


def cycles_per_byte(shorter: tuple[int, float], longer: tuple[int, float]) -> float:
    """The slope: cycles for each further byte, from two messages of (bytes, cycles).

    One rule for all: both messages are whole blocks, and the cache is `settled`. From a cold cache the longer
    message brings lines in that the shorter does not need, and these would count as cycles of its bytes.
    """
    return (longer[1] - shorter[1]) / (longer[0] - shorter[0])


def settled(caches: Sequence[str]) -> str:
    """The state of the flash cache for slopes and comparisons: warm, where a placement has one."""
    return next((cache for cache in caches if cache in ("none", "warm")), caches[0])


def time_us(cycles: float, clock_hz: float) -> float:
    """The time that `cycles` take at `clock_hz`, in microseconds."""
    return cycles / clock_hz * 1e6


def energy_uj(supply_v: float, current_ma: float, duration_us: float) -> float:
    """E = V x I x t in microjoules, from volts, milliamperes and microseconds."""
    return supply_v * current_ma * duration_us * 1e-3


def work(cycles: float, processor: Processor) -> Energy:
    """Time, charge and energy of `cycles` on `processor`."""
    duration_us = time_us(cycles, processor.clock_hz)
    return Energy(
        time_us=duration_us,
        charge_mas=processor.current_ma * duration_us * 1e-6,
        energy_uj=energy_uj(processor.supply_v, processor.current_ma, duration_us),
    )


def battery_percent(energy_in_uj: float, battery: Battery) -> float:
    """The share of a full battery that `energy_in_uj` (microjoules) takes, in per cent."""
    return energy_in_uj * 1e-6 / battery.energy_j * 100
