"""The error bound or range seen of each device, as it is recorded. Runs nothing, and reads no residual: every
view of a cycle count names its bound, and decoding all rows for it takes longer than the view.

`python -m made.hardware` writes the file from the recorded residuals (`recorded.fidelities`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from motecrypt.adviser.hardware.fidelity import BOUND, CONFIDENCE, RANGE, Fidelity
from motecrypt.catalog.places import DATA

BOUNDS_FILE = DATA / "recorded" / "hardware_bounds.json"


@cache
def recorded_bounds() -> Mapping[str, Fidelity]:
    """How far the devices are from their chips, by name, as recorded."""
    stored = json.loads(BOUNDS_FILE.read_text(encoding="utf-8"))
    return {name: Fidelity(**fields) for name, fields in stored.items()}


def bounds_as_text(known: Mapping[str, Fidelity]) -> str:
    """The file that `recorded_bounds` reads."""
    return json.dumps({name: asdict(own) for name, own in sorted(known.items())}, indent=1) + "\n"


def bound_text(device: str) -> str:
    """The difference of a device, such as "± 2.4 %"; empty where no row of hardware was compared."""
    known = recorded_bounds().get(device)
    return "" if known is None else known.text


def bound_named(device: str) -> str:
    """The same with what it is, the number of rows and what it covers; empty where there is none."""
    known = recorded_bounds().get(device)
    return "" if known is None else known.named


def bound_told(device: str) -> str:
    """The same with which code it is of; empty where there is none."""
    known = recorded_bounds().get(device)
    return "" if known is None else known.told


def bound_fields(device: str) -> dict[str, Any]:
    """The same for JSON: the error bound or the range seen, of how many rows, what share of all rows like
    these it covers, and with what confidence; both are null where there is no row."""
    known = recorded_bounds().get(device)
    found: dict[str, Any] = dict.fromkeys((*_NAMES.values(), "hardware_condition"), "")
    found |= {"hardware_rows": 0, "hardware_coverage": None, "hardware_confidence": None}
    if known is not None:
        found[_NAMES[known.kind]] = known.text
        found |= {"hardware_rows": known.rows, "hardware_condition": known.condition}
        found |= {"hardware_coverage": known.percent_covered / 100, "hardware_confidence": CONFIDENCE}
    return found


COVERS = f"covers: at least this share of rows like these, with {100 * CONFIDENCE:g} % confidence"
"""What a legend adds to `bound_told`."""

_NAMES = {BOUND: "error_bound", RANGE: "range_seen"}
