"""motecrypt mote: the firmware of a sensor mote, and one in the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from motecrypt.cli._link_options import check_free, open_gateway
from motecrypt.errors import InputError
from motecrypt.link.keys import create_private, read_key_file, read_master_file
from motecrypt.paths import read_regular
from motecrypt.setup import need

if TYPE_CHECKING:
    from motecrypt.link.gateway import Gateway

EEPROM_BYTES = 1024


@click.command(epilog="Example: motecrypt mote --key link.key --node 7 sensor.elf")
@click.argument("elf", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.elf")
@click.option(
    "--key",
    "key_file",
    type=click.Path(path_type=Path),
    required=True,
    help="The gateway's master key file; in mode C one for AES.",
)
@click.option(
    "--mode",
    type=click.Choice(["safe", "C"]),
    default="safe",
    help="safe: the secure link (default). C: the source paper's way, to reproduce it only.",
)
@click.option(
    "--node", type=click.IntRange(0, 62), default=None, help="Its number, another one for each node."
)
@click.option("--replace", is_flag=True, help="Void what has this number so far.")
@click.option("--one-way", is_flag=True, help="It sends and hears nothing.")
@click.option("--long-only", is_flag=True, help="No packets with short tags.")
@click.option("--interval-ms", type=int, default=1000, show_default=True, help="Pause between readings.")
@click.option("--run", "port", default=None, metavar="PORT", help="Then run it, simulated, at this port.")
@click.option(
    "--eeprom",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The chip's EEPROM (default: beside FILE.elf). Is there one, the node goes on with it.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The gateway's record (default: beside its key).",
)
def command(
    elf: Path,
    key_file: Path,
    mode: Literal["safe", "C"],
    node: int | None,
    replace: bool,
    one_way: bool,
    long_only: bool,
    interval_ms: int,
    port: str | None,
    eeprom: Path | None,
    state: Path | None,
) -> None:
    """Build the firmware of an Arduino UNO that sends its temperature over the secure link.

    FILE.elf holds no key: key and counters are in the EEPROM, whose image is written beside it. For a real
    UNO: avr-objcopy FILE.elf to hex and load it with avrdude and a programmer, once with the image ('-U
    eeprom:w:FILE.elf.eeprom:r') and never with that image again: its counters would start anew. Set the fuse
    EESAVE, so that new firmware leaves them.
    """
    need("avr")
    from motecrypt.toolchain.drivers import driver
    from motecrypt.toolchain.mote import Mote, build_mote

    memory = eeprom if eeprom is not None else elf.with_name(f"{elf.name}.eeprom")
    if mode == "C":
        if node is not None or replace or one_way or long_only or state is not None:
            raise InputError("--node and what belongs to it: mode C has no nodes; leave --mode out")
        build_mote(Mote("C", interval_ms, read_key_file(key_file)), elf)
        print(f"{elf}: sensor mote, mode C; it holds the key")
    else:
        if node is None:
            raise InputError("--node: missing; give 0 to 62, another number for each node")
        suite, _ = read_master_file(key_file)
        gateway = None
        if memory.exists():
            _check(memory, node)
        else:
            gateway = open_gateway(key_file, state, packet_bytes=12)
            check_free(gateway, node, replace)
        build_mote(Mote("safe", interval_ms, suite=suite), elf)
        if gateway is not None:
            _provision(gateway, memory, node, one_way, long_only)
        print(f"{elf}: sensor mote of node {node}; its key and counters are in {memory}")
    if port is None:
        return
    from motecrypt.ports.mote import RunningMote
    from motecrypt.ports.signals import Stop

    with Stop() as stop, RunningMote(driver("avr_run"), elf, port, memory) as running:
        print(f"running at {port}, EEPROM in {memory}; Ctrl-C ends it", flush=True)
        while not stop.asked and running.wait(0.2):
            pass


def _check(memory: Path, node: int) -> None:
    """An EEPROM that is there already is that node's."""
    from motecrypt.toolchain.link import STORAGE_BYTES

    content = read_regular(memory, EEPROM_BYTES)
    if len(content) < STORAGE_BYTES or content[0] != 2:
        raise InputError(f"--eeprom {memory}: holds no node; name a new file")
    if content[1] != node:
        raise InputError(f"--eeprom {memory}: is node {content[1]}'s; name a new file for node {node}")


def _provision(gateway: Gateway, memory: Path, node: int, one_way: bool, long_only: bool) -> None:
    from motecrypt.toolchain.link import LISTENS, SHORT, STREAM

    options = STREAM | (0 if one_way else LISTENS) | (0 if long_only else SHORT)
    create_private(memory, lambda: gateway.provision(node, options).ljust(EEPROM_BYTES, b"\xff"))
