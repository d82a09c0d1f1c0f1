"""What the records compare, from data/records/records.toml. Measures nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from motecrypt.catalog import Catalog
from motecrypt.catalog.places import DATA
from motecrypt.descriptor import Table
from motecrypt.model import Device

FILE = DATA / "records" / "records.toml"
#: The lengths of message in bytes at which implementations are compared.
LENGTHS = (16, 64, 256)
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
class RecordPlan:
    """The devices and ciphers, the toolchain for each compiler that devices name, and the public code."""

    device_names: tuple[str, ...]
    ciphers: tuple[str, ...]
    toolchains: dict[str, str]
    public: tuple[PublicCode, ...]

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


def cache_of(device: Device) -> str:
    """The state of the flash cache at which implementations are compared: warm where there is a cache."""
    caches = device.placements["flash"].caches
    return next((cache for cache in caches if cache in ("none", "warm")), caches[0])
