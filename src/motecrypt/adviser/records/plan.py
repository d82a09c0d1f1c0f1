"""What the records compare, from data/records/records.toml. Measures nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.descriptor import Table
from motecrypt.base.energy import settled
from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.catalog.places import DATA

FILE = DATA / "records" / "records.toml"
#: The lengths of message in bytes at which implementations are compared.
LENGTHS = (16, 64, 256)
#: The length of the message whose energy is shown.
ENERGY_BYTES = 64
#: Owner of the implementations that are ours.
OURS = "motecrypt"


@dataclass(frozen=True)
class PublicCode:
    """Public code that no package client brings; `library` is the name of its adapter's folder."""

    library: str
    title: str
    repository: str
    commit: str
    note: str

    @property
    def folder(self) -> str:
        """Where its adapter is, from the root of the repository."""
        return f"benchmarks/public/{self.library}"


@dataclass(frozen=True)
class PublishedCycles:
    """What the authors of public code measured on a chip, of a function that our firmware cannot call.

    `library` is that of a `PublicCode`, and `source` a file of its repository. `cycles` are for
    `message_bytes` bytes. `device` is the nearest of ours, `cipher` the one whose cycles for each further
    byte are compared, `ours` the implementation to compare with (empty: the fastest).
    """

    library: str
    what: str
    cipher: str
    device: str
    cycles: float
    message_bytes: int
    condition: str
    source: str
    ours: str = ""


@dataclass(frozen=True)
class RecordPlan:
    """The devices and ciphers, the toolchain for each compiler that devices name, the public code, and what
    its authors published."""

    device_names: tuple[str, ...]
    ciphers: tuple[str, ...]
    toolchains: dict[str, str]
    public: tuple[PublicCode, ...]
    published: tuple[PublishedCycles, ...] = ()

    def toolchain_of(self, device: Device) -> str:
        """The toolchain of a device's figures; empty where the system's own compiler makes them."""
        return self.toolchains.get(device.compiler.command, "")

    def devices(self, catalog: Catalog) -> list[Device]:
        """The devices, in the order of the file.

        Raises
        ------
        InputError
            The catalog has none of that name.
        """
        return [catalog.device(name) for name in self.device_names]


def read_plan(path: Path = FILE) -> RecordPlan:
    """Read the plan.

    Raises
    ------
    InputError
        The file is not as it should be; the message names key and expected value.
    """
    table = Table.read(path)
    toolchains = table.table("toolchain")
    plan = RecordPlan(
        device_names=table.texts("devices"),
        ciphers=table.texts("ciphers"),
        toolchains={name: str(value) for name, value in toolchains.plain().items()},
        public=tuple(_public(entry) for entry in table.tables("public")),
        published=tuple(_published(entry) for entry in table.tables("published")),
    )
    table.done()
    return plan


def _public(entry: Table) -> PublicCode:
    code = PublicCode(
        library=entry.text("library"),
        title=entry.text("title"),
        repository=entry.text("repository"),
        commit=entry.text("commit"),
        note=entry.text("note"),
    )
    entry.done()
    return code


def _published(entry: Table) -> PublishedCycles:
    figure = PublishedCycles(
        library=entry.text("library"),
        what=entry.text("what"),
        cipher=entry.text("cipher"),
        device=entry.text("device"),
        cycles=entry.number("cycles", above=0),
        message_bytes=entry.integer("bytes", low=1),
        condition=entry.text("condition"),
        source=entry.text("source"),
        ours=entry.text("ours", ""),
    )
    entry.done()
    return figure


def cache_of(device: Device) -> str:
    """The state of the flash cache at which implementations are compared: warm where there is a cache."""
    return settled(device.placements["flash"].caches)
