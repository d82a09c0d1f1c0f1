"""What `report` and `compare` take of memory for 100,000 results: less than 150 MB each.

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


def main() -> int:
    """Store the rows, make both views, and say whether their memory holds."""
    held = True
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name:
        stored = Path(name) / "results.db"
        with Results(stored) as results:
            results.store({str(place): row for place, row in enumerate(islice(rows(), ROWS))})
        views = {
            "report": ("report", "--db", str(stored), "-o", str(Path(name) / "report.html")),
            "compare": ("compare", str(stored), str(stored)),
        }
        for view, arguments in views.items():
            peak_mb = peak_bytes(*arguments) / 1e6
            print(f"{view} of {ROWS:,} results: {peak_mb:.0f} MB (less than {MEMORY_MB})", flush=True)
            held &= peak_mb < MEMORY_MB
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
