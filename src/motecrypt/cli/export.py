"""motecrypt export: a measured cipher as a library to install."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from motecrypt.air.radios import load_radio
from motecrypt.app.export import ExportRequest, export_bridge
from motecrypt.app.export import export as write_library
from motecrypt.base.errors import InputError
from motecrypt.cli._output import db_option, json_option, print_json, print_next, print_note, progress
from motecrypt.cli._request import PATH
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.targets import target_names

BRIDGE = "bridge"


@click.command(epilog="Example: motecrypt export arduino McAes --cipher aes128-ccm8")
@click.argument("target_name", metavar=f"[{'|'.join((*target_names(), BRIDGE))}]")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--cipher", "cipher_name", help="A cipher, or your own folder.")
@click.option(
    "--variant",
    help="Variant of our implementation (default: the best for the target's core in constant time).",
)
@click.option(
    "--device",
    "device_name",
    help="With c: for this device, with the variant that is best there and its compiler's flags.",
)
@click.option(
    "--placement",
    default="",
    help="Memory of constant tables: flash or ram (default: flash; ram where a cache is before it).",
)
@click.option("--url", default="", help="Your library's web address, for its metadata.")
@click.option(
    "--link", "with_link", is_flag=True, help="Export the secure link with that cipher, and its examples."
)
@click.option("--radio", "radio_name", help="With --link: for this radio only, which makes the node smaller.")
@click.option("--packet-bytes", type=int, help="With --radio: its packet length.")
@click.option("--sends-only", is_flag=True, help="With --radio: for nodes that never listen.")
@click.option(
    "--no-measure", is_flag=True, help="Do not compile or run anything: the README has the stored figures."
)
@db_option
@json_option
def command(
    target_name: str,
    folder: Path,
    cipher_name: str | None,
    variant: str | None,
    device_name: str | None,
    placement: str,
    url: str,
    with_link: bool,
    radio_name: str | None,
    packet_bytes: int | None,
    sends_only: bool,
    no_measure: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write a cipher as a self-contained library into DIR: the C files that were measured, nothing else.

    Without --variant its time does not depend on the key or the message, if the cipher has a variant that is
    so on the target. Its README says whether it is, and has the figures of exactly this export: what is not
    stored for these sources and the compiler that is here is measured first, where the device's compiler and
    simulator are installed. DIR must be new, empty, or an earlier export in which nothing was changed; the
    same figures make the same bytes.

    With --link it is a node of the secure link (docs/link.md) with storage, examples and that cipher;
    'motecrypt provision' gives nodes their keys.

    'export bridge DIR --radio RADIO' writes the sketch of a board that is a gateway's radio.
    """
    if target_name == BRIDGE:
        _export_bridge(folder, radio_name, as_json)
        return
    if cipher_name is None:
        raise InputError("say what to export: --cipher NAME ('motecrypt list ciphers')")
    link = _link(with_link, radio_name, packet_bytes, sends_only)
    request = ExportRequest(
        target_name, cipher_name, variant or "", device_name or "", placement, url, link, not no_measure
    )
    with progress("measuring") as report:
        found = write_library(request, folder, db, report)
    library = found.library
    print_note(found.warning and f"warning: {found.warning}")
    if as_json:
        print_json(found.document())
        return
    cipher = library.cipher.name
    what = f"the link with {cipher}" if with_link else cipher
    files = f"{len(library.files)} files; see README.md"
    print(f"{folder}: {what} ({library.body.name}) as {found.target.title}, {files}")
    if library.figures.missing:
        devices = " and ".join(missing.device for missing in library.figures.missing)
        print(f"not measured on {devices}: README.md has the commands; export again to add the figures")
    print_next(found.next_command(db))


def _export_bridge(folder: Path, radio_name: str | None, as_json: bool) -> None:
    from motecrypt.exports.bridge import bridge_names

    context = click.get_current_context()
    for option in context.command.params:
        typed = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if typed and option.name not in ("target_name", "folder", "radio_name", "as_json"):
            raise InputError(f"{option.opts[0]}: a bridge has none; omit it")
    if radio_name is None:
        raise InputError(f"export bridge: name the --radio; there is one for {', '.join(bridge_names())}")
    files = export_bridge(load_radio(radio_name), folder)
    if as_json:
        print_json({"folder": str(folder), "radio": radio_name, "files": files})
        return
    print(f"{folder}: a bridge for {radio_name}, {len(files)} files; see README.md")
    print_next("motecrypt key gateway.key --link")


def _link(with_link: bool, name: str | None, packet_bytes: int | None, sends_only: bool) -> bool | LinkRadio:
    """Whether the link is exported; the one radio that it is for."""
    if not with_link and (name is not None or packet_bytes is not None or sends_only):
        raise InputError("--radio, --packet-bytes and --sends-only need --link")
    if name is None:
        if packet_bytes is not None or sends_only:
            raise InputError("--packet-bytes and --sends-only need --radio ('motecrypt list radios')")
        return with_link
    return LinkRadio(load_radio(name, packet_bytes), sends_only)
