"""What the report says of public-key operations: recorded figures, and measured ones in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from motecrypt.adviser.publickey.rows import PublicKeyRow, behind, kept_records, recorded, row_of
from motecrypt.base.energy import energy_uj
from motecrypt.base.model import Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.present.report import charts
from motecrypt.present.report.figure import Figure

#: This computer: its figures differ from one computer to the next, and its energy is not known.
HOST = "host"
#: A row's device, algorithm, operation, implementation and message length.
Key = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class KeyCost:
    """One operation of an implementation on a device: its row, its device, and whether it came recorded."""

    row: PublicKeyRow
    device: Device | None
    from_record: bool

    @property
    def time_ms(self) -> float | None:
        """Milliseconds at the device's clock; None if it did not run."""
        return None if self.row.time_us is None else self.row.time_us / 1000

    @property
    def energy_mj(self) -> float | None:
        """Millijoules, where it ran and the device's active current is known."""
        active = self.device.current("active") if self.device is not None else None
        if self.device is None or self.device.name == HOST or active is None or self.row.time_us is None:
            return None
        return energy_uj(self.device.volts, active.milliamperes, self.row.time_us) / 1000

    @property
    def behind(self) -> str:
        """How many times the cycles of public code it takes; empty where none is known to be faster."""
        faster = behind(self.row, kept_records())
        return "" if faster is None else faster.short

    @property
    def varies(self) -> str:
        """Whether its time depends on the inputs, in the words of the ciphers' tables."""
        row = self.row
        if row.timing_varies is None:
            return "?"
        if not row.timing_varies:
            return "none seen"
        return "addresses" if row.cycles_min == row.cycles_max else "yes"


@dataclass(frozen=True)
class KeyOperation:
    """One operation of an algorithm: on each device the fastest that ran, and why none did on others."""

    algorithm: PublicKeyAlgorithm
    operation: str
    best: Mapping[str, KeyCost]
    fails: Mapping[str, KeyCost]


@dataclass(frozen=True)
class PublicKeyPart:
    """Every operation on every device, and their figure."""

    operations: Sequence[KeyOperation]
    by_device: Mapping[str, Sequence[KeyCost]]
    figure: Figure | None


def public_key_part(catalog: Catalog, measured: Iterable[Measurement]) -> PublicKeyPart:
    """The report's part on public-key operations.

    Parameters
    ----------
    measured
        What the results have, the ones to prefer first. Those with flags of the user's choice and those with
        a cold flash cache are left out; one that failed only for the moment replaces nothing.

    Raises
    ------
    InputError
        The recorded figures cannot be read.
    """
    rows = {_key(row): (row, True) for row in recorded() if row.algorithm in catalog.public_keys}
    here: dict[Key, tuple[PublicKeyRow, bool]] = {}
    for m in measured:
        if m.cache == "cold" or m.flags_asked or m.cipher not in catalog.public_keys:
            continue
        row = row_of(m)
        if not (m.transient and _key(row) in rows):
            here.setdefault(_key(row), (row, False))
    rows |= here
    costs = [KeyCost(row, catalog.devices.get(row.device), old) for row, old in rows.values()]
    costs.sort(key=lambda cost: _order(cost, catalog))
    by_device: dict[str, list[KeyCost]] = {}
    for cost in costs:
        by_device.setdefault(cost.row.device, []).append(cost)
    operations = _operations(costs, catalog)
    return PublicKeyPart(operations, by_device, _figure(operations))


def _key(row: PublicKeyRow) -> Key:
    return (row.device, row.algorithm, row.operation, row.implementation, row.message_bytes)


def _order(cost: KeyCost, catalog: Catalog) -> tuple[object, ...]:
    """By device, this computer last; by algorithm and its operations; what ran first, by cycles."""
    row = cost.row
    does = catalog.public_keys[row.algorithm].operations
    return (
        *(row.device == HOST, row.device, row.algorithm),
        *(does.index(row.operation) if row.operation in does else len(does), row.message_bytes),
        *(not row.ran, row.cycles or 0, row.implementation),
    )


def _operations(costs: Sequence[KeyCost], catalog: Catalog) -> list[KeyOperation]:
    made = []
    for name in sorted(catalog.public_keys):
        algorithm = catalog.public_keys[name]
        for operation in algorithm.operations:
            own = [c for c in costs if (c.row.algorithm, c.row.operation) == (name, operation)]
            best: dict[str, KeyCost] = {}
            for cost in own:
                known = best.get(cost.row.device)
                if cost.row.ran and (known is None or (cost.row.cycles or 0) < (known.row.cycles or 0)):
                    best[cost.row.device] = cost
            fails: dict[str, KeyCost] = {}
            for cost in own:
                if cost.row.device not in best:
                    fails.setdefault(cost.row.device, cost)
            if own:
                made.append(KeyOperation(algorithm, operation, best, fails))
    return made


def _figure(operations: Sequence[KeyOperation]) -> Figure | None:
    """The time of each operation on each device, without this computer's, which would set the scale."""
    values: list[dict[str, Any]] = [
        {
            "operation": f"{one.algorithm.name} {one.operation}",
            "device": device,
            "implementation": cost.row.implementation,
            "cycles": cost.row.cycles,
            "value": round(cost.time_ms, 3),
        }
        for one in operations
        for device, cost in one.best.items()
        if cost.time_ms is not None and device != HOST
    ]
    if not values:
        return None
    names = dict.fromkeys(one.algorithm.name for one in operations)
    devices = dict.fromkeys(str(value["device"]) for value in values)
    return Figure(
        name="public-key-time",
        title="Time of public-key operations",
        caption=(
            "Time of one public-key operation in ms, of the fastest implementation on each device; median "
            "over the inputs, the call itself subtracted, with a warm flash cache. An operation that does "
            "not run on a device has no point there."
        ),
        command="motecrypt measure"
        + "".join(f" --device {name}" for name in devices)
        + "".join(f" --public-key {name}" for name in names),
        specification=charts.by_cipher(values, "time, ms", row="operation"),
    )
