"""What views take of memory must not grow with every stored row: a scaled-down file of many rows, read twice.

Growth counts, from a small file to a large one, so that neither the interpreter nor the machine does.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from motecrypt.results import Results
from stored_rows import peak_bytes, rows

ROWS = 20_000
SMALL = 2_000
#: A row more may cost as much while a view is made; 100,000 rows then stay below 150 MB, with the 28 to 71
#: that the views take of few rows. Lists of all measurements with texts of their own cost 4 to 7 kB a row.
BYTES_A_ROW = {"report": 600, "compare": 1220}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("rows")
    made = {}
    for number in (SMALL, ROWS):
        made[number] = folder / f"{number}.db"
        with Results(made[number]) as results:
            results.store({str(place): m for place, m in enumerate(islice(rows(), number))})
    return made


@pytest.mark.parametrize("view", BYTES_A_ROW)
def test_a_row_more_takes_little_more_memory(view: str, files: dict[int, Path], tmp_path: Path) -> None:
    def arguments(file: Path) -> tuple[str, ...]:
        if view == "compare":
            return ("compare", str(file), str(file))
        return ("report", "--db", str(file), "-o", str(tmp_path / "report.html"))

    small, large = (peak_bytes(*arguments(files[number])) for number in (SMALL, ROWS))
    assert (large - small) / (ROWS - SMALL) < BYTES_A_ROW[view]
