"""The price of a longer return address, as the manual prints it, next to what is measured. A pure view."""

from __future__ import annotations

from motecrypt.base.model import Section
from motecrypt.results import Results
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Evidence, compare

from .plan import BLOCK_BYTES, CIPHER, LARGE, SMALL, VARIANT, cells

TITLE = "What a call costs on a large AVR"
SOURCE = "Microchip, AVR Instruction Set Manual DS40002198, CALL and RET"

#: CALL and RET take 4 cycles each with a program counter of 16 bits, and 5 with one of 22.
PRINTED_CYCLES = 2
#: The mode calls the block cipher once for a message of one block.
CALLS = 1


def comparisons(results: Results) -> list[Comparison]:
    """The printed figure next to ours, with a verdict that motecrypt computes from the two."""
    found = results.newest(cells().values())
    cycles = {cell.device: measured.cycles_median for cell, measured in found.items()}
    small, large = cycles.get(SMALL), cycles.get(LARGE)
    more = None if small is None or large is None else (large - small) / CALLS
    return [
        compare(
            id="mega-call-cycles",
            source=SOURCE,
            table="CALL and RET",
            row=f"{CIPHER} {VARIANT}, {BLOCK_BYTES} bytes, {LARGE} beside {SMALL}",
            column="more for each call",
            unit="cycles",
            published=PRINTED_CYCLES,
            measured=more,
            evidence=Evidence("same algorithm, ours"),
            note=f"{small} and {large} cycles" if more is not None else "",
        )
    ]


def sections(results: Results) -> list[Section]:
    """What the terminal shows: titled tables."""
    rows = [
        [
            row.row,
            f"{row.published}",
            "" if row.measured is None else f"{row.measured}",
            row.verdict,
            row.note,
        ]
        for row in comparisons(results)
    ]
    return [Section("Cycles more for each call", ("what", "printed", "measured", "verdict", "note"), rows)]
