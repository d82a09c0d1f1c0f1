"""The figures that the RC4D study compares: what the source printed, and ours under the same semantics."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import DATA, Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.results import Results
from motecrypt.results.experiments.audit import AuditAnswer
from motecrypt.results.experiments.features import Features

DEVICE = "uno"
TOOLCHAIN = "gcc-5.4"
"""Nearly the source's: its author's own sketches, built with it, take what he printed to the millisecond."""
ITERATIONS = 1024
MESSAGE_BYTES = 32
BLOCK_BYTES = 16
LETTERS = ("", "k", "ki", "kip", "kipe")


@dataclass(frozen=True)
class Printed:
    """A row of the source's table. `cipher` is ours: rc4, rc4d or aes128-ecb."""

    cipher: str
    letters: str
    style: str
    time_ms: float
    flash_bytes: int
    ram_bytes: int
    eeprom_bytes: int

    @property
    def label(self) -> str:
        """The row's name as the source writes it, such as "RC4D ki (opt)"."""
        name = "AES" if self.cipher == "aes128-ecb" else self.cipher.upper()
        return f"{name}{' ' + self.letters if self.letters else ''}{' (opt)' if self.style == 'opt' else ''}"


@cache
def printed() -> tuple[Printed, ...]:
    """The source's table, row by row."""
    lines = (DATA / "published" / "rc4d_uno.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return tuple(
        Printed(
            "aes128-ecb" if row["cipher"] == "aes128" else row["cipher"],
            row["variant"],
            row["style"],
            float(row["time_ms"]),
            int(row["flash_bytes"]),
            int(row["extra_ram_bytes"]),
            int(row["extra_eeprom_bytes"]),
        )
        for row in rows
    )


def by_label() -> dict[str, Printed]:
    """The table's rows by the names that the source gives them."""
    return {row.label: row for row in printed()}


@dataclass(frozen=True)
class VariantFigure:
    """One of our variants, measured: the source's iterations in ms at the device's clock, and sizes."""

    cipher: str
    variant: str
    time_ms: float
    time_keyed_ms: float
    flash_bytes: int
    ram_bytes: int
    eeprom_bytes: int
    stack_bytes: int

    @property
    def letters(self) -> str:
        """The source's letters for what the variant does: "", k, ki, kip or kipe."""
        return letters_of(self.variant)


def letters_of(variant: str) -> str:
    """The source's letters in a variant's name, which begins with them; "" where it has none."""
    first = variant.partition("-")[0]
    return first if first in LETTERS else ""


@dataclass(frozen=True)
class VariantFigures:
    """All of ours that could be measured, and for those that could not the reason; by cipher and variant."""

    of: dict[tuple[str, str], VariantFigure]
    failed: dict[tuple[str, str], str]

    def __getitem__(self, name: tuple[str, str]) -> VariantFigure:
        return self.of[name]

    def ours(self, cipher: str, letters: str | None = None) -> list[VariantFigure]:
        """Our variants of a cipher, with the given letters or with any."""
        return [
            figure
            for figure in self.of.values()
            if figure.cipher == cipher
            and not figure.variant.endswith("modulo")  # it is there to show what a division costs
            and letters in (None, figure.letters)
        ]

    def why(self, cipher: str, letters: str | None = None) -> str:
        """Why none of ours ran, where that is known: the first reason."""
        reasons = (
            f"{variant}: {reason}"
            for (name, variant), reason in self.failed.items()
            if name == cipher and letters in (None, letters_of(variant))
        )
        return next(reasons, "no counterpart ran")

    def fastest(self, cipher: str, letters: str | None = None) -> VariantFigure | None:
        """The variant with the least time."""
        return min(self.ours(cipher, letters), key=lambda f: (f.time_ms, f.flash_bytes), default=None)

    def smallest(self, cipher: str, letters: str | None = None) -> VariantFigure | None:
        """The variant with the least flash."""
        return min(self.ours(cipher, letters), key=lambda f: (f.flash_bytes, f.time_ms), default=None)


def cells() -> list[Cell]:
    """Every variant of ours that has a counterpart in the table, and the two-key cipher."""
    catalog = Catalog.load()
    device = catalog.device(DEVICE)
    wanted: list[Cell] = []
    for cipher in ("rc4", "rc4d", "rc4d-two-key", "aes128-ecb"):
        length = BLOCK_BYTES if cipher == "aes128-ecb" else MESSAGE_BYTES
        for body in catalog.implementations_of(cipher, DEVICE, ("motecrypt",)):
            wanted += cells_for(catalog, device, body, message_bytes=(length,), toolchain=TOOLCHAIN)
    return wanted


def figures(results: Results) -> VariantFigures:
    """What is stored of these cells, in the source's terms."""
    catalog = Catalog.load()
    clock_hz = catalog.device(DEVICE).clock_hz
    groups: dict[tuple[str, str], dict[str, Measurement]] = {}
    for cell, found in results.newest(cells()).items():
        name = cell.implementation.variant + ("" if cell.placement == "flash" else f" ({cell.placement})")
        groups.setdefault((cell.implementation.cipher, name), {})[cell.operation] = found
    of: dict[tuple[str, str], VariantFigure] = {}
    failed: dict[tuple[str, str], str] = {}
    for (cipher, variant), parts in groups.items():
        broken = [m for m in parts.values() if m.status != "ok"]
        if broken or len(parts) < 3:
            failed[cipher, variant] = broken[0].reason if broken else "not measured"
        else:
            of[cipher, variant] = _figure(cipher, variant, parts, clock_hz)
    return VariantFigures(of, failed)


def _figure(cipher: str, variant: str, parts: dict[str, Measurement], clock_hz: int) -> VariantFigure:
    setup, encrypt, decrypt = (_cycles(parts[o]) for o in ("setup", "encrypt", "decrypt"))
    blocks = MESSAGE_BYTES // BLOCK_BYTES if cipher == "aes128-ecb" else 1
    keyed = blocks * (encrypt + decrypt)
    cycles = keyed + 2 * blocks * setup if cipher == "aes128-ecb" else keyed
    some = parts["encrypt"]
    return VariantFigure(
        cipher,
        variant,
        ITERATIONS * cycles * 1000 / clock_hz,
        ITERATIONS * keyed * 1000 / clock_hz,
        some.flash_bytes or 0,
        some.ram_bytes or 0,
        some.eeprom_bytes or 0,
        max(m.stack_bytes or 0 for m in parts.values()),
    )


def _cycles(measurement: Measurement) -> int:
    assert measurement.cycles_median is not None, measurement.status
    return measurement.cycles_median


def percent(values: Iterable[float], digits: int = 0) -> str:
    """Changes as signed percentages: 0.9 is "-10 %"."""
    return ", ".join(f"{100 * (value - 1):+.{digits}f} %" for value in values)


def times(values: Sequence[float]) -> str:
    """Ratios to two digits: "1.93, 2.05"."""
    return ", ".join(f"{value:.2f}" for value in values)


@dataclass(frozen=True)
class Measured:
    """What the claims are judged by: `attack` is the outcome of the chosen-plaintext attack on RC4D,
    `printed_key` what the source's table of features says of its key."""

    source: str
    table: str
    figures: VariantFigures
    features: Mapping[str, Features]
    attack: AuditAnswer | None
    printed_key: str = "any"

    def of(self, cipher: str, variant: str) -> VariantFigure:
        """One of our variants; KeyError when it was not measured."""
        return self.figures[cipher, variant]

    def why(self, name: object) -> str:
        """Why there is no figure of a cipher, or of one variant of it: the first reason, where known."""
        failed = self.figures.failed.items()
        reasons = (reason for place, reason in failed if name in (place, place[0]))
        return next((f": {reason}" for reason in reasons), "")

    def fastest(self, cipher: str, letters: str | None = None) -> VariantFigure:
        """Our fastest variant; KeyError when none was measured."""
        figure = self.figures.fastest(cipher, letters)
        if figure is None:
            raise KeyError(cipher)
        return figure

    def smallest(self, cipher: str, letters: str | None = None) -> VariantFigure:
        """Our smallest variant; KeyError when none was measured."""
        figure = self.figures.smallest(cipher, letters)
        if figure is None:
            raise KeyError(cipher)
        return figure
