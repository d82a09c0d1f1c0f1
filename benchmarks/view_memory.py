"""What `report` and `compare` take of memory for 100,000 results: less than 150 MB each; `results`
as CSV, JSON and Parquet less than 100 MB.

The rows are made up (tests/stored_rows.py), each of another cell with figures and times of its own. The peak
is what the system says of the command alone; no other work on the computer changes it.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from motecrypt.results import Results
from stored_rows import peak_bytes, rows

ROWS = 100_000
MEMORY_MB = 150
STREAMED_MB = 100


def main() -> int:
    """Store the rows, make the views, and say whether their memory holds."""
    held = True
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        stored = Path(name) / "results.db"
        with Results(stored) as results:
            results.store({str(place): row for place, row in enumerate(islice(rows(), ROWS))})
        db = ("--db", str(stored))
        views = {
            "report": (MEMORY_MB, ("report", *db, "-o", str(Path(name) / "report.html"))),
            "compare": (MEMORY_MB, ("compare", str(stored), str(stored))),
        }
        for form in ("csv", "json", "parquet"):
            output = ("-o", str(Path(name) / form))
            views[f"results as {form}"] = (STREAMED_MB, ("results", "--format", form, *output, *db))
        for view, (limit_mb, arguments) in views.items():
            peak_mb = peak_bytes(*arguments) / 1e6
            print(f"{view} of {ROWS:,} results: {peak_mb:.0f} MB (less than {limit_mb})", flush=True)
            held &= peak_mb < limit_mb
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
