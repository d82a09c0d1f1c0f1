"""motecrypt records: the fastest and the smallest implementations, ours and public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from motecrypt.app.selection import match_ciphers
from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog, nearest
from motecrypt.cli._choices import completes
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_answer,
    print_json,
    print_next,
    print_table,
    progress,
    table_options,
    typed_with,
)

if TYPE_CHECKING:
    from motecrypt.adviser.records.plan import RecordPlan
    from motecrypt.adviser.records.rows import Lead, RecordRow
    from motecrypt.adviser.records.stored import RecordChange

LEAST = ("time", "own", "stack", "RAM", "decrypt 16 B", "set-up", "µJ 64 B", "256 B", "64 B", "front")
CHANGE_COLUMNS = ("device", "cipher", "implementation", "figure", "stored", "measured")


@click.command(epilog="Example: motecrypt records --device uno --cipher ascon-aead128")
@click.option(
    "--device", "devices", multiple=True, shell_complete=completes("devices"), help="Only these devices."
)
@click.option(
    "--cipher",
    "ciphers",
    multiple=True,
    shell_complete=completes("ciphers"),
    help="Only these ciphers or families.",
)
@click.option(
    "--stored", is_flag=True, help="Show the figures that came with motecrypt, and measure nothing."
)
@click.option(
    "--check",
    is_flag=True,
    help="Compare with the figures that came with motecrypt (docs/records.md); exit code 1 if one differs. "
    "Results that are stored for the same firmware are taken; --db with a new file measures all again.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@db_option
@table_options
def command(
    devices: Sequence[str],
    ciphers: Sequence[str],
    stored: bool,
    check: bool,
    jobs: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Compare all implementations of a cipher on a device: cycles, flash, RAM, stack and energy.

    Ours and the libraries of package clients are measured. Public code that no package client brings is
    recorded: its rows came with motecrypt, and docs/records.md has the command that repeats each.

    'front' marks an implementation that no other beats in cycles and flash. Ours leads a public
    implementation if it takes at least 2 % fewer cycles at 16, 64 and 256 bytes, and no more flash.
    """
    from motecrypt.adviser.records.plan import read_plan
    from motecrypt.adviser.records.stored import changes, merged, read_rows

    if stored and check:
        raise InputError("--stored and --check: --check measures; give one of the two")
    plan, catalog = read_plan(), Catalog.load()
    chosen = _devices(catalog, plan, devices), _ciphers(catalog, plan, ciphers)
    kept = [row for row in read_rows() if row.device in chosen[0] and row.cipher in chosen[1]]
    if stored:
        rows = kept
    else:
        found = measure_rows(catalog, plan, *chosen, jobs, db)
        if check:
            _report(changes([row for row in kept if not row.recorded], found), len(found), as_json)
            return
        rows = merged(kept, found)
    if as_json:
        _print_json(rows, catalog)
        return
    _print(rows, catalog)
    print_next(typed_with("--check", without=("--stored",)))


def measure_rows(
    catalog: Catalog,
    plan: RecordPlan,
    devices: Sequence[str],
    ciphers: Sequence[str],
    jobs: int | None,
    db: Path | None,
) -> list[RecordRow]:
    """Measure what is missing of ours and of the libraries of package clients; a row of each.

    Raises
    ------
    InputError
        A kit or a toolchain is not available, or a library could not be fetched.
    """
    from motecrypt.adviser.records.needs import record_cells
    from motecrypt.adviser.records.rows import rows_of
    from motecrypt.app.toolchains import need_toolchain
    from motecrypt.build.setup import need
    from motecrypt.measuring import bench

    for name in devices:
        device = catalog.device(name)
        toolchain = plan.toolchain_of(device)
        if toolchain:
            need_toolchain(catalog, device, toolchain)
        else:
            need(device.kit)
    cells = record_cells(catalog, plan, devices, ciphers)
    with open_results(db) as results, progress("measuring") as report:
        measured = bench.ensure(cells, results, catalog, jobs, report)
    figures = [measured[cell] for cell in cells]
    passing = next((m for m in figures if m.transient), None)
    if passing is not None:
        raise InputError(f"{passing.implementation} on {passing.device}: {passing.reason}")
    return rows_of(figures)


def _devices(catalog: Catalog, plan: RecordPlan, names: Sequence[str]) -> list[str]:
    known = [device.name for device in plan.devices(catalog)]
    for name in names:
        if name not in known:
            raise InputError(nearest("device", name, known))
    return [name for name in known if not names or name in names]


def _ciphers(catalog: Catalog, plan: RecordPlan, names: Sequence[str]) -> list[str]:
    wanted = {cipher for name in names for cipher in match_ciphers(catalog, name)}
    chosen = [cipher for cipher in plan.ciphers if not names or cipher in wanted]
    if not chosen:
        raise InputError(f"--cipher: the records have none of these; they have {', '.join(plan.ciphers)}")
    return chosen


def _report(found: Sequence[RecordChange], rows: int, as_json: bool) -> None:
    """What differs from the stored figures; exit code 1 if anything does."""
    if as_json:
        print_json({"rows": rows, "changes": [asdict(change) for change in found]})
    elif found:
        table = [list(asdict(change).values()) for change in found]
        print_table("Figures that are no longer true", CHANGE_COLUMNS, table, "", ("device",))
        print_next("python -m motecrypt.cli._records")
    else:
        print(f"{rows} implementations measured: every stored figure is true")
    click.get_current_context().exit(int(bool(found)))


def _print(rows: Sequence[RecordRow], catalog: Catalog) -> None:
    from motecrypt.adviser.records.page import COLUMNS, cells, sentence
    from motecrypt.adviser.records.rows import leads, together

    for (device, cipher), members in together(rows).items():
        found = leads(members)
        leading = sum(lead.leads for lead in found)
        failed = [f"{row.implementation}: {row.reason}" for row in members if not row.ran]
        print_table(f"{cipher} on {device}", COLUMNS, cells(members, catalog.devices.get(device)), "", LEAST)
        lines = [("Ours leads", f"{leading} of {len(found)} public implementations")]
        lines += [("Behind" if n == 0 else "", sentence(lead)) for n, lead in enumerate(_behind(found))]
        lines += [("Did not run" if n == 0 else "", text) for n, text in enumerate(failed)]
        print_answer("", lines)
        print()


def _behind(found: Sequence[Lead]) -> list[Lead]:
    return [lead for lead in found if not lead.leads]


def _print_json(rows: Sequence[RecordRow], catalog: Catalog) -> None:
    from motecrypt.adviser.records.rows import front, leads, together

    told = []
    for members in together(rows).values():
        best = front(members)
        leading = {lead.public.implementation: lead for lead in leads(members)}
        for row in members:
            device = catalog.devices.get(row.device)
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
    print_json(told)
