"""Options and arguments that several commands share: names that a shell completes, the mirror."""

from __future__ import annotations

from collections.abc import Callable

import click

from motecrypt.build.toolchain.debian import checked_mirror
from motecrypt.catalog import Catalog

mirror_option = click.option(
    "--mirror",
    default="",
    metavar="ADDRESS",
    help="The Debian archive to fetch a toolchain from (default: this machine's own).",
    callback=lambda context, option, value: checked_mirror(value, "--mirror") if value else "",
)


def completes(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What a shell completes for an option or argument: names of the catalog's `kind`, or of radios."""

    def found(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
        if kind == "radios":
            from motecrypt.air.radios.catalog import radio_names

            names = radio_names()
        else:
            names = list(getattr(Catalog.load(), kind))
        return [name for name in names if name.startswith(begun)]

    return found
