"""What it takes to append a record to a node's storage: EEPROM, the flash chip, or an SD card.

The costs of a message treat a storage as a radio without a receiver: a record takes a time to write, as a
packet takes a time on the air. Reads no file: the times of chips and cards are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from motecrypt.adviser.model import DeviceFacts, RadioPart
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device

FLASH_PAGE_BYTES = 256
FLASH_SECTOR_BYTES = 4096
SD_BLOCK_BYTES = 512
STORAGE_V = 3.3


@dataclass(frozen=True)
class StoragePart:
    """Where a node keeps its records.

    Attributes
    ----------
    kind : "eeprom", "flash" or "card".
    unit_bytes, unit_us : a page or block that is written whole, and how long that takes; 1 and 0 where each
        byte is written alone.
    byte_us : time for each byte besides: to write it, or its share of erasing a sector.
    capacity_bytes : what it holds at most; None where that is not known.
    supply_v, write_ma, idle_ma : its own supply and currents; None where they are not known.
    """

    name: str
    title: str
    kind: str
    unit_bytes: int
    unit_us: float
    byte_us: float
    capacity_bytes: int | None
    supply_v: float
    write_ma: float | None = None
    idle_ma: float | None = None

    def write_us(self, record_bytes: int) -> float:
        """The mean time to append a record, in us: it begins anywhere in a page or block."""
        units = (record_bytes + self.unit_bytes - 1) / self.unit_bytes if self.unit_us else 0.0
        return self.byte_us * record_bytes + self.unit_us * units

    def as_radio(self, record_bytes_max: int) -> RadioPart:
        """The same for the costs of a message: one packet, whose air time is the time to write it."""
        idle_ma = self.idle_ma or 0.0
        return RadioPart(
            name=self.name,
            title=self.title,
            packet_bytes=record_bytes_max,
            timeout_us=0.0,
            serial_byte_us=0.0,
            gap_us=0.0,
            turn_round_us=0.0,
            supply_v=self.supply_v,
            tx_ma=self.write_ma or 0.0,
            rx_ma=idle_ma,
            sleep_ma=idle_ma,
            wake_us=0.0,
            duty_percent=float("inf"),
            air_us=(0.0, *(self.write_us(n) for n in range(1, record_bytes_max + 1))),
        )


def storage_names(device: Device, times: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The kinds of storage that a device can have, best known first."""
    found = ["eeprom"] if _eeprom_byte_us(device) else []
    found += ["flash"] if _flash_is_apart(device) else []
    return found + [name for name in times if name != "flash"]


def storage_part(
    device: Device,
    name: str,
    times: Mapping[str, Mapping[str, Any]],
    currents: tuple[float, float | None] | None = None,
) -> StoragePart:
    """A storage of that device.

    Parameters
    ----------
    times
        The tables of data/storage.toml.
    currents
        What the chip or card draws while it writes and otherwise, in mA; None: not known, and not counted.

    Raises
    ------
    InputError
        The device has no such storage.
    """
    known = storage_names(device, times)
    if name not in known:
        raise InputError(f"--storage '{name}': {device.name} has none; choose one of {', '.join(known)}")
    write_ma, idle_ma = currents or (None, None)
    if name == "eeprom":
        if currents is not None:
            raise InputError("--storage-ma: the EEPROM is part of the chip, whose current is counted")
        memory, byte_us = device.memory["eeprom"], _eeprom_byte_us(device)
        title = f"the EEPROM of {device.title}"
        return StoragePart(name, title, name, 1, 0.0, byte_us, memory.bytes, device.volts, 0.0, 0.0)
    table = times[name]
    chip, _, what = table["title"].partition(": ")
    if name == "flash":
        kind, unit_bytes, unit_us = name, FLASH_PAGE_BYTES, float(table["program_page_us"])
        byte_us, capacity = 1000.0 * table["erase_4k_ms"] / FLASH_SECTOR_BYTES, device.memory["flash"].bytes
    else:
        kind, unit_bytes, byte_us, capacity = "card", SD_BLOCK_BYTES, 0.0, None
        unit_us = table["write_us"] + SD_BLOCK_BYTES * 8 / table["spi_hz"] * 1e6
    return StoragePart(
        name=name,
        title=f"{what} ({chip})" if what else chip,
        kind=kind,
        unit_bytes=unit_bytes,
        unit_us=unit_us,
        byte_us=byte_us,
        capacity_bytes=capacity,
        supply_v=STORAGE_V,
        write_ma=write_ma,
        idle_ma=idle_ma,
    )


def stored_device(device: DeviceFacts) -> DeviceFacts:
    """The device with its current while it waits for the storage: it asks for the end again and again."""
    return replace(device, idle_ma=device.active_ma)


def currents_ma(text: str) -> tuple[float, float | None]:
    """What the storage draws in "25" or "25,0.2": while it writes, and otherwise (None if not given).

    Raises
    ------
    InputError
        Not one or two numbers of 0 or more, or more than 1,000 mA.
    """
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= 2 or not all(0 <= value <= 1000 for value in values):
        raise InputError(
            f"--storage-ma '{text}': give mA while it writes, and otherwise, as in 25 or 25,0.2 (0 to 1000)"
        )
    return values[0], values[1] if len(values) > 1 else None


def _eeprom_byte_us(device: Device) -> float:
    return float(device.extra.get("store_byte_us", 0.0)) if "eeprom" in device.memory else 0.0


def _flash_is_apart(device: Device) -> bool:
    """Whether the program is in a flash chip of its own, behind a cache: it can write there."""
    return any("cold" in placement.caches for placement in device.placements.values())
