"""Two results files compared: what became better or worse."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.present.compare import Change, ComparedFile, Difference
from motecrypt.present.terminal import BLANK, TextBlock, TextTable, TextWords, more_rows

COLUMNS = (
    *("", "device", "cipher", "implementation", "operation", "bytes", "figure", "before", "after", "change"),
)
LEAST = ("bytes", "operation", "before", "after", "implementation", "device")

#: Rows of the table: laying out more takes minutes, and nobody reads them.
SHOWN_MAX = 1000


def compare_view(difference: Difference, files: Sequence[ComparedFile], every: bool) -> list[TextBlock]:
    """Both files, then the changes beyond the threshold, or all."""
    shown = [c for c in difference.changes if c.beyond or every]
    blocks: list[TextBlock] = []
    for label, side in zip("AB", files, strict=True):
        made_with = f"{', '.join(side.compilers)}, motecrypt {', '.join(side.versions)}"
        blocks.append(TextWords(f"{label} {side.file}: {side.cells} cells, {made_with}"))
    blocks.append(BLANK)
    if shown:
        title = "Changes" if every else f"Changes of more than {difference.threshold_percent:g} %"
        rows, more = [_row(c) for c in shown[:SHOWN_MAX]], more_rows(len(shown), SHOWN_MAX)
        blocks.append(TextTable(title, COLUMNS, rows, more, LEAST))
    return [*blocks, TextWords(_summary(difference))]


def _row(change: Change) -> list[object]:
    bits = "" if str(change.key_bits) in change.cipher else f", {change.key_bits} bits"
    place = "" if change.placement == "flash" else f", {change.placement}"
    if change.cache not in ("", "none"):
        place += f", {change.cache}"
    grew = "" if change.percent is None else f"{change.percent:+.1f} %"
    return [
        *(change.kind, change.device, change.cipher + bits, change.implementation + place, change.operation),
        *(change.message_bytes, change.figure.removesuffix("_median").replace("_bytes", "")),
        *(_value(change.before), _value(change.after), grew),
    ]


def _value(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:,.0f}"


def _summary(difference: Difference) -> str:
    counts: dict[str, int] = {}
    for change in difference.changes:
        small = "" if change.beyond or change.kind not in ("worse", "better") else " within the threshold"
        counts[change.kind + small] = counts.get(change.kind + small, 0) + 1
    said = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"{difference.cells} cells in both, {difference.equal} of them equal" + (f"; {said}" * bool(said))
