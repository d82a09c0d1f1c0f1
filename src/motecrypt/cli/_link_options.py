"""What send and receive have in common: options, the radio they describe, the state files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from motecrypt.errors import InputError
from motecrypt.link import read_key_file
from motecrypt.link.modes import MODES
from motecrypt.radios import Radio, load_radio

Function = TypeVar("Function", bound=Callable[..., object])

MODE_HELP = (
    "safe: authenticated encryption, counters, acknowledgements (default). T, C, P, B: the source "
    "paper's, to reproduce it only; they neither authenticate nor detect loss or replay, and C and P "
    "repeat themselves for want of an IV. Nobody should deploy them."
)


def link_options(function: Function) -> Function:
    """The options that both ends need."""
    for option in reversed(
        (
            click.option("--key", "key_file", type=click.Path(path_type=Path), help="Key file (all but T)."),
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
                help="Where counters or the replay window are kept (default: beside the key).",
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
    if key_file is None:
        raise InputError(f"--key: missing; mode {mode} needs one ('motecrypt key FILE' makes one)")
    return read_key_file(key_file)


def state_path(state: Path | None, key_file: Path | None, kind: str) -> Path:
    """Where the state is kept."""
    if state is not None:
        return state
    assert key_file is not None
    return key_file.with_name(f"{key_file.name}.{kind}")


def module_commands(module_key: Path | None) -> list[str]:
    """What switches on the radio module's own encryption."""
    if module_key is None:
        return []
    key = read_key_file(module_key)
    if len(key) != 16:
        raise InputError(f"--module-key {module_key}: {len(key)} bytes; the module's AES takes 16")
    return [f"ATEK{key.hex().upper()}", "ATEE1"]
