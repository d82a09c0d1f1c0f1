"""All that the adviser needs as one JSON, for a page that answers without a server, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from motecrypt.adviser.defaults import EXAMPLE, USUAL
from motecrypt.adviser.exchange import LEAST_CHANCE
from motecrypt.adviser.gather import (
    by_candidate,
    candidate_key,
    device_part,
    measured,
    placed,
    radio_part,
    supplies,
    weighable,
)
from motecrypt.adviser.hardware_notes import note_form
from motecrypt.adviser.link_data import link_facts
from motecrypt.adviser.model import Candidate, Point
from motecrypt.adviser.notes import FEW_CHARGE, MUCH_LONGER, SHOWN_PERCENT
from motecrypt.adviser.rank import MEMORY_WEIGHT, ORDER, TIMING_WEIGHT
from motecrypt.adviser.units import LOSS_PERCENT_MAX
from motecrypt.air.radios import Radio, load_radio, radio_names
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import accelerator_of

EXPORT_VERSION = 3
GRID = (1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 96, 128)
"""Message lengths for the exported data: around each step that blocks of 16 and 64 bytes make. Between
the steps cycles are linear, so up to 65 bytes nothing is lost, and beyond at most 13 % (docs/advise.md)."""

KINDS = ("board", "chip")


def export(
    catalog: Catalog,
    measurements: Sequence[Measurement],
    radios: Sequence[Radio] = (),
    sleepers: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """All that `advise` needs as plain JSON data, for a page that answers without a server.

    Parameters
    ----------
    measurements
        Stored ones, newest first; devices of which none is there, or without any current awake, are left out.
    radios
        Default: all there are.
    sleepers
        By device name, the radios with which its exported example sleeps, as `sleeps_with` takes them.

    Returns
    -------
    dict
        `version`; `usual` and `example` of `defaults`; `constants` of ranking, notes and repetitions;
        `notes`; `link`; `devices` (boards), `chips`, `sleepers`, `radios`, `cells`, `regulators` by name;
        `candidates` by device name; `refusals`, why a device cannot be considered as board or chip, first
        awake, then with a program that sleeps (empty where it can); `hardware`, the note on a device's
        cryptographic hardware.
        Each value has the fields of the record of the same kind in `records`. A battery of n cells is a
        cell with its volts and curve times n, as `pack` makes it.
    """
    exporter = Exporter(catalog)
    for cipher in catalog.ciphers:
        exporter.add(cipher, [m for m in measurements if m.cipher == cipher])
    return exporter.whole(radios, sleepers or {})


class Exporter:
    """Makes the `export` of one cipher's measurements after the other; none of them is kept."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        devices = catalog.devices.values()
        self._devices = [d for d in devices if any(weighable(d, of, sleeps=False) for of in KINDS)]
        self._placed = {device.name: placed(catalog, device) for device in self._devices}
        self._found: dict[tuple[str, tuple[str | int, ...]], Candidate] = {}

    def add(self, cipher: str, measurements: Sequence[Measurement]) -> None:
        """All of a cipher's measurements, newest first."""
        for device in self._devices:
            of = by_candidate(device, measurements)
            for one in self._placed[device.name]:
                if one[0].cipher == cipher:
                    key = candidate_key(*one)
                    self._found[device.name, key] = measured(self._catalog, one, of.get(key, ()))

    def whole(
        self, radios: Sequence[Radio] = (), sleepers: Mapping[str, Sequence[str]] | None = None
    ) -> dict[str, Any]:
        """As `export` returns it."""
        cells, regulators = supplies()
        known = [load_radio(name) for name in radio_names()] if not radios else list(radios)
        found = {device.name: self._candidates(device) for device in self._devices}
        there = [d for d in self._devices if any(c.points for c in found[d.name])]
        candidates = {d.name: [asdict(c) for c in found[d.name]] for d in there}
        parts = {
            of: {d.name: asdict(device_part(d, of)) for d in there if weighable(d, of, sleeps=False)}
            for of in KINDS
        }
        return {
            "version": EXPORT_VERSION,
            "usual": dict(USUAL),
            "example": dict(EXAMPLE),
            "constants": {
                "order": list(ORDER),
                "memory_weight": MEMORY_WEIGHT,
                "timing_weight": TIMING_WEIGHT,
                "few_charge": FEW_CHARGE,
                "much_longer": MUCH_LONGER,
                "shown_percent": SHOWN_PERCENT,
                "least_chance": LEAST_CHANCE,
                "loss_percent_max": LOSS_PERCENT_MAX,
            },
            "notes": "cycles between two measured lengths are interpolated linearly; outside them: not "
            "measured",
            "link": asdict(link_facts()),
            "devices": parts["board"],
            "chips": parts["chip"],
            "refusals": {d.name: _refusals(d) for d in there},
            "hardware": {d.name: note_form(d.title, accelerator_of(d.chip)) for d in there},
            "sleepers": {name: list(with_) for name, with_ in (sleepers or {}).items() if name in candidates},
            "radios": {radio.name: asdict(radio_part(radio)) for radio in known},
            "cells": {name: asdict(cell) for name, cell in cells.items()},
            "regulators": {name: asdict(regulator) for name, regulator in regulators.items()},
            "candidates": candidates,
        }

    def _candidates(self, device: Device) -> list[Candidate]:
        return [
            self._found.get((device.name, candidate_key(*one))) or measured(self._catalog, one, ())
            for one in self._placed[device.name]
        ]


def _refusals(device: Device) -> dict[str, list[str]]:
    return {of: [_refusal(device, of, sleeps) for sleeps in (False, True)] for of in KINDS}


def _refusal(device: Device, of: str, sleeps: bool) -> str:
    """Why a device cannot be considered so; empty where it can."""
    try:
        device_part(device, of, sleeps)
    except InputError as error:
        return str(error)
    return ""


def candidates_of(data: Mapping[str, Any], device: str) -> list[Candidate]:
    """The candidates of a device back from `export`ed (and JSON-decoded) data."""
    return [
        Candidate(**{**entry, "points": tuple(Point(**point) for point in entry["points"])})
        for entry in data["candidates"][device]
    ]
