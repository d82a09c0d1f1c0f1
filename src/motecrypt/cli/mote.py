"""motecrypt mote: build a node's firmware from an example, and simulate it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from motecrypt.base.errors import InputError
from motecrypt.base.paths import read_regular
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.cli._link_options import check_free, until_the_end
from motecrypt.exports import plan_sketch
from motecrypt.link.gateway.opening import open_gateway
from motecrypt.link.keys import create_private, read_key_file, read_master_file

if TYPE_CHECKING:
    from motecrypt.link.gateway_end import Gateway

EEPROM_BYTES = 1024
EXAMPLE = "thermometer"


@click.command(epilog="Example: motecrypt mote --key link.key --node 7 sensor.elf")
@click.argument("elf", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.elf")
@click.option(
    "--key",
    "key_file",
    type=click.Path(path_type=Path),
    required=True,
    help="The gateway's master key file; in mode C a key for AES.",
)
@click.option(
    "--mode",
    type=click.Choice(["safe", "C"]),
    default="safe",
    help="safe: the secure link (default). C: as in the source paper, only to reproduce it.",
)
@click.option("--node", type=click.IntRange(0, 62), default=None, help="Its number, different for each node.")
@click.option("--replace", is_flag=True, help="Make the earlier node with this number invalid.")
@click.option("--one-way", is_flag=True, help="It sends and never receives.")
@click.option("--long-only", is_flag=True, help="No packets with short tags.")
@click.option(
    "--example", default=EXAMPLE, show_default=True, help="An example of 'export arduino --link' for the UNO."
)
@click.option("--interval-ms", type=int, default=None, help="Pause between readings (default: 1000).")
@click.option(
    "--run", "port", default=None, metavar="PORT", help="Then run it in the simulator at this port."
)
@click.option(
    "--eeprom",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The chip's EEPROM (default: next to FILE.elf). If it exists, the node continues with it.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The gateway's record (default: next to its key).",
)
def command(
    elf: Path,
    key_file: Path,
    mode: Literal["safe", "C"],
    node: int | None,
    replace: bool,
    one_way: bool,
    long_only: bool,
    example: str,
    interval_ms: int | None,
    port: str | None,
    eeprom: Path | None,
    state: Path | None,
) -> None:
    """Build the firmware of an Arduino UNO that sends its temperature over the secure link.

    It is an example of the library that 'motecrypt export arduino DIR --cipher aes128-ccm8 --link' writes
    (or --cipher ascon-aead128, as the gateway's key says), compiled as Arduino's IDE does. --example chooses
    another one that a simulated UNO can run.

    FILE.elf holds no key: key and counters are in the EEPROM, whose image is written next to it. For a real
    UNO: avr-objcopy FILE.elf to hex and load it with avrdude and a programmer, once with the image ('-U
    eeprom:w:FILE.elf.eeprom:r') and never with that image again: its counters would start again. Set the fuse
    EESAVE, so that new firmware leaves them.
    """
    need("avr", *(["arduino"] if mode == "safe" else []))
    from motecrypt.build.toolchain.drivers import driver
    from motecrypt.simulate.paper_mote import INTERVAL_MS, PaperMote, build_example, build_paper

    memory = eeprom if eeprom is not None else elf.with_name(f"{elf.name}.eeprom")
    if mode == "C":
        if node is not None or replace or one_way or long_only or state is not None:
            raise InputError("--node and its options: mode C has no nodes; omit --mode")
        if example != EXAMPLE:
            raise InputError("--example: mode C has a program of its own; leave --mode out")
        pause_ms = INTERVAL_MS if interval_ms is None else interval_ms
        build_paper(PaperMote(read_key_file(key_file), pause_ms), elf)
        print(f"{elf}: the paper's mote, mode C; it holds the key")
    else:
        if node is None:
            raise InputError("--node: missing; give 0 to 62, a different number for each node")
        suite, _ = read_master_file(key_file)
        sketch = plan_sketch(Catalog.load(), suite, example)
        if interval_ms is not None and not sketch.interval:
            raise InputError(f"--interval-ms: the example '{example}' has no interval; leave it out")
        gateway = None
        if sketch.context and (not memory.exists() or not _has_context(memory)):
            raise InputError(
                f"--eeprom {memory}: the example '{example}' needs an OSCORE context; make a new file with "
                f"'motecrypt provision {node} --key {key_file} --eeprom FILE --oscore FOLDER'"
            )
        if memory.exists():
            _check(memory, node)
        else:
            gateway = until_the_end(open_gateway(key_file, state, packet_bytes=12))
            check_free(gateway, node, replace)
        build_example(sketch.library.files, sketch.path, elf, interval_ms)
        if gateway is not None:
            _provision(gateway, memory, node, one_way, long_only)
        print(f"{elf}: {example} of node {node}; its key and counters are in {memory}")
    if port is None:
        return
    from motecrypt.link.ports.signals import Stop
    from motecrypt.simulate.ports.mote import RunningMote

    with Stop() as stop, RunningMote(driver("avr_run"), elf, port, memory) as running:
        print(f"running at {port}, EEPROM in {memory}; Ctrl-C ends it", flush=True)
        while not stop.asked and running.wait(0.2):
            pass


def _check(memory: Path, node: int) -> None:
    """An EEPROM that is there already is that node's."""
    from motecrypt.link.native import STORAGE_BYTES

    content = read_regular(memory, EEPROM_BYTES)
    if len(content) < STORAGE_BYTES or content[0] != 2:
        raise InputError(f"--eeprom {memory}: contains no node; name a new file")
    if content[1] != node:
        raise InputError(f"--eeprom {memory}: is node {content[1]}'s; name a new file for node {node}")


def _has_context(memory: Path) -> bool:
    from motecrypt.link.gateway.protocols.coap.context import has_context
    from motecrypt.link.native import STORAGE_BYTES

    return has_context(read_regular(memory, EEPROM_BYTES), STORAGE_BYTES)


def _provision(gateway: Gateway, memory: Path, node: int, one_way: bool, long_only: bool) -> None:
    from motecrypt.link.native import LISTENS, SHORT, STREAM

    options = STREAM | (0 if one_way else LISTENS) | (0 if long_only else SHORT)
    create_private(memory, lambda: gateway.provision(node, options).ljust(EEPROM_BYTES, b"\xff"))
