"""Makes data/recorded/hardware.jsonl from what the results file has: the figures of programs that were
brought with `reproduce hardware --library FOLDER`, and those recorded before. From them it then writes the
bounds of the devices (data/recorded/hardware_bounds.json) and the table of docs/hardware.md.

`python -m made.hardware`
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from made import no_words
from made._hardware_page import page
from motecrypt.adviser.hardware.bounds import BOUNDS_FILE, bounds_as_text
from motecrypt.adviser.hardware.recorded import STUDY, fidelities, newest, recorded_residuals
from motecrypt.adviser.hardware.rows import rows, settings
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import open_results
from motecrypt.results import Results
from motecrypt.results.experiments.hardware import KIND, VERSION, HardwareQuestion
from motecrypt.results.experiments.recorded import RecordedAnswer, file_of, read, text

PAGE = Path(__file__).resolve().parents[2] / "docs" / "hardware.md"


def _stored(results: Results) -> Iterator[RecordedAnswer]:
    """The answers of a results file, the oldest first, without those of an earlier assignment of chips."""
    for found in reversed(results.experiments(KIND, VERSION)):
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
