"""Amounts as the adviser's sentences show them."""

from __future__ import annotations


def number(value: float) -> str:
    """A whole number with thousands set apart."""
    return f"{value:,.0f}"


def percent(value: float) -> str:
    """Per cent: two digits after the point below 1, one below 10, none above."""
    digits = 2 if value < 1 else 1 if value < 10 else 0
    return f"{value:.{digits}f} %"


def days(value: float) -> str:
    """Days, and years from two years on."""
    if value >= 730.5:
        return f"{value / 365.25:.1f} years"
    return f"{value:.1f} days" if value < 10 else f"{value:,.0f} days"


def plural(count: int, word: str) -> str:
    """ "1 packet", "2 packets"."""
    return f"{count} {word}{'s' if count != 1 else ''}"
