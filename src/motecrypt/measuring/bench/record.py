"""The stored record of a cell: figures, or the reason why there are none."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from motecrypt import __version__
from motecrypt.base.errors import FailureKind, MotecryptError, StackOverflow
from motecrypt.base.model import Cell, Device, Measurement, Shortfall
from motecrypt.build.toolchain import BuildError, BuildRequest, Firmware
from motecrypt.build.toolchain.toolchain import identity
from motecrypt.measuring.bench.passes import CellFigures
from motecrypt.measuring.bench.plan import Job
from motecrypt.simulate.runners import Fault, runner_of

MOST_CHARACTERS = 500
"""Length of a compiler's or simulator's error message that is stored."""


@dataclass(frozen=True)
class Trouble:
    """Why a cell has no figures: the stored status (one word), the reason (a sentence), the rest for code."""

    status: str
    reason: str
    kind: FailureKind
    transient: bool = False
    shortfall: Shortfall | None = None
    cause: str = ""
    overflow: StackOverflow | None = None

    @classmethod
    def of(cls, status: str, error: MotecryptError, *, transient: bool = False) -> Trouble:
        """From what was raised; `transient` where the place it was raised in makes it so."""
        overflow = error.overflow if isinstance(error, Fault) else None
        return cls(
            status=status,
            reason=str(error)
            + (
                f"; {overflow.bytes:,} {'byte' if overflow.bytes == 1 else 'bytes'} too deep"
                if overflow
                else ""
            ),
            kind=error.kind,
            transient=transient or error.transient,
            cause=error.cause if isinstance(error, BuildError) else "",
            overflow=overflow,
        )

    def stored(self) -> dict[str, object]:
        """What the results file keeps of it next to status and reason: docs/formats.md."""
        kept: dict[str, object] = {"failure": str(self.kind)}
        if self.transient:
            kept["transient"] = True
        if self.cause:
            kept["cause"] = self.cause[:MOST_CHARACTERS]
        if self.shortfall is not None:
            kept["shortfall"] = asdict(self.shortfall)
        if self.overflow is not None:
            kept["overflow"] = {**asdict(self.overflow), "bytes": self.overflow.bytes}
        return kept


def _time_us(device: Device, cycles: int | None, extra: Mapping[str, object]) -> float | None:
    """Cycles as time: by the device's clock or, where a runner says how fast its counter ran, by that."""
    if cycles is None:
        return None
    rate = extra.get("ticks_per_ns")
    if isinstance(rate, int | float) and rate > 0:
        return round(cycles / rate / 1000, 4)
    return round(cycles * 1e6 / device.clock_hz, 4)


def measurement(
    job: Job,
    cell: Cell,
    firmware: Firmware | None,
    base: Firmware | None,
    figures: CellFigures | None,
    trouble: Trouble | None,
) -> Measurement:
    body = job.implementation
    cycles = figures.cycles if figures else ()
    median = int(statistics.median_low(cycles)) if cycles else None
    extra: dict[str, object] = dict(figures.extra) if figures else {}
    if figures:
        extra["painted_stack_bytes"] = figures.painted_stack_bytes
    if trouble is not None:
        extra |= trouble.stored()
    sized = firmware is not None and base is not None
    total, empty = (firmware.total, base.total) if firmware and base else (None, None)
    return Measurement(
        device=job.device.name,
        library=body.library,
        configuration=body.configuration,
        cipher=body.cipher,
        variant=body.variant,
        key_bits=cell.key_bits,
        operation=cell.operation,
        message_bytes=cell.message_bytes,
        ad_bytes=cell.ad_bytes,
        tag_bytes=job.cipher.tag_bytes,
        placement=cell.placement,
        cache=cell.cache,
        cycles_min=min(cycles) if cycles else None,
        cycles_median=median,
        cycles_max=max(cycles) if cycles else None,
        inputs=len(cycles),
        timing_varies=figures.timing_varies if figures else None,
        time_us=_time_us(job.device, median, extra),
        flash_bytes=total.flash - empty.flash if total and empty else None,
        flash_symbol_bytes=firmware.cipher.flash if firmware and sized else None,
        ram_bytes=total.ram - empty.ram if total and empty else None,
        eeprom_bytes=total.eeprom - empty.eeprom if total and empty else None,
        stack_bytes=figures.stack_bytes if figures else None,
        status=trouble.status if trouble else "ok",
        reason=trouble.reason[:MOST_CHARACTERS] if trouble else "",
        compiler=identity(job.device.compiler.command),
        flags=BuildRequest(job.device, body, job.placement, job.flags).flags_given,
        flags_asked=cell.identity.flags_asked,
        runner=runner_of(job.device.runner).identity(job.device),
        cycles_exact=figures.exact if figures else False,
        elf_sha256=firmware.sha256 if firmware else "",
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        motecrypt_version=__version__,
        extra=extra,
        toolchain=job.device.compiler.toolchain,
        system_toolchain=not job.device.compiler.root,
    )
