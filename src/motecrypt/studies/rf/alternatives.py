"""What users would take instead of the link: bytes of a frame, costs on a chip, guarantees.

Figures and properties are those of data/alternatives.toml, each with its source.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from motecrypt.base.descriptor import Table
from motecrypt.base.model import Section
from motecrypt.catalog.places import DATA

FILE = DATA / "alternatives.toml"
PAYLOADS = (6, 24)
PROPERTIES = ("integrity", "replay", "reboot", "direction")


@dataclass(frozen=True)
class SourcedProperty:
    """What holds, and where that was read."""

    holds: str
    source: str


@dataclass(frozen=True)
class Alternative:
    """One way to protect a reading.

    Attributes
    ----------
    head_bytes, block_bytes : added to a payload, which is filled to whole blocks; 0: it is not.
    frame, source : what these bytes are, and where that was read.
    chip, chip_source : flash and RAM, or why they are not known.
    properties : by the names of `PROPERTIES`.
    """

    name: str
    title: str
    head_bytes: int
    block_bytes: int
    frame: str
    source: str
    chip: str
    chip_source: str
    properties: dict[str, SourcedProperty]

    def frame_bytes(self, payload: int) -> int:
        """Bytes for a payload, without those that the radio adds."""
        whole = payload + self.head_bytes
        return whole if not self.block_bytes else -(-whole // self.block_bytes) * self.block_bytes


def read(path: Path) -> tuple[Alternative, ...]:
    """The alternatives in a file; InputError for what is not as it should be."""
    table = Table.read(path)
    found = []
    for name, entry in table.named_tables("alternative").items():
        kept = {}
        for each in PROPERTIES:
            part = entry.table(each)
            kept[each] = SourcedProperty(part.text("is", filled=True), part.text("source"))
            part.done()
        found.append(
            Alternative(
                name=name,
                title=entry.text("title", filled=True),
                head_bytes=entry.integer("head_bytes", low=1),
                block_bytes=entry.integer("block_bytes", 0, low=0),
                frame=entry.text("frame", filled=True),
                source=entry.text("source"),
                chip=entry.text("chip", filled=True),
                chip_source=entry.text("chip_source"),
                properties=kept,
            )
        )
        entry.done()
    table.done()
    return tuple(found)


@cache
def alternatives() -> tuple[Alternative, ...]:
    """Those that come with the program."""
    return read(FILE)


def table() -> list[dict[str, Any]]:
    """Each as a plain record, with its sources."""
    return [
        {
            "name": each.name,
            "title": each.title,
            **{f"frame_bytes_of_{payload}": each.frame_bytes(payload) for payload in PAYLOADS},
            "frame": each.frame,
            "frame_source": each.source,
            "chip": each.chip,
            "chip_source": each.chip_source,
            **{name: vars(each.properties[name]) for name in PROPERTIES},
        }
        for each in alternatives()
    ]


def sections() -> list[Section]:
    """What each adds and guarantees, and where that was read."""
    lengths = tuple(f"{payload} bytes" for payload in PAYLOADS)
    guarantees = [
        [
            each.title,
            *(str(each.frame_bytes(payload)) for payload in PAYLOADS),
            *(each.properties[name].holds for name in PROPERTIES),
            each.chip,
        ]
        for each in alternatives()
    ]
    sources = []
    for each in alternatives():
        sources.append([each.title, "bytes", each.frame, each.source])
        sources += [[each.title, name, "", each.properties[name].source] for name in PROPERTIES]
        if each.chip_source:
            sources.append([each.title, "chip", "", each.chip_source])
    text = "Bytes of a frame with a reading of that length, without what the radio itself adds."
    return [
        Section(
            "What users would take instead", ("instead", *lengths, *PROPERTIES, "of a chip"), guarantees, text
        ),
        Section("Where that was read", ("instead", "of", "what", "source"), sources),
    ]
