"""motecrypt key: a fresh random key, in a file that only you can read."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Literal

import click
from click.core import ParameterSource

from motecrypt.air.radios import load_radio
from motecrypt.app.key import NodeKeyRequest, node_key
from motecrypt.app.link_ends import GROUP_NOTICE, called
from motecrypt.base.errors import InputError
from motecrypt.cli._link_options import NodeNumber
from motecrypt.cli._output import print_note
from motecrypt.cli._request import FILE, taken
from motecrypt.link.keys import create_key_file, create_master_file


@click.command(epilog="Example: motecrypt key link.key --link")
@click.argument("file", type=FILE)
@click.option("--link", "master", is_flag=True, help="The master key of a gateway of the secure link.")
@click.option(
    "--suite",
    type=click.Choice(["aes128-ccm", "ascon-aead128"]),
    default="aes128-ccm",
    show_default=True,
    help="With --link: how its nodes encrypt.",
)
@click.option(
    "--node",
    type=NodeNumber(),
    help="The key of the node with this number, which is added to the gateway's record. Every node has "
    "its own. Or 'group': for a member of the broadcast group.",
)
@click.option("--of", "gateway_key", type=FILE, help="With --node: the gateway's master key.")
@click.option("--member", is_flag=True, help="With --node group: one more member, with the existing key.")
@click.option("--replace", is_flag=True, help="With --node: make the earlier node with this number invalid.")
@click.option("--one-way", is_flag=True, help="With --node: it sends and never receives.")
@click.option("--long-only", is_flag=True, help="With --node: no packets with short tags.")
@click.option("--tag-16", is_flag=True, help="With --node: tags of 16 bytes, not 8, in long messages.")
@click.option("--radio", default="srf", show_default=True, help="With --node: its radio.")
@click.option("--packet-bytes", type=click.IntRange(12, 255), help="With --node: its radio's packet length.")
@click.option("--state", type=FILE, help="With --node: the gateway's record (default: next to its key).")
@click.option(
    "--bits",
    type=click.Choice(["128", "192", "256"]),
    default="256",
    show_default=True,
    help="Length of a key for files and the source papers' modes.",
)
def command(
    file: Path,
    master: bool,
    suite: Literal["aes128-ccm", "ascon-aead128"],
    node: int | None,
    gateway_key: Path | None,
    state: Path | None,
    bits: str,
    radio: str,
    packet_bytes: int | None,
    **given: Any,
) -> None:
    """Write a fresh key to a new FILE, readable by you alone.

    With --link it is a gateway's master key; with --node and --of that of one node of it. A node's file
    holds its counters, too: carry it to the node's computer over a safe way (scp, a stick), never over the
    radio, and keep no copy; a copy that is used again breaks the encryption. Otherwise it is a key for
    'file', 'crypt' and the source papers' modes.
    """
    if master and node is not None:
        raise InputError("--link, --node: give one of them; each makes a different file")
    _check_meant("--link" if master else "none" if node is None else "--node")
    if master:
        create_master_file(file, suite)
        named = shlex.quote(str(file))
        print(
            f"{file}: a gateway's master key ({suite}); next: "
            f"'motecrypt provision N --key {named} --radio RADIO --eep node.eep' for a chip, "
            f"'motecrypt key FILE --node N --of {named}' for a computer"
        )
    elif node is None:
        create_key_file(file, int(bits) // 8)
        print(f"{file}: a new {bits}-bit key; copy it to the other end over a secure channel")
    elif gateway_key is None:
        raise InputError("--of: missing; a node's key comes from its gateway's master key")
    else:
        of = load_radio(radio, packet_bytes)
        line = {"packet_bytes": of.packet_bytes, "serial": of.is_serial}
        request = taken(NodeKeyRequest, given | line | {"node": node})
        node_key(file, request, gateway_key, state)
        print_note(GROUP_NOTICE if request.group else "")
        whose = f"the key and counters of {called(node)}"
        print(f"{file}: {whose}; move it there over a secure channel, keep no copy")


_ONLY_WITH = {
    **dict.fromkeys(
        (
            *("gateway_key", "member", "replace", "one_way", "long_only", "tag_16"),
            *("radio", "packet_bytes", "state"),
        ),
        "--node",
    ),
    "suite": "--link",
    "bits": "none",
}
"""The kind of key that an option is for: of a node, of a gateway, or none of the link's."""


def _check_meant(kind: str) -> None:
    """Refuse an option of another kind of key: without it the user would get a key that was not meant."""
    context = click.get_current_context()
    for parameter in context.command.params:
        needed = _ONLY_WITH.get(parameter.name or "", kind)
        if (
            needed != kind
            and context.get_parameter_source(parameter.name or "") is not ParameterSource.DEFAULT
        ):
            mend = "omit --link and --node" if needed == "none" else f"give {needed} as well, or omit it"
            raise InputError(f"{parameter.opts[0]}: not for this kind of key; {mend}")
