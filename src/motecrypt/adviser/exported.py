"""All that the adviser needs as one JSON, for a page that answers without a server, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from motecrypt.adviser.asked import Node
from motecrypt.adviser.defaults import EXAMPLE, USUAL
from motecrypt.adviser.gather import (
    KINDS,
    by_candidate,
    candidate_key,
    device_part,
    device_refusals,
    measured,
    placed,
    radio_part,
    supplies,
    weighable,
)
from motecrypt.adviser.hardware_notes import note_form
from motecrypt.adviser.link_data import link_facts
from motecrypt.adviser.model import (
    BatteryPart,
    Candidate,
    DeviceFacts,
    LinkFacts,
    Point,
    RadioPart,
    RegulatorPart,
    SuiteWork,
)
from motecrypt.air.radios import Radio, load_radio, radio_names
from motecrypt.base.model import Device, Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.accelerators import accelerator_of

EXPORT_VERSION = 5
GRID = (1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 96, 128)
"""Message lengths for the exported data: around each step that blocks of 16 and 64 bytes make. Between
the steps cycles are linear, so up to 65 bytes nothing is lost, and beyond at most 13 % (docs/advise.md)."""


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
        `version`; `usual` and `example` of `defaults`; `notes`; `link`; `devices` (boards), `chips`,
        `sleepers`, `radios`, `regulators` by name; `cells` in their order; `candidates` by device name;
        `refusals`, why a device cannot be considered as board or chip, first awake, then with a program that
        sleeps (empty where it can); `hardware`, the note on a device's cryptographic hardware.
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
            "notes": "cycles between two measured lengths are interpolated linearly; outside them: not "
            "measured",
            "link": asdict(link_facts()),
            "devices": parts["board"],
            "chips": parts["chip"],
            "refusals": {d.name: device_refusals(d) for d in there},
            "hardware": {d.name: note_form(d.title, accelerator_of(d.chip)) for d in there},
            "sleepers": {name: list(with_) for name, with_ in (sleepers or {}).items() if name in candidates},
            "radios": {radio.name: asdict(radio_part(radio)) for radio in known},
            "cells": [asdict(cell) for cell in cells.values()],
            "regulators": {name: asdict(regulator) for name, regulator in regulators.items()},
            "candidates": candidates,
        }

    def _candidates(self, device: Device) -> list[Candidate]:
        return [
            self._found.get((device.name, candidate_key(*one))) or measured(self._catalog, one, ())
            for one in self._placed[device.name]
        ]


CYCLES = ("setup_cycles", "encrypt_cycles", "decrypt_cycles")
"""What a point has besides its length, in the order of `Point`."""

OF_CIPHER = (
    *("security", "security_reason", "nonce", "nonce_bytes", "tag_bytes"),
    *("message_bytes_min", "message_bytes_multiple"),
)
"""What a candidate has of its cipher."""


def node_from(data: Mapping[str, Any], device: str, radio: str) -> Node:
    """A node of `export`ed (and JSON-decoded) data."""
    board, chip = data["devices"].get(device), data["chips"].get(device)
    link = data["link"]
    return Node(
        board=None if board is None else DeviceFacts(**board),
        chip=None if chip is None else DeviceFacts(**chip),
        refusals=data["refusals"][device],
        radio=RadioPart(**data["radios"][radio]),
        sleepers=data["sleepers"].get(device, ()),
        link=LinkFacts(
            **{**link, "suites": {name: SuiteWork(**one) for name, one in link["suites"].items()}}
        ),
        cells={one["name"]: BatteryPart(**one) for one in data["cells"]},
        regulators={name: RegulatorPart(**one) for name, one in data["regulators"].items()},
        hardware=data["hardware"][device],
    )


def packed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same data smaller, which `unpacked` reads: candidates as plain rows.

    What all candidates with a cipher share is in `ciphers` once. A text is in a row as its place in `words`;
    `worded` are the places of texts in a row. Last come 1 where the time varies, the place of the message
    lengths in `lengths`, and for each of these the other values of its point, in one list.
    """
    apart = (*OF_CIPHER, "timing_varies", "points")
    columns = [field.name for field in fields(Candidate) if field.name not in apart]
    worded = [index for index, name in enumerate(columns) if Candidate.__annotations__[name] == "str"]
    words: dict[str, int] = {}
    lengths: dict[tuple[int, ...], int] = {}

    def row(one: Mapping[str, Any]) -> list[Any]:
        values = [one[name] for name in columns]
        for index in worded:
            values[index] = words.setdefault(values[index], len(words))
        own = lengths.setdefault(tuple(point["message_bytes"] for point in one["points"]), len(lengths))
        cycles = [point[name] for point in one["points"] for name in CYCLES]
        return [*values, int(one["timing_varies"]), own, cycles]

    rows = {device: [row(one) for one in own] for device, own in data["candidates"].items()}
    every = [one for own in data["candidates"].values() for one in own]
    return {
        **data,
        "columns": columns,
        "worded": worded,
        "words": list(words),
        "lengths": list(lengths),
        "ciphers": {one["cipher"]: {name: one[name] for name in OF_CIPHER} for one in every},
        "candidates": rows,
    }


def unpacked(data: Mapping[str, Any], device: str) -> list[Candidate]:
    """The candidates of a device back from `packed` data."""
    words, worded = data["words"], set(data["worded"])
    found = []
    for row in data["candidates"][device]:
        values = [words[value] if place in worded else value for place, value in enumerate(row[:-3])]
        named = dict(zip(data["columns"], values, strict=True))
        cycles = row[-1]
        points = [
            Point(length, cycles[3 * index], cycles[3 * index + 1], cycles[3 * index + 2])
            for index, length in enumerate(data["lengths"][row[-2]])
        ]
        named["timing_varies"] = bool(row[-3])
        found.append(Candidate(**{**data["ciphers"][named["cipher"]], **named}, points=tuple(points)))
    return found
