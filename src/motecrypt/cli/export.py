"""motecrypt export: a measured cipher as a library to install."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from motecrypt import export
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
@db_option
@json_option
def command(
    target_name: str,
    folder: Path,
    cipher_name: str | None,
    variant: str | None,
    placement: str,
    url: str,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write a cipher as a self-contained library into DIR: the C files that were measured, nothing else.

    Its README has the figures stored for exactly this implementation. DIR must be new, empty, or an earlier
    export in which nothing was changed; the same command writes the same bytes. Measures nothing.
    """
    if cipher_name is None:
        raise InputError("say what to export: --cipher NAME ('motecrypt list ciphers')")
    chosen = select([cipher_name])
    target = export.target(target_name, chosen.catalog)
    cipher = chosen.cipher
    body = export.choose(chosen.catalog, cipher, target, variant)
    chosen.prove_own()
    with open_results(db) as results:
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
    print(
        f"{folder}: {cipher.name} ({body.name}) as {target.title}, {len(planned.files)} files; see README.md"
    )
    if planned.figures.missing:
        devices = " and ".join(missing.device for missing in planned.figures.missing)
        print(
            f"not measured on {devices}: README.md has the commands, and has the figures if you export again"
        )


def _warnings(planned: export.Export) -> list[str]:
    cipher = planned.cipher
    if cipher.standing == "broken":
        return [f"{cipher.name} is BROKEN ({cipher.standing_reason}): for study only, it protects nothing"]
    if cipher.standing in ("legacy", "unrated"):
        return [f"{cipher.name} is {cipher.standing}: {cipher.standing_reason or 'nobody has rated it'}"]
    return []
