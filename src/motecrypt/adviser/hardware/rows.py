"""Published figures of real chips (`data/published/hardware_rows.csv`), and which device models which
chip (`data/hardware.toml`)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.catalog.places import DATA

ROWS_FILE = DATA / "published" / "hardware_rows.csv"
SETTINGS_FILE = DATA / "hardware.toml"
ASSEMBLY = ("asm", "ASM")
UNITS = ("cycles", "cycles_per_byte", "us")


@dataclass(frozen=True)
class HardwareRow:
    """One published figure of a real chip.

    Attributes
    ----------
    value
        As printed, in `unit`: cycles, cycles_per_byte or us.
    resolution
        Steps of the clock that it was read from, in `unit`; 0 where none is known.
    clock_mhz
        0 where it is not printed.
    mark
        Why it is not scored: "simulated", "inconsistent" or "origin unknown"; empty where it may be.
    """

    id: str
    chip: str
    clock_mhz: float
    wait_states: str
    code: str
    language: str
    flags: str
    cipher: str
    operation: str
    message_bytes: str
    ad_bytes: str
    value: float
    unit: str
    resolution: float
    mark: str
    source: str
    note: str

    @property
    def assembly(self) -> bool:
        """Whether no compiler has a say in the code."""
        return self.language in ASSEMBLY

    @property
    def bytes(self) -> int:
        """Message and associated data together; 0 where the row prints neither."""
        return int(self.message_bytes or 0) + int(self.ad_bytes or 0)

    @property
    def series(self) -> tuple[str, ...]:
        """What rows have in common that differ in their lengths only."""
        return (self.chip, self.code, self.flags, self.cipher, self.operation, self.unit, self.source)

    @property
    def measured(self) -> tuple[str, ...]:
        """What was measured: no two rows are of the same."""
        clock = f"{self.clock_mhz:g}"
        return (*self.series, self.wait_states, clock, self.message_bytes, self.ad_bytes)

    @property
    def title(self) -> str:
        """The cipher, what was done, and with how many bytes."""
        parts = [self.cipher, self.operation]
        parts += [f"{self.message_bytes} bytes"] if self.message_bytes else []
        parts += [f"{self.ad_bytes} of associated data"] if self.ad_bytes not in ("", "0") else []
        return ", ".join(parts)

    def in_unit(self, cycles: float) -> float:
        """Cycles of ours in the row's unit; ours are by byte already where the row's are."""
        return cycles / self.clock_mhz if self.unit == "us" else cycles


@dataclass(frozen=True)
class Chip:
    """A chip of the rows, the device that models it, and the class of its memory.

    `wait_states` are beginnings of what the rows print of the memory, where the device models only some.
    """

    name: str
    device: str
    memory: str
    wait_states: tuple[str, ...] = ()

    def is_of(self, row: HardwareRow) -> bool:
        """Whether the row was measured on this chip, with such a memory."""
        fits = not self.wait_states or any(_begins(row.wait_states, each) for each in self.wait_states)
        return row.chip == self.name and fits


def _begins(text: str, beginning: str) -> bool:
    return text.startswith(beginning) if beginning else not text


@dataclass(frozen=True)
class Goal:
    """What the residuals of a class of memory should come to, as shares."""

    median: float
    percentile_95: float


@dataclass(frozen=True)
class Training:
    """Code that was looked at while a device's model was made: by the beginning of its name."""

    device: str
    codes: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Excluded:
    """Code whose rows are compared, but not scored, for a reason that is not in the model."""

    codes: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class LengthDifference:
    """Code whose rows are scored by differences of lengths: each less the shortest of its series."""

    codes: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Variant:
    """A toolchain with flags, for what other releases of one of its compilers do otherwise."""

    toolchain: str
    compiler: str
    flags: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class KnownCompiler:
    """Our toolchain of the release series that compiled a source's rows on a device."""

    device: str
    codes: tuple[str, ...]
    toolchain: str
    reason: str


@dataclass(frozen=True)
class Cause:
    """Why rows of some code on a device differ, as far as it is known."""

    device: str
    codes: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Parameter:
    """A cost that no manual states."""

    device: str
    name: str
    value: str
    fitted: bool
    source: str


@dataclass(frozen=True)
class StudyRules:
    """What was laid down for the study: which rows count, and how."""

    compilers: float
    toolchains: tuple[str, ...]
    variants: tuple[Variant, ...]
    compilers_known: tuple[KnownCompiler, ...]
    chips: tuple[Chip, ...]
    goals: Mapping[str, Goal]
    training: tuple[Training, ...]
    parameters: tuple[Parameter, ...]
    causes: tuple[Cause, ...]
    excluded: tuple[Excluded, ...]
    differences: tuple[LengthDifference, ...]

    def by_difference(self, code: str) -> bool:
        """Whether rows of this code are scored by differences of lengths."""
        return any(code.startswith(each.codes) for each in self.differences)

    def compiler_of(self, device: str, row: HardwareRow) -> str:
        """The toolchain that compiles as the row's source did; empty for assembly, or if it is unknown."""
        found = (
            each.toolchain
            for each in self.compilers_known
            if each.device == device and row.code.startswith(each.codes) and not row.assembly
        )
        return next(found, "")

    def chip_of(self, row: HardwareRow) -> Chip | None:
        """What models the chip of a row, or None where nothing does."""
        return next((chip for chip in self.chips if chip.is_of(row)), None)

    def trained(self, device: str, code: str) -> str:
        """Why a row's code is not scored on a device: it was seen; empty where it was not."""
        for each in self.training:
            if each.device == device and code.startswith(each.codes):
                return each.reason
        return ""

    def left_out(self, code: str) -> bool:
        """Whether rows of this code are compared without being scored."""
        return any(code.startswith(each.codes) for each in self.excluded)

    def cause_of(self, device: str, code: str) -> str:
        """Why a row of this code differs; empty where it is not known."""
        found = (
            each.text for each in self.causes if each.device in ("", device) and code.startswith(each.codes)
        )
        return next(found, "")


# Long: one file, key by key.
def read_settings(path: Path) -> StudyRules:
    """The settings of the study; InputError when the file is not as it should be."""
    table = Table.read(path)
    limits = table.table("limits")
    compilers = limits.number("compilers", low=0, high=1)
    toolchains = limits.texts("toolchains")
    limits.done()
    variants = []
    for entry in table.tables("variant", []):
        toolchain, compiler = entry.text("toolchain", choices=toolchains), entry.text("compiler", filled=True)
        reason = entry.text("reason", filled=True)
        variants.append(Variant(toolchain, compiler, entry.texts("flags"), reason))
        entry.done()
    known = []
    for entry in table.tables("compiler", []):
        device, codes = entry.text("device"), entry.texts("codes")
        toolchain = entry.text("toolchain", choices=toolchains)
        reason = entry.text("reason", filled=True)
        known.append(KnownCompiler(device, codes, toolchain, reason))
        entry.done()
    goals = {}
    for name, entry in table.named_tables("memory").items():
        goals[name] = Goal(entry.number("median", above=0), entry.number("percentile_95", above=0))
        entry.done()
    chips, training, parameters = [], [], []
    for entry in table.tables("chip"):
        name, device = entry.text("name"), entry.text("device")
        memory, waits = entry.text("memory", choices=tuple(goals)), entry.texts("wait_states", [])
        chips.append(Chip(name, device, memory, waits))
        entry.done()
    for entry in table.tables("training", []):
        seen = Training(entry.text("device"), entry.texts("codes"), entry.text("reason", filled=True))
        training.append(seen)
        entry.done()
    for entry in table.tables("parameter", []):
        parameters.append(
            Parameter(
                entry.text("device"),
                entry.text("name"),
                entry.text("value"),
                entry.flag("fitted"),
                entry.text("source"),
            )
        )
        entry.done()
    causes = []
    for entry in table.tables("cause", []):
        causes.append(Cause(entry.text("device", ""), entry.texts("codes"), entry.text("text", filled=True)))
        entry.done()
    excluded, differences = [], []
    for entry in table.tables("excluded", []):
        excluded.append(Excluded(entry.texts("codes"), entry.text("reason", filled=True)))
        entry.done()
    for entry in table.tables("difference", []):
        differences.append(LengthDifference(entry.texts("codes"), entry.text("reason", filled=True)))
        entry.done()
    table.done()
    return StudyRules(
        compilers,
        toolchains,
        tuple(variants),
        tuple(known),
        tuple(chips),
        goals,
        tuple(training),
        tuple(parameters),
        tuple(causes),
        tuple(excluded),
        tuple(differences),
    )


@cache
def settings() -> StudyRules:
    """The settings that came with the program."""
    return read_settings(SETTINGS_FILE)


def read_rows(path: Path) -> dict[str, HardwareRow]:
    """The rows of a file by id; lines that begin with # are comments.

    Raises
    ------
    InputError
        A row lacks a column, a number is none, or two rows are of one message.
    """
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found: dict[str, HardwareRow] = {}
    measured: dict[tuple[str, ...], str] = {}
    for entry in csv.DictReader(lines):
        try:
            row = HardwareRow(
                clock_mhz=float(entry.pop("clock_mhz") or 0),
                value=float(entry.pop("value")),
                resolution=float(entry.pop("resolution") or 0),
                **{name: entry[name] for name in _TEXTS},
            )
        except (KeyError, ValueError, TypeError) as error:
            raise InputError(f"{path}: row {entry.get('id', '?')} is not complete: {error}") from None
        if row.unit not in UNITS or (row.unit == "us" and not row.clock_mhz):
            raise InputError(f"{path}: row {row.id} has no unit that ours can be given in")
        first = measured.setdefault(row.measured, row.id)
        if first != row.id:
            raise InputError(f"{path}: rows {first} and {row.id} are of the same message; leave one out")
        found[row.id] = row
    return found


_TEXTS = (
    *("id", "chip", "wait_states", "code", "language", "flags", "cipher", "operation"),
    *("message_bytes", "ad_bytes", "unit", "mark", "source", "note"),
)


@cache
def rows() -> dict[str, HardwareRow]:
    """The published rows that came with the program, by id."""
    return read_rows(ROWS_FILE)


@cache
def _shortest() -> dict[tuple[str, ...], HardwareRow]:
    found: dict[tuple[str, ...], HardwareRow] = {}
    for row in rows().values():
        if not row.mark and (row.series not in found or row.bytes < found[row.series].bytes):
            found[row.series] = row
    return found


def shortest(row: HardwareRow) -> HardwareRow:
    """The row of the same series with the fewest bytes that may be scored; itself where there is none."""
    return _shortest().get(row.series, row)
