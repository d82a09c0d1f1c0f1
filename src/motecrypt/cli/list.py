"""motecrypt list: the devices, ciphers, radios and all else there is."""

from __future__ import annotations

from collections.abc import Sequence

import click

from motecrypt.catalog import Catalog, nearest
from motecrypt.cli._output import print_json, print_table, table_options
from motecrypt.cli._selection import select
from motecrypt.errors import InputError

KINDS = ("ciphers", "implementations", "libraries", "devices", "radios", "toolchains")


@click.command(epilog="Example: motecrypt list ciphers")
@click.argument("kind", metavar="|".join(KINDS))
@click.option("--cipher", "ciphers", multiple=True, help="Also list your own folder.")
@click.option("--library", "libraries", multiple=True, help="Also list your own folder.")
@click.option("--device", "devices", multiple=True, help="Also list your own folder.")
@click.option("--toolchain", "toolchains", multiple=True, help="Also list your own file.")
@table_options
def command(
    kind: str,
    ciphers: Sequence[str],
    libraries: Sequence[str],
    devices: Sequence[str],
    toolchains: Sequence[str],
    as_json: bool,
) -> None:
    """List what there is of one kind."""
    if kind not in KINDS:
        raise InputError(nearest("kind of thing", kind, KINDS))
    columns, rows = rows_of(kind, select(ciphers, libraries, devices, toolchains).catalog)
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(kind.capitalize(), [c.replace("_", " ") for c in columns], rows)


def rows_of(kind: str, catalog: Catalog) -> tuple[list[str], list[list[object]]]:
    """Columns and rows of what there is of one kind (see KINDS)."""
    if kind == "ciphers":
        columns = ["cipher", "kind", "key_bits", "nonce_bytes", "tag_bytes", "standing", "reason", "source"]
        return columns, [
            [
                *(c.name, c.kind, " ".join(map(str, c.key_bits)), c.nonce_bytes, c.tag_bytes),
                *(c.standing, c.standing_reason, c.standing_source or c.source),
            ]
            for c in sorted(catalog.ciphers.values(), key=lambda c: c.name)
        ]
    if kind == "implementations":
        columns = ["cipher", "implementation", "key_bits", "cores", "note"]
        return columns, [
            [i.cipher, i.name, " ".join(map(str, i.key_bits)), " ".join(i.cores), i.note]
            for i in sorted(catalog.implementations, key=lambda i: (i.cipher, i.name))
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
        return columns, [
            [
                *(d.name, d.title, d.chip, d.core, d.clock_hz),
                d.memory["flash"].bytes if "flash" in d.memory and d.simulated else None,
                d.memory["ram"].bytes if "ram" in d.memory else None,
                d.runner,
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
    return _radio_rows()


def _radio_rows() -> tuple[list[str], list[list[object]]]:
    from motecrypt.radios import load_radio, radio_names

    return ["radio", "title"], [[name, load_radio(name).title] for name in radio_names()]
