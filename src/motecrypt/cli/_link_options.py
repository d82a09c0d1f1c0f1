"""Options of several commands of the link: the radio at a port, a mode and its key, a node's number."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from motecrypt.air.radios import load_radio
from motecrypt.app.link_ends import SerialRadio
from motecrypt.cli._request import FILE
from motecrypt.link.modes import MODES

Command = TypeVar("Command", bound=Callable[..., object])

GROUP = "group"
"""How the commands call the broadcast group."""

state_option = click.option("--state", type=FILE, help="The gateway's record (default: KEY.gateway).")
packet_option = click.option("--packet-bytes", type=int, help="Its packet length; the same at both ends.")


def line_options(command: Command) -> Command:
    """The radio at a serial port; the command gets it as `line`."""

    @wraps(command)
    def with_line(
        *, radio: str, packet_bytes: int | None, baud: int, module_key: Path | None, **given: Any
    ) -> object:
        return command(line=SerialRadio(load_radio(radio, packet_bytes), baud, module_key), **given)

    decorated: Any = with_line
    for option in (
        click.option(
            "--module-key",
            type=FILE,
            help="Also switch on the radio module's own AES-128 (ATEE1) with this key file.",
        ),
        click.option("--baud", type=click.IntRange(300, 4_000_000), default=115200, show_default=True),
        packet_option,
        click.option("--radio", default="srf", show_default=True, help="The radio at the port."),
    ):
        decorated = option(decorated)
    return cast("Command", decorated)


def mode_options(command: Command) -> Command:
    """The mode, and the key that it needs."""
    mode = click.option(
        "--mode",
        type=click.Choice(["safe", *MODES]),
        default="safe",
        help="safe: the secure link (default). T, C, P, B: the source paper's, to reproduce it only; they "
        "neither authenticate nor detect loss or replay, and C and P repeat themselves because they have no "
        "IV. Nobody should deploy them.",
    )
    key = click.option(
        "--key",
        "key_file",
        type=FILE,
        help="The gateway's or the node's key file; in modes C, P and B a key for AES.",
    )
    return key(mode(state_option(line_options(command))))


class BatteryPlace(click.ParamType[Any]):
    """AT[:BYTES], a place in a message."""

    name = "at[:bytes]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Of `heard.BatteryField`."""
        from motecrypt.link.gateway.heard import BatteryField

        numbers = str(value).split(":")
        if len(numbers) > 2 or not all(
            text.isascii() and text.isdigit() and len(text) < 5 for text in numbers
        ):
            self.fail(f"'{value}' is not a place in a message; give AT[:BYTES], such as 4 or 4:2", param, ctx)
        at, *length = map(int, numbers)
        return BatteryField(at, bytes=length[0] if length else 2)


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
