"""motecrypt provision: give a node its number and its keys, from the gateway's master key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.cli._link_options import GROUP, GROUP_NOTICE, NodeNumber, called, chosen_radio, open_store
from motecrypt.cli._output import print_json, print_table, table_options
from motecrypt.link.keys import read_master_file

if TYPE_CHECKING:
    from motecrypt.link.gateway.protocols.coap.context import OscoreContext
    from motecrypt.link.gateway_end import Gateway
    from motecrypt.link.native import Suite

_file = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog="Example: motecrypt provision 5 --key gateway.key --radio srf --eep node5.eep")
@click.argument("node", type=NodeNumber(), required=False)
@click.option("--key", "key_file", type=_file, required=True, help="The gateway's master key file.")
@click.option("--state", type=_file, default=None, help="Its record of nodes (default: KEY.gateway).")
@click.option("--radio", "radio_name", default="srf", show_default=True, help="The node's radio.")
@click.option("--packet-bytes", type=int, default=None, help="Its packet length.")
@click.option("--sends-only", is_flag=True, help="The node never listens.")
@click.option("--member", is_flag=True, help="With 'group': one more member, with the existing key.")
@click.option("--long-tags", is_flag=True, help="Tags of 16 bytes in long messages.")
@click.option("--eep", type=_file, default=None, help="Write an EEPROM image for avrdude (Intel HEX).")
@click.option("--eeprom", type=_file, default=None, help="Write a simulated UNO's EEPROM ('run --eeprom').")
@click.option("--eeprom-at", type=int, default=0, show_default=True, help="With these: the first address.")
@click.option(
    "--uf2", "uf2_file", type=_file, default=None, help="Write two flash sectors for a Pico's drive."
)
@click.option("--flash", type=_file, default=None, help="Write two flash sectors as they are (8 KB).")
@click.option(
    "--flash-offset", default="0x1f0000", show_default=True, help="With --uf2: their address in the flash."
)
@click.option("--image", type=_file, default=None, help="Write the storage itself, for a node in plain C.")
@click.option(
    "--oscore",
    "client_folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Also make an OSCORE context: in the --eep or --eeprom image, and in this new folder for aiocoap.",
)
@click.option("--block", is_flag=True, help="Print the key block, for the sketch KeyChange: a secret.")
@click.option("--qr", is_flag=True, help="Show the key block as a QR code on the terminal: a secret.")
@click.option("--png", type=_file, default=None, help="Write that QR code as a picture.")
@click.option("--list", "listed", is_flag=True, help="Only list the nodes of the gateway's record.")
@table_options
def command(
    node: int | None,
    key_file: Path,
    state: Path | None,
    radio_name: str,
    packet_bytes: int | None,
    sends_only: bool,
    member: bool,
    long_tags: bool,
    eep: Path | None,
    eeprom: Path | None,
    eeprom_at: int,
    uf2_file: Path | None,
    flash: Path | None,
    flash_offset: str,
    image: Path | None,
    client_folder: Path | None,
    block: bool,
    qr: bool,
    png: Path | None,
    listed: bool,
    as_json: bool,
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
    from motecrypt.exports.link_node import link_options
    from motecrypt.link import provisioning
    from motecrypt.link.gateway.protocols.coap.context import CONTEXT_BYTES
    from motecrypt.link.native import BROADCAST, STORAGE_BYTES, TAG_16

    radio = chosen_radio(radio_name, packet_bytes)
    if not 12 <= radio.packet_bytes <= 255:
        raise InputError(f"packets of {radio.packet_bytes} bytes; the link takes 12 to 255")
    suite_name, gateway = _gateway(key_file, state, radio.packet_bytes)
    if listed:
        _list(gateway, as_json)
        return
    offset = _offset(flash_offset)
    context = None
    if client_folder is not None:
        context = _context(
            node, suite_name, sends_only, [uf2_file, flash, image, png], eep or eeprom, block or qr
        )
    kept = state or key_file.with_name(f"{key_file.name}.gateway")
    record = {kept.with_name(kept.name + suffix).resolve() for suffix in ("", ".new", ".lock")}
    forms: dict[Path, Callable[[bytes], bytes]] = {}
    for path, form in (
        (eep, lambda storage: provisioning.eeprom_hex(storage, eeprom_at)),
        (eeprom, lambda storage: provisioning.whole_eeprom(storage, eeprom_at)),
        (uf2_file, lambda storage: provisioning.uf2(storage, offset)),
        (flash, provisioning.flash_image),
        (image, bytes),
        (png, lambda storage: provisioning.qr_png(provisioning.block_text(storage))),
    ):
        if path is not None and path.resolve() in record:
            raise InputError(f"{path}: belongs to the gateway's record; give another name")
        if path is not None and path in forms:
            raise InputError(f"{path}: named twice; give each format its own file")
        if path is not None:
            forms[path] = form
    if node is None:
        raise InputError("name the node: a number from 0 to 62, different for each, or 'group'")
    if member and node != BROADCAST:
        raise InputError("--member: a node has its own keys; the option is for 'group'")
    if sends_only and node == BROADCAST:
        raise InputError("--sends-only: a group's members only receive; omit it")
    if member and (block or qr or png):
        raise InputError(
            "--member: a key block has no counters, so old messages could be replayed; "
            "give --eep, --eeprom, --uf2, --flash or --image"
        )
    if not forms and not block and not qr:
        raise InputError(
            "choose how to transfer its keys: --eep, --eeprom, --uf2, --flash, --image, --block, --qr "
            "or --png"
        )
    for form in forms.values():
        if form is not forms.get(png or Path()):
            form(bytes(STORAGE_BYTES + (CONTEXT_BYTES if context else 0)))  # before a generation is used
    if qr or png:
        need("qr")
    options = link_options(serial=radio.serial_byte_us > 0, sends_only=sends_only)
    storage = b""

    def make() -> dict[Path, bytes]:
        nonlocal storage
        wanted = options | (TAG_16 if long_tags else 0)
        storage = gateway.member() if member else gateway.provision(node, wanted)
        whole = context.stored(storage) if context else storage
        return {**{path: form(whole) for path, form in forms.items()}, **client_files}

    client_files = context.client_files(client_folder) if context and client_folder else {}
    with provisioning.new_folder(client_folder) if client_folder else nullcontext():
        provisioning.write_private(make, [*forms, *client_files])
    generation = int.from_bytes(storage[4:6], "little")
    if node == BROADCAST:
        print(f"motecrypt: {GROUP_NOTICE}", file=sys.stderr)
    if as_json:
        told = {"node": node, "generation": generation, "options": storage[2], "packet_bytes": storage[3]}
        print_json(
            {
                **told,
                "files": [*forms, *client_files],
                **({"block": provisioning.block_text(storage)} if block else {}),
            }
        )
        return
    for path in forms:
        once = "into each member once" if node == BROADCAST and not member else "once"
        print(f"{path}: keys of {called(node)}, generation {generation}; write it {once}, then delete it")
    if client_folder is not None:
        print(
            f"{client_folder}: the same node's OSCORE context for aiocoap; move it to the client's computer, "
            "and keep no copy"
        )
    if block:
        print(provisioning.block_text(storage))
    if qr:
        print(provisioning.qr_terminal(provisioning.block_text(storage)), end="")


def _context(
    node: int | None,
    suite: Suite,
    sends_only: bool,
    without: list[Path | None],
    image: Path | None,
    shown: bool,
) -> OscoreContext:
    """A new OSCORE context, if the node can have one."""
    from motecrypt.link.gateway.protocols.coap.context import new_context
    from motecrypt.link.native import BROADCAST

    if node is None or node == BROADCAST:
        raise InputError("--oscore: a context is for one node; name its number")
    if suite != "aes128-ccm":
        raise InputError(
            f"--oscore: AES-CCM is required, and this gateway's nodes use {suite}; use another key"
        )
    if sends_only:
        raise InputError("--oscore: a node that never listens cannot be asked; omit --sends-only")
    if image is None or shown or any(path is not None for path in without):
        raise InputError(
            "--oscore: only --eep and --eeprom hold a context; give one of them, and no other form"
        )
    return new_context(node)


def _gateway(key_file: Path, state: Path | None, packet_bytes: int) -> tuple[Suite, Gateway]:
    """Suite and gateway of a master key, with its record next to it, or where `--state` says."""
    need("host")
    from motecrypt.link.gateway_end import Gateway

    suite, master = read_master_file(key_file)
    store = open_store(state or key_file.with_name(f"{key_file.name}.gateway"))
    click.get_current_context().call_on_close(store.close)
    return suite, Gateway(store, master, suite, packet_bytes)


def _offset(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"--flash-offset {text}: not a number; give one such as 0x1f0000") from None


def _list(gateway: Gateway, as_json: bool) -> None:
    """The registry: numbers, generations, and what each node's key block says."""
    from motecrypt.link.native import BROADCAST

    entries = gateway.registry()
    if as_json:
        print_json([vars(entry) for entry in entries])
        return
    rows = [
        [
            GROUP if entry.node == BROADCAST else entry.node,
            entry.generation,
            "void" if entry.void else _says(entry.options),
            entry.packet_bytes or "",
            "not confirmed" if entry.epoch_unconfirmed else "",
        ]
        for entry in entries
    ]
    print_table("Nodes", ("node", "generation", "node's packets", "packet bytes", "new epoch"), rows)


def _says(options: int) -> str:
    from motecrypt.link.native import LISTENS, STREAM

    line = "on a serial line" if options & STREAM else "of a packet radio"
    return f"{line}, {'both ways' if options & LISTENS else 'sends only'}"
