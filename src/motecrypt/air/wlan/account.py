"""What sending a file costs: bytes, frames, time and energy of cipher and radio side by side. Pure.

Joins a transfer's stored outcome with the cipher's measured cost. The cipher runs before the
transfer here, one after the other, as in the study that this is compared with; a real stack overlaps
them, so the time is an upper bound and the energy does not change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from motecrypt.air.wlan import dcf
from motecrypt.air.wlan.filecost import FileCost
from motecrypt.base.energy import Battery, Processor, energy_uj, work
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device


@dataclass(frozen=True)
class Payload:
    """Bytes of the file, after encryption, after encoding, and the IP packets that carry them."""

    file_bytes: int
    cipher_bytes: int
    sent_bytes: int
    packets: int

    @property
    def growth(self) -> float:
        """Bytes sent over bytes of the file."""
        return self.sent_bytes / self.file_bytes


@dataclass(frozen=True)
class Share:
    """One device's part: seconds and joules of the cipher, next to the whole with the sender's radio.

    Without a known active current there is no `cipher_joule`, and nothing that follows from it.
    """

    device: str
    implementation: str
    cipher_seconds: float
    cipher_joule: float | None
    radio_joule: float
    transfer_seconds: float
    battery_percent: float | None
    energy_model: str

    @property
    def energy_share(self) -> float | None:
        """The cipher's part of the sender's energy, 0 to 1."""
        if self.cipher_joule is None:
            return None
        whole = self.cipher_joule + self.radio_joule
        return self.cipher_joule / whole if whole else 0.0

    @property
    def time_share(self) -> float:
        """The cipher's part of the time, one after the other, 0 to 1."""
        whole = self.cipher_seconds + self.transfer_seconds
        return self.cipher_seconds / whole if whole else 0.0


def payload(file_bytes: int, cipher_bytes: int, sent_bytes: int, protocol: str) -> Payload:
    """The bytes at each stage and the packets."""
    return Payload(
        file_bytes, cipher_bytes, sent_bytes, math.ceil(sent_bytes / dcf.payload_per_packet(protocol))
    )


def processor_joule(
    cost: FileCost, size: int, device: Device, processor: Processor, active_ma: float | None = None
) -> tuple[float | None, str]:
    """Energy of the cipher in joules, and in words how it was modelled.

    For the host the processor asked for, with the cycles measured here. For any other device its own
    voltage, and its own active current or `active_ma`; without either there is no energy.
    """
    if device.runner == "host":
        joule = work(cost.cycles(size), processor).energy_uj / 1e6
        return joule, f"this host's cycles on: {processor.title}"
    if active_ma is None:
        own = device.current("active")
        if own is None:
            return None, f"no active current known: --active-ma {device.name}=MA"
        milliamperes, of = own.milliamperes, f" ({own.of})" if own.of else ""
    else:
        milliamperes, of = active_ma, " (given)"
    joule = energy_uj(device.volts, milliamperes, cost.seconds(size) * 1e6) / 1e6
    return joule, f"{device.volts:g} V x {milliamperes:g} mA{of} x t"


def share(
    cost: FileCost,
    size: int,
    device: Device,
    processor: Processor,
    seconds: float,
    radio_joule: float,
    battery: Battery,
    active_ma: float | None = None,
) -> Share:
    """One device's part of a transfer that takes so long and costs the sender's radio so much."""
    joule, model = processor_joule(cost, size, device, processor, active_ma)
    return Share(
        device=device.name,
        implementation=cost.implementation,
        cipher_seconds=cost.seconds(size),
        cipher_joule=joule,
        radio_joule=radio_joule,
        transfer_seconds=seconds,
        battery_percent=None if joule is None else 100 * (joule + radio_joule) / battery.energy_j,
        energy_model=model,
    )


def parse_size(text: str) -> int:
    """A number of bytes such as 500000, 500k or 5M (powers of ten); InputError otherwise."""
    factors = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
    number, factor = (text[:-1], factors[text[-1].lower()]) if text[-1:].lower() in factors else (text, 1)
    try:
        size = round(float(number) * factor)
    except (ValueError, OverflowError):
        raise InputError(f"'{text}' is not a size: write bytes, such as 500000, 500k or 5M") from None
    if size < 1:
        raise InputError(f"'{text}' is not a size: at least one byte")
    return size
