"""motecrypt airtime: what messages cost on a radio."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from motecrypt.air.radios import Radio, load_radio
from motecrypt.app.airtime import message_costs
from motecrypt.app.selection import parse_lengths
from motecrypt.base.errors import InputError
from motecrypt.cli._choices import completes
from motecrypt.cli._output import print_json, print_next, print_table, table_options
from motecrypt.cli._request import FILE

if TYPE_CHECKING:
    from motecrypt.air.radios.survey import Survey

ADVISED_BYTES_MAX = 255
"""The longest message that the next command asks about."""


@click.command(epilog="Example: motecrypt airtime --radio srf --bytes 1-256")
@click.option(
    "--radio",
    "radio_name",
    shell_complete=completes("radios"),
    default="srf",
    show_default=True,
    help="A radio, or a descriptor file.",
)
@click.option("--bytes", "lengths", default="1-256", show_default=True, help="16, or 1-256, or 16,32,47.")
@click.option("--packet-bytes", type=int, help="Packet length (default: the radio's own).")
@click.option("--timeout-ms", type=float, help="Timeout of a packet that is not full.")
@click.option(
    "--set", "settings", multiple=True, metavar="FIGURE=NUMBER", help="Change a figure of the radio."
)
@click.option("--all", "every", is_flag=True, help="Print each length in its own row.")
@click.option("--svg", type=FILE, help="The plot as SVG.")
@table_options
def command(
    radio_name: str,
    lengths: str,
    packet_bytes: int | None,
    timeout_ms: float | None,
    settings: tuple[str, ...],
    every: bool,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Packets, air time, time to write and to deliver, and energy of messages on a radio, without loss.

    Says which message and packet lengths are best and what padding to whole packets gains. Figures are
    those of the radio's descriptor, each with its source; see 'motecrypt list radios'.
    """
    radio = _radio(radio_name, packet_bytes, timeout_ms, settings)
    found = message_costs(radio, sorted(parse_lengths(lengths)))
    from motecrypt.present.terminal import airtime as view

    if svg is not None:
        try:
            svg.write_text(view.svg(found), encoding="utf-8")
        except OSError as error:
            raise InputError(f"--svg {svg}: {error.strerror}; choose another file") from None
    if as_json:
        print_json(found.document())
        return
    table = view.table(found, every)
    print_table(table.title, table.columns, table.rows, table.text, view.LEAST)
    print(view.plot(found), end="\n" if len(found.rows()) > 1 else "")
    print_next(_next(found, radio_name))


def _next(found: Survey, radio_name: str) -> str:
    """The command that asks which cipher to use for messages of the best length, in the secure link where it
    takes such packets."""
    from motecrypt.adviser import api as advise

    facts, radio = advise.link_facts(), advise.radio_part(found.radio)
    best = int(found.plain.message_bytes[found.best_message])
    most = min(max(1, advise.message_bytes_max(facts, radio)), ADVISED_BYTES_MAX)
    question = advise.Question(message_bytes=min(best, most), interval_s=600.0)
    words = ["advise", "--device", "uno", "--radio", radio_name]
    if found.radio.packet_bytes != load_radio(radio_name).packet_bytes:
        words += ["--packet-bytes", str(found.radio.packet_bytes)]
    words += ["--bytes", str(question.message_bytes), "--every", "10min", "--battery", "3xAA"]
    if advise.link_refusal(facts, radio, question):
        words += ["--need", "confidentiality,integrity"]
    return shlex.join(["motecrypt", *words])


def _radio(
    radio_name: str, packet_bytes: int | None, timeout_ms: float | None, settings: tuple[str, ...]
) -> Radio:
    radio = load_radio(radio_name)
    values: dict[str, float] = {}
    for setting in settings:
        figure, equals, number = setting.partition("=")
        try:
            values[figure.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"--set {setting}: give FIGURE=NUMBER, such as air_rate_baud=38400")
    for name, value in (("packet_bytes", packet_bytes), ("timeout_ms", timeout_ms)):
        if value is not None and name in values:
            raise InputError(f"--set {name} and --{name.replace('_', '-')}: give one of them")
        if value is not None:
            values[name] = value
    return radio.with_figures(**values)
