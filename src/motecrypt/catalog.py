"""Finds and validates the descriptors of ciphers, libraries and devices: the only discovery there is.

A cipher is its folder under firmware/ciphers, a library under firmware/libraries, a device under
firmware/devices; a user's own folders count the same (`Catalog.load(ciphers=[...], libraries=[...])`).
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, cast

from motecrypt.descriptor import Table
from motecrypt.errors import InputError
from motecrypt.model import (
    OPERATIONS,
    Cipher,
    Compiler,
    Current,
    Device,
    Implementation,
    Memory,
    MessageLengths,
    Operation,
    Placement,
    Standing,
)

_T = TypeVar("_T")

PACKAGE = Path(__file__).resolve().parent
FIRMWARE = PACKAGE / "firmware"
DATA = PACKAGE / "data"


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


@dataclass(frozen=True)
class Catalog:
    """All that exists, by name."""

    ciphers: dict[str, Cipher]
    implementations: tuple[Implementation, ...]
    libraries: dict[str, Library]
    devices: dict[str, Device]

    def cipher(self, name: str) -> Cipher:
        """The cipher of that name; InputError with the nearest names otherwise."""
        return _named("cipher", name, self.ciphers)

    def device(self, name: str) -> Device:
        """The device of that name; InputError with the nearest names otherwise."""
        return _named("device", name, self.devices)

    def library(self, name: str) -> Library:
        """The library of that name; InputError with the nearest names otherwise."""
        return _named("library", name, self.libraries)

    def implementations_of(
        self, cipher: str, device: str | None = None, libraries: Sequence[str] = ()
    ) -> list[Implementation]:
        """Implementations of a cipher, for a device if given, of certain libraries if given."""
        return [
            i
            for i in self.implementations
            if i.cipher == cipher
            and (device is None or any(fnmatch.fnmatch(device, p) for p in i.devices))
            and (not libraries or i.library in libraries)
        ]

    @staticmethod
    def load(ciphers: Iterable[Path] = (), libraries: Iterable[Path] = ()) -> Catalog:
        """Read every descriptor, ours and the user's folders; raises InputError at the first fault."""
        own = [tuple(dict.fromkeys(Path(p).resolve() for p in paths)) for paths in (ciphers, libraries)]
        return _load(own[0], own[1])


def nearest(kind: str, name: str, known: Iterable[str]) -> str:
    """One line that names what is unknown and the nearest of what is known."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(names[:12])}"
    return f"unknown {kind} '{name}'; {hint}"


def _named(kind: str, name: str, known: dict[str, _T]) -> _T:
    if name not in known:
        raise InputError(nearest(kind, name, known))
    return known[name]


@lru_cache(maxsize=8)
def _load(ciphers: tuple[Path, ...], libraries: tuple[Path, ...]) -> Catalog:
    devices = {d.name: d for d in map(_read_device, _folders(FIRMWARE / "devices", "device.toml"))}
    standings = _Standings.read(DATA / "security.toml")
    by_name: dict[str, Cipher] = {}
    implementations: list[Implementation] = []
    for folder in [*_folders(FIRMWARE / "ciphers", "cipher.toml"), *ciphers]:
        found, bodies = _read_cipher_folder(folder, standings)
        for cipher in found:
            if cipher.name in by_name:
                raise InputError(f"{folder}: cipher '{cipher.name}' is also in {by_name[cipher.name].folder}")
            by_name[cipher.name] = cipher
        implementations += bodies
    known: dict[str, Library] = {"motecrypt": _OURS}
    for folder in [*_folders(FIRMWARE / "libraries", "library.toml"), *libraries]:
        library, bodies = _read_library_folder(folder, by_name)
        if library.name in known:
            raise InputError(
                f"{folder}: library '{library.name}' is also in {known[library.name].folder}; "
                "give it another 'name' in library.toml"
            )
        known[library.name] = library
        implementations += bodies
    return Catalog(by_name, tuple(implementations), known, devices)


_OURS = Library("motecrypt", "motecrypt's own ciphers", "", "MIT", FIRMWARE / "ciphers", False, "")


def _folders(parent: Path, descriptor: str) -> list[Path]:
    return sorted(p.parent for p in parent.glob(f"*/{descriptor}"))


# --- devices ---------------------------------------------------------------------------------------


def _read_device(folder: Path) -> Device:
    table = Table.read(folder / "device.toml")
    supply = table.table("supply")
    device = Device(
        name=folder.name,
        title=table.text("title"),
        chip=table.text("chip"),
        core=table.text("core"),
        clock_hz=table.integer("clock_hz"),
        kit=table.text("kit"),
        runner=table.text("runner"),
        source=table.text("source"),
        folder=folder,
        hal=table.texts("hal"),
        memory={name: _read_memory(t) for name, t in table.named_tables("memory").items()},
        compiler=_read_compiler(table.table("compiler")),
        placements={name: _read_placement(name, t) for name, t in table.named_tables("placement").items()},
        bench={key: int(value) for key, value in table.table("bench").rest().items()},
        simulator=table.table("simulator", {}).rest(),
        volts=supply.number("volts"),
        volts_min=supply.number("volts_min"),
        volts_max=supply.number("volts_max"),
        currents=tuple(_read_current(t) for t in table.tables("current", [])),
        extra=table.table("extra", {}).rest(),
    )
    supply.done()
    table.done()
    return device


def _read_memory(table: Table) -> Memory:
    memory = Memory(table.integer("bytes"), table.integer("address"), table.integer("span"))
    table.done()
    return memory


def _read_compiler(table: Table) -> Compiler:
    compiler = Compiler(
        command=table.text("command"),
        machine_flags=table.texts("machine_flags", []),
        flags=table.texts("flags"),
        link_flags=table.texts("link_flags", []),
        defines=table.texts("defines", []),
        shared=table.flag("shared", False),
    )
    table.done()
    return compiler


def _read_placement(name: str, table: Table) -> Placement:
    placement = Placement(
        name=name,
        caches=table.texts("caches", ["none"]),
        defines=table.texts("defines", []),
        link_flags=table.texts("link_flags", []),
    )
    table.done()
    return placement


def _read_current(table: Table) -> Current:
    current = Current(
        table.text("state"), table.number("milliamperes"), table.text("condition"), table.text("source")
    )
    table.done()
    return current


# --- ciphers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Standings:
    rules: tuple[tuple[tuple[str, ...], Standing, str, str], ...]

    @staticmethod
    def read(path: Path) -> _Standings:
        if not path.exists():
            return _Standings(())
        rules = []
        for table in Table.read(path).tables("standing", []):
            patterns = table.texts("ciphers")
            standing = table.text("standing")
            if standing not in ("recommended", "acceptable", "legacy", "broken"):
                raise InputError(f"{table.where}: '{standing}' is no standing")
            rules.append((patterns, cast(Standing, standing), table.text("reason"), table.text("source")))
        return _Standings(tuple(rules))

    def rate(self, cipher: Cipher) -> Cipher:
        for patterns, standing, reason, source in self.rules:
            if any(fnmatch.fnmatch(cipher.name, p) for p in patterns):
                return replace(cipher, standing=standing, standing_reason=reason, standing_source=source)
        return cipher


def _read_cipher_folder(folder: Path, standings: _Standings) -> tuple[list[Cipher], list[Implementation]]:
    table = Table.read(folder / "cipher.toml")
    family, title, source = table.text("family"), table.text("title"), table.text("source")
    ciphers: list[Cipher] = []
    defines: dict[str, tuple[str, ...]] = {}
    for entry in table.tables("cipher"):
        extra = entry.texts("defines", [])
        for cipher in _read_ciphers(entry, folder, family, title, source):
            ciphers.append(standings.rate(cipher))
            defines[cipher.name] = extra
    implementations: list[Implementation] = []
    for entry in table.tables("implementation", []):
        implementations += _read_implementations(entry, folder, ciphers, defines)
    table.done()
    return ciphers, implementations


def _read_ciphers(entry: Table, folder: Path, family: str, title: str, source: str) -> list[Cipher]:
    name = entry.text("name")
    key_bits = entry.integers("key_bits")
    allowed = entry.integers("key_bits_allowed", [])
    if len(allowed) not in (0, 3):
        raise InputError(f"{entry.where}: 'key_bits_allowed' needs three numbers: min, max, step")
    lengths = entry.table("message", {})
    cipher = Cipher(
        name=name,
        family=family,
        title=entry.text("title", title),
        kind=entry.text("kind"),
        source=entry.text("source", source),
        folder=folder,
        key_bits=key_bits,
        nonce_bytes=entry.integer("nonce_bytes", 0),
        tag_bytes=entry.integer("tag_bytes", 0),
        associated_data=entry.flag("associated_data", False),
        message=MessageLengths(
            lengths.integer("min", 0), lengths.integer("max", 65535), lengths.integer("multiple", 1)
        ),
        mode=entry.text("mode", None),
        key_bits_allowed=(allowed[0], allowed[1], allowed[2]) if allowed else None,
    )
    lengths.done()
    entry.done()
    if "{key_bits}" not in name:
        return [cipher]
    return [
        replace(cipher, name=name.replace("{key_bits}", str(bits)), key_bits=(bits,)) for bits in key_bits
    ]


def _read_implementations(
    entry: Table, folder: Path, ciphers: list[Cipher], defines: dict[str, tuple[str, ...]]
) -> list[Implementation]:
    patterns = entry.texts("ciphers")
    variant = entry.text("variant")
    header = entry.text("header", None)
    block_header = entry.text("block_header", None)
    sources = entry.texts("sources")
    key_bits = entry.integers("key_bits", [])
    own_defines = entry.texts("defines", [])
    devices = entry.texts("devices", ["*"])
    placements = entry.texts("placements", [])
    c_flags = entry.texts("c_flags", [])
    note = entry.text("note", "")
    entry.done()
    if (header is None) == (block_header is None):
        raise InputError(f"{entry.where}: needs either 'header' or 'block_header'")
    made = []
    for cipher in ciphers:
        if not any(fnmatch.fnmatch(cipher.name, p) for p in patterns):
            continue
        if block_header is not None and cipher.mode is None:
            raise InputError(f"{entry.where}: a block cipher needs a mode, and '{cipher.name}' has none")
        bits = tuple(b for b in cipher.key_bits if not key_bits or b in key_bits)
        if not bits:
            continue
        mode = (f"{FIRMWARE}/modes/{cipher.mode}.c",) if block_header else ()
        made.append(
            Implementation(
                cipher=cipher.name,
                library="motecrypt",
                configuration="default",
                variant=variant,
                key_bits=bits,
                header=f"{cipher.mode}.h" if block_header else str(header),
                sources=sources + mode,
                include=(),
                defines=(
                    *_cipher_defines(cipher),
                    *defines[cipher.name],
                    *((f'BLOCK_HEADER="{block_header}"',) if block_header else ()),
                    *own_defines,
                ),
                folder=folder,
                devices=devices,
                placements=placements,
                key_bytes_measured=_key_bytes(cipher)[0],
                key_bytes_allowed=_key_bytes(cipher)[1],
                c_flags=c_flags,
                note=note,
            )
        )
    if not made:
        raise InputError(f"{entry.where}: matches no cipher of {folder / 'cipher.toml'}")
    return made


def _cipher_defines(cipher: Cipher) -> tuple[str, ...]:
    return (f"CIPHER_TAG_BYTES={cipher.tag_bytes}",)


def _key_bytes(cipher: Cipher) -> tuple[int, int]:
    """The longest key measured, and the longest that the cipher allows: the second sizes host builds."""
    measured = max(cipher.key_bits) // 8
    allowed = cipher.key_bits_allowed[1] // 8 if cipher.key_bits_allowed else measured
    return measured, max(measured, allowed)


# --- libraries -------------------------------------------------------------------------------------


def _read_library_folder(folder: Path, ciphers: dict[str, Cipher]) -> tuple[Library, list[Implementation]]:
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
    shared_flags = table.texts("c_flags", [])
    configurations = table.named_tables("configuration", {"default": {}})
    entries = table.tables("implementation", [])
    table.done()
    described = [_LibraryEntry.read(entry) for entry in entries]
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
                        defines=(*_cipher_defines(cipher), *shared_defines, *defines, *entry.defines),
                        folder=folder,
                        devices=entry.devices,
                        placements=entry.placements,
                        operations=entry.operations,
                        key_bytes_measured=_key_bytes(cipher)[0],
                        key_bytes_allowed=_key_bytes(cipher)[1],
                        fetched=library.fetched,
                        c_flags=(*shared_flags, *entry.c_flags),
                        note=entry.note or note or library.note,
                    )
                )
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
    devices: tuple[str, ...]
    placements: tuple[str, ...]
    operations: tuple[Operation, ...]
    c_flags: tuple[str, ...]
    note: str

    @staticmethod
    def read(entry: Table) -> _LibraryEntry:
        operations = entry.texts("operations", list(OPERATIONS))
        for operation in operations:
            if operation not in OPERATIONS:
                raise InputError(f"{entry.where}: '{operation}' is no operation")
        read = _LibraryEntry(
            ciphers=entry.texts("ciphers"),
            variant=entry.text("variant", ""),
            header=entry.text("header"),
            sources=entry.texts("sources"),
            include=entry.texts("include", []),
            defines=entry.texts("defines", []),
            key_bits=entry.integers("key_bits", []),
            devices=entry.texts("devices", ["*"]),
            placements=entry.texts("placements", []),
            operations=tuple(o for o in OPERATIONS if o in operations),
            c_flags=entry.texts("c_flags", []),
            note=entry.text("note", ""),
        )
        entry.done()
        return read


def empty_implementation(tag_bytes: int = 0) -> Implementation:
    """The empty cipher, which every difference is taken against.

    `tag_bytes` as the cipher's that is compared with: the benchmark firmware sends as many.
    """
    folder = FIRMWARE / "bench" / "empty"
    return Implementation(
        cipher="empty",
        library="motecrypt",
        configuration="default",
        variant="",
        key_bits=(128,),
        header="empty.h",
        sources=("empty.c",),
        include=(),
        defines=(f"CIPHER_TAG_BYTES={tag_bytes}",),
        folder=folder,
    )
