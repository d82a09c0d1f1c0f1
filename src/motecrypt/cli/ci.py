"""motecrypt ci: budgets of size, speed and stack, checked on each change."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import (
    db_option,
    print_json,
    print_next,
    print_table,
    print_words,
    stages,
    table_options,
    typed_with,
)

if TYPE_CHECKING:
    from motecrypt.app.ci import CiPlan, CiResult
    from motecrypt.gate.judge import Judgement

COLUMNS = ("benchmark", "measure", "base", "here", "change", "demanded", "cause")
LEAST = ("demanded", "change")
ROWS = 20
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog="Example: motecrypt ci --base origin/main --markdown summary.md --junit ci.xml")
@click.option(
    "--config",
    type=_FILE,
    default=Path("motecrypt.toml"),
    show_default=True,
    help="What to measure and the budgets; its paths begin at its own folder.",
)
@click.option(
    "--base", default=None, metavar="COMMIT", help="Compare with where HEAD's branch left this one."
)
@click.option("--no-base", is_flag=True, help="Compare with nothing: absolute budgets alone.")
@click.option("--markdown", type=_FILE, default=None, help="Write a summary for a pull request.")
@click.option("--junit", type=_FILE, default=None, help="Write the checks as JUnit XML.")
@click.option("--bencher", type=_FILE, default=None, help="Write the figures in Bencher Metric Format.")
@click.option(
    "--asv",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Add the figures to this results folder of airspeed velocity (asv).",
)
@click.option("--history", type=_FILE, default=None, help="The history file, instead of the config's.")
@click.option("--record", is_flag=True, help="Add the figures of HEAD to the history file.")
@click.option(
    "--merge",
    type=_FILE,
    multiple=True,
    help="Only merge this history into the history file; may be repeated.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@db_option
@table_options
def command(
    config: Path,
    base: str | None,
    no_base: bool,
    markdown: Path | None,
    junit: Path | None,
    bencher: Path | None,
    asv: Path | None,
    history: Path | None,
    record: bool,
    merge: Sequence[Path],
    jobs: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure what motecrypt.toml names, and compare it with its budgets and with the base commit.

    Exit code 1: a figure is over its budget or grew more than is allowed, its timing varies where it did not,
    or something that ran at the base fails. Exit code 2: the file, the repository or a tool is not as needed.
    Every failure names the functions that grew.

    Simulated figures are the same on every machine, so 0% is a possible limit of growth. A [[firmware]] with
    'build' runs that command with your rights (docs/security.md).
    """
    from motecrypt.app import ci as app

    request = app.CiRequest(config, base, no_base, history, record, asv)
    if merge:
        _merge(app.history_file(request), merge)
        return
    found = app.ci(request, db, jobs, stages)
    for path, form in ((markdown, found.markdown), (junit, found.junit), (bencher, found.bencher)):
        if path is not None:
            write_atomically(path, form())
    if as_json:
        print_json(_document(found))
    else:
        _print(found)
        print_next(_next(found.judgement, found.plan, found.plan.gate.root))
    click.get_current_context().exit(int(not found.passed))


def _merge(place: Path, others: Sequence[Path]) -> None:
    """Fold other histories into one; equal lines are one line, and figures that differ are said."""
    from motecrypt.gate.history import merge_into, read_history

    count, conflicts = merge_into(place, *map(read_history, others))
    print(f"{place}: {count:,} points")
    if conflicts:
        more = f" (and {len(conflicts) - 1:,} more)" if len(conflicts) > 1 else ""
        raise MotecryptError(f"{place}: merged; the larger is kept where {conflicts[0]}{more}")


# --- printed -----------------------------------------------------------------------------------------


def _print(found: CiResult) -> None:
    from motecrypt.gate.forms import change, title
    from motecrypt.gate.judge import Delta, number

    judgement, rows = found.judgement, []
    for check in judgement.failed[:ROWS]:
        delta = Delta(check.benchmark, check.measure, check.base, check.value)
        ran = check.rule != "runs"
        rows.append(
            [
                *(check.benchmark, check.measure, number(check.base), number(check.value)),
                *(change(delta) if ran and check.base is not None else "", check.demand),
                "; ".join(check.causes[:3]) or check.reason,
            ]
        )
    if rows:
        left = len(judgement.failed) - ROWS
        more = f"... and {left:,} more: --json has all" if left > 0 else ""
        print_table("Failed", COLUMNS, rows, more, LEAST, COLUMNS[:1])
    print_words(f"{title(judgement, found.plan.title)}.")
    if found.plan.base is not None:
        print_words(f"{judgement.equal:,} of {judgement.figures:,} figures are equal to the base.")
    for note in (*judgement.notes, *found.facts):
        print_words(note)


def _next(judgement: Judgement, made: CiPlan, root: Path) -> str:
    """The summary with every change; where budgets alone were kept, the comparison with the commit before."""
    from motecrypt.gate.tree import commit_of

    if made.base is None and judgement.passed:
        with contextlib.suppress(InputError):  # no repository, or its first commit
            commit_of(root, "HEAD~1")
            return typed_with("--base", "HEAD~1", without=("--no-base",))
    return typed_with("--json")


def _document(found: CiResult) -> dict[str, Any]:
    judgement = found.judgement
    return {
        "passed": found.passed,
        "base": found.plan.base,
        "checks": judgement.checks,
        "changes": [{**asdict(delta), "percent": delta.percent} for delta in judgement.deltas],
        "benchmarks": found.taken.benchmarks,
        "figures": judgement.figures,
        "equal": judgement.equal,
        "notes": judgement.notes,
        "made": found.facts,
        "unmodelled": {name: ended.unmodelled for name, ended in found.taken.ended.items()},
    }
