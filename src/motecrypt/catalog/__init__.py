"""Finds and validates the descriptors of ciphers, libraries and devices; nothing else discovers them.

A cipher is its folder under firmware/ciphers, a public-key algorithm under firmware/publickey, a library
under firmware/libraries, a device under firmware/devices, a toolchain a file under data/toolchains; a
user's own count the same (`Catalog.load(ciphers=[...], libraries=[...], devices=[...], toolchains=[...])`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, Device, Implementation, Toolchain
from motecrypt.catalog.ciphers import read_cipher_folder
from motecrypt.catalog.devices import read_device
from motecrypt.catalog.libraries import Library, read_library_folder
from motecrypt.catalog.places import DATA, FIRMWARE, PACKAGE
from motecrypt.catalog.publickey import FOLDER, PublicKeyAlgorithm, read_public_key_folder
from motecrypt.catalog.toolchains import read_toolchains

__all__ = ["DATA", "DEVICE", "FIRMWARE", "PACKAGE", "Catalog", "Library", "empty_implementation", "nearest"]

#: The device that is meant where a command names none.
DEVICE = "uno"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Catalog:
    """All that exists, by name.

    `protected` are implementations against power analysis. They cost several times as much, and are taken
    only where they are asked for, so they are not among the `implementations`.
    """

    ciphers: dict[str, Cipher]
    implementations: tuple[Implementation, ...]
    libraries: dict[str, Library]
    devices: dict[str, Device]
    toolchains: dict[str, Toolchain] = field(default_factory=dict)
    protected: tuple[Implementation, ...] = ()
    public_keys: dict[str, PublicKeyAlgorithm] = field(default_factory=dict)
    public_key_implementations: tuple[Implementation, ...] = ()

    def cipher(self, name: str) -> Cipher:
        """The cipher of that name; InputError with the nearest names otherwise."""
        return _named("cipher", name, self.ciphers)

    def public_key(self, name: str) -> PublicKeyAlgorithm:
        """The public-key algorithm of that name; InputError with the nearest names otherwise."""
        return _named("public-key algorithm", name, self.public_keys)

    def measured(self, name: str) -> Cipher | PublicKeyAlgorithm:
        """The cipher or public-key algorithm of that name: what a cell is of."""
        return self.public_keys.get(name) or self.cipher(name)

    def device(self, name: str) -> Device:
        """The device of that name; InputError with the nearest names otherwise."""
        return _named("device", name, self.devices)

    def library(self, name: str) -> Library:
        """The library of that name; InputError with the nearest names otherwise."""
        return _named("library", name, self.libraries)

    def toolchain(self, name: str) -> Toolchain:
        """The toolchain of that name; InputError with the nearest names otherwise."""
        return _named("toolchain", name, self.toolchains)

    def implementations_of(
        self,
        cipher: str,
        device: str | None = None,
        libraries: Sequence[str] = (),
        *,
        protected: bool = False,
    ) -> list[Implementation]:
        """Implementations of a cipher, for a device if given, of certain libraries if given.

        `protected`: those against power analysis as well, behind the others.
        """
        core = None if device is None else self.device(device).core
        return [
            i
            for i in self.implementations + (self.protected if protected else ())
            if i.cipher == cipher
            and (core is None or i.runs_on(core))
            and (not libraries or i.library in libraries)
        ]

    def public_key_implementations_of(
        self, algorithm: str, device: str | None = None, libraries: Sequence[str] = ()
    ) -> list[Implementation]:
        """As `implementations_of`, of a public-key algorithm: one for each operation."""
        core = None if device is None else self.device(device).core
        return [
            i
            for i in self.public_key_implementations
            if i.cipher == algorithm
            and (core is None or i.runs_on(core))
            and (not libraries or i.library in libraries)
        ]

    @staticmethod
    def load(
        ciphers: Iterable[Path] = (),
        libraries: Iterable[Path] = (),
        devices: Iterable[Path] = (),
        toolchains: Iterable[Path] = (),
        public_keys: Iterable[Path] = (),
    ) -> Catalog:
        """Read every descriptor, ours and the user's folders; raises InputError at the first fault.

        `toolchains` are files, the others folders.
        """
        files = dict.fromkeys(Path(path).resolve() for path in toolchains)
        own_files = tuple(file for file in files if DATA not in file.parents)
        return _load(_own(ciphers), _own(libraries), _own(devices), own_files, _own(public_keys))


def nearest(kind: str, name: str, known: Iterable[str]) -> str:
    """One line that names what is unknown and the nearest of what is known."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"available: {', '.join(names[:12])}"
    return f"unknown {kind} '{name}'; {hint}"


def _named(kind: str, name: str, known: dict[str, _T]) -> _T:
    if name not in known:
        raise InputError(nearest(kind, name, known))
    return known[name]


def _own(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Folders that are not ours, each once."""
    folders = dict.fromkeys(Path(path).resolve() for path in paths)
    return tuple(folder for folder in folders if FIRMWARE not in folder.parents)


@lru_cache(maxsize=8)
def _load(
    ciphers: tuple[Path, ...],
    libraries: tuple[Path, ...],
    own_devices: tuple[Path, ...],
    own_toolchains: tuple[Path, ...],
    own_public_keys: tuple[Path, ...],
) -> Catalog:
    devices: dict[str, Device] = {}
    for folder in [*_folders(FIRMWARE / "devices", "device.toml"), *own_devices]:
        device = read_device(folder)
        if device.name in devices:
            raise InputError(
                f"{folder}: device '{device.name}' is also in {devices[device.name].folder}; "
                "give the folder another name"
            )
        devices[device.name] = device
    cores = {device.core for device in devices.values()}
    by_name: dict[str, Cipher] = {}
    implementations: list[Implementation] = []
    for folder in [*_folders(FIRMWARE / "ciphers", "cipher.toml"), *ciphers]:
        found, bodies = read_cipher_folder(folder, cores)
        for cipher in found:
            if cipher.name in by_name:
                raise InputError(f"{folder}: cipher '{cipher.name}' is also in {by_name[cipher.name].folder}")
            by_name[cipher.name] = cipher
        implementations += bodies
    public_keys: dict[str, PublicKeyAlgorithm] = {}
    public_key_bodies: list[Implementation] = []
    for folder in [*_folders(FOLDER, "algorithm.toml"), *own_public_keys]:
        algorithms, bodies = read_public_key_folder(folder, cores)
        for algorithm in algorithms:
            other = by_name.get(algorithm.name) or public_keys.get(algorithm.name)
            if other is not None:
                raise InputError(f"{folder}: '{algorithm.name}' is also in {other.folder}")
            public_keys[algorithm.name] = algorithm
        public_key_bodies += bodies
    known: dict[str, Library] = {"motecrypt": _OURS}
    for folder in [*_folders(FIRMWARE / "libraries", "library.toml"), *libraries]:
        library, bodies = read_library_folder(folder, by_name, cores, public_keys)
        if library.name in known:
            raise InputError(
                f"{folder}: library '{library.name}' is also in {known[library.name].folder}; "
                "give it another 'name' in library.toml"
            )
        known[library.name] = library
        implementations += [body for body in bodies if body.cipher not in public_keys]
        public_key_bodies += [body for body in bodies if body.cipher in public_keys]
    usual = tuple(body for body in implementations if body.protection is None)
    protected = tuple(body for body in implementations if body.protection is not None)
    return Catalog(
        by_name,
        usual,
        known,
        devices,
        read_toolchains(own_toolchains),
        protected,
        public_keys,
        tuple(public_key_bodies),
    )


_OURS = Library("motecrypt", "motecrypt's own ciphers", "", "MIT", FIRMWARE / "ciphers", False, "")


def _folders(parent: Path, descriptor: str) -> list[Path]:
    return sorted(p.parent for p in parent.glob(f"*/{descriptor}"))


def empty_implementation(tag_bytes: int = 0) -> Implementation:
    """The no-op cipher, which every difference is taken against.

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
