"""motecrypt mote: the firmware of a sensor mote, and one in the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from motecrypt.link import read_key_file
from motecrypt.setup import need


@click.command(epilog="Example: motecrypt mote --key link.key --stream 7 sensor.elf")
@click.argument("elf", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.elf")
@click.option("--key", "key_file", type=click.Path(path_type=Path), required=True, help="Key file.")
@click.option(
    "--mode",
    type=click.Choice(["safe", "C"]),
    default="safe",
    help="safe: the authenticated link (default). C: the source paper's way, to reproduce it only.",
)
@click.option("--stream", type=int, default=1, show_default=True, help="Another number for each mote.")
@click.option("--interval-ms", type=int, default=1000, show_default=True, help="Pause between readings.")
@click.option("--run", "port", default=None, metavar="PORT", help="Then run it, simulated, at this port.")
@click.option(
    "--eeprom", type=click.Path(path_type=Path, dir_okay=False), default=None, help="The chip's EEPROM."
)
def command(
    elf: Path,
    key_file: Path,
    mode: Literal["safe", "C"],
    stream: int,
    interval_ms: int,
    port: str | None,
    eeprom: Path | None,
) -> None:
    """Build the firmware of an Arduino UNO that encrypts readings of its temperature and sends them.

    FILE.elf holds the key. For a real UNO: avr-objcopy it to hex and load it with avrdude, with the
    EESAVE fuse set, because the counter in EEPROM must outlive a new firmware.
    """
    need("avr")
    from motecrypt.toolchain.drivers import driver
    from motecrypt.toolchain.mote import Mote, build_mote

    build_mote(Mote(mode, read_key_file(key_file), stream, interval_ms), elf)
    print(f"{elf}: sensor mote, mode {mode}, stream {stream}; it holds the key")
    if port is None:
        return
    from motecrypt.ports.mote import RunningMote
    from motecrypt.ports.signals import Stop

    memory = eeprom if eeprom is not None else elf.with_name(f"{elf.name}.eeprom")
    with Stop() as stop, RunningMote(driver("avr_run"), elf, port, memory) as running:
        print(f"running at {port}, EEPROM in {memory}; Ctrl-C ends it", flush=True)
        while not stop.asked and running.wait(0.2):
            pass
