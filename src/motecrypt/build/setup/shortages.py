"""What a command continued without: noted where it is missed, reported in one line when the command ends."""

from __future__ import annotations

_noted: dict[str, str] = {}


def left_out(what: str, why: str) -> None:
    """Note that something was not available; the first reason given for it is kept."""
    _noted.setdefault(what, " ".join(why.split()))


def summary() -> str:
    """One line that names all that was left out and why; empty when nothing was. Forgets it."""
    told = "; ".join(f"{what} ({why})" for what, why in _noted.items())
    _noted.clear()
    return f"could not be installed and was omitted: {told}" if told else ""
