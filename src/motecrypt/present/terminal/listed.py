"""What there is of one kind, as rows: ciphers, devices, radios and all else of the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from motecrypt.base.model import Implementation
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import SIZES
from motecrypt.present.terminal import TextTable

if TYPE_CHECKING:
    from motecrypt.adviser.hardware.fidelity import Fidelity

KINDS = (
    *("ciphers", "implementations", "libraries", "devices", "radios", "toolchains", "accelerators"),
    "public-keys",
)
TABLES = {
    "accelerators": (
        "Accelerators (published, not measured)",
        ("chips", "source", "key bits", "modes", "kind"),
    ),
    "public-keys": (
        "Public-key algorithms",
        ("source", "reason", *(f"{name} bytes" for name in reversed(SIZES)), "key bits"),
    ),
}
"""Titles of tables, and columns that can go, where they are not as of every kind."""


def list_view(kind: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> TextTable:
    """The table of these rows of one kind."""
    title, least = TABLES.get(kind, (kind.capitalize(), ()))
    return TextTable(title, [c.replace("_", " ") for c in columns], rows, least=least)


# Long: one branch for each kind of list.
def rows_of(kind: str, catalog: Catalog) -> tuple[list[str], list[list[object]]]:
    """Columns and rows of what there is of one kind (see KINDS)."""
    if kind == "ciphers":
        columns = ["cipher", "kind", "key_bits", "nonce_bytes", "tag_bytes", "security", "reason", "source"]
        return columns, [
            [
                *(c.name, c.kind, " ".join(map(str, c.key_bits)), c.nonce_bytes, c.tag_bytes),
                *(c.security, c.security_reason, c.security_source or c.source),
            ]
            for c in sorted(catalog.ciphers.values(), key=lambda c: c.name)
        ]
    if kind == "implementations":
        columns = ["cipher", "implementation", "key_bits", "cores", "note"]
        return columns, [
            [i.cipher, i.name, " ".join(map(str, i.key_bits)), " ".join(i.cores), i.note]
            for i in sorted((*_one_each(catalog), *catalog.protected), key=lambda i: (i.cipher, i.name))
        ]
    if kind == "libraries":
        columns = ["library", "title", "version", "licence", "ciphers", "note"]
        return columns, [
            [
                *(name, library.title, library.version, library.licence),
                len({i.cipher for i in catalog.implementations if i.library == name}),
                library.note,
            ]
            for name, library in catalog.libraries.items()
        ]
    if kind == "devices":
        columns = ["device", "title", "chip", "core", "clock_hz", "flash_bytes", "ram_bytes", "runner"]
        from motecrypt.adviser.hardware.bounds import recorded_bounds  # not needed by the other kinds
        from motecrypt.catalog.accelerators import accelerator_of

        columns += ["error_bound", "range_seen", "hardware_rows", "hardware_covers", "cipher_hardware"]
        bounds = recorded_bounds()
        return columns, [
            [
                *(d.name, d.title, d.chip, d.core, d.clock_hz),
                d.memory["flash"].bytes if "flash" in d.memory and d.simulated else None,
                d.memory["ram"].bytes if "ram" in d.memory else None,
                d.runner,
                *_difference(bounds.get(d.name)),
                found.text if (found := accelerator_of(d.chip)) else None,
            ]
            for d in catalog.devices.values()
        ]
    if kind == "toolchains":
        columns = ["toolchain", "title", "for", "release", "packages"]
        return columns, [
            [
                *(t.name, t.title, ", ".join(target.replaces for target in t.targets), t.release),
                ", ".join(f"{p.name} {p.version}" for target in t.targets for p in target.packages),
            ]
            for t in catalog.toolchains.values()
        ]
    if kind == "accelerators":
        return _accelerator_rows()
    if kind == "public-keys":
        columns = ["algorithm", "kind", "key_bits", "operations", *(f"{name}_bytes" for name in SIZES)]
        return [*columns, "security", "reason", "source"], [
            [
                *(a.name, a.kind, a.key_bits, " ".join(a.operations)),
                *(a.sizes[name] or None for name in SIZES),
                *(a.security, a.security_reason, a.security_source or a.source),
            ]
            for a in sorted(catalog.public_keys.values(), key=lambda a: a.name)
        ]
    return _radio_rows()


def _difference(known: Fidelity | None) -> tuple[object, ...]:
    """The error bound or the range seen of a device, of how many rows, and what share of rows it covers."""
    if known is None:
        return (None,) * 4
    bound, seen = (known.text, None) if known.is_bound else (None, known.text)
    return (bound, seen, known.rows, known.covers)


def _one_each(catalog: Catalog) -> list[Implementation]:
    """All implementations, those of public-key algorithms once and not once for each operation."""
    public_key = {(i.cipher, i.name): i for i in catalog.public_key_implementations}
    return [*catalog.implementations, *public_key.values()]


def _accelerator_rows() -> tuple[list[str], list[list[object]]]:
    """A row for each published fact of a block; one row for a block without any, and for chips without any
    block."""
    from motecrypt.catalog.accelerators import accelerators

    columns = ["accelerator", "chips", "key_bits", "modes", "kind", "published", "value", "unit", "source"]
    rows: list[list[object]] = []
    for each in accelerators():
        chips = " ".join(each.chips)
        if not each.blocks:
            rows.append(["none", chips, *[None] * 6, each.source])
        for block in each.blocks:
            modes = " ".join(block.modes)
            if block.modes and not block.decrypts:
                modes += ", encryption only"
            name = [f"{each.title}: {block.name}", chips, " ".join(map(str, block.key_bits)), modes]
            rows += [
                [*name, fact.kind, fact.what, fact.value, fact.unit, fact.source] for fact in block.published
            ]
            if not block.published:
                rows.append([*name, None, "no figure known", None, None, block.source])
    return columns, rows


def _radio_rows() -> tuple[list[str], list[list[object]]]:
    from motecrypt.air.radios import load_radio, radio_names

    return ["radio", "title"], [[name, load_radio(name).title] for name in radio_names()]
