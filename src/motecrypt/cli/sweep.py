"""motecrypt sweep: measure every combination of a plan, whole or in shards."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path

import click

from motecrypt.app.sweep import SweepEstimate, SweepRequest, plan, sweep_plan
from motecrypt.app.sweep import estimate as estimated
from motecrypt.app.sweep_plan import SweepPlan
from motecrypt.base.errors import InputError
from motecrypt.cli._choices import mirror_option
from motecrypt.cli._output import db_option, json_option, open_results, print_json, print_next, stages
from motecrypt.cli._request import PATH, jobs_option
from motecrypt.cli.cluster import say, tls_option
from motecrypt.measuring.bench.plan import group_of
from motecrypt.present.terminal.measurements import sweep_summary
from motecrypt.present.terminal.progress import duration


@click.command(epilog="Example: motecrypt sweep plan.toml --shard 2/3 --db shard2.db")
@click.argument("plan_file", metavar="PLAN.toml", type=PATH)
@click.option("--shard", "part", metavar="I/N", help="Only part I of N, such as 2/3.")
@click.option(
    "--estimate", is_flag=True, help="Measure a few firmwares of each device, then print how long all take."
)
@jobs_option
@click.option(
    "--cluster",
    metavar="ADDRESS|local:N",
    help="Measure with the workers of this scheduler, or with N worker processes of this computer.",
)
@tls_option
@mirror_option
@db_option
@json_option
def command(
    plan_file: Path,
    part: str | None,
    estimate: bool,
    jobs: int | None,
    cluster: str | None,
    tls: Path | None,
    mirror: str,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure every combination that a plan file names, except those that it excludes.

    What is stored already is not measured again, so a stopped sweep continues where it stopped. Shards
    divide the plan by firmware: the same cell is in the same shard on every machine. Join their files with
    'motecrypt results merge'. With --cluster, workers on several computers measure, and the results are
    stored here; workers with another compiler are refused.

    Exit code 1: a cell is wrong, crashed or did not compile. Cells that do not fit are results.
    """
    if cluster is not None and (estimate or jobs is not None):
        raise InputError("--cluster: cannot be combined with --estimate or --jobs")
    request = SweepRequest(plan_file, None if part is None else _numbers(part), cluster, tls, mirror)
    made = plan(request)
    if not as_json:
        print(_counted(made, part))
    if not made.cells:  # a file all the same: a join of all shards needs it
        open_results(db).close()
        if as_json:
            print_json([])
        return
    made.prepare()
    with open_results(db) as results:
        if estimate:
            told = estimated(made, results, jobs, stages)
            print_json(asdict(told)) if as_json else print(_estimated(told))
            return
        measured = sweep_plan(made, request, results, jobs, stages, say)
    if as_json:
        print_json(measured.rows())
    else:
        print(sweep_summary(measured.figures, measured.wrong))
        print_next(
            shlex.join(["motecrypt", "report", "-o", "report.html", *(["--db", str(db)] if db else [])])
        )
    click.get_current_context().exit(int(bool(measured.wrong)))


def _numbers(text: str) -> tuple[int, int]:
    first, slash, second = text.partition("/")
    if not (slash and first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        raise InputError(f"--shard '{text}': write I/N, such as 2/3")
    return int(first), int(second)


def _counted(made: SweepPlan, part: str | None) -> str:
    firmwares = len({group_of(cell) for cell in made.cells})
    excluded = f", {made.left_out:,} more excluded" if made.left_out else ""
    which = f"shard {part}: " if part else ""
    return f"{made.title}: {which}{len(made.cells):,} cells of {firmwares:,} firmwares{excluded}"


def _estimated(told: SweepEstimate) -> str:
    if not told.cells_left:
        return "nothing left to measure"
    return (
        f"{told.cells_left:,} cells left: about {duration(told.seconds)} with {told.processes} processes, "
        "by the first firmwares of each device"
    )
