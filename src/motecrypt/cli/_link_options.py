"""What send and receive have in common: options, the radio they describe, the state files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from motecrypt.base.errors import InputError
from motecrypt.link import read_key_file
from motecrypt.link.modes import MODES

Function = TypeVar("Function", bound=Callable[..., object])
End = TypeVar("End", bound="Gateway | HostNode")

if TYPE_CHECKING:
    from motecrypt.air.radios import Radio
    from motecrypt.link.gateway_end import Gateway
    from motecrypt.link.node import HostNode

MODE_HELP = (
    "safe: the secure link (default). T, C, P, B: the source "
    "paper's, to reproduce it only; they neither authenticate nor detect loss or replay, and C and P "
    "repeat themselves because they have no IV. Nobody should deploy them."
)


def link_options(function: Function) -> Function:
    """The options that both ends need."""
    for option in reversed(
        (
            click.option(
                "--key",
                "key_file",
                type=click.Path(path_type=Path),
                help="The gateway's or the node's key file; in modes C, P and B a key for AES.",
            ),
            click.option("--mode", type=click.Choice(["safe", *MODES]), default="safe", help=MODE_HELP),
            click.option(
                "--radio", "radio_name", default="srf", show_default=True, help="The radio at the port."
            ),
            click.option(
                "--packet-bytes", type=int, default=None, help="Its packet length; the same at both ends."
            ),
            click.option("--baud", type=click.IntRange(300, 4_000_000), default=115200, show_default=True),
            click.option(
                "--state",
                type=click.Path(path_type=Path, dir_okay=False),
                default=None,
                help="The gateway's record (default: FILE.gateway, next to its key).",
            ),
            click.option(
                "--module-key",
                type=click.Path(path_type=Path),
                default=None,
                help="Also switch on the radio module's own AES-128 (ATEE1) with this key file.",
            ),
        )
    ):
        function = option(function)
    return function


def chosen_key(mode: str, key_file: Path | None) -> bytes:
    """The key that the mode needs; empty for plaintext."""
    if mode == "T":
        return b""
    return read_key_file(named_key(mode, key_file))


def named_key(mode: str, key_file: Path | None) -> Path:
    """The key file, which all modes but T need."""
    if key_file is None:
        raise InputError(f"--key: missing; mode {mode} needs one ('motecrypt key FILE' makes one)")
    return key_file


def until_the_end(end: End) -> End:
    """An end of the link whose file is free again when the command is over."""
    click.get_current_context().call_on_close(end.close)
    return end


def new_epochs(gateway: Gateway, restored: bool, notice: Callable[[str], None]) -> None:
    """Begin new epochs if the record comes from a backup, and report which nodes do not have theirs."""
    if restored and (void := gateway.restored(int(time.time()))):
        notice(f"nodes that cannot be notified of a new epoch and need new keys: {all_called(void)}")
    if waiting := gateway.epoch_unconfirmed:
        notice(f"{UNCONFIRMED}: {all_called(waiting)}; each is notified until it confirms")


UNCONFIRMED = "nodes that have not confirmed their new epoch"

GROUP = "group"
"""How the commands call the broadcast group."""

GROUP_NOTICE = (
    "the group's key protects only against attackers without it: each member can forge messages to the "
    "others; it "
    "carries messages alone, no commands, files or keys"
)


class NodeNumber(click.ParamType[int]):
    """A node's number, or the word for the broadcast group."""

    name = "integer|group"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """0 to 62; 63 for the group."""
        from motecrypt.link.native import BROADCAST

        if value == GROUP:
            return BROADCAST
        if isinstance(value, int):
            return value
        text = str(value)
        if not text.isascii() or not text.isdigit() or int(text) >= BROADCAST:
            self.fail(f"'{text}' is not a node; give a number from 0 to 62, or '{GROUP}'", param, ctx)
        return int(text)


def called(node: int) -> str:
    """A node in a message."""
    from motecrypt.link.native import BROADCAST

    return "the group" if node == BROADCAST else f"node {node}"


def all_called(nodes: Iterable[int]) -> str:
    """Nodes in a message."""
    return ", ".join(map(called, nodes))


def check_free(gateway: Gateway, node: int, replace: bool) -> None:
    """A number that a node has already gets new keys only where the user reports it."""
    from motecrypt.link.native import BROADCAST

    if node in gateway.nodes and not replace:
        raise InputError(
            f"{called(node)}: already has keys; give another number"
            f"{' or --member' if node == BROADCAST else ''}, or --replace, which makes those invalid"
        )


def check_line(node: int, options: int, packet_bytes: int, radio: Radio) -> None:
    """Refuse a serial line whose packet length or options differ from those the node was provisioned for."""
    from motecrypt.link.native import STREAM

    if not options & STREAM:
        raise InputError(
            f"{called(node)}: its radio's packets have a length of their own; no serial line has"
        )
    if packet_bytes != radio.packet_bytes:
        raise InputError(
            f"{called(node)}: provisioned for packets of {packet_bytes} bytes, not {radio.packet_bytes}; "
            f"give --packet-bytes {packet_bytes}, and set the radio's"
        )


def module_commands(module_key: Path | None) -> list[str]:
    """What switches on the radio module's own encryption."""
    if module_key is None:
        return []
    key = read_key_file(module_key)
    if len(key) != 16:
        raise InputError(f"--module-key {module_key}: {len(key)} bytes; the module's AES takes 16")
    return [f"ATEK{key.hex().upper()}", "ATEE1"]
