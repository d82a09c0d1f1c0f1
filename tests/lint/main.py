"""Runs the rules of this folder and prints each offence: `python tests/lint/main.py`.

`./test lint` runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]

from lint import lengths, names, pages, stars, words_read  # noqa: E402
from lint.sources import modules  # noqa: E402


def offences() -> Iterator[str]:
    """All of them."""
    for rule in (lengths, names, stars, words_read):
        yield from rule.offences(modules())
    yield from pages.offences()


def main() -> int:
    """Print them; 0 where there are none."""
    found = list(offences())
    print("\n".join((*found, f"{len(modules())} modules, {len(found)} offences")))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
