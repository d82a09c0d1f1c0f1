"""What the pages of an audit, a profile, a history and a radio have: every line but styles and scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from made_rows import made_measurement
from motecrypt.air.radios import load_radio
from motecrypt.base.model import Measurement
from motecrypt.present.compare.history import Collector
from motecrypt.present.pages import audit_page, charts, history_page, profile_page, radio_page
from motecrypt.results.experiments.audit import AuditAnswer
from motecrypt.simulate.emulate.annotate import Listing, SourceLine
from motecrypt.simulate.emulate.profiling import CallNode, FunctionCost, Profile, StackOverTime
from page_data import made_audit, made_cipher, made_listings, made_profile


def pages() -> dict[str, Any]:
    """Each page line by line."""
    return {**_audits(), **_profiles(), **_histories(), **_radios(), "charts": _charts()}


def _lines(page: str) -> list[str]:
    """A line for each element that begins, with the spaces between, without what only browsers run."""
    page = re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>|sha256-[^']*", "", page)
    return re.sub(r"(<(?!/)|\],\[)", r"\n\1", page).splitlines()


@contextmanager
def _limits(module: Any, **limits: int) -> Any:
    with patch.multiple(module, **limits):
        yield


# --- audits


def _audits() -> dict[str, Any]:
    made = [*made_audit(), *_more_parts()]
    page = audit_page.audit_page(made_cipher(), "made plain", made, "motecrypt audit made")
    with _limits(audit_page, BARS=3, DRAWN_ROWS=1, CURVES=1, CURVE_ROWS=4):
        small = audit_page.audit_page(
            made_cipher(), "made plain", made[2:4] + made[8:11], "motecrypt audit made"
        )
    return {"audit": _lines(page), "audit within limits": _lines(small)}


def _more_parts() -> list[tuple[str, AuditAnswer]]:
    """The same kinds with more in each: several rows, caches, signs, noises, and values of every sort."""
    bits = [[(7 * bit + 13 * byte) % 101 for byte in range(3)] for bit in range(20)]
    matrix = {"input": "key", "input_bytes": 3, "output_bytes": 3}
    matrix["percent_changed_by_input_bit_and_output_byte"] = bits
    data: dict[str, Mapping[str, Any]] = {
        "diffusion": {"key": {"matrix": matrix}, "decrypt": {"matrix": {"input": "x"}}, "encrypt": 3},
        "timing:pico": {"message_bytes": 48, "rows": _timing_rows()},
        "power:pico": {"rows": _power_rows()},
        "power:due": {"rows": [{"variant": "none", "attacks": [], "t_test": None}]},
        "taint": {
            "rows": [{"variant": "a", "verdict": "v"}, {"variant": "b", "verdict": "w", "sightings": [{}]}]
        },
        "integrity": {
            "changes": {"flipped": {"tried": 1000, "unnoticed": 0}, "other": 7},
            "queries_mean": 1234.5,
            "yes": True,
            "text": "a b",
            "nothing": None,
        },
        "statistics": {
            "positions": [
                {"position": 5, "times_chance": 0.25},
                {"position": 2, "times_chance": 3, "p": 1e-9},
            ],
            "alarm": 0.001,
        },
        "other": {
            "nested": {"one": {"a": 1, "b": [1, 2]}, "two": {"b": [], "c": {"d": 1}}},
            "flat_values": {"one": 1.5, "two": "text", "three": False},
            "list_of_rows": [{"x": 1}, 7, {"y": 12345.678}],
            "numbers": [1, 2, 3],
        },
    }
    weights = ("good", "note", "bad", "skipped", "good", "note", "bad", "good")
    return [
        (name, AuditAnswer(f"Title of {name}", "a verdict", weight, ("One.", "Two."), dict(found)))
        for weight, (name, found) in zip(weights, data.items(), strict=True)
    ]


def _timing_rows() -> list[dict[str, Any]]:
    base = {"variant": "v", "placement": "ram", "verdict": "cycles vary", "splits": []}
    partings = [
        {
            "kind": "address",
            "line": "a.c:9",
            "first": 0,
            "sequences": [[4 * n for n in range(9)], [8, 4], []],
        },
        {"kind": "branch", "line": "b.c:1", "first": 3, "sequences": [[1], [1]]},
        {"kind": "branch", "line": "c.c:2", "first": 2, "sequences": []},
    ]
    split = {"kind": "address", "memory": "flash", "function": "g", "line": "a.c:9"}
    return [
        {**base, "cache": "warm", "operation": "setup", "cycles_min": 5, "cycles_max": 5, "inputs": 8},
        {
            **base,
            "cache": "cold",
            "operation": "decrypt",
            "cycles_min": 100,
            "cycles_max": 210,
            "inputs": 64,
            "spread": [[100, 1], [103, 20], [150, 40], [210, 3]],
            "splits": [split, split],
        },
        {
            **base,
            "cache": "none",
            "operation": "encrypt",
            "cycles_min": 70,
            "cycles_max": 71,
            "inputs": 16,
            "spread": [[70, 9], [71, 7]],
            "partings": partings,
        },
    ]


def _power_rows() -> list[dict[str, Any]]:
    def curve(model: str, snr: float | None, *points: tuple[int, float]) -> dict[str, Any]:
        rows = [{"traces": n, "guessing_entropy_bits": bits, "experiments": 9} for n, bits in points]
        return {"model": model, "attacker": "template", "snr": snr, "points": rows}

    many = [curve(f"m{number}", 0.1 * number, (0, 3.0), (700, 0.5 + number)) for number in range(7)]
    found = {"first_instruction": 40, "traces": 12345, "right": [0.5, -0.75, 0.25], "wrong": [0.1, 0.2, -0.3]}
    wave = [((7 * n) % 11 - 5) / 2 for n in range(130)]
    return [
        {
            "variant": "a",
            "attacks": [
                {"title": "first round", "curves": [*many, curve("empty", 1.0)]},
                {"title": "last", "curves": [curve("one", 2.5, (1, 0.25))], "correlation": found},
            ],
            "t_test": {"first_instruction": 3, "threshold": None, "curve": wave, "places": ["x.c:1"] * 100},
        },
        {
            "variant": "b",
            "attacks": [],
            "t_test": {"first_instruction": 9, "threshold": 4.75, "curve": [1.5]},
        },
    ]


# --- profiles


def _profiles() -> dict[str, Any]:
    def page(made: Profile, listings: tuple[Listing, ...], clock_hz: int = 16_000_000) -> list[str]:
        return _lines(
            profile_page.profile_page(made, listings, "blink.elf", "uno", clock_hz, "motecrypt profile")
        )

    with _limits(
        profile_page, TREE_ROWS=4, FUNCTION_ROWS=3, LISTINGS=2, INSTRUCTIONS=3, STACK_ROWS=2, NAMED=2
    ):
        small = page(_deep_profile(), (*made_listings(), *_more_listings()), 1_000)
    ended = replace(made_profile().ended, cycles=0)
    bare = replace(
        made_profile(),
        ended=ended,
        stack_over_time=None,
        tree=(),
        functions=(),
        symbols_found=False,
        calls_dropped=0,
    )
    return {
        "profile": page(made_profile(), (*made_listings(), *_more_listings())),
        "profile of a deep tree": page(_deep_profile(), (), 200_000),
        "profile within limits": small,
        "profile of nothing": page(bare, ()),
    }


def _more_listings() -> tuple[Listing, ...]:
    lines = tuple(SourceLine(number, f"line {number};", 0, 0, ()) for number in (1, 2, 4))
    return Listing("/src/b.c", False, 0, lines), Listing("/src/empty.c", True, 0, ())


def _deep_profile() -> Profile:
    """Nodes of which some have too few cycles to be shown, and functions of every kind."""
    parents = (-1, -1, 0, 0, 2, 4, 1, 5, 0)
    own = (100, 4_000, 50, 60_000, 7, 900, 1, 30_000, 61)
    tree = tuple(
        CallNode(parent, f"f{number % 6}", number + 1, cycles)
        for number, (parent, cycles) in enumerate(zip(parents, own, strict=True))
    )
    functions = tuple(
        FunctionCost(
            f"f{number}",
            16 * number,
            None if number == 1 else 1000 * number,
            sum(own) - 17 * number,
            9_000 - 1_300 * number,
            None if number == 2 else (number, 10 * number, 1_234_567),
            (),
            8 * number,
            "" if number == 3 else f"/deep/folder/f{number}.c",
            number,
            **({"inlined_into": ("main", "other")} if number in (1, 4) else {}),
        )
        for number in range(6)
    )
    slots = (None, (4, "a"), (8, "b"), (8, "a"), None, None, (2, "c"))
    return replace(
        made_profile(),
        ended=replace(made_profile().ended, cycles=sum(own), notes=()),
        functions=functions,
        tree=tree,
        symbols_found=False,
        calls_dropped=12_345,
        calls_shared=6_789,
        stack_over_time=StackOverTime(1_000, slots),
    )


# --- histories and radios


def _histories() -> dict[str, Any]:
    made = _history()
    whole = _lines(history_page.history_page(made, 2.5, "motecrypt compare --history x"))
    with _limits(history_page, CHARTS=2, OPEN_CHARTS=1, ROWS=3, LABELS=3, NAMED_MAX=5):
        small = _lines(history_page.history_page(made, 2.0, "motecrypt compare --history x"))
    return {"history": whole, "history within limits": small}


def _history() -> Any:
    """Twelve versions: figures that grow, shrink, fail, come late, and stay."""
    collector = Collector()
    base = made_measurement()

    def cell(operation: str, cycles: int | None, flash: int, **more: Any) -> Measurement:
        found = replace(base, operation=operation, cycles_median=cycles, flash_bytes=flash, **more)
        return found if cycles is not None else replace(found, status="fault", reason="no room")

    for number in range(12):
        rows = [
            cell("encrypt", 1000 + 7 * (number // 3), 2000),
            cell("decrypt", None if number in (4, 5) else 900 - number, 2000),
            cell("setup", 0 if number < 2 else 50, 2000),
        ]
        if number > 6:
            rows.append(cell("encrypt", 64_000 + (number == 11) * 6_400, 2000, message_bytes=64))
        collector.add_measurements(f"a version {number}", f"v{number}.db", rows)
    made = collector.history()
    few = replace(made.figures[0], figure="battery", values=tuple(0.5 + number / 100 for number in range(12)))
    return replace(made, figures=(made.figures[0], few, *made.figures[1:]))


def _radios() -> dict[str, Any]:
    found = {}
    for name, answer in (("srf", 0), ("lora", 7), ("nrf24", 40)):
        variants = radio_page.variants_of(load_radio(name))
        with _limits(radio_page, LENGTHS_MIN=10, LENGTHS_MAX=30):
            found[f"radio {name}"] = _lines(radio_page.radio_page(variants, answer, "motecrypt radio"))
    return found


# --- charts


def _axis(made: charts.Axis) -> str:
    return f"{made.low:.9g} {made.high:.9g} {[(round(tick.at, 6), tick.label) for tick in made.ticks]}"


def _charts() -> list[str]:
    """Axes of all scales, lines of all kinds with more of them than there are dashes and colours, bars."""
    ranges = [
        (0, 1),
        (0, 0),
        (5, 5),
        (-3, 4),
        (0.001, 0.0042),
        (999, 1001),
        (0, 123_456),
        (2.5, 7.5),
        (1e-9, 3e-9),
    ]
    told = []
    for low, high in ranges:
        for ends in (False, True):
            made = charts.axis("t", low, high, ends=ends)
            told.append(f"{low} to {high}: {_axis(made)}")
    for low, high in ((1, 2), (1, 10), (1, 11), (0.02, 5), (99, 100_001), (1000, 1000)):
        made = charts.log_axis("t", low, high)
        told.append(f"decades of {low} to {high}: {_axis(made)}")
    x, y = charts.axis("x", 0, 9, ends=True), charts.axis("y", -2, 9)
    lines = [
        charts.Series(
            f"line {number}",
            [(0, number), (1, number), None, None, (3, 9 - number), (9.5, -5)],
            steps=number % 2 == 1,
            filled=number % 3 == 1,
            marks=number % 4 > 1,
        )
        for number in range(10)
    ]
    told += _lines(str(charts.line_chart("all", x, y, lines)))
    told += _lines(
        str(charts.line_chart("none", x, charts.Axis("flat", 1, 1, ()), [charts.Series("", [(2, 2)])]))
    )
    return told + _lines(str(charts.bar_chart("bars", x, y, [(0, 1), (4.5, 9), (9, -2)], 0.8)))
