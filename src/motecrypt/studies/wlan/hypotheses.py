"""Sets of assumptions about how the Wi-Fi study measured, and how many of its printed cells each explains.

A set is the same for all cells: nothing is chosen for one cell, and no set is used for a verdict. Transfers
are by the closed form, so that any size and encoding can be computed. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from motecrypt.air.wlan import dcf, filecost, parameters
from motecrypt.air.wlan.protection import security
from motecrypt.air.wlan.samples import KINDS, encoded_bytes
from motecrypt.base.model import Section
from motecrypt.catalog import Catalog
from motecrypt.studies.judge import agree
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.plan import CIPHERS, COLUMNS, TABLES, TOLERANCE
from motecrypt.studies.words import words

CARD = "wavelan"
#: Those that the paper's tables show slower; it finds Blowfish and RC6 ahead of them.
FOUR = ("AES", "DES", "RC2", "3DES")
#: Power over that of AES, as the text prints it for text files; 1 for the others.
PRINTED_POWER = {"Blowfish": 0.16, "RC6": 0.58}
FIRST = next(iter(COLUMNS))

Cell = tuple[str, str, str]


@dataclass(frozen=True)
class Assumptions:
    """How the paper may have measured.

    Attributes
    ----------
    encoding, encoded
        How the ciphertexts of these ciphers were encoded before they were sent; the others were sent as they
        are.
    largest
        Whether each file had the largest or the smallest size that the paper prints for its kind.
    walls_db
        Between the two stations of the poor signal.
    sender_kb_s
        The most that the sender's program hands to the radio in a second, encoding included; None: no limit.
    aes_kb_s
        How fast its runtime encrypts by AES before it sends; None: in no time.
    """

    encoding: str = "none"
    encoded: tuple[str, ...] = ()
    phy: str = "b"
    largest: bool = True
    walls_db: float = plan.WALLS[-1]
    sender_kb_s: float | None = None
    aes_kb_s: float | None = None

    @property
    def title(self) -> str:
        """The assumptions in words."""
        whose = "all" if self.encoded == tuple(CIPHERS) else ", ".join(self.encoded)
        parts = [f"{self.encoding} of {whose}" if self.encoded else "no encoding", f"802.11{self.phy}"]
        parts += [] if self.largest else ["smallest files"]
        parts += [] if self.walls_db == plan.WALLS[-1] else [f"walls of {self.walls_db:g} dB"]
        parts += [f"sender limited to {self.sender_kb_s:g} KB/s"] if self.sender_kb_s else []
        parts += [f"AES at {self.aes_kb_s:g} KB/s"] if self.aes_kb_s else []
        return "; ".join(parts)

    def file_bytes(self, data: str) -> int:
        """The size of the file of a kind."""
        return KINDS[data].largest if self.largest else KINDS[data].smallest

    def seconds(self, cell: Cell) -> float:
        """What a printed cell would be."""
        data, cipher, column = cell
        size = sent = self.file_bytes(data)
        encrypting = 0.0
        if cipher != "none":
            sent = filecost.ciphertext_bytes(Catalog.load().cipher(CIPHERS[cipher][0]), size)
            sent = encoded_bytes(sent, self.encoding if cipher in self.encoded else "none")
            if self.aes_kb_s:
                encrypting = size * PRINTED_POWER.get(cipher, 1.0) / (1000 * self.aes_kb_s)
        moving = _air_seconds(sent, column, self.phy, self.walls_db)
        if self.sender_kb_s:
            moving = max(moving, sent / (1000 * self.sender_kb_s))
        return encrypting + moving


@cache
def _air_seconds(size: int, column: str, phy: str, walls_db: float) -> float:
    mode, protection, signal = COLUMNS[column]
    over = None
    if signal == "poor":
        place = replace(parameters.signal(signal), walls_db=walls_db)
        over = parameters.link(place, parameters.card(CARD), mode)
    added = security(protection).frame_bytes
    return dcf.transfer(size, mode=mode, phy_name=phy, security_bytes=added, link=over).seconds


HEX_OF_FOUR = Assumptions("hex", FOUR)
#: The set that explains the most ratios: the only one that is named as a cause, the same in every row.
NAMED = replace(HEX_OF_FOUR, phy="g")
SENDERS_KB_S = (250.0, 500.0, 1000.0, 2000.0)
AES_KB_S = (1000.0, 2000.0, 4000.0, 8000.0)


def hypotheses() -> tuple[Assumptions, ...]:
    """The sets that are tried: first one assumption at a time, then a limit swept over all cells."""
    every = tuple(CIPHERS)
    return (
        Assumptions(),
        Assumptions("base64", every),
        Assumptions("hex", every),
        Assumptions("base64", FOUR),
        HEX_OF_FOUR,
        NAMED,
        *(replace(NAMED, walls_db=walls) for walls in plan.WALLS[:-1]),
        replace(HEX_OF_FOUR, largest=False),
        *(replace(HEX_OF_FOUR, walls_db=walls) for walls in plan.WALLS[:-1]),
        *(replace(HEX_OF_FOUR, sender_kb_s=limit) for limit in SENDERS_KB_S),
        *(replace(NAMED, sender_kb_s=limit) for limit in SENDERS_KB_S),
        *(replace(HEX_OF_FOUR, aes_kb_s=speed) for speed in AES_KB_S),
    )


# --- what they explain -----------------------------------------------------------------------------


def _plain(cell: Cell) -> Cell:
    return cell[0], "none", cell[2]


def _first(cell: Cell) -> Cell:
    return cell[0], "none", FIRST


def _seconds(value: Callable[[Cell], float], cell: Cell) -> float:
    return value(cell)


def _to_plaintext(value: Callable[[Cell], float], cell: Cell) -> float:
    return value(cell) / value(_plain(cell))


def _to_first(value: Callable[[Cell], float], cell: Cell) -> float:
    return value(cell) / value(_first(cell))


Measure = Callable[[Callable[[Cell], float], Cell], float]


@dataclass(frozen=True)
class CellSet:
    """Printed cells, and what of them is compared: a ratio, which no file size changes, or seconds."""

    title: str
    cells: tuple[Cell, ...]
    measure: Measure

    def explains(self, assumed: Assumptions, cell: Cell) -> bool:
        """Whether the cell is within the study's tolerance."""
        said = self.measure(plan.durations().__getitem__, cell)
        return agree(said, self.measure(assumed.seconds, cell), TOLERANCE)

    def explained(self, assumed: Assumptions) -> list[Cell]:
        """The cells that it explains."""
        return [cell for cell in self.cells if self.explains(assumed, cell)]


def _cells(ciphers: tuple[str, ...], columns: tuple[str, ...]) -> Iterator[Cell]:
    return ((data, cipher, column) for data in TABLES for cipher in ciphers for column in columns)


def cell_sets() -> dict[str, CellSet]:
    """By what they ask of the assumptions: what encryption adds, what the network adds, and all times."""
    every = tuple(COLUMNS)
    return {
        "encrypted": CellSet("encrypted, to plaintext", tuple(_cells(tuple(CIPHERS), every)), _to_plaintext),
        "plain": CellSet("plaintext, to ad hoc open", tuple(_cells(("none",), every[1:])), _to_first),
        "seconds": CellSet("all, in seconds", tuple(_cells(("none", *CIPHERS), every)), _seconds),
    }


def table() -> list[dict[str, Any]]:
    """Each set of assumptions with the cells it explains, as plain records."""
    sets = cell_sets()
    return [
        {
            "assumed": assumed.title,
            **{f"{name}_explained": len(cells.explained(assumed)) for name, cells in sets.items()},
            **{f"{name}_cells": len(cells.cells) for name, cells in sets.items()},
        }
        for assumed in hypotheses()
    ]


def section() -> Section:
    """The same for people."""
    sets = cell_sets()
    rows = [[record["assumed"], *(str(record[f"{name}_explained"]) for name in sets)] for record in table()]
    made = words("wlan").section(
        "hypotheses",
        rows,
        share=100 * TOLERANCE.share,
        walls=plan.WALLS[-1],
        blowfish=PRINTED_POWER["Blowfish"],
        rc6=PRINTED_POWER["RC6"],
    )
    heads = [f"{cells.title} (of {len(cells.cells)})" for cells in sets.values()]
    return replace(made, columns=[*made.columns, *heads])
