"""What makes tracked files again: pages under docs, and data of the program that took long to measure.

`PYTHONPATH=src:tests python -m made.NAME`, where NAME is a module here; its first lines name the files.
"""

from __future__ import annotations

import sys


def no_words(about: str | None) -> None:
    """For a module that is run without arguments: given any, print what it does, and exit."""
    if sys.argv[1:]:
        asked = sys.argv[1:] in (["-h"], ["--help"])
        print((about or "").strip() if asked else f"does not take any arguments: {' '.join(sys.argv[1:])}")
        sys.exit(0 if asked else 2)
