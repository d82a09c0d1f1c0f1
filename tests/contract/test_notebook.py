"""The example notebook runs, and prints what it shows."""

from __future__ import annotations

import pytest

import notebooks
from tool_sets import needs_tool_set, skip_without


def test_the_notebook_was_run_from_its_first_cell_to_its_last() -> None:
    cells = [cell for cell in notebooks.stored()["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    shown = notebooks.printed(notebooks.stored())
    assert all(shown) and "Error" not in "".join(shown)


@pytest.mark.long
@needs_tool_set("notebook")
def test_the_notebook_prints_what_it_shows() -> None:
    """All its figures are of a pinned toolchain, so they are the same on every machine."""
    skip_without("avr", compiler=False)
    shown, printed = notebooks.printed(notebooks.stored()), notebooks.printed(notebooks.executed())
    assert printed == shown, "run: PYTHONPATH=src:tests python tests/notebooks.py"
