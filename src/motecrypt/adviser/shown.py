"""Amounts as the adviser's sentences show them."""

from __future__ import annotations

from motecrypt.adviser.model import Entry, MessageCosts

TIME_VARIES = "its time depends on the data"
NOTHING_TO_WATCH = "nothing that these models cover"
NOTHING_FITS = "Nothing fits; the reasons are in the notes."


def number(value: float) -> str:
    """A whole number with thousands set apart."""
    return f"{value:,.0f}"


def percent(value: float) -> str:
    """Per cent: two digits after the point below 1, one below 10, none above."""
    digits = 2 if value < 1 else 1 if value < 10 else 0
    return f"{value:.{digits}f} %"


def in_years(days: float) -> bool:
    """Whether so many days are shown as years."""
    return days >= 730.5


def days(value: float) -> str:
    """Days, and years from two years on."""
    if in_years(value):
        return f"{value / 365.25:.1f} years"
    return f"{value:.1f} days" if value < 10 else f"{value:,.0f} days"


def plural(count: int, word: str) -> str:
    """ "1 packet", "2 packets"."""
    return f"{count:d} {word}{'s' if count != 1 else ''}"


def row(entry: Entry, plain: MessageCosts | None) -> dict[str, str]:
    """What tables of ranks show of one, by the heading of the column. `plain`: costs without encryption."""
    candidate, costs = entry.candidate, entry.costs
    place = "" if candidate.placement == "flash" else f", {candidate.placement}"
    return {
        "rank": f"{entry.rank:d}",
        "cipher": candidate.cipher,
        "implementation": candidate.implementation + place,
        "tag": f"{costs.tag_bytes:d}",
        "flash": number(candidate.flash_taken),
        "RAM": number(candidate.ram_taken),
        "ms": f"{costs.cpu_us / 1000:.2f}",
        "packets": f"{costs.packets:d}",
        "write ms": f"{costs.air_time_us / 1000:.2f}",
        "bytes": f"{costs.air_bytes:d}",
        "µJ": number(costs.energy.total_uj),
        "life": days(costs.life_days),
        "of unencrypted": percent(life_percent(entry, plain)),
        "why": entry.reason,
    }


def life_percent(entry: Entry, plain: MessageCosts | None) -> float:
    """The battery life in per cent of the one without encryption."""
    return entry.costs.life_days / (plain.life_days if plain is not None else entry.costs.life_days) * 100
