"""The figures of exactly one export: this implementation, this place of its tables, these flags.

A view: `figure_cells` says what to measure, and what was just measured counts before what is stored.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from motecrypt.base.model import Cell, Device, Implementation, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.catalog.typed import is_own
from motecrypt.exports.targets import measured_devices
from motecrypt.results import Results

LENGTHS = (16, 64)
"""Of the reported messages, in bytes."""


@dataclass(frozen=True)
class Missing:
    """A device without a figure: the command that measures it, or the reason why there can be none."""

    device: str
    command: str = ""
    reason: str = ""


@dataclass(frozen=True)
class ExportFigures:
    """Rows for two tables, and what is not in them."""

    sizes: tuple[tuple[str, ...], ...] = ()
    times: tuple[tuple[str, ...], ...] = ()
    missing: tuple[Missing, ...] = ()
    failed: tuple[Missing, ...] = ()

    def __add__(self, other: ExportFigures) -> ExportFigures:
        """These rows and then those."""
        return ExportFigures(
            self.sizes + other.sizes,
            self.times + other.times,
            self.missing + other.missing,
            self.failed + other.failed,
        )


def figure_cells(
    catalog: Catalog, body: Implementation, placement: str, first: Device
) -> list[tuple[Device, list[Cell]]]:
    """The cells of an export's figures, for `first` and then for each device that a target means, if it is
    simulated and the implementation is for it."""
    lengths = _lengths(catalog, body)
    shown = measured_devices(catalog) | {first.name}
    return [
        (device, cells_for(catalog, device, body, message_bytes=lengths, placements=[placement]))
        for device in sorted(catalog.devices.values(), key=lambda one: (one.name != first.name, one.name))
        if device.name in shown
        and device.simulated
        and body.runs_on(device.core)
        and placement in device.placements
    ]


def exported_figures(
    wanted: Sequence[tuple[Device, Sequence[Cell]]],
    body: Implementation,
    results: Results,
    asked: str,
    measured: Mapping[Cell, Measurement] | None = None,
) -> ExportFigures:
    """The rows of these cells (`figure_cells`).

    Parameters
    ----------
    asked
        How a command names the cipher.
    measured
        What was found by its content, with the compiler that is here; the newest that is stored means
        the rest.
    """
    figures = ExportFigures()
    for device, cells in wanted:
        known = {**results.newest(cells), **(measured or {})}
        found = [known[cell] for cell in cells if cell in known]
        figures += _of_device(device, body, cells, found, asked)
    return figures


def exported_name(device: Device) -> str:
    """How a command in an exported file names a device: a user's own as if it were in the current folder."""
    return f"./{device.folder.name}" if is_own(device.folder) else device.name


def measure_command(device: str, body: Implementation, cells: Sequence[Cell], asked: str) -> str:
    """The command that measures these cells of one implementation, named as commands name them."""
    lengths = ",".join(map(str, dict.fromkeys(cell.message_bytes for cell in cells)))
    places = ",".join(sorted({cell.placement for cell in cells}))
    words = ["measure", "--device", device, "--cipher", asked, "--variant", body.variant]
    return shlex.join(["motecrypt", *words, "--placement", places, "--bytes", lengths])


def _lengths(catalog: Catalog, body: Implementation) -> list[int]:
    rule = catalog.cipher(body.cipher).message
    allowed = [length for length in LENGTHS if rule.allows(length)]
    return allowed or [next(n for n in range(rule.min, rule.max + 1) if rule.allows(n))]


def _of_device(
    device: Device, body: Implementation, cells: Sequence[Cell], found: Sequence[Measurement], asked: str
) -> ExportFigures:
    """A device's rows where everything that is reported was measured, else what to do or why not."""
    right = [m for m in found if m.status == "ok"]
    wrong = [m for m in found if m.status != "ok"]
    failed = (Missing(device.title, reason=wrong[0].reason),) if wrong else ()
    if len(found) < len(cells):
        command = measure_command(exported_name(device), body, cells, asked)
        return ExportFigures(failed=failed, missing=(Missing(device.title, command=command),))
    if not right:
        return ExportFigures(failed=failed)
    some = right[0]
    stack = max((m.stack_bytes for m in right if m.stack_bytes is not None), default=None)
    sizes = (_number(some.flash_bytes), _number(some.ram_bytes), _number(stack))
    return ExportFigures(
        sizes=((device.title, some.compiler, some.measured_at[:10], f"`{some.flags}`", *sizes),),
        times=tuple(_time_row(device, m) for m in right),
        failed=failed,
    )


def _time_row(device: Device, m: Measurement) -> tuple[str, ...]:
    place = m.placement if m.cache == "none" else f"{m.placement}, {m.cache} cache"
    time = "" if m.time_us is None else f"{m.time_us:,.1f}"
    what = (device.title, place, str(m.key_bits), str(m.message_bytes), m.operation)
    return (*what, _number(m.cycles_median), time)


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
