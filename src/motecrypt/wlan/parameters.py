"""Wi-Fi's figures from outside, read from ``data/wlan.toml``: cards and signals. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from motecrypt.errors import InputError
from motecrypt.wlan import dcf


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


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    return tomllib.loads(files("motecrypt.data").joinpath("wlan.toml").read_text(encoding="utf-8"))


def _entry(kind: str, name: str) -> dict[str, Any]:
    entries: dict[str, dict[str, Any]] = _document()[kind]
    if name not in entries:
        raise InputError(f"unknown {kind} '{name}': choose one of {', '.join(entries)}")
    return entries[name]


def names(kind: str) -> list[str]:
    """Names of the cards or signals in the data file."""
    return list(_document()[kind])


def card(name: str) -> Card:
    """The Wi-Fi card of that name; InputError names the known ones."""
    entry = _entry("card", name)
    sensitivity = {float(rate): float(level) for rate, level in entry["sensitivity_dbm"].items()}
    plain = {
        key: entry[key] for key in ("title", "volts", "tx_ma", "rx_ma", "idle_ma", "transmit_dbm", "source")
    }
    return Card(name=name, sensitivity_dbm=sensitivity, **plain)


def signal(name: str) -> Signal:
    """The signal of that name: good or poor."""
    return Signal(name=name, **_entry("signal", name))


def link(over: Signal, with_card: Card, mode: str) -> dcf.Link | None:
    """The closed form's link for one hop; None where every frame arrives at the highest rate."""
    if not over.fading and over.walls_db == 0 and over.distance_m <= 10:
        return None
    parts = 2 if mode == "infrastructure" else 1  # the access point stands half-way
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
