"""The explorer's data: one row for each implementation, device and message length. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from motecrypt.catalog import Catalog
from motecrypt.present.report.costs import Cost

COLUMNS = (
    *("device", "cipher", "kind", "security", "library", "implementation", "key_bits", "placement", "flags"),
    *("message_bytes", "setup_us", "encrypt_us", "decrypt_us"),
    *("setup_uj", "encrypt_uj", "decrypt_uj", "flash_bytes", "ram_bytes"),
    *("stacks", "varies"),
)
WORDED = (
    *(
        "device",
        "cipher",
        "kind",
        "security",
        "library",
        "implementation",
        "placement",
        "flags",
        "stacks",
        "varies",
    ),
)
_WORDED_AT = tuple(COLUMNS.index(name) for name in WORDED)


class ExplorerTable:
    """Columns and rows; None where a figure is not known. Cells that did not run, and those with associated
    data, are left out.

    To keep the page small a text is in a row as its place in `words`; `worded` are the columns of texts.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._words: dict[str, int] = {}
        self._rows: list[list[object]] = []

    def add(self, costs: Iterable[Cost]) -> None:
        """The rows of these costs, after those that there are."""
        for cost in costs:
            if cost.ran and not cost.ad_bytes:
                row = _row(cost, self._catalog)
                for column in _WORDED_AT:
                    row[column] = self._words.setdefault(str(row[column]), len(self._words))
                self._rows.append(row)

    def whole(self) -> dict[str, Any]:
        """All of it, in the page's form."""
        return {
            "columns": list(COLUMNS),
            "worded": list(_WORDED_AT),
            "words": list(self._words),
            "rows": self._rows,
        }


def _row(cost: Cost, catalog: Catalog) -> list[object]:
    cipher = catalog.ciphers[cost.cipher]
    device = catalog.devices.get(cost.device)
    operations = ("setup", "encrypt", "decrypt")
    return [
        *(cost.device, cost.cipher, cipher.kind, cipher.security, cost.library, cost.implementation),
        *(cost.key_bits, cost.placement, cost.flags, cost.message_bytes),
        *(_rounded(cost.time_us(operation)) for operation in operations),
        *(_rounded(cost.energy_uj(operation, device), 4) for operation in operations),
        *(cost.flash_bytes, cost.ram_bytes),
        # One text, as in "60,40,52" or "60,40,": rows repeat it, and most of them at every length.
        ",".join(_stack(cost, operation) for operation in operations),
        cost.varies,
    ]


def _stack(cost: Cost, operation: str) -> str:
    """Bytes of one operation's deepest stack; empty where they are not known."""
    found = cost.of(operation)
    return "" if found is None or found.stack_bytes is None else str(found.stack_bytes)


def _rounded(value: float | None, digits: int = 6) -> float | None:
    """An energy is as uncertain as its current, and more digits make the page large."""
    return None if value is None else float(f"{value:.{digits}g}")
