"""What the studies conclude of made-up figures at their edges, as text kept in tests/golden/edges.json.

golden_views.py goes through the results file; here the figures are handed to the functions that judge them,
drawn from few values each, so that many are equal, just below or just above what they are compared with,
missing, or nothing. Each study, the report, the radios and the adviser have their module in goldens/edges.
After a change that is meant, look at the difference that this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/golden_edges.py && git diff tests/golden/edges.json
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from goldens import frozen
from goldens.edges.advice import advice_edges
from goldens.edges.pico import pico_edges
from goldens.edges.radios import radio_edges
from goldens.edges.rc4d import rc4d_edges
from goldens.edges.report import report_edges
from goldens.edges.rf import rf_edges
from goldens.edges.samples import sample_edges
from goldens.edges.wlan import wlan_edges
from goldens.text import written

PLACE = Path(__file__).parent / "golden" / "edges.json"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/golden_edges.py"
EDGES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "rc4d": rc4d_edges,
    "rf": rf_edges,
    "pico": pico_edges,
    "wlan": wlan_edges,
    "report": report_edges,
    "radios": radio_edges,
    "samples": sample_edges,
    "advice": advice_edges,
}


def main() -> None:
    """Write the file again."""
    with frozen.catalogue():
        PLACE.write_text(written({key: value for made in EDGES.values() for key, value in made().items()}))


if __name__ == "__main__":
    main()
