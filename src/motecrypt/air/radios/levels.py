"""How loud each port receives each other one, and how much is lost between them: from a file, or from places.

Without any of it all receive all equally loud, and a collision destroys every packet in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError

Way = tuple[int, int]
"""A sender and a receiver."""

LEVEL_DBM = -50.0
"""Of a pair that a file does not name: near."""
METRES_MIN = 0.1
LEVEL_RANGE_DBM = (-300.0, 100.0)


@dataclass(frozen=True)
class Levels:
    """Levels and loss on each way.

    Attributes
    ----------
    dbm : Mapping[Way, float]
        The level at which the receiver receives the sender.
    other_dbm : float
        The level on all other ways.
    loss : Mapping[Way, float]
        Probability that a packet is lost on that way; on others, the channel's own counts.
    """

    dbm: Mapping[Way, float] = field(default_factory=dict)
    other_dbm: float = LEVEL_DBM
    loss: Mapping[Way, float] = field(default_factory=dict)

    def level(self, sender: int, receiver: int) -> float:
        """The level in dBm at which `receiver` receives `sender`."""
        return self.dbm.get((sender, receiver), self.other_dbm)


@dataclass(frozen=True)
class PathLoss:
    """How a level falls with distance: log-distance, `reference_db` at one metre.

    The exponent is 2 in free space (where 31.2 dB are lost in the first metre at 868 MHz, 40.2 at 2.45 GHz:
    20 log10(4 pi / wavelength)) and 2.7 to 4 among buildings (Rappaport, Wireless Communications, 4.9).
    """

    tx_dbm: float = 0.0
    exponent: float = 3.0
    reference_db: float = 31.2

    def level(self, metres: float) -> float:
        """The level in dBm at that distance; nearer than 10 cm counts as 10 cm."""
        return self.tx_dbm - self.reference_db - 10 * self.exponent * math.log10(max(metres, METRES_MIN))


def levels_of_places(places: Sequence[tuple[float, float]], path: PathLoss) -> Levels:
    """The levels between ports at these places, in metres."""
    return Levels(
        {
            (sender, receiver): path.level(math.dist(there, here))
            for sender, there in enumerate(places)
            for receiver, here in enumerate(places)
            if sender != receiver
        }
    )


def read_levels(file: Path, nodes: int) -> Levels:
    """Read a file of levels (docs/radio.md, Many nodes).

    Raises
    ------
    InputError
        It is not TOML, or names an unknown port, a path twice, a level or a probability that
        cannot be.
    """
    table = Table.read(file)
    low, high = LEVEL_RANGE_DBM
    other_dbm = table.number("level_dbm", LEVEL_DBM, low=low, high=high)
    dbm: dict[Way, float] = {}
    entries = table.tables("port", [])
    if entries:
        dbm.update(_placed(table, entries, nodes).dbm)
    loss: dict[Way, float] = {}
    named: set[Way] = set()
    for entry in table.tables("pair", []):
        sender = entry.integer("from", low=0, high=nodes - 1)
        receiver = entry.integer("to", low=0, high=nodes - 1)
        both = entry.flag("both_ways", True)
        level = entry.number("level_dbm", None, low=low, high=high)
        lost = entry.number("loss", None, low=0, high=1)
        entry.done()
        if sender == receiver:
            raise InputError(f"{entry.where}: from port {sender} to itself; name two ports")
        for way in ((sender, receiver), (receiver, sender))[: 2 if both else 1]:
            if way in named:
                raise InputError(f"{entry.where}: from port {way[0]} to {way[1]} appears twice")
            named.add(way)
            if level is not None:
                dbm[way] = level
            if lost is not None:
                loss[way] = lost
    table.done()
    return Levels(dbm, other_dbm, loss)


def _placed(table: Table, entries: Sequence[Table], nodes: int) -> Levels:
    path = table.table("path", {})
    losses = PathLoss(
        path.number("tx_dbm", PathLoss.tx_dbm, low=-100, high=60),
        path.number("exponent", PathLoss.exponent, above=0, high=10),
        path.number("reference_db", PathLoss.reference_db, low=0, high=200),
    )
    path.done()
    places: dict[int, tuple[float, float]] = {}
    for entry in entries:
        port = entry.integer("port", low=0, high=nodes - 1)
        if port in places:
            raise InputError(f"{entry.where}: port {port} already has a position")
        places[port] = (
            entry.number("x_m", low=-1e6, high=1e6),
            entry.number("y_m", low=-1e6, high=1e6),
        )
        entry.done()
    missing = sorted(set(range(nodes)) - set(places))
    if missing:
        raise InputError(f"{table.where}: port {missing[0]} has no position; give all {nodes} one, or none")
    return levels_of_places([places[port] for port in range(nodes)], losses)
