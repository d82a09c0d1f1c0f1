"""What motecrypt.toml asks for: what is measured, on which devices, against which commit, the budgets."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.catalog.flags import checked_flags
from motecrypt.gate.figures import GROWING

FILE = "motecrypt.toml"
LENGTHS = (16, 64)
LENGTH_MAX = 65_535
NAME_CHARACTERS_MAX = 64


@dataclass(frozen=True)
class Growth:
    """How far a figure may grow (or battery days fall) from its base: by a share in per cent, or by a number
    of bytes, cycles or days."""

    percent: float | None
    absolute: float | None

    def limit(self, base: float, falls: bool = False) -> float:
        """The largest value (`falls`: the smallest) that is accepted."""
        room = base * (self.percent or 0.0) / 100 if self.absolute is None else self.absolute
        return base - room if falls else base + room

    @property
    def text(self) -> str:
        """As it is written in the file."""
        return f"{self.percent or 0:g}%" if self.absolute is None else f"{self.absolute:g}"


@dataclass(frozen=True)
class Budget:
    """Limits of the benchmarks whose names match one of the patterns.

    Attributes
    ----------
    most : the largest value of a measure.
    growth : how far a measure may grow from the base.
    battery_days : the smallest number of days; `battery_days_loss` how many may be lost from the base.
    constant_time : no variation of timing may be seen.
    """

    of: tuple[str, ...]
    most: dict[str, float]
    growth: dict[str, Growth]
    battery_days: float | None
    battery_days_loss: Growth | None
    constant_time: bool

    def covers(self, name: str) -> bool:
        """Whether it is for a benchmark of this name."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.of)


@dataclass(frozen=True)
class MeasuredEntry:
    """A library's folder or a cipher, and how it is measured. One of `folder` and `cipher` is empty.

    `ciphers` and `variants` choose of a library; `libraries` and `variants` of a cipher's implementations.
    """

    folder: str
    cipher: str
    ciphers: tuple[str, ...]
    libraries: tuple[str, ...]
    variants: tuple[str, ...]
    devices: tuple[str, ...]
    message_bytes: tuple[int, ...]
    ad_bytes: tuple[int, ...]
    key_bits: tuple[int, ...]
    placements: tuple[str, ...]
    flags: tuple[str, ...]
    toolchain: str


@dataclass(frozen=True)
class FirmwareEntry:
    """A firmware file, how it is built, until when it runs; `functions` are patterns: these have figures."""

    name: str
    file: str
    device: str
    build: tuple[str, ...]
    until: str
    max_seconds: float
    functions: tuple[str, ...]


@dataclass(frozen=True)
class BatteryEntry:
    """The use that battery days are computed for, in the words of `motecrypt advise`."""

    battery: str
    radio: str
    every: str
    regulator: str
    sleeps: bool


@dataclass(frozen=True)
class GatePlan:
    """A whole motecrypt.toml. `own_program`: the repository is motecrypt's own, and the base is measured by
    the program that it has itself."""

    file: Path
    base: str
    growth: Growth
    history: str
    measured: tuple[MeasuredEntry, ...]
    firmware: tuple[FirmwareEntry, ...]
    battery: BatteryEntry | None
    budgets: tuple[Budget, ...]
    own_program: bool = False

    @property
    def root(self) -> Path:
        """The folder of the file, from which its paths are."""
        return self.file.parent


def read_gate_plan(path: Path) -> GatePlan:
    """Read a motecrypt.toml.

    Raises
    ------
    InputError
        The file is not as it should be; the message names key and expected value.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file; write one (docs/ci.md) or name it with --config")
    table = Table.read(path)
    devices = table.texts("devices", [])
    battery = table.table("battery", {})
    plan = GatePlan(
        file=path.absolute(),
        base=table.text("base", ""),
        growth=_growth(table, "growth") or Growth(0.0, None),
        history=table.text("history", ""),
        measured=(
            *(_measured(entry, devices, "folder") for entry in table.tables("library", [])),
            *(_measured(entry, devices, "name") for entry in table.tables("cipher", [])),
        ),
        firmware=tuple(_firmware(entry, devices) for entry in table.tables("firmware", [])),
        battery=_battery(battery) if battery.plain() else None,
        budgets=tuple(_budget(entry) for entry in table.tables("budget", [])),
        own_program=table.flag("own_program", False),
    )
    table.done()
    if not plan.measured and not plan.firmware:
        raise InputError(f"{path}: nothing to measure; add [[library]], [[cipher]] or [[firmware]]")
    names = [entry.name for entry in plan.firmware]
    if len(set(names)) < len(names):
        raise InputError(f"{path}: two [[firmware]] have one name; give each its own 'name'")
    return plan


def _measured(entry: Table, devices: tuple[str, ...], key: str) -> MeasuredEntry:
    named = entry.text(key, filled=True)
    own = entry.texts("devices", devices)
    if not own:
        raise InputError(f'{entry.where}: no devices; add devices = ["uno"], here or at the top')
    read = MeasuredEntry(
        folder=named if key == "folder" else "",
        cipher=named if key == "name" else "",
        ciphers=entry.texts("ciphers", []) if key == "folder" else (),
        libraries=entry.texts("libraries", []) if key == "name" else (),
        variants=entry.texts("variants", []),
        devices=own,
        message_bytes=_lengths(entry, "bytes", LENGTHS),
        ad_bytes=_lengths(entry, "ad_bytes", (0,)),
        key_bits=_lengths(entry, "key_bits", ()),
        placements=entry.texts("placements", []),
        flags=checked_flags(entry.texts("flags", []), entry.where),
        toolchain=entry.text("toolchain", ""),
    )
    entry.done()
    return read


def _lengths(entry: Table, key: str, usual: tuple[int, ...]) -> tuple[int, ...]:
    lengths = entry.integers(key, usual)
    for length in lengths:
        if not 0 <= length <= LENGTH_MAX:
            raise entry.wrong(key, length, f"whole numbers from 0 to {LENGTH_MAX:,}")
    return lengths


def _firmware(entry: Table, devices: tuple[str, ...]) -> FirmwareEntry:
    read = FirmwareEntry(
        name=entry.text("name", filled=True),
        file=entry.text("file", filled=True),
        device=entry.text("device", devices[0] if len(devices) == 1 else ..., filled=True),
        build=entry.texts("build", []),
        until=entry.text("until", ""),
        max_seconds=entry.number("max_seconds", 10.0, above=0, high=86_400),
        functions=entry.texts("functions", []),
    )
    if "/" in read.name or len(read.name) > NAME_CHARACTERS_MAX:
        raise entry.wrong(
            "name", read.name, f"a name without '/', of at most {NAME_CHARACTERS_MAX} characters"
        )
    entry.done()
    return read


def _battery(table: Table) -> BatteryEntry:
    read = BatteryEntry(
        battery=table.text("battery", filled=True),
        radio=table.text("radio", filled=True),
        every=table.text("every", filled=True),
        regulator=table.text("regulator", "none"),
        sleeps=table.flag("sleeps", False),
    )
    table.done()
    return read


def _budget(entry: Table) -> Budget:
    most = {measure: entry.number(measure, None, low=0) for measure in GROWING}
    growth = {measure: _growth(entry, f"{measure}_growth") for measure in GROWING}
    budget = Budget(
        of=entry.text_or_texts("of", ["*"]),
        most={measure: value for measure, value in most.items() if value is not None},
        growth={measure: value for measure, value in growth.items() if value is not None},
        battery_days=entry.number("battery_days", None, above=0),
        battery_days_loss=_growth(entry, "battery_days_loss"),
        constant_time=entry.flag("constant_time", False),
    )
    entry.done()
    return budget


def _growth(table: Table, key: str) -> Growth | None:
    """A growth: "2%", or a whole number of the measure's unit."""
    expected = 'a growth such as "2%", or a number of bytes, cycles or days'
    values = table.plain()
    if key not in values:
        table.text(key, "")  # known to the table
        return None
    value = values[key]
    if isinstance(value, str):
        text = table.text(key).strip()
        share = text.removesuffix("%").strip()
        if text.endswith("%") and share.replace(".", "", 1).isdigit() and share.isascii():
            return Growth(float(share), None)
        raise table.wrong(key, value, expected)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise table.wrong(key, value, expected)
    return Growth(None, table.number(key, low=0))
