"""motecrypt radio: virtual serial radios that any program can use."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from motecrypt.air.radios import Channel, Radio, RadioNetwork, RadioPair, load_radio
from motecrypt.air.radios.levels import Levels, read_levels
from motecrypt.air.radios.network import NODES_MAX
from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._output import json_option, print_json, typed_with

MODELLED = ("seconds", "goodput_bps", "fairness", "latency_us", "air_time_us")


@click.command(epilog="Example: motecrypt radio srf --loss 0.1 --seed 7 --link /tmp/a --link /tmp/b")
@click.argument("radio_name", metavar="[RADIO]", default="srf")
@click.option(
    "--nodes",
    type=click.IntRange(2, NODES_MAX),
    default=None,
    metavar="N",
    help="N ports on one channel, with collisions (default: two without).",
)
@click.option(
    "--levels",
    "levels_file",
    type=click.Path(path_type=Path),
    default=None,
    metavar="FILE",
    help="With --nodes: levels or positions of the ports, and loss for each pair (TOML).",
)
@click.option("--loss", type=float, default=0.0, help="Probability that a packet is lost.")
@click.option("--bit-errors", type=float, default=0.0, help="Probability that a bit of a packet flips.")
@click.option("--crc/--no-crc", default=True, help="Whether the radio drops packets with flipped bits.")
@click.option("--duplicate", type=float, default=0.0, help="Probability that a packet arrives twice.")
@click.option("--reorder", type=float, default=0.0, help="Probability that a packet is overtaken.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random numbers.")
@click.option("--packet-bytes", type=int, default=None, help="Packet length (default: the radio's own).")
@click.option("--timeout-ms", type=float, default=None, help="Timeout of a packet that is not full.")
@click.option(
    "--link",
    "links",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A name for a port; twice. With --nodes N times, or once: NAME0, NAME1 and so on.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=None,
    help="Stop after this time (default: on a signal).",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
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
    nodes: int | None,
    levels_file: Path | None,
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
    page: Path | None,
    answer_bytes: int,
    as_json: bool,
) -> None:
    """Make virtual serial ports joined by RADIO, in real time, with the SRF's command mode.

    Two ports that never collide or, with --nodes, N on one channel. Prints the ports first and, when it
    ends (Ctrl-C), how many packets went each way and how exact the timing was.
    """
    from motecrypt.link.ports.signals import Stop
    from motecrypt.simulate.ports.virtual import VirtualRadios

    radio = load_radio(radio_name, packet_bytes)
    if timeout_ms is not None:
        radio = radio.with_figures(timeout_ms=timeout_ms)
    if page is not None:
        if links or nodes is not None or levels_file is not None:
            raise InputError("--html opens no ports: omit --link, --nodes and --levels")
        _write_page(page, radio, timeout_ms is not None, answer_bytes, as_json)
        return
    channel = Channel(loss, bit_errors, crc, duplicate, reorder, seed)
    joined = _joined(radio, channel, nodes, levels_file)
    links = _names(links, nodes)
    radios = VirtualRadios(joined, nodes or 2)
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
                print(radio.title, *(f"port {number}: {name}" for number, name in enumerate(names)), sep="\n")
            sys.stdout.flush()
            radios.run(lambda: stop.asked, stop.fileno(), seconds)
        finally:
            for link in made:
                link.unlink(missing_ok=True)
            radios.close()
    if isinstance(joined, RadioNetwork):
        _report_network(joined, radios.pacing.summary(), as_json)
    else:
        _report(joined, radios.pacing.summary(), as_json)


def _write_page(page: Path, radio: Radio, one_timeout: bool, answer_bytes: int, as_json: bool) -> None:
    from motecrypt.present.pages.radio_page import radio_page, variants_of

    variants = [(radio.title, radio)] if one_timeout else variants_of(radio)
    text = radio_page(variants, answer_bytes, typed_with())
    write_atomically(page, text.encode())
    if as_json:
        print_json({"radio": radio.name, "page": str(page), "bytes": len(text.encode())})
    else:
        print(f"{page}: {radio.title}")


def _joined(
    radio: Radio, channel: Channel, nodes: int | None, levels_file: Path | None
) -> RadioPair | RadioNetwork:
    """The radios that were asked for."""
    if nodes is None:
        if levels_file is not None:
            raise InputError("--levels: needs --nodes; two ports without it always have equal levels")
        return RadioPair(radio, channel)
    levels: Levels | None = None if levels_file is None else read_levels(levels_file, nodes)
    return RadioNetwork(radio, nodes, channel, levels)


def _names(links: tuple[Path, ...], nodes: int | None) -> tuple[Path, ...]:
    """The names of all ports, or none."""
    if nodes is None:
        if len(links) not in (0, 2):
            raise InputError("--link: give it twice, once for each port, or not at all")
        return links
    if len(links) == 1:
        return tuple(links[0].with_name(f"{links[0].name}{number}") for number in range(nodes))
    if len(links) not in (0, nodes):
        raise InputError(f"--link: give it {nodes} times, or once (for NAME0 and up), or not at all")
    return links


def _link(link: Path, port: str) -> None:
    try:
        if link.is_symlink():
            link.unlink()
        link.symlink_to(port)
    except OSError as error:
        raise InputError(f"--link {link}: {error.strerror}; choose another name") from None


def _marked(record: dict[str, Any]) -> dict[str, Any]:
    """Times and rates of the radio's model as "modelled_..."; counts of its packets stay."""
    return {f"modelled_{name}" if name in MODELLED else name: value for name, value in record.items()}


def _report(pair: RadioPair, pacing: dict[str, float], as_json: bool) -> None:
    tallies = [pair.tally(end) for end in (0, 1)]
    if as_json:
        print_json({"pacing": pacing, "packets": [_marked(asdict(tally)) for tally in tallies]})
        return
    for end, tally in enumerate(tallies):
        print(
            f"from port {end}: {tally.sent} packets sent, {tally.delivered} delivered, {tally.lost} lost, "
            f"{tally.unheard} unheard, {tally.duplicated} doubled, {tally.reordered} overtaken, "
            f"{tally.air_time_us / 1000:.1f} ms on the air (modelled)"
        )
    _report_pace(pacing)


def _report_network(network: RadioNetwork, pacing: dict[str, float], as_json: bool) -> None:
    ports = [network.port_summary(end) for end in range(network.nodes)]
    summary = network.summary()
    if as_json:
        print_json(
            {"pacing": pacing, "network": _marked(summary), "ports": [_marked(port) for port in ports]}
        )
        return
    for end, port in enumerate(ports):
        print(
            f"port {end}: {port['sent']} packets sent, {port['waited']} waited, {port['given_up']} given up, "
            f"reached {port['reached']} of {port['wanted']}; {port['received']} received, "
            f"{port['captured']} captured, {port['collided']} collided, {port['deaf']} while sending, "
            f"{port['faint']} too faint, {port['lost']} lost"
        )
    if summary["latency_us"] is not None:
        late = summary["latency_us"]
        print(
            f"channel (modelled): goodput {summary['goodput_bps']:.1f} bit/s, "
            f"fairness {summary['fairness']:.3f}, "
            f"latency {late['p50'] / 1000:.1f} ms (median), {late['p99'] / 1000:.1f} ms (99th percentile), "
            f"{late['max'] / 1000:.1f} ms (most)"
        )
    _report_pace(pacing)


def _report_pace(pacing: dict[str, float]) -> None:
    if pacing["deliveries"]:
        print(
            f"pace: {pacing['deliveries']} deliveries late by {pacing['median_us']} us (median), "
            f"{pacing['p99_us']} us (99th percentile), {pacing['max_us']} us (most)"
        )
    if pacing["overrun_bytes"]:
        print(f"{pacing['overrun_bytes']} bytes were dropped because no program read them")
