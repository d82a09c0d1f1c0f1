"""motecrypt ci: budgets of size, speed and stack, checked on each change."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import db_option, print_json, print_next, show, stages, table_options, typed_with
from motecrypt.cli._request import FILE, FOLDER, jobs_option, taken

if TYPE_CHECKING:
    from motecrypt.app.ci import CiPlan
    from motecrypt.gate.judge import Judgement


@click.command(epilog="Example: motecrypt ci --base origin/main --markdown summary.md --junit ci.xml")
@click.option(
    "--config",
    type=FILE,
    default=Path("motecrypt.toml"),
    show_default=True,
    help="What to measure and the budgets; its paths begin at its own folder.",
)
@click.option("--base", metavar="COMMIT", help="Compare with where HEAD's branch left this one.")
@click.option("--no-base", is_flag=True, help="Compare with nothing: absolute budgets alone.")
@click.option("--markdown", type=FILE, help="Write a summary for a pull request.")
@click.option("--junit", type=FILE, help="Write the checks as JUnit XML.")
@click.option("--bencher", type=FILE, help="Write the figures in Bencher Metric Format.")
@click.option("--asv", type=FOLDER, help="Add the figures to this results folder of airspeed velocity (asv).")
@click.option("--history", type=FILE, help="The history file, instead of the config's.")
@click.option("--record", is_flag=True, help="Add the figures of HEAD to the history file.")
@click.option(
    "--merge",
    type=FILE,
    multiple=True,
    help="Only merge this history into the history file; may be repeated.",
)
@jobs_option
@db_option
@table_options
def command(
    markdown: Path | None,
    junit: Path | None,
    bencher: Path | None,
    merge: Sequence[Path],
    jobs: int | None,
    db: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Measure what motecrypt.toml names, and compare it with its budgets and with the base commit.

    Exit code 1: a figure is over its budget or grew more than is allowed, its timing varies where it did not,
    or something that ran at the base fails. Exit code 2: the file, the repository or a tool is not as needed.
    Every failure names the functions that grew.

    Simulated figures are the same on every machine, so 0% is a possible limit of growth. A [[firmware]] with
    'build' runs that command with your rights (docs/security.md).
    """
    from motecrypt.app import ci as app
    from motecrypt.present.terminal.gate import ci_view

    request = taken(app.CiRequest, given)
    if merge:
        _merge(app.history_file(request), merge)
        return
    found = app.ci(request, db, jobs, stages)
    for path, form in ((markdown, found.markdown), (junit, found.junit), (bencher, found.bencher)):
        if path is not None:
            write_atomically(path, form())
    if as_json:
        print_json(found.document())
    else:
        show(*ci_view(found.judgement, found.plan.title, found.plan.base is not None, found.facts))
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


def _next(judgement: Judgement, made: CiPlan, root: Path) -> str:
    """The summary with every change; where budgets alone were kept, the comparison with the commit before."""
    from motecrypt.gate.tree import commit_of

    if made.base is None and judgement.passed:
        with contextlib.suppress(InputError):  # no repository, or its first commit
            commit_of(root, "HEAD~1")
            return typed_with("--base", "HEAD~1", without=("--no-base",))
    return typed_with("--json")
