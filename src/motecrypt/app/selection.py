"""What the user chose: catalog with their own folders, lengths, names checked against what exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, Device, Toolchain
from motecrypt.catalog import Catalog, nearest
from motecrypt.catalog.publickey import PublicKeyAlgorithm

LENGTHS_MAX = 65_536
_T = TypeVar("_T")


@dataclass(frozen=True)
class Selection:
    """The catalog with the user's own folders, and what was chosen of it by name or by path."""

    catalog: Catalog
    ciphers: list[str]
    libraries: list[str]
    devices: list[Device]
    own_ciphers: tuple[Cipher, ...]
    toolchains: tuple[Toolchain, ...] = ()
    public_keys: tuple[str, ...] = ()
    own_public_keys: tuple[PublicKeyAlgorithm, ...] = ()
    own: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The user's own folders, by what they hold."""

    @property
    def cipher(self) -> Cipher:
        """The one cipher chosen; InputError when it was a folder of several."""
        if len(self.ciphers) > 1:
            one = self.catalog.cipher(self.ciphers[0])
            hint = f" ({one.folder}/{one.name})" if one in self.own_ciphers else ""
            raise InputError(f"several ciphers; name one{hint}: {', '.join(self.ciphers)}")
        return self.catalog.cipher(self.ciphers[0])

    @property
    def device(self) -> Device:
        """The one device chosen."""
        return self.devices[0]

    @property
    def wanted(self) -> list[str]:
        """The ciphers chosen; where none is, those that the libraries have."""
        mine = self.libraries
        return self.ciphers or sorted({i.cipher for i in self.catalog.implementations if i.library in mine})

    def prove_own(self) -> None:
        """Run the known answers of the user's own ciphers, before anything of them is trusted."""
        if not self.own_ciphers and not self.own_public_keys:
            return
        from motecrypt.build.setup import need
        from motecrypt.build.toolchain.known_answers import prove
        from motecrypt.build.toolchain.public_key_answers import prove_public_key

        need("host")
        for algorithm in self.own_public_keys:
            prove_public_key(self.catalog, algorithm)
        for cipher in self.own_ciphers:
            prove(self.catalog, cipher)


def select(
    ciphers: Sequence[str] = (),
    libraries: Sequence[str] = (),
    devices: Sequence[str] = (),
    toolchains: Sequence[str] = (),
    public_keys: Sequence[str] = (),
) -> Selection:
    """What the user named: of ours by name, of their own by path.

    A path holds a slash (or is . or ..): so no folder that happens to be in the current one is ever
    taken for a name. A folder of several ciphers means all of them, and FOLDER/NAME one. A toolchain of the
    user's own is a file.
    """
    own = [_own(text, "cipher") for text in ciphers]
    own_libraries = [_own(text, "library") for text in libraries]
    own_devices = [_own(text, "device") for text in devices]
    own_public_keys = [_own(text, "algorithm") for text in public_keys]
    places = {
        "ciphers": [o.folder for o in own if o],
        "libraries": [o.folder for o in own_libraries if o],
        "devices": [o.folder for o in own_devices if o],
        "toolchains": [Path(text) for text in toolchains if "/" in text],
        "public_keys": [o.folder for o in own_public_keys if o],
    }
    catalog = Catalog.load(**places)
    chosen: list[str] = []
    for text, place in zip(ciphers, own, strict=True):
        chosen += place.members(catalog.ciphers) if place else _named(match_ciphers, catalog, text, "cipher")
    chosen_libraries: list[str] = []
    for text, place in zip(libraries, own_libraries, strict=True):
        chosen_libraries += (
            place.members(catalog.libraries)
            if place
            else [_named(Catalog.library, catalog, text, "library").name]
        )
    chosen_devices = [
        catalog.device(place.members(catalog.devices)[0])
        if place
        else _named(Catalog.device, catalog, text, "device")
        for text, place in zip(devices, own_devices, strict=True)
    ]
    algorithms: list[str] = []
    for text, place in zip(public_keys, own_public_keys, strict=True):
        algorithms += (
            place.members(catalog.public_keys)
            if place
            else [_named(Catalog.public_key, catalog, text, "algorithm").name]
        )
    folders = {o.folder for o in own if o}
    public_key_folders = {o.folder for o in own_public_keys if o}
    return Selection(
        catalog=catalog,
        ciphers=list(dict.fromkeys(chosen)),
        libraries=list(dict.fromkeys(chosen_libraries)),
        devices=list({device.name: device for device in chosen_devices}.values()),
        own_ciphers=tuple(c for c in catalog.ciphers.values() if c.folder in folders),
        toolchains=tuple(
            dict.fromkeys(catalog.toolchain(Path(t).stem if "/" in t else t) for t in toolchains)
        ),
        public_keys=tuple(dict.fromkeys(algorithms)),
        own_public_keys=tuple(a for a in catalog.public_keys.values() if a.folder in public_key_folders),
        own=tuple((kind, tuple(str(f.resolve()) for f in folders)) for kind, folders in places.items()),
    )


class _HasFolder(Protocol):
    @property
    def folder(self) -> Path: ...


@dataclass(frozen=True)
class _Own:
    """A folder of the user's own, and the one thing in it that is meant, or "" for all."""

    folder: Path
    member: str

    def members(self, known: Mapping[str, _HasFolder]) -> list[str]:
        """The names of what comes from this folder."""
        names = [name for name, thing in known.items() if thing.folder == self.folder]
        if self.member and self.member not in names:
            raise InputError(f"{self.folder}: {nearest('cipher', self.member, names)}")
        return [self.member] if self.member else names


def is_path(text: str) -> bool:
    """Whether a choice is a path, and not a name of what motecrypt ships."""
    return "/" in text or text in (".", "..")


def _own(text: str, kind: str) -> _Own | None:
    if not is_path(text):
        return None
    path, descriptor = Path(text).resolve(), f"{kind}.toml"
    if (path / descriptor).is_file():
        return _Own(path, "")
    if kind in ("cipher", "algorithm") and (path.parent / descriptor).is_file():
        return _Own(path.parent, path.name)
    raise InputError(f"{text}: no {descriptor} there; your own folder needs one (docs/adding.md)")


def _named(find: Callable[[Catalog, str], _T], catalog: Catalog, name: str, kind: str) -> _T:
    """What has that name; where a folder here has it, the error says how a folder is written."""
    try:
        return find(catalog, name)
    except InputError as error:
        if (Path(name) / f"{kind}.toml").is_file():
            raise InputError(
                f"{name}: no {kind} of that name; the folder here is written ./{name}"
            ) from error
        raise


def match_ciphers(catalog: Catalog, name: str) -> list[str]:
    """A cipher's name, or a family's: "blowfish" means its ciphers in cipher block chaining."""
    if name in catalog.ciphers:
        return [name]
    family = [c for c in catalog.ciphers.values() if c.name.split("-")[0] == name or c.family == name]
    if not family:
        families = {c.family for c in catalog.ciphers.values()}
        raise InputError(nearest("cipher", name, {*catalog.ciphers, *families}))
    named = [c for c in family if c.name.split("-")[0] == name] or family
    chaining = [c for c in named if c.mode == "cbc"]
    return [c.name for c in (chaining or named)]


def parse_lengths(text: str, what: str = "--bytes") -> list[int]:
    """Lengths such as "16,32,47" or "1-256": whole numbers, lists and ranges."""
    lengths: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            raise InputError(f"{what} '{text}': '{part}' is not a length; write 16,32,47 or 1-256")
        low, high = int(first), int(last or first)
        if high < low or high > 1 << 24:
            raise InputError(f"{what} '{text}': '{part}' is not a range of lengths")
        if high - low >= LENGTHS_MAX:
            raise InputError(f"{what} '{text}': more than {LENGTHS_MAX:,} lengths; choose fewer")
        lengths += range(low, high + 1)
    return list(dict.fromkeys(lengths))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def parse_hex(text: str, what: str) -> bytes:
    """Hexadecimal bytes; InputError names the option."""
    cleaned = "".join(text.split())
    try:
        return bytes.fromhex(cleaned)
    except ValueError as error:
        raise InputError(f"{what}: '{text[:40]}' is not hexadecimal (two digits a byte)") from error


def nearest_length(cipher: Cipher, length: int) -> str:
    """Which lengths a cipher takes, in a few words."""
    rule = cipher.message
    if rule.multiple > 1:
        return f"multiples of {rule.multiple} bytes from {rule.min}"
    return f"{rule.min} to {rule.max} bytes"
