"""motecrypt node: build a node's firmware from an example, and simulate it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from motecrypt.app.key import NodeKeyRequest
from motecrypt.app.node import EXAMPLE, build_node
from motecrypt.base.errors import InputError
from motecrypt.build.setup import need
from motecrypt.cli._link_options import state_option
from motecrypt.cli._request import FILE, taken
from motecrypt.link.keys import read_key_file


@click.command(epilog="Example: motecrypt node --key link.key --node 7 sensor.elf")
@click.argument("elf", type=FILE, metavar="FILE.elf")
@click.option(
    "--key",
    "key_file",
    type=FILE,
    required=True,
    help="The gateway's master key file; in mode C a key for AES.",
)
@click.option(
    "--mode",
    type=click.Choice(["safe", "C"]),
    default="safe",
    help="safe: the secure link (default). C: as in the source paper, only to reproduce it.",
)
@click.option("--node", type=click.IntRange(0, 62), help="Its number, different for each node.")
@click.option("--replace", is_flag=True, help="Make the earlier node with this number invalid.")
@click.option("--one-way", is_flag=True, help="It sends and never receives.")
@click.option("--long-only", is_flag=True, help="No packets with short tags.")
@click.option(
    "--example", default=EXAMPLE, show_default=True, help="An example of 'export arduino --link' for the UNO."
)
@click.option("--interval-ms", type=int, help="Pause between readings (default: 1000).")
@click.option("--run", "port", metavar="PORT", help="Then run it in the simulator at this port.")
@click.option(
    "--eeprom",
    type=FILE,
    help="The chip's EEPROM (default: next to FILE.elf). If it exists, the node continues with it.",
)
@state_option
def command(
    elf: Path,
    key_file: Path,
    mode: Literal["safe", "C"],
    example: str,
    interval_ms: int | None,
    port: str | None,
    eeprom: Path | None,
    state: Path | None,
    **given: Any,
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
    memory = eeprom if eeprom is not None else elf.with_name(f"{elf.name}.eeprom")
    if mode == "C":
        if given["node"] is not None or any(given.values()) or state is not None:
            raise InputError("--node and its options: mode C has no nodes; omit --mode")
        if example != EXAMPLE:
            raise InputError("--example: mode C has a program of its own; leave --mode out")
        from motecrypt.simulate.paper_node import INTERVAL_MS, PaperNode, build_paper

        need("avr")
        pause_ms = INTERVAL_MS if interval_ms is None else interval_ms
        build_paper(PaperNode(read_key_file(key_file), pause_ms), elf)
        print(f"{elf}: the paper's node, mode C; it holds the key")
    else:
        if given["node"] is None:
            raise InputError("--node: missing; give 0 to 62, a different number for each node")
        request = taken(NodeKeyRequest, given)
        build_node(elf, memory, request, key_file, state, example, interval_ms)
        print(f"{elf}: {example} of node {request.node}; its key and counters are in {memory}")
    if port is None:
        return
    from motecrypt.build.toolchain.drivers import driver
    from motecrypt.link.ports.signals import Stop
    from motecrypt.simulate.ports.node import RunningNode

    with Stop() as stop, RunningNode(driver("avr_run"), elf, port, memory) as running:
        print(f"running at {port}, EEPROM in {memory}; Ctrl-C ends it", flush=True)
        while not stop.asked and running.wait(0.2):
            pass
