"""Cryptographic hardware of chips as validated data: one file for a family in data/accelerators.

Every figure is published by others, with its source. The simulators do not have these blocks, so we measure
none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.catalog.places import DATA

FOLDER = DATA / "accelerators"
ALGORITHMS = ("AES", "SHA-256")
MODES = ("ECB", "CBC", "CFB", "OFB", "CTR", "CCM", "GCM")
UNITS = {
    "time": ("cycles", "us"),
    "throughput": ("KB/s", "MB/s"),
    "current": ("mA",),
    "limit": (),
    "attack": ("traces",),
}
"""Kinds of published facts, and the units of their values; a limit has no value, an attack may have one."""
PUBLISHED = "published, not measured"


@dataclass(frozen=True)
class PublishedFact:
    """One figure, limit or attack that others published of a block.

    Attributes
    ----------
    kind
        A key of `UNITS`.
    what
        What it holds for.
    value, unit
        The figure; None and an empty unit where there is none.
    """

    kind: str
    what: str
    value: int | float | None
    unit: str
    source: str


@dataclass(frozen=True)
class AcceleratorBlock:
    """One peripheral: what it computes, with which key lengths (in bits) and modes."""

    name: str
    algorithm: str
    key_bits: tuple[int, ...]
    modes: tuple[str, ...]
    decrypts: bool
    source: str
    published: tuple[PublishedFact, ...]


@dataclass(frozen=True)
class Accelerator:
    """What the chips that match one of the patterns `chips` have; no `blocks` where they have nothing."""

    title: str
    chips: tuple[str, ...]
    source: str
    blocks: tuple[AcceleratorBlock, ...] = ()

    @property
    def text(self) -> str:
        """The names of the blocks for people, such as "ECB, CCM"; "none" without any."""
        return ", ".join(block.name for block in self.blocks) or "none"

    @property
    def encrypts(self) -> bool:
        """Whether any block has a cipher, and not only a hash function."""
        return any(block.algorithm == "AES" for block in self.blocks)

    def covers(self, chip: str) -> bool:
        """Whether a chip, as a device's descriptor names it, is one of these."""
        return any(fnmatchcase(chip.upper(), pattern.upper()) for pattern in self.chips)


def read_accelerators(path: Path) -> tuple[Accelerator, ...]:
    """What one file describes: a family with its blocks, or chips without any.

    Raises
    ------
    InputError
        When a key is missing, unknown or wrong.
    """
    table = Table.read(path)
    title, source = table.text("title", filled=True), table.text("source")
    found = []
    blocks = tuple(_block(each) for each in table.tables("block", []))
    if blocks:
        found.append(Accelerator(title, _chips(table), source, blocks))
    for each in table.tables("without", []):
        found.append(Accelerator(title, _chips(each), each.text("source")))
        each.done()
    table.done()
    if not found:
        raise InputError(f"{path}: describes nothing; give [[block]], or [[without]] for chips without any")
    return tuple(found)


def _chips(table: Table) -> tuple[str, ...]:
    chips = table.texts("chips")
    if not chips or not all(chip.strip() for chip in chips):
        raise table.wrong("chips", list(chips), 'patterns of chips, such as ["nRF52840*"]')
    return chips


def _block(table: Table) -> AcceleratorBlock:
    algorithm = table.text("algorithm", choices=ALGORITHMS)
    keyed = algorithm == "AES"
    block = AcceleratorBlock(
        name=table.text("name", filled=True),
        algorithm=algorithm,
        key_bits=_key_bits(table) if keyed else (),
        modes=table.texts("modes", choices=MODES) if keyed else (),
        decrypts=table.flag("decrypts") if keyed else False,
        source=table.text("source"),
        published=tuple(_fact(each) for each in table.tables("published", [])),
    )
    table.done()
    return block


def _key_bits(table: Table) -> tuple[int, ...]:
    lengths = table.integers("key_bits")
    if not lengths or not set(lengths) <= {128, 192, 256}:
        raise table.wrong("key_bits", list(lengths), "some of 128, 192 and 256")
    return lengths


def _fact(table: Table) -> PublishedFact:
    kind = table.text("kind", choices=tuple(UNITS))
    units, unit = UNITS[kind], ""
    value: int | float | None = None
    if units:
        value = table.number("value", None if kind == "attack" else ..., above=0)
        value = int(value) if value is not None and value == int(value) else value
        unit = table.text("unit", "" if kind == "attack" else ..., choices=units)
    fact = PublishedFact(
        kind=kind,
        what=table.text("what", filled=True),
        value=value,
        unit=unit,
        source=table.text("source"),
    )
    table.done()
    if (value is None) != (not unit):
        raise InputError(f"{table.where}: give 'value' and 'unit', or neither of them")
    return fact


@cache
def accelerators() -> tuple[Accelerator, ...]:
    """All that ships, in the order of the files' names."""
    return tuple(found for path in sorted(FOLDER.glob("*.toml")) for found in read_accelerators(path))


def accelerator_of(chip: str) -> Accelerator | None:
    """What a chip has; None if no file covers it. Without blocks: a source shows that it has none."""
    return next((each for each in accelerators() if each.covers(chip)), None)
