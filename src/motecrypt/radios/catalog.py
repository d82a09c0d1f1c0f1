"""Radios as validated data: one file each in data/radios, every figure with its unit and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from motecrypt.descriptor import Table
from motecrypt.errors import InputError
from motecrypt.radios.air import AIRS

FOLDER = Path(__file__).resolve().parent.parent / "data" / "radios"

COMMON = (
    "packet_bytes",
    "packet_bytes_min",
    "packet_bytes_max",
    "timeout_ms",
    "gap_us",
    "turn_round_us",
    "supply_v",
    "tx_ma",
    "rx_ma",
)
OPTIONAL = ("serial_baud", "serial_bits_per_byte", "timeout_ms_new", "sleep_ma", "wake_us", "duty_percent")


@dataclass(frozen=True)
class SourcedNumber:
    """One number from outside, with its unit and where it was read."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True)
class Radio:
    """The parameters of one kind of link.

    Attributes
    ----------
    name, title, note : str
        As in the descriptor.
    air : str
        Which air-time formula counts: a key of `AIRS`.
    figures : Mapping[str, SourcedNumber]
        Every number of the descriptor by its name, which carries the unit.
    """

    name: str
    title: str
    air: str
    figures: Mapping[str, SourcedNumber]
    note: str = ""

    def value(self, figure: str) -> float:
        """The number of that name; KeyError where this kind of radio has none."""
        return self.figures[figure].value

    @property
    def packet_bytes(self) -> int:
        """Payload bytes that a full packet carries."""
        return int(self.value("packet_bytes"))

    @property
    def timeout_us(self) -> float:
        """How long a packet that is not full waits for more bytes, in us; 0 where nothing waits."""
        return self.value("timeout_ms") * 1000

    @property
    def serial_byte_us(self) -> float:
        """Time of one byte on the serial line between program and radio, in us; 0 where there is none."""
        if "serial_baud" not in self.figures:
            return 0.0
        return 1e6 * self.value("serial_bits_per_byte") / self.value("serial_baud")

    def with_figures(self, **values: float) -> Radio:
        """The same radio set otherwise, as its own commands can set it.

        Raises
        ------
        InputError
            A packet length outside the radio's range, an unknown figure, or one below 0.
        """
        figures = dict(self.figures)
        for name, value in values.items():
            if name not in figures:
                raise InputError(f"radio {self.name} has no figure '{name}'; known: {', '.join(figures)}")
            if not 0 <= value < float("inf"):  # nor a nan
                raise InputError(f"radio {self.name}: {name} is {value}; give 0 or more")
            figures[name] = replace(figures[name], value=value, source="set by the user")
        low, high = figures["packet_bytes_min"].value, figures["packet_bytes_max"].value
        if not low <= figures["packet_bytes"].value <= high:
            raise InputError(
                f"radio {self.name}: packets of {figures['packet_bytes'].value:g} bytes; "
                f"it takes {low:g} to {high:g}"
            )
        if figures["packet_bytes"].value % 1:
            raise InputError(f"radio {self.name}: a packet has a whole number of bytes")
        return replace(self, figures=figures)


def _figure(table: Table) -> SourcedNumber:
    figure = SourcedNumber(
        value=table.number("value", low=0), unit=table.text("unit"), source=table.text("source", filled=True)
    )
    table.done()
    return figure


def read_radio(path: Path) -> Radio:
    """Read and validate one descriptor.

    Raises
    ------
    InputError
        The file is not TOML, lacks a figure its formula needs, has one that no formula knows, or one
        without a source.
    """
    table = Table.read(path)
    name, title = table.text("name", filled=True), table.text("title", filled=True)
    air = table.text("air", choices=AIRS)
    note = table.text("note", "")
    entries = table.named_tables("figure", choices=(*COMMON, *OPTIONAL, *AIRS[air].figures))
    table.done()
    figures = {name: _figure(entry) for name, entry in entries.items()}
    for needed in (*COMMON, *AIRS[air].figures):
        if needed not in figures:
            raise InputError(f"{path}: figure '{needed}' is missing")
    if "serial_baud" in figures and "serial_bits_per_byte" not in figures:
        raise InputError(f"{path}: figure 'serial_bits_per_byte' is missing")
    if "duty_percent" in figures and not 0 < figures["duty_percent"].value <= 100:
        raise InputError(
            f"{path}: figure 'duty_percent' is {figures['duty_percent'].value:g}; expected above 0, up to 100"
        )
    for rate in ("air_rate_baud", "serial_baud", "bandwidth_hz", "packet_bytes_min"):
        if rate in figures and not figures[rate].value > 0:
            raise InputError(f"{path}: figure '{rate}' is {figures[rate].value:g}; expected a number above 0")
    return Radio(name=name, title=title, air=air, figures=figures, note=note).with_figures()


@cache
def _radios(folder: Path) -> Mapping[str, Radio]:
    radios: dict[str, Radio] = {}
    for path in sorted(folder.glob("*.toml")):
        radio = read_radio(path)
        if radio.name != path.stem:
            raise InputError(f"{path}: its radio is named '{radio.name}'; name the file {radio.name}.toml")
        radios[radio.name] = radio
    return radios


def radio_names(folder: Path = FOLDER) -> list[str]:
    """The names of all radios, sorted."""
    return sorted(_radios(folder))


def load_radio(name: str, folder: Path = FOLDER) -> Radio:
    """The radio of that name, or of that descriptor file (a path that ends in .toml).

    Raises
    ------
    InputError
        There is none of that name; the nearest names are in the message.
    """
    if name.endswith(".toml"):
        return read_radio(Path(name))
    radios = _radios(folder)
    if name not in radios:
        raise InputError(f"unknown radio '{name}'; known: {', '.join(sorted(radios))}; or a file.toml")
    return radios[name]
