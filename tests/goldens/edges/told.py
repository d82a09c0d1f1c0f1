"""What was reported in many draws of made-up figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from goldens.text import digest, plain
from motecrypt.base.model import Section
from motecrypt.studies.facts import Comparison


class Told:
    """What was reported in many draws: for each row how often each verdict, and a digest of all."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] = {}

    def add(self, rows: Iterable[Comparison]) -> None:
        """The rows of one draw."""
        for row in rows:
            name = f"{row.table}, {row.column}" if row.table != "claims" else f"{row.row}, {row.column}"
            self.rows.setdefault(name, []).append(row)

    def add_sections(self, sections: Iterable[Section]) -> None:
        """The tables of one draw."""
        for section in sections:
            self.rows.setdefault(f"section {section.title}", []).append(section)

    def whole(self) -> dict[str, Any]:
        """By row."""
        return {
            name: [
                dict(sorted(Counter(getattr(row, "verdict", "") for row in rows).items())),
                digest(plain(rows)),
            ]
            for name, rows in sorted(self.rows.items())
        }
