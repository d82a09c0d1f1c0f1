"""Whether the documentation has the sentences that today's figures give."""

from __future__ import annotations

import re
from pathlib import Path

from motecrypt.results import Results
from motecrypt.results.experiments.recorded import file_of, read

DOCS = Path(__file__).parents[1] / "docs"


def with_recorded(results: Results, *studies: str) -> Results:
    """A results file that holds what came with the program."""
    for study in studies:
        results.store_recorded([(answer.experiment, answer.asked) for answer in read(file_of(study))])
    return results


def missing(page: str, *told: str) -> list[str]:
    """Those of these passages that the page does not have; where its lines end does not matter."""
    text = re.sub(r"\s+", " ", (DOCS / page).read_text(encoding="utf-8"))
    return [passage for passage in told if re.sub(r"\s+", " ", passage) not in text]
