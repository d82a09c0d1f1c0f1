"""Where code and tables are placed: every `.balign` of a source, with so many bytes more."""

from __future__ import annotations

import re
from dataclasses import dataclass

LINE_BYTES = 32
"""As long as the longest line of a flash cache that we simulate."""


@dataclass(frozen=True)
class Site:
    """A line of the source that aligns what follows to so many bytes."""

    row: int
    bytes: int


def sites(source: str) -> list[Site]:
    """Where the source aligns code or tables to less than LINE_BYTES."""
    found = []
    for row, line in enumerate(source.splitlines()):
        aligned = re.fullmatch(r"\s*\.balign (\d+)\s*", line)
        if aligned and int(aligned[1]) < LINE_BYTES:
            found.append(Site(row, int(aligned[1])))
    return found


def placed(source: str, skips: dict[Site, int]) -> str:
    """The source with these distances from a multiple of LINE_BYTES."""
    rows = source.splitlines()
    for site, skip in skips.items():
        rows[site.row] = f"    .balign {LINE_BYTES}\n    .skip {skip}"
    return "\n".join(rows) + "\n"


def distances(site: Site) -> range:
    """All distances that keep the site's alignment."""
    return range(0, LINE_BYTES, max(site.bytes, 2))
