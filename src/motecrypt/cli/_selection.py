"""What the user chose: catalog with their own folders, lengths, names checked against what exists."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from motecrypt.catalog import Catalog, nearest
from motecrypt.errors import InputError
from motecrypt.model import Cipher

LENGTHS_MAX = 65_536


def load_catalog(libraries: Sequence[str], ciphers: Sequence[str]) -> tuple[Catalog, list[str], list[str]]:
    """The catalog with the user's own folders, and the names chosen.

    A library or cipher given as a path (it holds a slash or is a directory with the descriptor) is a
    folder of the user's; its names are added to the choice.
    """
    library_folders = [Path(x) for x in libraries if _is_folder(x, "library.toml")]
    cipher_folders = [Path(x) for x in ciphers if _is_folder(x, "cipher.toml")]
    catalog = Catalog.load(ciphers=cipher_folders, libraries=library_folders)
    resolved_libraries = {p.resolve() for p in library_folders}
    resolved_ciphers = {p.resolve() for p in cipher_folders}
    chosen_libraries = [x for x in libraries if not _is_folder(x, "library.toml")]
    chosen_libraries += [n for n, lib in catalog.libraries.items() if lib.folder in resolved_libraries]
    chosen_ciphers: list[str] = []
    for name in ciphers:
        if not _is_folder(name, "cipher.toml"):
            chosen_ciphers += match_ciphers(catalog, name)
    chosen_ciphers += [n for n, c in catalog.ciphers.items() if c.folder in resolved_ciphers]
    for name in chosen_libraries:
        catalog.library(name)
    return catalog, chosen_libraries, chosen_ciphers


def _is_folder(text: str, descriptor: str) -> bool:
    path = Path(text)
    if (path / descriptor).is_file():
        return True
    if "/" in text or text in (".", ".."):
        raise InputError(f"{text}: no {descriptor} there; a folder of your own needs one")
    return False


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
            raise InputError(f"{what} '{text}': '{part}' is no length; write 16,32,47 or 1-256")
        low, high = int(first), int(last or first)
        if high < low or high > 1 << 24:
            raise InputError(f"{what} '{text}': '{part}' is no range of lengths")
        if high - low >= LENGTHS_MAX:
            raise InputError(f"{what} '{text}': more than {LENGTHS_MAX:,} lengths; choose some of them")
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
