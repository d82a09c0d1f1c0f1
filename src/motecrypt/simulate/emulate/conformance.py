"""How far a simulated chip is the chip, part by part: data/conformance.toml, read, checked and written out.

`run` and `profile` hand the notes of what is not modelled to the driver, which says each when a firmware
touches it (drivers/avr_run_watch.h); docs/fidelity.md has the whole list as a table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.catalog import DATA

STATES = ("modelled", "partly", "not modelled")


@dataclass(frozen=True)
class Unmodelled:
    """A block of registers that a firmware used though it, or this part of it, is not modelled.

    Parameters
    ----------
    address
        Where the block begins; on an AVR the register's address in the data space, of a RISC-V core's
        control register its number.
    name
        What the block is; "" where it has no name here.
    pc
        The instruction that used it first.
    function, file, line
        Where that is in the source; "" and 0 where it is not known.
    """

    address: int
    name: str
    pc: int
    reads: int
    writes: int
    function: str = ""
    file: str = ""
    line: int = 0

    @property
    def accesses(self) -> int:
        """How often it was read and written."""
        return self.reads + self.writes

    def __str__(self) -> str:
        """Its address, name, accesses, and where the first was."""
        name = f" {self.name}" if self.name else ""
        times = "1 access" if self.accesses == 1 else f"{self.accesses:,} accesses"
        function = f" in {self.function}" if self.function else ""
        source = f" ({Path(self.file).name}:{self.line})" if self.file else ""
        return f"{self.address:#010x}{name}: {times}, the first at {self.pc:#010x}{function}{source}"


@dataclass(frozen=True)
class Condition:
    """A register's bits `mask` equal `value`, or with None: one of them is set."""

    address: int
    mask: int
    value: int | None


@dataclass(frozen=True)
class Feature:
    """What one part of the chip does in the simulator.

    Parameters
    ----------
    state
        One of STATES; "modelled" only where `tests` has one that is counted by hand.
    by
        What it was checked against.
    bound
        The remaining error.
    note
        Printed once, when all of `when` holds; "" for none.
    unless
        The option of a free run that makes the note wrong.
    also
        Other chips with the same registers, for which the note is right.
    """

    part: str
    what: str
    state: str
    by: str
    bound: str
    tests: tuple[str, ...] = ()
    note: str = ""
    when: tuple[Condition, ...] = ()
    unless: str = ""
    also: tuple[str, ...] = ()


def features(chip: str) -> tuple[Feature, ...]:
    """The list of a chip, as devices name it; empty where there is none."""
    return tuple(feature for of, feature in read_features(DATA / "conformance.toml") if of == chip)


def read_features(path: Path) -> list[tuple[str, Feature]]:
    """Every feature of a file with the chip that it is of.

    Raises
    ------
    InputError
        The file is not as the head of data/conformance.toml says.
    """
    document = Table.read(path)
    rows = document.tables("feature")
    document.done()
    return [_read_feature(row) for row in rows]


def _read_feature(row: Table) -> tuple[str, Feature]:
    chip = row.text("chip", filled=True)
    feature = Feature(
        part=row.text("part", filled=True),
        what=row.text("what", filled=True),
        state=row.text("state", choices=STATES),
        by=row.text("by"),
        bound=row.text("bound"),
        tests=row.texts("tests", []),
        note=row.text("note", ""),
        when=tuple(_condition(text, row) for text in row.texts("when", [])),
        unless=row.text("unless", ""),
        also=tuple(row.texts("also", [])),
    )
    row.done()
    return chip, feature


def _condition(text: str, row: Table) -> Condition:
    try:
        address, mask, value = text.split(":")
        return Condition(int(address, 0), int(mask, 0), None if value == "any" else int(value, 0))
    except ValueError:
        raise row.wrong("when", text, "address:mask:value, as 0x55:0x12:any") from None


def watch_list(chip: str, given: Collection[str] = ()) -> str:
    """The notes as the driver reads them: a text, a tab, conditions, one line each.

    Parameters
    ----------
    given
        The options of this run; a note that one of them makes untrue is left out.
    """
    lines = []
    for of, feature in read_features(DATA / "conformance.toml"):
        if chip in (of, *feature.also) and feature.note and feature.unless not in given:
            conditions = (
                f"{c.address:#x}:{c.mask:#x}:{'any' if c.value is None else hex(c.value)}"
                for c in feature.when
            )
            lines.append(f"{feature.note}\t{' '.join(conditions)}\n")
    return "".join(lines)


def table(found: Sequence[Feature]) -> str:
    """The list as a Markdown table."""
    lines = ["| part | what | state | checked by | remaining error |", "|---|---|---|---|---|"]
    lines += [f"| {f.part} | {f.what} | {f.state} | {f.by} | {f.bound} |" for f in found]
    return "\n".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines) + "\n"
