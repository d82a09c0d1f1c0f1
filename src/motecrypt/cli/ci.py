"""motecrypt ci: budgets of size, speed and stack, checked on each change."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    print_next,
    print_table,
    print_words,
    progress,
    table_options,
    typed_with,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from motecrypt.cli._gate import Taken
    from motecrypt.gate.figures import Benchmark
    from motecrypt.gate.history import HistoryPoint
    from motecrypt.gate.judge import Judgement
    from motecrypt.gate.plan import GatePlan
    from motecrypt.gate.tree import Commit

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
    from motecrypt.gate.plan import read_gate_plan

    if base is not None and no_base:
        raise InputError("--base and --no-base: omit one of the two")
    if merge:
        _merge(history or _history_of(config), merge)
        return
    plan = read_gate_plan(config)
    place = history or (plan.root / plan.history if plan.history else None)
    if record and place is None:
        raise InputError(
            '--record: no history file; name it with --history, or in the config: history = "..."'
        )
    sides = _Sides.of(plan, None if no_base else base or plan.base or None, place, record or asv is not None)
    judgement, head = _judged(plan, sides, db, jobs)
    facts = [*_facts(head.benchmarks), *_used(head)]
    _write(judgement, head, sides, facts, (markdown, junit, bencher, asv))
    if record and place is not None:
        _record(place, head.benchmarks, sides)
    if as_json:
        print_json(_document(judgement, head, sides, facts))
    else:
        _print(judgement, sides, facts)
        print_next(_next(judgement, sides, plan.root))
    click.get_current_context().exit(int(not judgement.passed))


@dataclass(frozen=True)
class _Sides:
    """What is compared: this tree, and a commit or nothing; what the history says of that commit."""

    head: Commit | None
    base: Commit | None
    named: str
    known: tuple[HistoryPoint, ...]

    @staticmethod
    def of(plan: GatePlan, base: str | None, history: Path | None, needs_commit: bool) -> _Sides:
        """Asks git where a base is compared with or a commit's figures are kept, else not."""
        from motecrypt.build.setup import need
        from motecrypt.gate.history import read_history
        from motecrypt.gate.tree import base_of, commit_of, is_changed

        if needs_commit or base:
            need("git")
        head = commit_of(plan.root, "HEAD") if needs_commit else None
        if head is not None and is_changed(plan.root):
            raise InputError(
                "--record and --asv keep figures of a commit, and files differ from HEAD; commit first"
            )
        found = base_of(plan.root, base) if base else None
        known = tuple(read_history(history)) if found and history is not None and history.exists() else ()
        return _Sides(head, found, base or "", known)

    @property
    def title(self) -> str:
        """The base in words; empty without one."""
        return f"{self.named} ({self.base.hash[:12]})" if self.base else ""


def _judged(plan: GatePlan, sides: _Sides, db: Path | None, jobs: int | None) -> tuple[Judgement, Taken]:
    from motecrypt.cli._gate import take
    from motecrypt.cli._gate_base import take_base
    from motecrypt.cli._gate_causes import causes_of
    from motecrypt.gate.judge import judge_gate

    with open_results(db) as results:
        with progress("measuring") as report:
            head = take(plan, plan.root, results, jobs, report)
        if sides.base is None:
            return judge_gate(plan, head.benchmarks, []), head
        with _base(plan, sides) as tree:
            with progress("measuring the base") as report:
                base, notes = take_base(plan, tree, head, _known(sides, head), results, jobs, report)
            judgement = judge_gate(plan, head.benchmarks, base.benchmarks, notes)
            return judgement.with_causes(causes_of(judgement.failed, head, base)), head


@contextmanager
def _base(plan: GatePlan, sides: _Sides) -> Iterator[Path]:
    """The folder of the config file as it was at the base."""
    from motecrypt.gate.tree import checked_out, top_of

    assert sides.base is not None
    top = top_of(plan.root)
    with checked_out(top, sides.base) as tree:
        yield tree / plan.root.resolve().relative_to(top.resolve())


def _known(sides: _Sides, head: Taken) -> list[Benchmark]:
    """What the history has of the base, by the compilers that were used here."""
    from motecrypt.gate.history import figures_at

    assert sides.base is not None
    return figures_at(sides.known, sides.base.hash, {b.compiler for b in head.benchmarks})


def _facts(benchmarks: Sequence[Benchmark]) -> list[str]:
    """How the figures were made."""
    from motecrypt import __version__

    compilers = sorted({b.compiler for b in benchmarks if b.compiler})
    return [f"motecrypt {__version__}", *(f"compiler: {name}" for name in compilers)]


def _used(head: Taken) -> list[str]:
    """What the runs of firmware leave out: stacks without a deepest one, and what is not modelled."""
    from motecrypt.cli._unmodelled import unmodelled_line

    told = []
    for name, ended in head.ended.items():
        told += [f"{name}: {ended.stack_reason}, so no deepest one"] if ended.stack_reason else []
        told += [f"{name}: {note}" for note in ended.notes]
        told += [f"{name}: not modelled, but used: {unmodelled_line(block)}" for block in ended.unmodelled]
    return told


def _write(
    judgement: Judgement,
    head: Taken,
    sides: _Sides,
    facts: Sequence[str],
    files: tuple[Path | None, Path | None, Path | None, Path | None],
) -> None:
    from motecrypt.base.paths import write_atomically
    from motecrypt.gate import forms
    from motecrypt.gate.asv import write_asv

    markdown, junit, bencher, asv = files
    if markdown is not None:
        write_atomically(markdown, forms.markdown(judgement, sides.title, facts).encode())
    if junit is not None:
        write_atomically(junit, forms.junit(judgement))
    if bencher is not None:
        write_atomically(bencher, forms.bencher(head.benchmarks).encode())
    if asv is not None and sides.head is not None:
        write_asv(asv, head.benchmarks, sides.head.hash, sides.head.time_s * 1000)


def _record(place: Path, benchmarks: Sequence[Benchmark], sides: _Sides) -> None:
    from motecrypt.gate.history import merge_histories, points_of, read_history, write_history

    assert sides.head is not None
    known = read_history(place) if place.exists() else []
    points, _ = merge_histories(known, points_of(benchmarks, sides.head.hash, sides.head.at))
    write_history(place, points)


def _history_of(config: Path) -> Path:
    from motecrypt.gate.plan import read_gate_plan

    plan = read_gate_plan(config)
    if not plan.history:
        raise InputError(
            '--merge: into which file? Name it with --history, or in the config: history = "..."'
        )
    return plan.root / plan.history


def _merge(place: Path, others: Sequence[Path]) -> None:
    """Fold other histories into one; equal lines are one line, and figures that differ are said."""
    from motecrypt.gate.history import merge_histories, read_history, write_history

    sides = [read_history(path) for path in ([place] if place.exists() else []) + list(others)]
    points, conflicts = merge_histories(*sides)
    write_history(place, points)
    print(f"{place}: {len(points):,} points")
    if conflicts:
        more = f" (and {len(conflicts) - 1:,} more)" if len(conflicts) > 1 else ""
        raise MotecryptError(f"{place}: merged; the larger is kept where {conflicts[0]}{more}")


# --- printed -----------------------------------------------------------------------------------------


def _print(judgement: Judgement, sides: _Sides, facts: Sequence[str]) -> None:
    from motecrypt.gate.forms import change, title
    from motecrypt.gate.judge import Delta, number

    rows = []
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
    print_words(f"{title(judgement, sides.title)}.")
    if sides.base is not None:
        print_words(f"{judgement.equal:,} of {judgement.figures:,} figures are equal to the base.")
    for note in (*judgement.notes, *facts):
        print_words(note)


def _next(judgement: Judgement, sides: _Sides, root: Path) -> str:
    """The summary with every change; where budgets alone were kept, the comparison with the commit before."""
    from motecrypt.gate.tree import commit_of

    if sides.base is None and judgement.passed:
        with contextlib.suppress(InputError):  # no repository, or its first commit
            commit_of(root, "HEAD~1")
            return typed_with("--base", "HEAD~1", without=("--no-base",))
    return typed_with("--json")


def _document(judgement: Judgement, head: Taken, sides: _Sides, facts: Sequence[str]) -> dict[str, Any]:
    from motecrypt.cli._unmodelled import unmodelled_json

    return {
        "passed": judgement.passed,
        "base": sides.base and asdict(sides.base),
        "checks": [asdict(check) for check in judgement.checks],
        "changes": [{**asdict(delta), "percent": delta.percent} for delta in judgement.deltas],
        "benchmarks": [asdict(benchmark) for benchmark in head.benchmarks],
        "figures": judgement.figures,
        "equal": judgement.equal,
        "notes": list(judgement.notes),
        "made": list(facts),
        "unmodelled": {name: unmodelled_json(ended) for name, ended in head.ended.items()},
    }
