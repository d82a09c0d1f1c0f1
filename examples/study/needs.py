"""What must be measured before the study can be shown."""

from __future__ import annotations

from motecrypt.studies import Needs

from .plan import catalog, cells


def needs() -> Needs:
    """One cell on each of the two chips; the catalog knows the chip of our own."""
    return Needs(tool_sets=("avr",), cells=list(cells().values()), catalog=catalog())
