"""motecrypt export: a measured cipher as a library to install."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from motecrypt import export
from motecrypt.cli._link_options import chosen_radio
from motecrypt.cli._output import db_option, json_option, open_results, print_json
from motecrypt.cli._selection import select
from motecrypt.errors import InputError


@click.command(epilog="Example: motecrypt export arduino McAes --cipher aes128-ccm8 --variant fast")
@click.argument("target_name", metavar=f"[{'|'.join(export.target_names())}]")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--cipher", "cipher_name", default=None, help="A cipher, or a folder of your own.")
@click.option(
    "--variant", default=None, help="A certain variant of ours (default: the best for the target's core)."
)
@click.option(
    "--placement", default="flash", show_default=True, help="Where constant tables lie: flash or ram."
)
@click.option("--url", default="", help="Your library's web address, for its metadata.")
@click.option("--link", "with_link", is_flag=True, help="The secure link with that cipher, and its examples.")
@click.option(
    "--radio", "radio_name", default=None, help="With --link: for this radio alone, which is smaller."
)
@click.option("--packet-bytes", type=int, default=None, help="With --radio: its packet length.")
@click.option("--sends-only", is_flag=True, help="With --radio: for nodes that never listen.")
@db_option
@json_option
def command(
    target_name: str,
    folder: Path,
    cipher_name: str | None,
    variant: str | None,
    placement: str,
    url: str,
    with_link: bool,
    radio_name: str | None,
    packet_bytes: int | None,
    sends_only: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write a cipher as a self-contained library into DIR: the C files that were measured, nothing else.

    Its README has the figures stored for exactly this implementation. DIR must be new, empty, or an earlier
    export in which nothing was changed; the same command writes the same bytes. Measures nothing.

    With --link it is a node of the secure link (docs/link.md) with storage, examples and that cipher;
    'motecrypt provision' gives nodes their keys.
    """
    if cipher_name is None:
        raise InputError("say what to export: --cipher NAME ('motecrypt list ciphers')")
    chosen = select([cipher_name])
    target = export.target(target_name, chosen.catalog)
    cipher = chosen.cipher
    body = export.choose(chosen.catalog, cipher, target, variant)
    chosen.prove_own()
    radio = _radio(with_link, radio_name, packet_bytes, sends_only)
    if with_link:
        planned = export.plan_link(
            chosen.catalog, target, cipher, body, placement=placement, url=url, radio=radio
        )
    else:
        with open_results(db, make=False) as results:
            planned = export.plan(chosen.catalog, target, cipher, body, results, placement=placement, url=url)
    planned.write(folder)
    for warning in _warnings(planned):
        print(f"motecrypt: warning: {warning}", file=sys.stderr)
    if as_json:
        print_json(
            {
                **planned.about,
                "folder": folder,
                "name": planned.name,
                "standing": cipher.standing,
                "files": sorted(planned.files),
                "measure": [missing.command for missing in planned.figures.missing],
            }
        )
        return
    what = f"the link with {cipher.name}" if with_link else cipher.name
    print(f"{folder}: {what} ({body.name}) as {target.title}, {len(planned.files)} files; see README.md")
    if planned.figures.missing:
        devices = " and ".join(missing.device for missing in planned.figures.missing)
        print(
            f"not measured on {devices}: README.md has the commands, and has the figures if you export again"
        )


def _radio(
    with_link: bool, name: str | None, packet_bytes: int | None, sends_only: bool
) -> export.LinkRadio | None:
    """The one radio that a link is for."""
    if not with_link and (name is not None or packet_bytes is not None or sends_only):
        raise InputError("--radio, --packet-bytes and --sends-only go with --link")
    if name is None:
        if packet_bytes is not None or sends_only:
            raise InputError("--packet-bytes and --sends-only go with --radio ('motecrypt list radios')")
        return None
    return export.LinkRadio(chosen_radio(name, packet_bytes), sends_only)


def _warnings(planned: export.Export) -> list[str]:
    cipher = planned.cipher
    if cipher.standing == "broken":
        return [f"{cipher.name} is BROKEN ({cipher.standing_reason}): for study only, it protects nothing"]
    if cipher.standing in ("legacy", "unrated"):
        return [f"{cipher.name} is {cipher.standing}: {cipher.standing_reason or 'nobody has rated it'}"]
    return []
