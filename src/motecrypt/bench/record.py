"""The stored record of a cell: figures, or the reason why there are none."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from motecrypt import __version__
from motecrypt.bench.passes import CellFigures
from motecrypt.bench.plan import Job
from motecrypt.model import Cell, Device, Measurement
from motecrypt.runners import runner_of
from motecrypt.toolchain import BuildRequest, Firmware
from motecrypt.toolchain.toolchain import identity


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
    failed: tuple[str, str] | None,
    transient: bool,
) -> Measurement:
    body = job.implementation
    status, reason = failed or ("ok", "")
    cycles = figures.cycles if figures else ()
    median = int(statistics.median_low(cycles)) if cycles else None
    extra: dict[str, object] = dict(figures.extra) if figures else {}
    if figures:
        extra["painted_stack_bytes"] = figures.painted_stack_bytes
    if transient:
        extra["transient"] = True
    sized = firmware is not None and base is not None
    total, empty = (firmware.total, base.total) if firmware and base else (None, None)
    record = Measurement(
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
        status=status,
        reason=reason,
        compiler=identity(job.device.compiler.command),
        flags=BuildRequest(job.device, body, job.placement, job.flags).flags_given,
        flags_asked=cell.identity.flags_asked,
        runner=runner_of(job.device.runner).identity(job.device),
        cycles_exact=figures.exact if figures else False,
        elf_sha256=firmware.sha256 if firmware else "",
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        motecrypt_version=__version__,
        extra=extra,
    )
    return replace(record, reason=record.reason[:500])
