"""What the pure parts of the audits make of made-up data, at their edges, as text kept in
tests/golden/readings.json.

The made-up data are in readings/. After a change that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/unit/audits/golden_readings.py && git diff tests/golden
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from readings.attacks import attackers, recoveries
from readings.audited import audited
from readings.determinism import determinisms
from readings.diffusion import diffusions
from readings.integrity import integrities
from readings.runs import failures, successes
from readings.shared import shared
from readings.statistics import figures
from readings.timing import timings

from goldens.text import written

PLACE = Path(__file__).parents[2] / "golden" / "readings.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/unit/audits/golden_readings.py"
READINGS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "shared": shared,
    "determinism": determinisms,
    "integrity": integrities,
    "statistics": figures,
    "diffusion": diffusions,
    "timing": timings,
    "audited": audited,
    "attacks": attackers,
    "recoveries": recoveries,
    "failures": failures,
    "successes": successes,
}


def told(name: str) -> dict[str, Any]:
    """What the file has of one part, by its key."""
    found = READINGS[name]().items()
    return {f"{name}: {key}": value if isinstance(value, Mapping | list) else [value] for key, value in found}


def main() -> None:
    """Write the file again."""
    PLACE.write_text(written({key: value for name in READINGS for key, value in told(name).items()}))


if __name__ == "__main__":
    main()
