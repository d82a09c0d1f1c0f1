"""The processors that the energy model knows, read from data/processors.toml or a user's own file."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

from motecrypt.energy import Processor
from motecrypt.errors import InputError

_TEXTS = ("title", "source")
_NUMBERS = ("clock_hz", "supply_v", "current_ma")


def processors(extra: Path | None = None) -> dict[str, Processor]:
    """All processors by name; those of a user's file `extra` go before ours of the same name.

    Raises
    ------
    InputError
        If `extra` cannot be read, or a processor in it lacks a figure or a source.
    """
    text = (files("motecrypt") / "data" / "processors.toml").read_text()
    found = _parse(text, "data/processors.toml")
    if extra is not None:
        try:
            found |= _parse(extra.read_text(), str(extra))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{extra}: cannot be read ({error})") from None
    return found


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


def _parse(text: str, where: str) -> dict[str, Processor]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: is not TOML ({error})") from None
    found = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise InputError(f"{where}: {name} stands outside a table; write [{name}] with its figures below")
        for key in _TEXTS:
            if not isinstance(table.get(key), str) or not table[key]:
                raise InputError(f"{where}: [{name}] needs {key} as text")
        for key in _NUMBERS:
            figure = table.get(key)
            if (
                not isinstance(figure, int | float)
                or isinstance(figure, bool)
                or not 0 < figure < float("inf")
            ):
                raise InputError(f"{where}: [{name}] needs {key} as a number above zero")
        found[name] = Processor(
            name=name,
            title=table["title"],
            clock_hz=float(table["clock_hz"]),
            supply_v=float(table["supply_v"]),
            current_ma=float(table["current_ma"]),
            source=table["source"],
            assumption=str(table.get("assumption", "")),
        )
    return found
