"""The gate of a repository: measures what its motecrypt.toml names, against budgets and a base commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from motecrypt import __version__
from motecrypt.app.gate import Taken, take
from motecrypt.app.gate_base import take_base
from motecrypt.app.gate_causes import causes_of
from motecrypt.base.errors import InputError
from motecrypt.base.progress import Watching, stage
from motecrypt.build.setup import need
from motecrypt.gate import forms
from motecrypt.gate.asv import write_asv
from motecrypt.gate.history import HistoryPoint, figures_at, merge_into, points_of, read_history
from motecrypt.gate.judge import Judgement, judge_gate
from motecrypt.gate.plan import GatePlan, read_gate_plan
from motecrypt.gate.tree import Commit, base_of, checked_out, commit_of, is_changed, top_of
from motecrypt.results import Results, Stored, opened


@dataclass(frozen=True)
class CiRequest:
    """What to measure and to compare with.

    Attributes
    ----------
    config : the file with what to measure and the budgets; its paths begin at its own folder.
    base : compare with where HEAD's branch left this commit; None: the config's.
    no_base : compare with nothing: absolute budgets alone.
    history : the history file, instead of the config's.
    record : add the figures of HEAD to the history file.
    asv : add the figures to this results folder of airspeed velocity.
    """

    config: Path | str = "motecrypt.toml"
    base: str | None = None
    no_base: bool = False
    history: Path | None = None
    record: bool = False
    asv: Path | None = None


@dataclass(frozen=True)
class CiPlan:
    """A request, read: what is measured, this tree's commit where its figures are kept, the base if there is
    one, and what the history says of it."""

    request: CiRequest
    gate: GatePlan
    history: Path | None
    head: Commit | None
    base: Commit | None
    named: str
    known: Sequence[HistoryPoint]

    @property
    def title(self) -> str:
        """The base in words; empty without one."""
        return f"{self.named} ({self.base.hash[:12]})" if self.base else ""


@dataclass(frozen=True)
class CiResult:
    """What was found.

    Attributes
    ----------
    judgement : `passed`, the `checks`, those that `failed`, and the `deltas` from the base.
    taken : the figures of this tree: `taken.benchmarks`.
    plan : what was asked for, and compared with.
    """

    judgement: Judgement
    taken: Taken
    plan: CiPlan

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return self.judgement.passed

    @property
    def facts(self) -> list[str]:
        """How the figures were made, and what the runs of firmware leave out."""
        compilers = sorted({b.compiler for b in self.taken.benchmarks if b.compiler})
        told = [f"motecrypt {__version__}", *(f"compiler: {name}" for name in compilers)]
        for name, ended in self.taken.ended.items():
            told += [f"{name}: {ended.stack_reason}, so no deepest one"] if ended.stack_reason else []
            told += [f"{name}: {note}" for note in ended.notes]
            told += [f"{name}: not modelled, but used: {block}" for block in ended.unmodelled]
        return told

    def document(self) -> dict[str, Any]:
        """The checks, the changes and all figures as JSON."""
        judgement = self.judgement
        return {
            "passed": self.passed,
            "base": self.plan.base,
            "checks": judgement.checks,
            "changes": [{**asdict(delta), "percent": delta.percent} for delta in judgement.deltas],
            "benchmarks": self.taken.benchmarks,
            "figures": judgement.figures,
            "equal": judgement.equal,
            "notes": judgement.notes,
            "made": self.facts,
            "unmodelled": {name: ended.unmodelled for name, ended in self.taken.ended.items()},
        }

    def markdown(self) -> bytes:
        """A summary for a pull request."""
        return forms.markdown(self.judgement, self.plan.title, self.facts).encode()

    def junit(self) -> bytes:
        """The checks as JUnit XML."""
        return forms.junit(self.judgement)

    def bencher(self) -> bytes:
        """The figures in Bencher Metric Format."""
        return forms.bencher(self.taken.benchmarks).encode()


def plan(request: CiRequest) -> CiPlan:
    """Read the config; asks git where a base is compared with or a commit's figures are kept, else not.

    Raises
    ------
    InputError
        The file, the repository or the choice is not as needed.
    """
    if request.base is not None and request.no_base:
        raise InputError("--base and --no-base: omit one of the two")
    gate = read_gate_plan(Path(request.config))
    history = request.history or (gate.root / gate.history if gate.history else None)
    if request.record and history is None:
        raise InputError(
            '--record: no history file; name it with --history, or in the config: history = "..."'
        )
    named = "" if request.no_base else request.base or gate.base
    kept = request.record or request.asv is not None
    if kept or named:
        need("git")
    head = commit_of(gate.root, "HEAD") if kept else None
    if head is not None and is_changed(gate.root):
        raise InputError(
            "--record and --asv keep figures of a commit, and files differ from HEAD; commit first"
        )
    base = base_of(gate.root, named) if named else None
    known = read_history(history) if base and history is not None and history.exists() else ()
    return CiPlan(request, gate, history, head, base, named, known)


def ci(
    request: CiRequest | None = None,
    results: Stored = None,
    jobs: int | None = None,
    progress: Watching = None,
) -> CiResult:
    """Measure what the config names, compare, and keep figures where that is asked for.

    The parameters are those of `measure`.

    Raises
    ------
    InputError
        As `plan`; something named is not there, or a tool is missing.
    """
    made = plan(request or CiRequest())
    with opened(results) as stored:
        found = _judged(made, stored, jobs, progress)
    _keep(made, found)
    return found


def _judged(made: CiPlan, results: Results, jobs: int | None, progress: Watching) -> CiResult:
    gate = made.gate
    with stage(progress, "measuring") as report:
        here = take(gate, gate.root, results, jobs, report)
    if made.base is None:
        return CiResult(judge_gate(gate, here.benchmarks, []), here, made)
    known = figures_at(made.known, made.base.hash, {b.compiler for b in here.benchmarks})
    with _checked_out(gate, made.base) as tree:
        with stage(progress, "measuring the base") as report:
            base, notes = take_base(gate, tree, here, known, results, jobs, report)
        judgement = judge_gate(gate, here.benchmarks, base.benchmarks, notes)
        return CiResult(judgement.with_causes(causes_of(judgement.failed, here, base)), here, made)


def _keep(made: CiPlan, found: CiResult) -> None:
    """Write the figures of HEAD where the request asks for it."""
    request, head = made.request, made.head
    if head is not None and request.asv is not None:
        write_asv(request.asv, found.taken.benchmarks, head.hash, head.time_s * 1000)
    if head is not None and request.record and made.history is not None:
        merge_into(made.history, points_of(found.taken.benchmarks, head.hash, head.at))


def history_file(request: CiRequest) -> Path:
    """The history file of a request or its config; InputError where neither names one."""
    if request.history is not None:
        return request.history
    gate = read_gate_plan(Path(request.config))
    if not gate.history:
        raise InputError(
            '--merge: into which file? Name it with --history, or in the config: history = "..."'
        )
    return gate.root / gate.history


@contextmanager
def _checked_out(gate: GatePlan, base: Commit) -> Iterator[Path]:
    """The folder of the config file as it was at the base."""
    top = top_of(gate.root)
    with checked_out(top, base) as tree:
        yield tree / gate.root.resolve().relative_to(top.resolve())
