"""Reads a cipher's folder: cipher.toml next to C sources, oracle and vectors, with its security status."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import (
    SECURITY_STATUSES,
    Cipher,
    Implementation,
    MessageLengths,
    Protection,
    SecurityStatus,
    Timing,
)
from motecrypt.catalog.flags import checked_flags
from motecrypt.catalog.places import FIRMWARE

#: What a cipher's `kind` may be.
KINDS = ("block mode", "stream", "variable block", "wide block", "aead")
#: Modes of firmware/modes that refuse a message that does not end with a block.
WHOLE_BLOCKS = ("ecb", "cbc")


def read_cipher_folder(folder: Path, cores: Collection[str]) -> tuple[list[Cipher], list[Implementation]]:
    """The ciphers of a folder and our implementations of them; `cores` are those that the devices have."""
    table = Table.read(folder / "cipher.toml")
    family, title, source = table.text("family"), table.text("title"), table.text("source")
    rating = _read_rating(table, _UNRATED)
    ciphers: list[Cipher] = []
    defines: dict[str, tuple[str, ...]] = {}
    for entry in table.tables("cipher"):
        extra = entry.texts("defines", [])
        for cipher in _read_ciphers(entry, folder, family, title, source, rating):
            ciphers.append(cipher)
            defines[cipher.name] = extra
    implementations: list[Implementation] = []
    usual = _read_timing(table, "")
    multiplies = table.flag("multiplies", False)
    for entry in table.tables("implementation", []):
        implementations += [
            replace(body, multiplies=multiplies)
            for body in _read_implementations(entry, folder, ciphers, defines, cores, usual)
        ]
    table.done()
    return ciphers, implementations


@dataclass(frozen=True)
class _Rating:
    """A cipher's security status: its level, one line of reason, and where that is published."""

    level: SecurityStatus
    reason: str
    source: str


_UNRATED = _Rating("unrated", "", "")


def _read_rating(table: Table, otherwise: _Rating) -> _Rating:
    """The [security] of a folder, or the [cipher.security] of one cipher; `otherwise` where there is none."""
    table.renamed("standing", "security")
    entry = table.table("security", {})
    if not entry.plain():
        return otherwise
    rating = _Rating(
        level=cast(SecurityStatus, entry.text("level", choices=SECURITY_STATUSES)),
        reason=entry.text("reason"),
        source=entry.text("source"),
    )
    entry.done()
    return rating


def _read_ciphers(
    entry: Table, folder: Path, family: str, title: str, source: str, rating: _Rating
) -> list[Cipher]:
    name = entry.text("name")
    key_bits = entry.integers("key_bits")
    allowed = entry.integers("key_bits_allowed", [])
    if len(allowed) not in (0, 3):
        raise InputError(f"{entry.where}: 'key_bits_allowed' needs three numbers: min, max, step")
    lengths = entry.table("message", {})
    rating = _read_rating(entry, rating)
    cipher = Cipher(
        name=name,
        family=family,
        title=entry.text("title", title),
        kind=entry.text("kind", choices=KINDS),
        source=entry.text("source", source),
        folder=folder,
        key_bits=key_bits,
        nonce_bytes=entry.integer("nonce_bytes", 0),
        tag_bytes=entry.integer("tag_bytes", 0),
        associated_data=entry.flag("associated_data", False),
        message=MessageLengths(
            min=lengths.integer("min", 0, low=0),
            max=lengths.integer("max", 65535, low=0),
            multiple=lengths.integer("multiple", 1, low=1),
        ),
        mode=entry.text("mode", None),
        key_bits_allowed=(allowed[0], allowed[1], allowed[2]) if allowed else None,
        security=rating.level,
        security_reason=rating.reason,
        security_source=rating.source,
    )
    lengths.done()
    entry.done()
    _check(cipher, entry.where)
    if "{key_bits}" not in name:
        return [cipher]
    return [
        replace(cipher, name=name.replace("{key_bits}", str(bits)), key_bits=(bits,)) for bits in key_bits
    ]


def _check(cipher: Cipher, where: str) -> None:
    """Refuse what no firmware could be built or run with."""
    rule = cipher.message
    modes = sorted(p.stem for p in (FIRMWARE / "modes").glob("*.c"))
    for wrong, what in (
        (not cipher.key_bits, "'key_bits' is empty; expected key lengths such as [128]"),
        (
            any(bits % 8 or not 8 <= bits <= 2040 for bits in cipher.key_bits),
            f"'key_bits' is {list(cipher.key_bits)}; expected multiples of 8 from 8 to 2040",
        ),
        (
            rule.multiple < 1 or not 0 <= rule.min <= rule.max,
            "'message' needs 0 <= min <= max and a multiple from 1 on",
        ),
        (not 0 <= cipher.nonce_bytes <= 255, f"'nonce_bytes' is {cipher.nonce_bytes}; expected 0 to 255"),
        (not 0 <= cipher.tag_bytes <= 16, f"'tag_bytes' is {cipher.tag_bytes}; expected 0 to 16"),
        (
            cipher.mode is not None and cipher.mode not in modes,
            f"'mode' is '{cipher.mode}'; available: {', '.join(modes)}",
        ),
        (
            cipher.mode in WHOLE_BLOCKS and rule.multiple == 1,
            f"mode '{cipher.mode}' takes whole blocks; expected their length, "
            "such as message = { min = 0, max = 65535, multiple = 16 }",
        ),
    ):
        if wrong:
            raise InputError(f"{where}: {what}")


def _read_implementations(
    entry: Table,
    folder: Path,
    ciphers: list[Cipher],
    defines: dict[str, tuple[str, ...]],
    cores: Collection[str],
    usual: Timing,
) -> list[Implementation]:
    patterns = entry.texts("ciphers")
    variant = entry.text("variant")
    header = entry.text("header", None)
    block_header = entry.text("block_header", None)
    sources = entry.texts("sources")
    key_bits = entry.integers("key_bits", [])
    own_defines = entry.texts("defines", [])
    own_cores = known_cores(entry, cores)
    best_on = entry.texts("best_on", [])
    placements = entry.texts("placements", [])
    c_flags = checked_flags(entry.texts("c_flags", []), entry.where)
    note = entry.text("note", "")
    protection = _read_protection(entry)
    timing = _read_timing(entry, usual)
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
                    *cipher_defines(cipher),
                    *defines[cipher.name],
                    *((f'BLOCK_HEADER="{block_header}"',) if block_header else ()),
                    *own_defines,
                ),
                folder=folder,
                cores=own_cores,
                placements=placements,
                key_bytes_measured=key_bytes(cipher)[0],
                key_bytes_allowed=key_bytes(cipher)[1],
                c_flags=c_flags,
                note=note,
                best_on=best_on,
                protection=protection,
                timing=timing,
            )
        )
    if not made:
        raise InputError(f"{entry.where}: matches no cipher of {folder / 'cipher.toml'}")
    return made


def _read_timing(entry: Table, usual: Timing) -> Timing:
    """What secrets steer in an implementation, or in all of a folder that do not say otherwise."""
    return cast(Timing, entry.text("timing", usual, choices=get_args(Timing)))


def _read_protection(entry: Table) -> Protection | None:
    """What an implementation does against power analysis; None where it does nothing."""
    told = entry.table("protection", {})
    if not told.plain():
        return None
    protection = Protection(told.text("what"), told.text("setup"), told.text("encrypt"))
    told.done()
    return protection


def known_cores(entry: Table, cores: Collection[str]) -> tuple[str, ...]:
    """The patterns of 'cores'; InputError for one that no device's core matches: it is a typing error."""
    patterns = entry.texts("cores", ["*"])
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(core, pattern) for core in cores):
            raise InputError(
                f"{entry.where}: 'cores': no device has a core '{pattern}'; available: "
                f"{', '.join(sorted(cores))} (device.toml says a device's core)"
            )
    return patterns


def cipher_defines(cipher: Cipher) -> tuple[str, ...]:
    return (f"CIPHER_TAG_BYTES={cipher.tag_bytes}",)


def key_bytes(cipher: Cipher) -> tuple[int, int]:
    """The longest key measured, and the longest that the cipher allows: the second sizes host builds."""
    measured = max(cipher.key_bits) // 8
    allowed = cipher.key_bits_allowed[1] // 8 if cipher.key_bits_allowed else measured
    return measured, max(measured, allowed)
