"""Wi-Fi's figures from outside, read from ``data/wlan.toml``: cards and signals. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from motecrypt.air.wlan import dcf
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError

_T = TypeVar("_T")
RATES_MBIT = ("1", "2", "5.5", "11", "6", "9", "12", "18", "24", "36", "48", "54")
"""802.11b's rates, then 802.11g's, as in the data file's keys."""


@dataclass(frozen=True)
class Card:
    """A Wi-Fi card: supply in volts, currents in mA by state, power and sensitivity in dBm."""

    name: str
    title: str
    volts: float
    tx_ma: float
    rx_ma: float
    idle_ma: float
    transmit_dbm: float
    sensitivity_dbm: Mapping[float, float]
    source: str


@dataclass(frozen=True)
class Signal:
    """How far apart the stations are, and what is between them."""

    name: str
    title: str
    distance_m: float
    walls_db: float
    fading: bool
    exponent: float
    source: str


@cache
def _document() -> tuple[dict[str, Card], dict[str, Signal]]:
    return read_document(Path(str(files("motecrypt.data").joinpath("wlan.toml"))))


def read_document(path: Path) -> tuple[dict[str, Card], dict[str, Signal]]:
    """Cards and signals of a file, by name; InputError for what is not as it should be."""
    table = Table.read(path)
    cards = {name: _read_card(name, entry) for name, entry in table.named_tables("card").items()}
    signals = {name: _read_signal(name, entry) for name, entry in table.named_tables("signal").items()}
    table.done()
    return cards, signals


def _read_card(name: str, table: Table) -> Card:
    levels = table.table("sensitivity_dbm")
    sensitivity = {float(rate): levels.number(rate, low=-150, high=0) for rate in RATES_MBIT}
    levels.done()
    card = Card(
        name=name,
        title=table.text("title", filled=True),
        volts=table.number("volts", above=0),
        tx_ma=table.number("tx_ma", above=0),
        rx_ma=table.number("rx_ma", above=0),
        idle_ma=table.number("idle_ma", low=0),
        transmit_dbm=table.number("transmit_dbm", low=-50, high=50),
        sensitivity_dbm=sensitivity,
        source=table.text("source"),
    )
    table.text("condition", filled=True)
    table.done()
    return card


def _read_signal(name: str, table: Table) -> Signal:
    signal = Signal(
        name=name,
        title=table.text("title", filled=True),
        distance_m=table.number("distance_m", above=0),
        walls_db=table.number("walls_db", low=0),
        fading=table.flag("fading"),
        exponent=table.number("exponent", above=0),
        source=table.text("source"),
    )
    table.done()
    return signal


def names(kind: str) -> list[str]:
    """Names of the cards or signals in the data file."""
    cards, signals = _document()
    return list(cards if kind == "card" else signals)


def _entry(kind: str, name: str, entries: Mapping[str, _T]) -> _T:
    if name not in entries:
        raise InputError(f"unknown {kind} '{name}': choose one of {', '.join(entries)}")
    return entries[name]


def card(name: str) -> Card:
    """The Wi-Fi card of that name; InputError names the known ones."""
    return _entry("card", name, _document()[0])


def signal(name: str) -> Signal:
    """The signal of that name: good or poor."""
    return _entry("signal", name, _document()[1])


def link(over: Signal, with_card: Card, mode: str) -> dcf.Link | None:
    """The closed form's link for one hop; None where every frame arrives at the highest rate."""
    if not over.fading and over.walls_db == 0 and over.distance_m <= 10:
        return None
    parts = 2 if mode in dcf.RELAYED else 1  # the access point is half-way
    level = dcf.received_dbm(
        over.distance_m / parts,
        transmit_dbm=with_card.transmit_dbm,
        walls_db=over.walls_db / parts,
        exponent=over.exponent,
    )
    return dcf.Link(
        {rate: level - least for rate, least in with_card.sensitivity_dbm.items()}, fading=over.fading
    )


def radio_joule(with_card: Card, seconds: float, tx_seconds: float, rx_seconds: float) -> float:
    """Energy of a card over a transfer: V x sum of I x t over sending, receiving and listening."""
    listening = max(0.0, seconds - tx_seconds - rx_seconds)
    milli = with_card.tx_ma * tx_seconds + with_card.rx_ma * rx_seconds + with_card.idle_ma * listening
    return with_card.volts * milli / 1000
