"""motecrypt radio: virtual serial radios that any program can use."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from motecrypt.air.radios import Radio, load_radio
from motecrypt.air.radios.network import NODES_MAX
from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import json_option, print_json, typed_with
from motecrypt.cli._request import FILE, seconds_option, taken


@click.command(epilog="Example: motecrypt radio srf --loss 0.1 --seed 7 --link /tmp/a --link /tmp/b")
@click.argument("radio_name", metavar="[RADIO]", default="srf")
@click.option(
    "--nodes",
    type=click.IntRange(2, NODES_MAX),
    metavar="N",
    help="N ports on one channel, with collisions (default: two without).",
)
@click.option(
    "--levels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --nodes: levels or positions of the ports, and loss for each pair (TOML).",
)
@click.option("--loss", type=float, default=0.0, help="Probability that a packet is lost.")
@click.option(
    "--bit-errors",
    "bit_error_rate",
    type=float,
    default=0.0,
    help="Probability that a bit of a packet flips.",
)
@click.option("--crc/--no-crc", default=True, help="Whether the radio drops packets with flipped bits.")
@click.option("--duplicate", type=float, default=0.0, help="Probability that a packet arrives twice.")
@click.option("--reorder", type=float, default=0.0, help="Probability that a packet is overtaken.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random numbers.")
@click.option("--packet-bytes", type=int, help="Packet length (default: the radio's own).")
@click.option("--timeout-ms", type=float, help="Timeout of a packet that is not full.")
@click.option(
    "--link",
    "links",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A name for a port; twice. With --nodes N times, or once: NAME0, NAME1 and so on.",
)
@seconds_option
@click.option(
    "--html",
    "page",
    type=FILE,
    help="In place of ports: write a page with the timeline of a message of any length. One file, offline.",
)
@click.option(
    "--answer-bytes",
    type=click.IntRange(0, 255),
    default=0,
    show_default=True,
    help="With --html: bytes that the receiver answers.",
)
@json_option
def command(
    radio_name: str,
    packet_bytes: int | None,
    timeout_ms: float | None,
    seconds: float | None,
    page: Path | None,
    answer_bytes: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Make virtual serial ports joined by RADIO, in real time.

    The ports of a serial radio take bytes and have the SRF's command mode; those of a radio with packets
    speak the protocol of bridges (docs/formats.md).

    Two ports that never collide or, with --nodes, N on one channel. Prints the ports first and, when it
    ends (Ctrl-C), how many packets went each way and how exact the timing was.
    """
    from motecrypt.app.radio import RadiosRequest, virtual_radios
    from motecrypt.link.ports.signals import Stop
    from motecrypt.present.terminal import radio as view

    radio = load_radio(radio_name, packet_bytes)
    if timeout_ms is not None:
        radio = radio.with_figures(timeout_ms=timeout_ms)
    if page is not None:
        if given["links"] or given["nodes"] is not None or given["levels"] is not None:
            raise InputError("--html opens no ports: omit --link, --nodes and --levels")
        _write_page(page, radio, timeout_ms is not None, answer_bytes, as_json)
        return

    def ready(names: Sequence[str]) -> None:
        if as_json:
            print_json({"radio": radio.name, "ports": names})
        else:
            print(radio.title, *(f"port {number}: {name}" for number, name in enumerate(names)), sep="\n")
        sys.stdout.flush()

    with Stop() as stop:
        found = virtual_radios(taken(RadiosRequest, given | {"radio": radio}), ready, seconds, stop)
    if as_json:
        print_json(found.document())
    else:
        print(*view.lines(found.ports, found.network, found.pacing), sep="\n")


def _write_page(page: Path, radio: Radio, one_timeout: bool, answer_bytes: int, as_json: bool) -> None:
    from motecrypt.present.pages.radio_page import radio_page, variants_of

    variants = [(radio.title, radio)] if one_timeout else variants_of(radio)
    text = radio_page(variants, answer_bytes, typed_with())
    write_atomically(page, text.encode())
    if as_json:
        print_json({"radio": radio.name, "page": str(page), "bytes": len(text.encode())})
    else:
        print(f"{page}: {radio.title}")
