"""What encrypting a whole file costs, from cells measured at two lengths. Pure: reads measurements only.

A file is longer than any message a node holds, so its cycles follow from two measured lengths: the
difference gives the cycles for each byte, the rest is fixed. That a call costs a fixed part and a
part for each byte holds for every cipher here beyond its first blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from motecrypt.base.energy import cycles_per_byte, settled
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Cipher, Device, Measurement, Operation
from motecrypt.catalog import Catalog

SLOW_VARIANTS = ("small", "low-ram")  # ours that give up speed for flash or RAM
LONGEST = 4096  # bytes in a cell, even where the device holds more


@dataclass(frozen=True)
class FileCost:
    """Cycles of encrypting with one implementation on one device."""

    device: str
    implementation: str
    key_bits: int
    setup_cycles: float
    fixed_cycles: float
    cycles_per_byte: float
    clock_hz: float

    def cycles(self, size: int) -> float:
        """Key set-up and encryption of that many bytes, in one message."""
        return self.setup_cycles + self.fixed_cycles + self.cycles_per_byte * size

    def seconds(self, size: int) -> float:
        """The same in seconds at the device's clock."""
        return self.cycles(size) / self.clock_hz


def ciphertext_bytes(cipher: Cipher, size: int, nonce_sent: bool = True) -> int:
    """Bytes that encrypting a file of that size yields: padding (PKCS #7), nonce or IV, tag.

    Raises
    ------
    InputError
        When the file is empty, or shorter than the cipher's shortest message.
    """
    if size < 1:
        raise InputError("an empty file: there is nothing to encrypt")
    multiple = cipher.message.multiple
    body = (size // multiple + 1) * multiple if multiple > 1 else size
    if body < cipher.message.min:
        raise InputError(f"{cipher.name} needs at least {cipher.message.min} bytes; the file has {size}")
    return body + (cipher.nonce_bytes if nonce_sent else 0) + cipher.tag_bytes


def lengths(device: Device, cipher: Cipher) -> tuple[int, int]:
    """The two message lengths to measure: what a simulator does quickly, and a quarter of it."""
    multiple = max(cipher.message.multiple, 16)
    longest = min(device.bench.get("message", 256), cipher.message.max) // multiple * multiple
    longest = min(longest, LONGEST) if longest > 256 else min(longest, 128)
    return max(multiple, longest // 4 // multiple * multiple), longest


def cells(
    catalog: Catalog,
    device_name: str,
    cipher_name: str,
    key_bits: int | None = None,
    library: str = "motecrypt",
    without: Sequence[str] = SLOW_VARIANTS,
    message_bytes: tuple[int, int] | None = None,
) -> list[Cell]:
    """The cells that ``best`` needs: each of our implementations, set-up and encryption, two lengths.

    Parameters
    ----------
    without
        Variants to leave out, where the cipher has others: those made small, not fast.
    message_bytes
        The two lengths, instead of those that suit the device.
    """
    device, cipher = catalog.device(device_name), catalog.cipher(cipher_name)
    placement, place = next(iter(device.placements.items()))
    wanted = []
    bodies = catalog.implementations_of(cipher_name, device_name, [library])
    for body in [b for b in bodies if b.variant not in without] or bodies:
        bits = key_bits or body.key_bits[0]
        if bits not in body.key_bits:
            continue
        short, long = message_bytes or lengths(device, cipher)
        parts: list[tuple[Operation, int]] = [("setup", short), ("encrypt", short), ("encrypt", long)]
        wanted += [
            Cell(device_name, body, operation, bits, length, 0, placement, settled(place.caches))
            for operation, length in parts
            if operation in body.operations
        ]
    return wanted


def best(device: Device, measurements: Iterable[Measurement]) -> FileCost | None:
    """The fastest implementation among the measurements of one cipher on one device, or None."""
    groups: dict[tuple[str, str, str, int], list[Measurement]] = {}
    for m in measurements:
        if m.device == device.name:
            groups.setdefault((m.library, m.configuration, m.variant, m.key_bits), []).append(m)
    costs = [cost for group in groups.values() if (cost := _cost(device, group)) is not None]
    return min(costs, key=lambda cost: cost.cycles_per_byte, default=None)


def _cost(device: Device, group: Sequence[Measurement]) -> FileCost | None:
    ran = [m for m in group if m.status == "ok"]
    encrypted = sorted((m for m in ran if m.operation == "encrypt"), key=lambda m: m.message_bytes)
    setups = [m.cycles_median for m in ran if m.operation == "setup" and m.cycles_median is not None]
    if len(encrypted) < 2 or (not setups and any(m.operation == "setup" for m in group)):
        return None  # a set-up that failed costs more than nothing
    short, long = encrypted[0], encrypted[-1]
    if short.cycles_median is None or long.cycles_median is None or long.message_bytes == short.message_bytes:
        return None
    slope = cycles_per_byte(
        (short.message_bytes, short.cycles_median), (long.message_bytes, long.cycles_median)
    )
    clock = device.clock_hz
    if long.time_us:  # the host's clock is what its runner saw
        clock = round(long.cycles_median / long.time_us * 1e6)
    return FileCost(
        device=device.name,
        implementation=long.implementation,
        key_bits=long.key_bits,
        setup_cycles=float(min(setups, default=0)),  # 0: the cipher has no such step
        fixed_cycles=long.cycles_median - slope * long.message_bytes,
        cycles_per_byte=slope,
        clock_hz=float(clock),
    )
