"""Reads a library's folder: its library.toml next to adapters, one for each cipher that it offers."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from motecrypt.base.descriptor import Table
from motecrypt.base.model import OPERATIONS, Cipher, Implementation, Operation
from motecrypt.catalog.ciphers import cipher_defines, key_bytes, known_cores
from motecrypt.catalog.flags import checked_flags
from motecrypt.catalog.publickey import PublicKeyAlgorithm, PublicKeyEntry, Shared


@dataclass(frozen=True)
class Library:
    """A library as its folder describes it; `fetched` when its source comes through a package client."""

    name: str
    title: str
    version: str
    licence: str
    folder: Path
    fetched: bool
    note: str


# Long: one file, key by key; each entry once for each configuration and cipher.
def read_library_folder(
    folder: Path,
    ciphers: Mapping[str, Cipher],
    cores: Collection[str],
    public_keys: Mapping[str, PublicKeyAlgorithm] = MappingProxyType({}),
) -> tuple[Library, list[Implementation]]:
    """The library of a folder and its implementations, those of public-key algorithms last; `cores` are those
    that the devices have."""
    table = Table.read(folder / "library.toml")
    library = Library(
        name=table.text("name", folder.name),
        title=table.text("title"),
        version=table.text("version", ""),
        licence=table.text("licence", ""),
        folder=folder,
        fetched=bool(table.tables("source", [])),
        note=table.text("note", ""),
    )
    shared_sources = table.texts("sources", [])
    shared_include = table.texts("include", [])
    shared_defines = table.texts("defines", [])
    shared_flags = checked_flags(table.texts("c_flags", []), table.where)
    configurations = table.named_tables("configuration", {"default": {}})
    entries = table.tables("implementation", [])
    agreed = [PublicKeyEntry.read(entry, cores) for entry in table.tables("public_key", [])]
    table.done()
    shared = Shared(
        library=library.name,
        folder=folder,
        sources=shared_sources,
        include=shared_include,
        defines=shared_defines,
        c_flags=shared_flags,
        fetched=library.fetched,
        note=library.note,
    )
    described = [_LibraryEntry.read(entry, cores) for entry in entries]
    made: list[Implementation] = []
    for configuration, options in configurations.items():
        defines = options.texts("defines", [])
        include = options.texts("include", [])
        only = options.texts("ciphers", ["*"])
        note = options.text("note", "")
        options.done()
        for entry in described:
            for cipher in ciphers.values():
                if not any(fnmatch.fnmatch(cipher.name, p) for p in entry.ciphers):
                    continue
                if not any(fnmatch.fnmatch(cipher.name, p) for p in only):
                    continue
                bits = tuple(b for b in cipher.key_bits if not entry.key_bits or b in entry.key_bits)
                if not bits:
                    continue
                made.append(
                    Implementation(
                        cipher=cipher.name,
                        library=library.name,
                        configuration=configuration,
                        variant=entry.variant,
                        key_bits=bits,
                        header=entry.header,
                        sources=(*entry.sources, *shared_sources),
                        include=(*include, *shared_include, *entry.include),
                        defines=(*cipher_defines(cipher), *shared_defines, *defines, *entry.defines),
                        folder=folder,
                        cores=entry.cores,
                        placements=entry.placements,
                        operations=entry.operations,
                        key_bytes_measured=key_bytes(cipher)[0],
                        key_bytes_allowed=key_bytes(cipher)[1],
                        fetched=library.fetched,
                        c_flags=(*shared_flags, *entry.c_flags),
                        note=entry.note or note or library.note,
                    )
                )
    for public_key in agreed:
        made += public_key.implementations(public_keys, shared)
    return library, made


@dataclass(frozen=True)
class _LibraryEntry:
    ciphers: tuple[str, ...]
    variant: str
    header: str
    sources: tuple[str, ...]
    include: tuple[str, ...]
    defines: tuple[str, ...]
    key_bits: tuple[int, ...]
    cores: tuple[str, ...]
    placements: tuple[str, ...]
    operations: tuple[Operation, ...]
    c_flags: tuple[str, ...]
    note: str

    @staticmethod
    def read(entry: Table, cores: Collection[str]) -> _LibraryEntry:
        operations = entry.texts("operations", list(OPERATIONS), choices=OPERATIONS)
        read = _LibraryEntry(
            ciphers=entry.texts("ciphers"),
            variant=entry.text("variant", ""),
            header=entry.text("header"),
            sources=entry.texts("sources"),
            include=entry.texts("include", []),
            defines=entry.texts("defines", []),
            key_bits=entry.integers("key_bits", []),
            cores=known_cores(entry, cores),
            placements=entry.texts("placements", []),
            operations=tuple(o for o in OPERATIONS if o in operations),
            c_flags=checked_flags(entry.texts("c_flags", []), entry.where),
            note=entry.text("note", ""),
        )
        entry.done()
        return read
