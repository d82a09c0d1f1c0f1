"""What the views say of made-up results, as text that is kept in tests/golden/views. Measures nothing.

Each view has its module in goldens/views. After a change of what a view says, look at the difference that
this makes:

    PYTHONPATH=src:tests .venv/bin/python tests/golden_views.py && git diff --stat tests/golden/views
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from goldens import frozen
from goldens.text import written
from goldens.views.advice import advice
from goldens.views.differences import differences
from goldens.views.made_up import STATES
from goldens.views.pages import pages
from goldens.views.paper import paper
from goldens.views.report import report
from goldens.views.studies import over_all, source
from goldens.views.terminal import terminal

PLACE = Path(__file__).parent / "golden" / "views"
COMMAND = "PYTHONPATH=src:tests .venv/bin/python tests/golden_views.py"
GOLDEN: Mapping[str, Callable[[], dict[str, Any]]] = {
    "compare": differences,
    "pages": pages,
    "paper": paper,
    "terminal": terminal,
    "advice": partial(advice, "near"),
    **{f"{name}-{state}": partial(source, state, name) for name in frozen.folders() for state in STATES},
    "highlights": over_all,
    **{f"report-{state}": partial(report, state) for state in ("empty", "near")},
}


def main() -> None:
    """Write every golden file again."""
    with frozen.catalogue():
        PLACE.mkdir(exist_ok=True)
        for name, made in GOLDEN.items():
            (PLACE / f"{name}.json").write_text(written(made()))


if __name__ == "__main__":
    main()
