"""The table of docs/hardware.md: the fidelity of each device, from the recorded residuals."""

from __future__ import annotations

from motecrypt.adviser.hardware.fidelity import Fidelity
from motecrypt.adviser.hardware.recorded import recorded_residuals
from motecrypt.adviser.hardware.residuals import EXCLUDED, SEEN, by_device
from motecrypt.adviser.hardware.rows import settings

BEGIN, END = "<!-- fidelity -->\n\n", "\n<!-- end -->\n"


def table() -> str:
    """The fidelity of each device as Markdown."""
    columns = [
        *("device", "memory", "scored rows", "median", "95th percentile", "worst", "goal", "±", "which is"),
        *("covers", "of which code", "seen", "excluded"),
    ]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    residuals = recorded_residuals()
    bounds = by_device(residuals)
    seen, excluded = by_device(residuals, SEEN), by_device(residuals, EXCLUDED)
    for name in sorted({*bounds, *seen, *excluded}):
        own = bounds.get(name)
        memory = (own or seen.get(name) or excluded[name]).memory
        cells = [f"`{name}`", memory]
        cells += ["none", *("",) * 8] if own is None else _scored(own)
        cells += [_other(seen.get(name)), _other(excluded.get(name))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _scored(own: Fidelity) -> list[str]:
    goal = settings().goals[own.memory]
    reached = own.median <= goal.median and own.percentile_95 <= goal.percentile_95
    said = f"{100 * goal.median:g} and {100 * goal.percentile_95:g} %: {'' if reached else 'not '}reached"
    shares = (own.median, own.percentile_95, own.worst)
    return [
        str(own.rows),
        *(f"{100 * share:.1f} %" for share in shares),
        said,
        own.text,
        own.kind,
        own.covers,
        own.condition,
    ]


def _other(own: Fidelity | None) -> str:
    """Rows that are compared without being scored: how many, their median and their worst."""
    if own is None:
        return ""
    return f"{own.rows}: {100 * own.median:.1f} %, worst {100 * own.worst:.1f} %"


def page(text_before: str) -> str:
    """The page with the table in its place."""
    head, _, rest = text_before.partition(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]
