"""Makes data/protection.toml: how many traces give the key of AES-128 with and without protection.

`python -m made.protection`; _attacked.py attacks, and docs/protection.md explains the figures.
"""

from __future__ import annotations

import sys

from made import no_words
from made._attacked import every_resistance
from motecrypt.adviser.protection import FILE, resistances_as_text
from motecrypt.base.paths import write_atomically
from motecrypt.catalog import Catalog


def main() -> None:
    """Attack all, then write the file."""
    rows = []
    for row in every_resistance(Catalog.load()):
        print(row, file=sys.stderr, flush=True)
        rows.append(row)
    write_atomically(FILE, resistances_as_text(rows).encode())


if __name__ == "__main__":
    no_words(__doc__)
    main()
