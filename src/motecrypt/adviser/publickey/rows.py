"""Figures of public-key operations that came with motecrypt, and published ones next to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.model import Measurement, Shortfall
from motecrypt.catalog.places import DATA
from motecrypt.catalog.recorded_rows import recorded_rows

RECORDED = DATA / "public_key" / "recorded.jsonl"
PUBLISHED = DATA / "public_key" / "published.toml"
COMMAND = "python -m made.public_key"


@dataclass(frozen=True)
class PublicKeyRow:
    """One operation of an implementation on a device; without figures if it did not run.

    Attributes
    ----------
    message_bytes : length of the signed message; 0 for operations without one.
    cycles, cycles_min, cycles_max : median and range over the inputs, with a warm flash cache.
    time_us : the median at the device's clock.
    timing_varies : whether branches or addresses differed between the inputs, secrets of few and of many ones
        included.
    flash_bytes, ram_bytes : increase over the same firmware with a no-op cipher, without the buffers of keys.
    status, reason : "ok", or a word and a sentence for why it did not run.
    needed, available : bytes, where it does not fit into `memory`.
    compiler, measured_on : who made the firmware, and the day.
    """

    device: str
    algorithm: str
    operation: str
    implementation: str
    message_bytes: int
    cache: str
    status: str
    reason: str
    cycles: int | None
    cycles_min: int | None
    cycles_max: int | None
    time_us: float | None
    timing_varies: bool | None
    flash_bytes: int | None
    ram_bytes: int | None
    stack_bytes: int | None
    memory: str
    needed: int | None
    available: int | None
    compiler: str
    measured_on: str

    @property
    def ran(self) -> bool:
        """Whether it has figures."""
        return self.status == "ok"

    @property
    def why(self) -> str:
        """Why it has none, in a few words."""
        if self.needed is not None and self.available is not None:
            return Shortfall(memory=self.memory, needed=self.needed, available=self.available).text
        return self.reason


def row_of(m: Measurement) -> PublicKeyRow:
    """The row of a measurement."""
    short = m.shortfall
    cause = str(m.extra.get("cause", ""))  # without the place of the file, which is this computer's
    return PublicKeyRow(
        device=m.device,
        algorithm=m.cipher,
        operation=m.operation,
        implementation=m.implementation,
        message_bytes=m.message_bytes,
        cache=m.cache,
        status=m.status,
        reason=f"does not build: {cause}" if cause else m.reason,
        cycles=m.cycles_median,
        cycles_min=m.cycles_min,
        cycles_max=m.cycles_max,
        time_us=m.time_us,
        timing_varies=m.timing_varies,
        flash_bytes=m.flash_bytes,
        ram_bytes=m.ram_bytes,
        stack_bytes=m.stack_bytes,
        memory=short.memory if short else "",
        needed=short.needed if short else None,
        available=short.available if short else None,
        compiler=m.compiler,
        measured_on=m.measured_at[:10],
    )


def text(rows: Iterable[PublicKeyRow]) -> str:
    """Rows as `recorded` reads them, one a line."""
    lines = [json.dumps(asdict(row), sort_keys=True, separators=(",", ":")) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def recorded(path: Path = RECORDED) -> list[PublicKeyRow]:
    """The figures that came with motecrypt, in the order of the page.

    Raises
    ------
    InputError
        A line is not as `text` makes it, or has a figure of another type or below 0.
    """
    return recorded_rows(path, PublicKeyRow, "not a recorded figure", COMMAND)


@cache
def kept_rows() -> Sequence[PublicKeyRow]:
    """The same, read once."""
    return recorded()


def fastest(rows: Iterable[PublicKeyRow], device: str, algorithm: str, operation: str) -> PublicKeyRow | None:
    """The row of an operation on a device with the fewest cycles; None where none ran."""
    ran = [
        (row.cycles, number, row)
        for number, row in enumerate(rows)
        if (row.device, row.algorithm, row.operation) == (device, algorithm, operation)
        and row.cycles is not None
    ]
    return min(ran)[-1] if ran else None


@dataclass(frozen=True)
class PublishedOperation:
    """A published figure of an operation on a core, and which of our devices it can be compared with.

    `code` is the short name of the code that was measured.
    """

    algorithm: str
    operation: str
    core: str
    code: str
    devices: Sequence[str]
    cycles: int
    note: str
    source: str


@dataclass(frozen=True)
class Behind:
    """How far a figure is behind public code: its cycles divided by those of the fastest."""

    ratio: float
    record: PublishedOperation

    @property
    def short(self) -> str:
        """Next to a figure: "3.2 times public code"."""
        return f"{self.times} public code"

    @property
    def times(self) -> str:
        """Under a heading that says of what: "3.2 times"."""
        return f"{self.ratio:.1f} times"

    @property
    def text(self) -> str:
        """With the operation and the name of the code."""
        of = f"{self.record.algorithm} {self.record.operation}"
        return f"{of} takes {self.ratio:.1f} times the cycles of public code ({self.record.code})"


def behind(row: PublicKeyRow, records: Sequence[PublishedOperation]) -> Behind | None:
    """How far a row is behind the fastest public code for its device; None if no faster code is known."""
    if row.cycles is None:
        return None
    return behind_by(row.device, row.algorithm, row.operation, row.cycles, records)


def behind_by(
    device: str, algorithm: str, operation: str, cycles: int, records: Sequence[PublishedOperation]
) -> Behind | None:
    """The same of a figure that is no row."""
    of = (algorithm, operation)
    known = [r for r in records if (r.algorithm, r.operation) == of and device in r.devices]
    best = min(known, key=lambda record: record.cycles, default=None)
    return None if best is None or cycles <= best.cycles else Behind(cycles / best.cycles, best)


@cache
def _kept(path: Path) -> list[PublishedOperation]:
    return published(path)


def kept_records() -> Sequence[PublishedOperation]:
    """The published figures that came with motecrypt, read once."""
    return _kept(PUBLISHED)


def published(path: Path = PUBLISHED) -> list[PublishedOperation]:
    """What others published; InputError where the file is wrong."""
    table = Table.read(path)
    found = []
    for entry in table.tables("published"):
        found.append(
            PublishedOperation(
                algorithm=entry.text("algorithm"),
                operation=entry.text("operation"),
                core=entry.text("core"),
                code=entry.text("code", filled=True),
                devices=entry.texts("devices"),
                cycles=entry.integer("cycles", low=1),
                note=entry.text("note"),
                source=entry.text("source"),
            )
        )
        entry.done()
    table.done()
    return found
