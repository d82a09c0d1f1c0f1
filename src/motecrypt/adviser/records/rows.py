"""One row of each implementation, the Pareto front of a cipher on a device, and where ours leads. Pure.

Two rows of one cipher and device are compared by the cycles to encrypt 16, 64 and 256 bytes, and by flash.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from motecrypt.adviser.records.plan import ENERGY_BYTES, LENGTHS, OURS
from motecrypt.base.energy import cycles_per_byte, energy_uj
from motecrypt.base.model import Device, Measurement

#: Ours leads where it takes at most this share of the other's cycles, at no more flash.
LEADS_BELOW = 0.98

Cycles = tuple[int | None, ...]


@dataclass(frozen=True)
class RecordRow:
    """What one implementation costs on one device; a figure that could not be measured is None.

    `own_bytes` are the sections of the implementation alone, without what aligns them and without helpers.
    `encrypt_cycles` and `decrypt_cycles` are at LENGTHS, without the set-up of the key. `flash_bytes` and
    `ram_bytes` are the increase over a no-op cipher, `stack_bytes` is the deepest of all operations.
    `status` and `reason` are those of the first operation that failed, as in `model.Measurement`.
    `recorded` is the day when public code was measured, and empty for what the tool measures by itself.
    """

    device: str
    cipher: str
    library: str
    implementation: str
    setup_cycles: int | None
    encrypt_cycles: Cycles
    decrypt_cycles: Cycles
    flash_bytes: int | None
    own_bytes: int | None
    ram_bytes: int | None
    stack_bytes: int | None
    timing: str
    status: str = "ok"
    reason: str = ""
    recorded: str = ""

    @property
    def ours(self) -> bool:
        """Whether the implementation is motecrypt's."""
        return self.library == OURS

    @property
    def ran(self) -> bool:
        """Whether it encrypted at every length, so that it can be compared."""
        return self.flash_bytes is not None and None not in self.encrypt_cycles

    @property
    def cycles_per_byte(self) -> float | None:
        """Cycles for each further byte: those between the two longest messages."""
        *_, shorter, longer = self.encrypt_cycles
        if shorter is None or longer is None:
            return None
        return cycles_per_byte((LENGTHS[-2], shorter), (LENGTHS[-1], longer))

    def energy_uj(self, device: Device, message_bytes: int = ENERGY_BYTES) -> float | None:
        """Microjoules to encrypt a message of one of the lengths, where the active current is known."""
        cycles = self.encrypt_cycles[LENGTHS.index(message_bytes)]
        active = device.current("active")
        if cycles is None or active is None:
            return None
        return energy_uj(device.volts, active.milliamperes, cycles / device.clock_hz * 1e6)


def rows_of(measurements: Iterable[Measurement], recorded: str = "") -> list[RecordRow]:
    """A row for each device, cipher and implementation, in the order of their first measurement."""
    groups: dict[tuple[str, str, str], list[Measurement]] = {}
    for m in measurements:
        groups.setdefault((m.device, m.cipher, m.implementation), []).append(m)
    return [_row(members, recorded) for members in groups.values()]


def _row(members: Sequence[Measurement], recorded: str) -> RecordRow:
    first = members[0]
    cycles = {(m.operation, m.message_bytes): m.cycles_median for m in members if m.status == "ok"}

    def largest(values: Iterable[int | None]) -> int | None:
        return max((value for value in values if value is not None), default=None)

    return RecordRow(
        device=first.device,
        cipher=first.cipher,
        library=first.library,
        implementation=first.implementation,
        setup_cycles=cycles.get(("setup", LENGTHS[0])),
        encrypt_cycles=tuple(cycles.get(("encrypt", length)) for length in LENGTHS),
        decrypt_cycles=tuple(cycles.get(("decrypt", length)) for length in LENGTHS),
        flash_bytes=largest(m.flash_bytes for m in members),
        own_bytes=largest(m.flash_symbol_bytes for m in members),
        ram_bytes=largest(m.ram_bytes for m in members),
        stack_bytes=largest(m.stack_bytes for m in members),
        timing=_timing([m for m in members if m.status == "ok"]),
        status=next((m.status for m in members if m.status != "ok"), "ok"),
        reason=next((m.reason for m in members if m.status != "ok"), ""),
        recorded=recorded,
    )


def _timing(ran: Sequence[Measurement]) -> str:
    """How far time depends on the data: on none that was seen, on addresses that vary, or in cycles."""
    if not ran:
        return ""
    if any(m.cycles_min != m.cycles_max for m in ran):
        return "cycles"
    return "addresses" if any(m.timing_varies for m in ran) else "none seen"


def together(rows: Iterable[RecordRow]) -> dict[tuple[str, str], list[RecordRow]]:
    """Rows that are compared with each other, by device and cipher; the fastest first, then what failed."""
    groups: dict[tuple[str, str], list[RecordRow]] = {}
    for row in rows:
        groups.setdefault((row.device, row.cipher), []).append(row)
    for members in groups.values():
        members.sort(key=lambda row: (not row.ran, row.encrypt_cycles[0] or 0, row.implementation))
    return groups


def _costs(row: RecordRow) -> tuple[int, ...]:
    return (*(cycles or 0 for cycles in row.encrypt_cycles), row.flash_bytes or 0)


def front(rows: Sequence[RecordRow]) -> list[RecordRow]:
    """The rows that no other row beats, being at most as large in cycles and flash and smaller in one."""
    ran = [row for row in rows if row.ran]

    def beaten(row: RecordRow) -> bool:
        own = _costs(row)
        return any(
            _costs(other) != own and all(a <= b for a, b in zip(_costs(other), own, strict=True))
            for other in ran
        )

    return [row for row in ran if not beaten(row)]


@dataclass(frozen=True)
class Lead:
    """A public implementation and the one of ours that comes closest to leading it, or leads it most.

    `cycles_percent` is the largest difference at any length, ours minus theirs; `flash_bytes` the same in
    bytes.
    """

    public: RecordRow
    ours: RecordRow
    cycles_percent: float
    flash_bytes: int
    leads: bool


def leads(rows: Sequence[RecordRow]) -> list[Lead]:
    """For each public implementation of one cipher on one device, whether ours leads it."""
    ours = [row for row in rows if row.ours and row.ran]
    return [_lead(row, ours) for row in rows if row.ran and not row.ours and ours]


def _lead(public: RecordRow, ours: Sequence[RecordRow]) -> Lead:
    def ratios(row: RecordRow) -> tuple[float, float]:
        pairs = zip(_costs(row), _costs(public), strict=True)
        *cycles, flash = (a / max(b, 1) for a, b in pairs)
        return max(cycles), flash

    def leading(row: RecordRow) -> bool:
        cycles, flash = ratios(row)
        return cycles <= LEADS_BELOW and flash <= 1

    def order(row: RecordRow) -> tuple[object, ...]:
        cycles, flash = ratios(row)
        return (not leading(row), cycles if leading(row) else max(cycles / LEADS_BELOW, flash))

    best = min(ours, key=order)
    return Lead(
        public=public,
        ours=best,
        cycles_percent=100 * (ratios(best)[0] - 1),
        flash_bytes=(best.flash_bytes or 0) - (public.flash_bytes or 0),
        leads=leading(best),
    )
