"""motecrypt provision: give a node its number and its keys, from the gateway's master key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from motecrypt.air.radios import load_radio
from motecrypt.app.link_ends import GROUP_NOTICE, called
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.cli._link_options import GROUP, NodeNumber, packet_option, state_option
from motecrypt.cli._output import print_json, print_note, print_table, table_options
from motecrypt.cli._request import FILE, FOLDER, taken

if TYPE_CHECKING:
    from motecrypt.link.told import NodeEntry


def _address(_: click.Context, option: click.Parameter, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"{option.opts[0]} {text}: not a number; give one such as 0x1f0000") from None


@click.command(epilog="Example: motecrypt provision 5 --key gateway.key --radio srf --eep node5.eep")
@click.argument("node", type=NodeNumber(), required=False)
@click.option("--key", "key_file", type=FILE, required=True, help="The gateway's master key file.")
@state_option
@click.option("--radio", "radio_name", default="srf", show_default=True, help="The node's radio.")
@packet_option
@click.option("--sends-only", is_flag=True, help="The node never listens.")
@click.option("--member", is_flag=True, help="With 'group': one more member, with the existing key.")
@click.option("--long-tags", is_flag=True, help="Tags of 16 bytes in long messages.")
@click.option("--eep", type=FILE, help="Write an EEPROM image for avrdude (Intel HEX).")
@click.option("--eeprom", type=FILE, help="Write a simulated UNO's EEPROM ('run --eeprom').")
@click.option("--eeprom-at", type=int, default=0, show_default=True, help="With these: the first address.")
@click.option("--uf2", type=FILE, help="Write two flash sectors for a Pico's drive.")
@click.option("--flash", type=FILE, help="Write two flash sectors as they are (8 KB).")
@click.option(
    "--flash-offset",
    default="0x1f0000",
    callback=_address,
    show_default=True,
    help="With --uf2: their address in the flash.",
)
@click.option("--image", type=FILE, help="Write the storage itself, for a node in plain C.")
@click.option(
    "--oscore",
    type=FOLDER,
    help="Also make an OSCORE context: in the --eep or --eeprom image, and in this new folder for aiocoap.",
)
@click.option("--block", is_flag=True, help="Print the key block, for the sketch KeyChange: a secret.")
@click.option("--qr", is_flag=True, help="Show the key block as a QR code on the terminal: a secret.")
@click.option("--png", type=FILE, help="Write that QR code as a picture.")
@click.option("--list", "listed", is_flag=True, help="Only list the nodes of the gateway's record.")
@table_options
def command(
    key_file: Path,
    state: Path | None,
    radio_name: str,
    packet_bytes: int | None,
    block: bool,
    qr: bool,
    listed: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Give node number NODE, or the broadcast 'group', new keys, and note it in the gateway's record.

    Each call raises the node's generation: the gateway no longer takes its earlier keys. The key
    goes to the node by cable or programmer, never over the air. Write an image into a node once and delete
    it: the same image again repeats counters, and encryption with a repeated counter protects nothing.

    A group's key protects against outsiders only. Its members receive what the gateway sends with 'send --to
    group'; they all get the same image, next to their own keys, and later ones get theirs by --member.

    --oscore adds a context for CoAP that is protected end to end (docs/coap.md). Its master secret is random,
    and only the folder for the client has it. A context in use must not be copied.

    Files are new and readable by you alone. docs/link.md has the formats.
    """
    from motecrypt.app.provision import ProvisionRequest, provision, registered
    from motecrypt.link.native import BROADCAST
    from motecrypt.link.provisioning import qr_terminal

    radio = load_radio(radio_name, packet_bytes)
    if listed:
        _list(registered(key_file, state, radio), as_json)
        return
    if given["node"] is None:
        if given["oscore"] is not None:
            raise InputError("--oscore: a context is for one node; name its number")
        raise InputError("name the node: a number from 0 to 62, different for each, or 'group'")
    if qr:
        need("qr")
    request = taken(ProvisionRequest, given | {"radio": radio, "shown": block or qr})
    made = provision(request, key_file, state)
    group = request.node == BROADCAST
    print_note(GROUP_NOTICE if group else "")
    if as_json:
        told = asdict(made)
        secret = told.pop("block")
        print_json({**told, **({"block": secret} if block else {})})
        return
    for path, _ in request.files.forms():
        once = "into each member once" if group and not request.member else "once"
        keys = f"keys of {called(request.node)}, generation {made.generation}"
        print(f"{path}: {keys}; write it {once}, then delete it")
    if request.oscore is not None:
        print(
            f"{request.oscore}: the same node's OSCORE context for aiocoap; move it to the client's "
            "computer, and keep no copy"
        )
    if block:
        print(made.block)
    if qr:
        print(qr_terminal(made.block), end="")


def _list(entries: Sequence[NodeEntry], as_json: bool) -> None:
    """The registry: numbers, generations, and what each node's key block says."""
    from motecrypt.link.native import BROADCAST, LISTENS, STREAM

    def says(options: int) -> str:
        line = "on a serial line" if options & STREAM else "of a packet radio"
        return f"{line}, {'both ways' if options & LISTENS else 'sends only'}"

    if as_json:
        print_json([vars(entry) for entry in entries])
        return
    rows = [
        [
            GROUP if entry.node == BROADCAST else entry.node,
            entry.generation,
            "void" if entry.void else says(entry.options),
            entry.packet_bytes or "",
            "not confirmed" if entry.epoch_unconfirmed else "",
        ]
        for entry in entries
    ]
    print_table("Nodes", ("node", "generation", "node's packets", "packet bytes", "new epoch"), rows)
