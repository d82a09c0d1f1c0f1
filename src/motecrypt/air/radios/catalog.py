"""Radios as validated data: one file each in data/radios, every figure with its unit and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from motecrypt.air.radios.air import AIRS
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError

FOLDER = Path(__file__).resolve().parents[2] / "data" / "radios"

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
ACCESS: dict[str, tuple[str, ...]] = {
    "aloha": (),
    "listen": ("cca_turn_us",),
    "csma-ca": (
        *("cca_us", "cca_turn_us", "packet_space_us"),
        *("backoff_slot_us", "backoff_exponent_min", "backoff_exponent_max", "backoffs_max"),
    ),
    "dcf": ("cca_us", "difs_us", "backoff_slot_us", "backoff_slots"),
}
"""How a radio accesses a shared channel (medium.py), and the figures that each method needs."""
SHARING = ("capture_db", "sensitivity_dbm", "cca_dbm")
"""Figures of sharing that any radio may have."""
BACKOFF_MAX = 65_535
EXPONENT_MAX = 16
OPTIONAL = ("serial_baud", "serial_bits_per_byte", "timeout_ms_new", "sleep_ma", "wake_us", "duty_percent")


@dataclass(frozen=True)
class SourcedNumber:
    """One number from outside, with its unit and where it was read."""

    value: float
    unit: str
    source: str


@dataclass(frozen=True)
class ChannelSharing:
    """What counts when more than two share a channel.

    Attributes
    ----------
    access : str
        How the radio gets access to the channel: a key of `ACCESS`.
    figures : Mapping[str, SourcedNumber]
        What the way of access needs, and the known figures of `SHARING`. `capture_db`: by how many dB a
        packet must be stronger than the other signals to survive them. `sensitivity_dbm` and `cca_dbm`: the
        levels from which a packet is received and the channel counts as busy.
    """

    access: str = "aloha"
    figures: Mapping[str, SourcedNumber] = field(default_factory=dict)

    def value(self, figure: str) -> float:
        """The number of that name; KeyError where there is none."""
        return self.figures[figure].value

    def known(self, figure: str) -> float | None:
        """The number of that name, if it is known."""
        found = self.figures.get(figure)
        return None if found is None else found.value


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
    sharing : ChannelSharing
        How it shares a channel with others.
    file : Path or None
        The user's own descriptor; None for a radio of ours.
    """

    name: str
    title: str
    air: str
    figures: Mapping[str, SourcedNumber]
    note: str = ""
    sharing: ChannelSharing = ChannelSharing()
    file: Path | None = field(default=None, compare=False)

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
    def is_serial(self) -> bool:
        """Whether programs reach it by bytes on a serial line; else it needs a bridge."""
        return "serial_baud" in self.figures

    @property
    def serial_byte_us(self) -> float:
        """Time of one byte on the serial line between program and radio, in us; 0 where there is none."""
        if not self.is_serial:
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


def _figure(table: Table, low: float | None = 0) -> SourcedNumber:
    value, unit = table.number("value", low=low), table.text("unit")
    figure = SourcedNumber(value, unit, table.text("source"))
    table.done()
    return figure


def _sharing(table: Table, where: str) -> ChannelSharing:
    access = table.text("access", choices=ACCESS)
    entries = table.named_tables("figure", {}, choices=(*SHARING, *ACCESS[access]))
    table.done()
    figures = {name: _figure(entry, None if name.endswith("_dbm") else 0) for name, entry in entries.items()}
    for needed in ACCESS[access]:
        if needed not in figures:
            raise InputError(f"{where}: sharing figure '{needed}' is missing; access '{access}' needs it")
    for whole in ("backoff_exponent_min", "backoff_exponent_max", "backoffs_max", "backoff_slots"):
        if whole in figures and (figures[whole].value % 1 or figures[whole].value > BACKOFF_MAX):
            raise InputError(
                f"{where}: sharing figure '{whole}' is {figures[whole].value:g}; "
                f"expected a whole number up to {BACKOFF_MAX:,}"
            )
    if access == "csma-ca":
        low, high = (int(figures[f"backoff_exponent_{end}"].value) for end in ("min", "max"))
        if not low <= high <= EXPONENT_MAX:
            raise InputError(
                f"{where}: back-off exponents from {low} to {high}; expected a range up to {EXPONENT_MAX}"
            )
    return ChannelSharing(access, figures)


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
    sharing = _sharing(table.table("sharing", {"access": "aloha"}), str(path))
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
    radio = Radio(name=name, title=title, air=air, figures=figures, note=note, sharing=sharing)
    return radio.with_figures()


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


def load_radio(name: str, packet_bytes: int | None = None, folder: Path = FOLDER) -> Radio:
    """The radio of that name, or of that descriptor file (a path that ends in .toml), with packets of that
    length; None: its own.

    Raises
    ------
    InputError
        There is none of that name; the nearest names are in the message.
    """
    if name.endswith(".toml"):
        radio = replace(read_radio(Path(name)), file=Path(name))
    elif (known := _radios(folder).get(name)) is None:
        raise InputError(
            f"unknown radio '{name}'; known: {', '.join(sorted(_radios(folder)))}; or a file.toml"
        )
    else:
        radio = known
    return radio if packet_bytes is None else radio.with_figures(packet_bytes=packet_bytes)
