"""Measurements joined: what one implementation costs at one message length, all operations together. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from motecrypt.base.energy import energy_uj
from motecrypt.base.model import Device, Measurement, Shortfall

#: The length of message that tables prefer where several are measured as often.
PREFERRED_BYTES = 16


@dataclass(frozen=True)
class Cost:
    """One implementation on one device at one message length; operations that did not run are None."""

    device: str
    cipher: str
    library: str
    implementation: str
    key_bits: int
    placement: str
    flags: str
    message_bytes: int
    ad_bytes: int
    operations: Mapping[str, Measurement]

    def of(self, operation: str) -> Measurement | None:
        """The measurement of one operation if it ran."""
        found = self.operations.get(operation)
        return found if found is not None and found.status == "ok" else None

    @property
    def ran(self) -> bool:
        """Whether encryption ran."""
        return self.of("encrypt") is not None

    @property
    def cache(self) -> str:
        """The state of the flash cache, "cold" or "warm"; empty where the code does not run through one."""
        return self.placement.partition(", ")[2]

    @property
    def reason(self) -> str:
        """Why it did not run; empty if it did."""
        return next((m.reason for m in self.operations.values() if m.status != "ok"), "")

    @property
    def shortfall(self) -> Shortfall | None:
        """What did not fit and by how much; None where it fits."""
        return next((m.shortfall for m in self.operations.values() if m.status == "does-not-fit"), None)

    @property
    def stack_bytes(self) -> int | None:
        """The deepest stack of all operations."""
        depths = [m.stack_bytes for m in self.operations.values() if m.stack_bytes is not None]
        return max(depths, default=None)

    @property
    def flash_bytes(self) -> int | None:
        """Flash, the difference to a no-op cipher: the same in every operation."""
        return next((m.flash_bytes for m in self.operations.values() if m.flash_bytes is not None), None)

    @property
    def ram_bytes(self) -> int | None:
        """Static RAM and context, the difference to a no-op cipher."""
        return next((m.ram_bytes for m in self.operations.values() if m.ram_bytes is not None), None)

    @property
    def varies(self) -> str:
        """Whether time depends on the data: no, addresses only, yes, or unknown."""
        ran = [m for m in self.operations.values() if m.status == "ok"]
        if any(m.cycles_min != m.cycles_max and m.cycles_exact for m in ran):
            return "yes"
        if any(m.timing_varies for m in ran):
            return "addresses"
        return "?" if any(m.timing_varies is None for m in ran) or not ran else "none seen"

    def time_us(self, operation: str) -> float | None:
        """Microseconds of one operation at the device's clock."""
        found = self.of(operation)
        return None if found is None else found.time_us

    def energy_uj(self, operation: str, device: Device | None) -> float | None:
        """Microjoules of one operation, where the device's active current is known."""
        time = self.time_us(operation)
        active = device.current("active") if device is not None else None
        if device is None or active is None or time is None:
            return None
        return energy_uj(device.volts, active.milliamperes, time)


def place(m: Measurement) -> str:
    """Where code and tables are, and the state of the cache where there is one."""
    return m.placement if m.cache in ("", "none") else f"{m.placement}, {m.cache}"


def join(measurements: Iterable[Measurement], devices: Mapping[str, Device]) -> list[Cost]:
    """Join operations; of several measurements of the same cell the first given (the newest) counts.

    Flags are named where they are not the device's own.
    """
    groups: dict[tuple[object, ...], dict[str, Measurement]] = {}
    for m in measurements:
        if m.cipher == "empty":
            continue
        key = (
            *(m.device, m.cipher, m.library, m.implementation, m.key_bits, place(m), m.flags_asked),
            *(m.message_bytes, m.ad_bytes, m.runner.partition(" ")[0]),
        )
        groups.setdefault(key, {}).setdefault(m.operation, m)
    made = []
    for operations in groups.values():
        m = next(iter(operations.values()))
        device = devices.get(m.device)
        usual = device.compiler.flags if device is not None else ()
        flags = " ".join(f for f in m.flags.split() if f.startswith(("-O", "-flto")) and f not in usual)
        made.append(
            Cost(
                device=m.device,
                cipher=m.cipher,
                library=m.library,
                implementation=m.implementation,
                key_bits=m.key_bits,
                placement=place(m),
                flags=flags,
                message_bytes=m.message_bytes,
                ad_bytes=m.ad_bytes,
                operations=operations,
            )
        )
    return sorted(made, key=_order)


def _order(cost: Cost) -> tuple[object, ...]:
    return (
        *(cost.cipher, cost.device, cost.key_bits, cost.message_bytes, cost.ad_bytes),
        *(cost.time_us("encrypt") or float("inf"), cost.implementation, cost.placement),
    )


def usual_length(costs: Iterable[Cost]) -> int:
    """The message length, in bytes, at which most of these ran; PREFERRED_BYTES before others."""
    counted = Counter(c.message_bytes for c in costs if c.ran)
    if not counted:
        return PREFERRED_BYTES
    most = max(counted.values())
    often = [length for length, count in counted.items() if 4 * count >= most]
    return min(often, key=lambda n: (n != PREFERRED_BYTES, abs(n - PREFERRED_BYTES), n))


def one_cache(costs: Iterable[Cost]) -> list[Cost]:
    """Of each device whose flash cache was both warm and cold the warm ones: a figure has one state."""
    given = list(costs)
    warm = {cost.device for cost in given if cost.cache == "warm" and cost.ran}
    return [cost for cost in given if cost.cache != "cold" or cost.device not in warm]


def best_by_device(costs: Iterable[Cost], message_bytes: int) -> dict[str, Cost]:
    """For each device the fastest at this length without associated data, with one state of its cache."""
    best: dict[str, Cost] = {}
    for cost in one_cache(costs):
        time = cost.time_us("encrypt")
        if cost.message_bytes != message_bytes or cost.ad_bytes or time is None:
            continue
        known = best.get(cost.device)
        if known is None or time < (known.time_us("encrypt") or 0):
            best[cost.device] = cost
    return best
