"""Makes data/recorded/hardware.jsonl from what the results file has: the figures of programs that were
brought with `reproduce hardware --library FOLDER`, and those recorded before. From them it then writes the
bounds of the devices (data/recorded/hardware_bounds.json) and the table of docs/hardware.md.

`python -m motecrypt.cli._hardware`
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from motecrypt.adviser.hardware.bounds import BOUNDS_FILE, bounds_as_text
from motecrypt.adviser.hardware.fidelity import Fidelity
from motecrypt.adviser.hardware.recorded import STUDY, fidelities, recorded_residuals
from motecrypt.adviser.hardware.residuals import EXCLUDED, SEEN, by_device
from motecrypt.adviser.hardware.rows import rows, settings
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import no_words, open_results
from motecrypt.results import Results
from motecrypt.results.findings.hardware import KIND, VERSION, HardwareQuestion
from motecrypt.results.findings.recorded import RecordedAnswer, file_of, read, text

PAGE = Path(__file__).resolve().parents[3] / "docs" / "hardware.md"
BEGIN, END = "<!-- fidelity -->\n\n", "\n<!-- end -->\n"


def table() -> str:
    """The fidelity of each device as Markdown, from the recorded residuals."""
    columns = [
        "device",
        "memory",
        "scored rows",
        "median",
        "95th percentile",
        "worst",
        "goal",
        "±",
        "which is",
    ]
    columns += ["covers", "of which code", "seen", "excluded"]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    residuals = recorded_residuals()
    bounds = by_device(residuals)
    seen, excluded = by_device(residuals, SEEN), by_device(residuals, EXCLUDED)
    for name in sorted({*bounds, *seen, *excluded}):
        own = bounds.get(name)
        memory = (own or seen.get(name) or excluded[name]).memory
        cells = [f"`{name}`", memory]
        cells += ["none", *("",) * 8] if own is None else _scored(own)
        cells += [_other(seen.get(name)), _other(excluded.get(name))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _scored(own: Fidelity) -> list[str]:
    goal = settings().goals[own.memory]
    reached = own.median <= goal.median and own.percentile_95 <= goal.percentile_95
    said = f"{100 * goal.median:g} and {100 * goal.percentile_95:g} %: {'' if reached else 'not '}reached"
    shares = (own.median, own.percentile_95, own.worst)
    return [
        str(own.rows),
        *(f"{100 * share:.1f} %" for share in shares),
        said,
        own.text,
        own.kind,
        own.covers,
        own.condition,
    ]


def _other(own: Fidelity | None) -> str:
    """Rows that are compared without being scored: how many, their median and their worst."""
    if own is None:
        return ""
    return f"{own.rows}: {100 * own.median:.1f} %, worst {100 * own.worst:.1f} %"


def page(text_before: str) -> str:
    """The page with the table in its place."""
    head, _, rest = text_before.partition(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]


def newest(answers: Iterable[RecordedAnswer]) -> list[RecordedAnswer]:
    """The newest answer of each row and device, in the order of the published rows; an older one never
    replaces it, whatever file it comes from."""
    found: dict[tuple[str, str], RecordedAnswer] = {}
    for answer in answers:
        key = answer.asked["row"], answer.asked["device"]
        if key not in found or found[key].finding.made_at <= answer.finding.made_at:
            found[key] = answer
    order = {name: number for number, name in enumerate(rows())}
    return sorted(found.values(), key=lambda each: (order[each.asked["row"]], each.asked["device"]))


def _stored(results: Results) -> Iterator[RecordedAnswer]:
    """The answers of a results file, the oldest first, without those of an earlier assignment of chips."""
    for found in reversed(results.findings(KIND, VERSION)):
        question = HardwareQuestion(found.inputs["row"], found.inputs["device"])
        chip = settings().chip_of(rows()[question.row])
        if chip is not None and chip.device == question.device:
            yield RecordedAnswer(found, question.asked())


def main() -> None:
    """Write the newest answer of each row, in the order of the published rows."""
    file = file_of(STUDY)
    with open_results(None) as results:
        answers = newest([*read(file), *_stored(results)])
    write_atomically(file, text(answers).encode())
    recorded_residuals.cache_clear()
    write_atomically(BOUNDS_FILE, bounds_as_text(fidelities()).encode())
    write_atomically(PAGE, page(PAGE.read_text(encoding="utf-8")).encode())
    print(f"{file}: {len(answers)} answers", file=sys.stderr)


if __name__ == "__main__":
    no_words(__doc__)
    main()
