"""What the Pico source plans for its second core, measured: it encrypts while core 0 samples. Pure views."""

from __future__ import annotations

from motecrypt.base.energy import energy_uj
from motecrypt.base.model import Section
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.results.experiments.second_core import CoreRow, SecondCore, SecondCoreQuestion, Way, Work
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Bound
from motecrypt.studies.pico.figures import DEVICE, TOOLCHAIN
from motecrypt.studies.words import words

QUESTION = SecondCoreQuestion(toolchain=TOOLCHAIN)
TABLE = "The second core"
IN_TIME = 0.99
"""The share of samples from which on the first core counts as free for them."""
WAYS: dict[Way, str] = {
    "alone": "one core, without samples",
    "core-1": "core 1 encrypts, core 0 samples from RAM",
    "locked": "core 1 encrypts, core 0 samples, and waits while the flash is written",
    "between": "one core, samples between the pieces of work",
    "interrupt": "one core, samples in an interrupt from RAM",
    "masked": "one core, samples in an interrupt, off while the flash is written",
}
CAUSES: dict[Way, str] = {
    "core-1": "core 0 looks at its clock once a round of a loop in RAM",
    "locked": "core 0 waits while core 1 erases a sector of the flash",
    "between": "a sample waits until the piece of work before it is done",
    "interrupt": "an interrupt's entry and its handler's beginning; an instruction before may wait",
    "masked": "the interrupt waits while a sector of the flash is erased",
}
"""Of the lateness in each way."""
WORKS: dict[Work, str] = {"strings": "strings", "file": "a file"}
SHOWN: tuple[tuple[Work, Way], ...] = (
    ("strings", "core-1"),
    ("strings", "between"),
    ("strings", "interrupt"),
    ("file", "core-1"),
    ("file", "locked"),
    ("file", "between"),
    ("file", "interrupt"),
    ("file", "masked"),
)


def comparisons(results: Results) -> list[Comparison]:
    """The source's plan, judged, and how late samples come in each way, which it does not print."""
    answer = QUESTION.answer(results)
    return [_plan(answer), *(_late(answer, work, way) for work, way in SHOWN)]


def _plan(answer: SecondCore | None) -> Comparison:
    free = None if answer is None else answer.row("file", "core-1")
    locked = None if answer is None else answer.row("file", "locked")
    interrupt = None if answer is None else answer.row("file", "interrupt")
    return words("pico").row(
        "second-core",
        measured=None if answer is None or free is None else _in_time(answer, free),
        expected=Bound("at least", IN_TIME),
        found=None if free is None else free.samples / (free.samples + free.missed),
        locked=locked and _lost(locked),
        wait=answer and locked and _us(answer, locked.most_late) / 1000,
        both=locked and interrupt,
        interrupt=interrupt and _lost(interrupt),
        latest=answer and interrupt and _us(answer, interrupt.most_late),
    )


def _lost(row: CoreRow) -> str:
    return f"{row.missed:,} of {row.samples + row.missed:,} samples are lost"


def _in_time(answer: SecondCore, row: CoreRow) -> str:
    return (
        f"core 0 takes {row.samples:,} of {row.samples + row.missed:,} samples, the latest "
        f"{_us(answer, row.most_late):.1f} us late"
    )


def _late(answer: SecondCore | None, work: Work, way: Way) -> Comparison:
    row = None if answer is None else answer.row(work, way)
    return words("pico").row(
        "late",
        work=work,
        way=way,
        title=WORKS[work],
        told=WAYS[way],
        measured=None if answer is None or row is None else _us(answer, row.most_late),
        lost=row and _lost(row),
        reason=row and CAUSES[way],
    )


def _us(answer: SecondCore, cycles: float) -> float:
    return cycles / answer.clock_hz * 1e6


def sections(results: Results) -> list[Section]:
    """The same for people, with throughput and energy."""
    answer = QUESTION.answer(results)
    lines = []
    for work, named in WORKS.items():
        for way, told in WAYS.items():
            row = None if answer is None else answer.row(work, way)
            if answer is not None and row is not None:
                lines.append([f"{named}: {told}", *_shown(answer, row)])
    experiment = QUESTION.find(results)
    days = recorded.days([experiment] if experiment is not None else [])
    when = f" As recorded on {', '.join(days)}; --full runs it again." if days else ""
    size = {"strings": QUESTION.strings, "bytes": QUESTION.lines * 63}
    return [words("pico").section("cores", lines, there=bool(lines), when=when, **size)]


def _shown(answer: SecondCore, row: CoreRow) -> list[str]:
    count = QUESTION.strings * 47 if row.work == "strings" else QUESTION.lines * 63
    figures = [f"{row.time_us / 1000:,.1f}", f"{count / row.time_us * 1e6:,.0f}"]
    if row.way == "alone":
        return [*figures, "-", "-", "-", "-", "-", _energy(row)]
    late = (row.mean_late, row.most_late, row.most_late - row.least_late)
    return [
        *figures,
        f"{row.samples:,}",
        f"{row.missed:,}",
        *(f"{_us(answer, n):,.1f}" for n in late),
        _energy(row),
    ]


def _energy(row: CoreRow) -> str:
    device = Catalog.load().device(DEVICE)
    active = device.current("active", "board")
    if active is None or not device.volts:
        return "-"
    least = energy_uj(device.volts, active.milliamperes, row.time_us) / 1000
    return f"{least:,.1f} to {2 * least:,.1f}" if row.way in ("core-1", "locked") else f"{least:,.1f}"
