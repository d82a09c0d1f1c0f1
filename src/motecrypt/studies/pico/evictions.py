"""One parameter for all printed times of the Pico study: how much other code runs between two passes.

The source's sketch repeats, so part of a library's code and tables was in the flash cache. How much is not
printed. One amount of other code is tried for all rows, and none is used for a verdict. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from motecrypt.base.model import Section
from motecrypt.catalog import Catalog
from motecrypt.studies.facts import Tolerance
from motecrypt.studies.judge import agree
from motecrypt.studies.pico.figures import CASES, DEVICE, CallTiming, Timings, miss_cycles, printed
from motecrypt.studies.words import words

TITLE = "Strings: other code between two passes"
NEAR = Tolerance(0.05, 0.0, "compiler: another one changes the instructions by some per cent")

Place = tuple[str, int, str]


def _rows(timed: Timings) -> dict[Place, tuple[float, CallTiming]]:
    """The printed times with a call of ours that was swept, by library, key bits and operation."""
    titles = {case.number: case.title for case in CASES}
    found: dict[Place, tuple[float, CallTiming]] = {}
    for (number, bits, operation), ours in timed.items():
        row = printed().get((number, bits))
        if row is not None and isinstance(ours, CallTiming) and ours.costs and ours.costs.misses_after:
            found[titles[number], bits, operation] = row.time_us(operation), ours
    return found


def times(timed: Timings) -> dict[int, dict[Place, float]]:
    """Microseconds of each row by the lines of other code."""
    _, boot2, _ = miss_cycles()
    swept: dict[int, dict[Place, float]] = {}
    for place, (_, ours) in _rows(timed).items():
        assert ours.costs is not None
        for lines, misses in ours.costs.misses_after:
            swept.setdefault(lines, {})[place] = ours.time_us(boot2, misses)
    return swept


def explained(timed: Timings) -> dict[int, list[Place]]:
    """The rows within 5 % of the printed time, by the lines of other code."""
    said = {place: published for place, (published, _) in _rows(timed).items()}
    return {
        lines: [place for place, time in of.items() if agree(said[place], time, NEAR)]
        for lines, of in times(timed).items()
    }


def most(found: Mapping[int, list[Place]]) -> tuple[int, int]:
    """The lines of other code that explain the most rows (the fewest such lines), and how many rows."""
    return max(((lines, len(rows)) for lines, rows in found.items()), key=lambda pair: (pair[1], -pair[0]))


def _line_bytes() -> int:
    return int(Catalog.load().device(DEVICE).simulator["flash_cache"]["line_bytes"])


def table(timed: Timings) -> list[dict[str, Any]]:
    """Each amount of other code as a plain record."""
    found = explained(timed)
    return [
        {
            "other_code_bytes": lines * _line_bytes(),
            "explained": len(found[lines]),
            "times_us": {" ".join(map(str, place)): round(time, 1) for place, time in of.items()},
        }
        for lines, of in times(timed).items()
    ]


def section(timed: Timings) -> Section:
    """The sweep for people: each row's time by the other code, those within 5 % marked."""
    places, found = _rows(timed), explained(timed)
    rows = [["paper", *(f"{published:.0f}" for published, _ in places.values()), ""]]
    for lines, of in times(timed).items():
        marked = [f"{time:.0f}{' *' if place in found[lines] else ''}" for place, time in of.items()]
        rows.append([f"{lines * _line_bytes() / 1024:g} KB", *marked, str(len(found[lines]))])
    if not found:
        return Section(TITLE, ("other code", "explained"), [], "not measured")
    _, boot2, _ = miss_cycles()
    lines, count = most(found)
    told = {"boot2": boot2, "kb": lines * _line_bytes() / 1024, "count": count, "places": len(places)}
    made = words("pico").section("evictions", rows, title=TITLE, **told)
    heads = [f"{title} {bits} {operation}" for title, bits, operation in places]
    return replace(made, columns=[*made.columns, *heads, "explained"])
