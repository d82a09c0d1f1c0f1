"""motecrypt radio: two virtual serial radios that any program can use."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from motecrypt.cli._output import json_option, print_json
from motecrypt.errors import InputError
from motecrypt.radios import Channel, RadioPair, load_radio


@click.command(epilog="Example: motecrypt radio srf --loss 0.1 --seed 7 --link /tmp/a --link /tmp/b")
@click.argument("radio_name", metavar="[RADIO]", default="srf")
@click.option("--loss", type=float, default=0.0, help="Probability that a packet is lost.")
@click.option("--bit-errors", type=float, default=0.0, help="Probability that a bit of a packet flips.")
@click.option("--crc/--no-crc", default=True, help="Whether the radio drops packets with flipped bits.")
@click.option("--duplicate", type=float, default=0.0, help="Probability that a packet arrives twice.")
@click.option("--reorder", type=float, default=0.0, help="Probability that a packet is overtaken.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of all that is random.")
@click.option("--packet-bytes", type=int, default=None, help="Packet length (default: the radio's own).")
@click.option("--timeout-ms", type=float, default=None, help="Timeout of a packet that is not full.")
@click.option(
    "--link", "links", type=click.Path(path_type=Path), multiple=True, help="A name for a port; twice."
)
@click.option(
    "--seconds", type=click.FloatRange(min=0), default=None, help="End after so long (default: on a signal)."
)
@json_option
def command(
    radio_name: str,
    loss: float,
    bit_errors: float,
    crc: bool,
    duplicate: float,
    reorder: float,
    seed: int,
    packet_bytes: int | None,
    timeout_ms: float | None,
    links: tuple[Path, ...],
    seconds: float | None,
    as_json: bool,
) -> None:
    """Make two virtual serial ports joined by RADIO, in real time, with the SRF's command mode.

    Prints the two ports at once and, when it ends (Ctrl-C), how many packets went which way and how
    exactly the pace was kept.
    """
    from motecrypt.ports.signals import Stop
    from motecrypt.ports.virtual import VirtualRadios

    radio = load_radio(radio_name)
    if packet_bytes is not None:
        radio = radio.with_figures(packet_bytes=packet_bytes)
    if timeout_ms is not None:
        radio = radio.with_figures(timeout_ms=timeout_ms)
    if len(links) not in (0, 2):
        raise InputError("--link: give it twice, once for each port, or not at all")
    channel = Channel(loss, bit_errors, crc, duplicate, reorder, seed)
    radios = VirtualRadios(RadioPair(radio, channel))
    made: list[Path] = []
    with Stop() as stop:
        try:
            for link, port in zip(links, radios.ports, strict=False):
                _link(link, port)
                made.append(link)
            names = [str(link) for link in made] or radios.ports
            if as_json:
                print_json({"radio": radio.name, "ports": names})
            else:
                print(f"{radio.title}\nport 0: {names[0]}\nport 1: {names[1]}")
            sys.stdout.flush()
            radios.run(lambda: stop.asked, stop.fileno(), seconds)
        finally:
            for link in made:
                link.unlink(missing_ok=True)
            radios.close()
    _report(radios.pair, radios.pacing.summary(), as_json)


def _link(link: Path, port: str) -> None:
    try:
        if link.is_symlink():
            link.unlink()
        link.symlink_to(port)
    except OSError as error:
        raise InputError(f"--link {link}: {error.strerror}; choose another name") from None


def _report(pair: RadioPair, pacing: dict[str, float], as_json: bool) -> None:
    tallies = [pair.tally(end) for end in (0, 1)]
    if as_json:
        print_json({"pacing": pacing, "packets": tallies})
        return
    for end, tally in enumerate(tallies):
        print(
            f"from port {end}: {tally.sent} packets sent, {tally.delivered} delivered, {tally.lost} lost, "
            f"{tally.unheard} unheard, {tally.duplicated} doubled, {tally.reordered} overtaken, "
            f"{tally.air_time_us / 1000:.1f} ms on the air"
        )
    if pacing["deliveries"]:
        print(
            f"pace: {pacing['deliveries']} deliveries late by {pacing['median_us']} us (median), "
            f"{pacing['p99_us']} us (99th percentile), {pacing['max_us']} us (most)"
        )
    if pacing["overrun_bytes"]:
        print(f"{pacing['overrun_bytes']} bytes were dropped because no program read them")
