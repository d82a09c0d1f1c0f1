"""The processors that the energy model knows, read from data/processors.toml or a user's own file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.energy import Processor
from motecrypt.base.errors import InputError
from motecrypt.catalog.places import DATA


def processors(extra: Path | None = None) -> dict[str, Processor]:
    """All processors by name; those of a user's file `extra` go before ours of the same name.

    Raises
    ------
    InputError
        If `extra` cannot be read, or a processor in it lacks a figure or a source.
    """
    found = dict(_kept(DATA / "processors.toml"))
    if extra is not None:
        found |= _read(Table.read(extra))
    return found


@lru_cache(maxsize=1)
def _kept(path: Path) -> dict[str, Processor]:
    """Ours, read once: a study asks for one at every figure."""
    return _read(Table.read(path))


def processor(name: str, extra: Path | None = None) -> Processor:
    """One processor by name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    known = processors(extra)
    if name not in known:
        raise InputError(f"processor {name!r}: unknown; choose one of {', '.join(sorted(known))}")
    return known[name]


def _read(whole: Table) -> dict[str, Processor]:
    found = {}
    for name, table in whole.every_table().items():
        found[name] = Processor(
            name=name,
            title=table.text("title", filled=True),
            clock_hz=table.number("clock_hz", above=0),
            supply_v=table.number("supply_v", above=0),
            current_ma=table.number("current_ma", above=0),
            source=table.text("source"),
            assumption=table.text("assumption", ""),
        )
        table.done()
    return found
