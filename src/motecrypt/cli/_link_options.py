"""What send and receive have in common: options, the radio they describe, the state files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from motecrypt.errors import InputError
from motecrypt.link import read_key_file
from motecrypt.link.modes import MODES
from motecrypt.radios import Radio, load_radio

Function = TypeVar("Function", bound=Callable[..., object])

if TYPE_CHECKING:
    from motecrypt.link.gateway import Gateway
    from motecrypt.link.node import HostNode

MODE_HELP = (
    "safe: the secure link (default). T, C, P, B: the source "
    "paper's, to reproduce it only; they neither authenticate nor detect loss or replay, and C and P "
    "repeat themselves for want of an IV. Nobody should deploy them."
)


def link_options(function: Function) -> Function:
    """The options that both ends need."""
    for option in reversed(
        (
            click.option(
                "--key",
                "key_file",
                type=click.Path(path_type=Path),
                help="The gateway's or the node's key file; in modes C, P and B one for AES.",
            ),
            click.option("--mode", type=click.Choice(["safe", *MODES]), default="safe", help=MODE_HELP),
            click.option(
                "--radio", "radio_name", default="srf", show_default=True, help="The radio at the port."
            ),
            click.option(
                "--packet-bytes", type=int, default=None, help="Its packet length; both ends alike."
            ),
            click.option("--baud", type=click.IntRange(300, 4_000_000), default=115200, show_default=True),
            click.option(
                "--state",
                type=click.Path(path_type=Path, dir_okay=False),
                default=None,
                help="The gateway's record (default: beside its key, FILE.gateway).",
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


def chosen_radio(radio_name: str, packet_bytes: int | None) -> Radio:
    """The radio that the options describe."""
    radio = load_radio(radio_name)
    return radio if packet_bytes is None else radio.with_figures(packet_bytes=packet_bytes)


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


def open_gateway(key_file: Path, state: Path | None, packet_bytes: int, answer_ms: int = 250) -> Gateway:
    """The gateway of a master key file, with its record beside it, or where `--state` says."""
    from motecrypt.link.gateway import Gateway
    from motecrypt.link.keys import read_master_file
    from motecrypt.link.state import FileStore

    suite, master = read_master_file(key_file)
    store = FileStore(state or key_file.with_name(f"{key_file.name}.gateway"))
    return Gateway(store, master, suite, packet_bytes, answer_ms)


def open_node(key_file: Path, answer_ms: int) -> HostNode:
    """The node of a node's key file, which holds its counters, too."""
    from motecrypt.link.node import HostNode
    from motecrypt.link.state import FileStore

    return HostNode(FileStore(key_file), answer_ms)


def check_free(gateway: Gateway, node: int, replace: bool) -> None:
    """A number that a node has already gets new keys only where the user says so."""
    if node in gateway.nodes and not replace:
        raise InputError(
            f"node {node}: has keys already; give another number, or --replace, which makes those void"
        )


def check_line(node: int, options: int, packet_bytes: int, radio: Radio) -> None:
    """A node talks over a serial line with packets of the length that it was provisioned for."""
    from motecrypt.toolchain.link import STREAM

    if not options & STREAM:
        raise InputError(f"node {node}: its radio's packets have a length of their own; no serial line has")
    if packet_bytes != radio.packet_bytes:
        raise InputError(
            f"node {node}: provisioned for packets of {packet_bytes} bytes, not {radio.packet_bytes}; "
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
