"""A sweep's plan: a TOML file of what to measure in every combination, and what to leave out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.app.measure import MeasurePlan
from motecrypt.app.plan import flags_of, planned, public_key_cells, toolchains_by_device
from motecrypt.app.selection import is_path, parse_lengths, select
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell
from motecrypt.catalog import DEVICE

_ASKED: Mapping[str, Callable[[Cell], str | int]] = {
    "device": lambda cell: cell.device,
    "cipher": lambda cell: cell.implementation.cipher,
    "library": lambda cell: cell.implementation.library,
    "variant": lambda cell: cell.implementation.variant,
    "placement": lambda cell: cell.placement,
    "toolchain": lambda cell: cell.toolchain,
    "flags": lambda cell: " ".join(cell.flags),
    "bytes": lambda cell: cell.message_bytes,
    "ad_bytes": lambda cell: cell.ad_bytes,
    "key_bits": lambda cell: cell.key_bits,
}
"""What an exclusion can name, and what a cell has there."""
_NUMBERS = ("bytes", "ad_bytes", "key_bits")


@dataclass(frozen=True)
class SweepPlan(MeasurePlan):
    """The cells of a sweep; `left_out`: how many its exclusions left out."""

    title: str = ""
    left_out: int = 0


def read_plan(path: Path) -> SweepPlan:
    """Read a plan.

    Raises
    ------
    InputError
        The file is not a plan, a part of it names nothing that there is, or an exclusion leaves nothing out.
    """
    table = Table.read(path)
    title = table.text("title", path.stem)
    parts = table.tables("sweep")
    excluded = [_exclusion(entry) for entry in table.tables("exclude", [])]
    table.done()
    if not parts:
        raise InputError(f"{path}: no [[sweep]]; a plan has at least one")
    folder = path.parent
    read = [_Part.read(part, folder) for part in parts]
    cells = dict.fromkeys(cell for part in read for cell in part.cells())
    chosen = select(*([name for part in read for name in part.named[i]] for i in range(5)))
    left = list(cells)
    for where, exclusion in excluded:
        before = len(left)
        left = [cell for cell in left if not _matches(cell, exclusion)]
        if len(left) == before:
            raise InputError(f"{where}: leaves nothing out; correct or delete it")
    if not left:
        raise InputError(f"{path}: the exclusions leave nothing to measure")
    out = len(cells) - len(left)
    return SweepPlan(tuple(left), chosen.catalog, chosen, title=title, left_out=out)


@dataclass(frozen=True)
class _Part:
    """One [[sweep]]; `named` has its ciphers, libraries, devices, toolchains and public-key algorithms."""

    where: str
    named: tuple[list[str], ...]
    variants: Sequence[str]
    placements: Sequence[str]
    flags: Sequence[str]
    message_bytes: Sequence[int]
    ad_bytes: Sequence[int]
    key_bits: Sequence[int]

    @classmethod
    def read(cls, part: Table, folder: Path) -> _Part:
        ciphers, libraries = part.texts("ciphers", []), part.texts("libraries", [])
        devices, toolchains = part.texts("devices", [DEVICE]), part.texts("toolchains", [])
        public_keys = part.texts("public_keys", [])
        if public_keys and (ciphers or "key_bits" in part.plain() or "ad_bytes" in part.plain()):
            raise InputError(
                f"{part.where}: 'public_keys' cannot be combined with ciphers, key_bits or ad_bytes"
            )
        made = cls(
            where=part.where,
            named=tuple(
                _from(folder, names) for names in (ciphers, libraries, devices, toolchains, public_keys)
            ),
            variants=part.texts("variants", []),
            placements=part.texts("placements", []),
            flags=part.texts("flags", [""]),
            message_bytes=parse_lengths(part.text("bytes", "16"), f"{part.where}: bytes"),
            ad_bytes=parse_lengths(part.text("ad_bytes", "0"), f"{part.where}: ad_bytes"),
            key_bits=part.integers("key_bits", []),
        )
        part.done()
        if not ciphers and not libraries and not public_keys:
            raise InputError(f"{part.where}: no 'ciphers', 'public_keys' or 'libraries'; say what to measure")
        return made

    def cells(self) -> list[Cell]:
        """Its cells."""
        try:
            own = select(*self.named)
            flag_sets = [flags_of(text, "flags") if text else () for text in self.flags]
            how = (flag_sets, toolchains_by_device(own))
            what = (own, self.variants, self.message_bytes, self.placements)
            if own.public_keys:
                return public_key_cells(*what, *how)
            return planned(*what, self.ad_bytes, self.key_bits, *how)
        except InputError as error:
            raise InputError(f"{self.where}: {error}") from error


def _from(folder: Path, names: Sequence[str]) -> list[str]:
    """Names as they are; paths from the folder of the plan."""
    return [str(folder / name) if is_path(name) else name for name in names]


def _exclusion(entry: Table) -> tuple[str, dict[str, tuple[str | int, ...]]]:
    asked: dict[str, tuple[str | int, ...]] = {}
    for key in _ASKED:
        values = entry.integers(key, []) if key in _NUMBERS else entry.text_or_texts(key, [])
        if values:
            asked[key] = tuple(values)
    entry.done()
    if not asked:
        raise InputError(f"{entry.where}: names nothing; write at least one of {', '.join(_ASKED)}")
    return entry.where, asked


def _matches(cell: Cell, exclusion: Mapping[str, Sequence[str | int]]) -> bool:
    return all(_ASKED[key](cell) in values for key, values in exclusion.items())
