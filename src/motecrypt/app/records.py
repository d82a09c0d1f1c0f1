"""The fastest and the smallest implementations of a cipher on a device, ours and public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from motecrypt.adviser.records.needs import record_cells
from motecrypt.adviser.records.plan import RecordPlan, read_plan
from motecrypt.adviser.records.rows import RecordRow, front, leads, rows_of, together
from motecrypt.adviser.records.stored import RecordChange, changes, merged, read_rows
from motecrypt.app.selection import match_ciphers
from motecrypt.app.toolchains import need_compilers
from motecrypt.base.errors import InputError
from motecrypt.base.progress import Watching, stage
from motecrypt.catalog import Catalog, nearest
from motecrypt.measuring import bench
from motecrypt.results import Results, Stored, opened


@dataclass(frozen=True)
class RecordsRequest:
    """Which records; an empty choice is all.

    Attributes
    ----------
    ciphers : names or families.
    stored : the figures that came with motecrypt; measures nothing.
    """

    devices: Sequence[str] = ()
    ciphers: Sequence[str] = ()
    stored: bool = False


@dataclass(frozen=True)
class RecordsPlan:
    """The devices and ciphers of a request, and the figures that came with motecrypt."""

    request: RecordsRequest
    catalog: Catalog
    plan: RecordPlan
    devices: Sequence[str]
    ciphers: Sequence[str]
    kept: Sequence[RecordRow]


@dataclass(frozen=True)
class RecordsResult:
    """Each implementation: cycles, bytes of flash, RAM and stack.

    Attributes
    ----------
    implementations : all, with the public code whose figures are recorded.
    measured : how many were measured here.
    changes : which figures that came with motecrypt differ from those measured here.
    """

    implementations: Sequence[RecordRow]
    catalog: Catalog
    measured: int = 0
    changes: Sequence[RecordChange] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary an implementation: whether it is on the front, and whether ours leads it."""
        told = []
        for members in together(self.implementations).values():
            best = front(members)
            leading = {lead.public.implementation: lead for lead in leads(members)}
            for row in members:
                device = self.catalog.devices.get(row.device)
                lead = leading.get(row.implementation) if not row.ours else None
                told.append(
                    {
                        **asdict(row),
                        "ours": row.ours,
                        "energy_uj": None if device is None or not row.ran else row.energy_uj(device),
                        "front": row in best,
                        "led_by_ours": None if lead is None else lead.leads,
                        "closest_of_ours": None if lead is None else lead.ours.implementation,
                        "cycles_percent": None if lead is None else round(lead.cycles_percent, 2),
                        "flash_difference_bytes": None if lead is None else lead.flash_bytes,
                    }
                )
        return told


def plan(request: RecordsRequest) -> RecordsPlan:
    """Read the plan of the records; InputError for a device or a cipher that is not in it."""
    made, catalog = read_plan(), Catalog.load()
    known = [device.name for device in made.devices(catalog)]
    for name in request.devices:
        if name not in known:
            raise InputError(nearest("device", name, known))
    devices = [name for name in known if not request.devices or name in request.devices]
    wanted = {cipher for name in request.ciphers for cipher in match_ciphers(catalog, name)}
    ciphers = [cipher for cipher in made.ciphers if not request.ciphers or cipher in wanted]
    if not ciphers:
        raise InputError(f"--cipher: the records have none of these; they have {', '.join(made.ciphers)}")
    kept = [row for row in read_rows() if row.device in devices and row.cipher in ciphers]
    return RecordsPlan(request, catalog, made, devices, ciphers, kept)


def records(
    request: RecordsRequest | None = None,
    results: Stored = None,
    jobs: int | None = None,
    progress: Watching = None,
) -> RecordsResult:
    """Compare all implementations of ciphers on devices. The parameters are those of `measure`.

    Raises
    ------
    InputError
        As `plan`, a tool set or a toolchain is not available, or a library could not be fetched.
    """
    made = plan(request or RecordsRequest())
    if made.request.stored:
        return RecordsResult(made.kept, made.catalog)
    with opened(results) as stored:
        found = measure_rows(made, stored, jobs, progress)
    differ = changes([row for row in made.kept if not row.recorded], found)
    return RecordsResult(merged(made.kept, found), made.catalog, len(found), differ)


def measure_rows(
    made: RecordsPlan, results: Results, jobs: int | None, progress: Watching
) -> list[RecordRow]:
    """Measure what is missing of ours and of the libraries of package clients; a row of each. Errors as
    `records`."""
    catalog, plan = made.catalog, made.plan
    devices = [catalog.device(name) for name in made.devices]
    need_compilers(catalog, ((device.name, plan.toolchain_of(device)) for device in devices))
    cells = record_cells(catalog, plan, made.devices, made.ciphers)
    with stage(progress, "measuring") as report:
        measured = bench.ensure(cells, results, catalog, jobs, report)
    figures = [measured[cell] for cell in cells]
    passing = next((m for m in figures if m.transient), None)
    if passing is not None:
        raise InputError(f"{passing.implementation} on {passing.device}: {passing.reason}")
    return rows_of(figures)
