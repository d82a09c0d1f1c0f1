"""motecrypt link: what messages cost on a radio."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from motecrypt.air.radios import Radio, load_radio
from motecrypt.air.radios.stretches import Row, even_stretches
from motecrypt.app.link import BYTES_MAX, LENGTHS_MAX, message_costs
from motecrypt.base.errors import InputError
from motecrypt.cli._choices import completes
from motecrypt.cli._output import print_json, print_next, print_table, table_options

if TYPE_CHECKING:
    from motecrypt.air.radios.survey import Survey

ADVISED_BYTES_MAX = 255
"""The longest message that the next command asks about."""


@click.command(epilog="Example: motecrypt link --radio srf --bytes 1-256")
@click.option(
    "--radio",
    "radio_name",
    shell_complete=completes("radios"),
    default="srf",
    show_default=True,
    help="A radio, or a descriptor file.",
)
@click.option("--bytes", "lengths", default="1-256", show_default=True, help="16, or 1-256, or 16,32,47.")
@click.option("--packet-bytes", type=int, default=None, help="Packet length (default: the radio's own).")
@click.option("--timeout-ms", type=float, default=None, help="Timeout of a packet that is not full.")
@click.option(
    "--set", "settings", multiple=True, metavar="FIGURE=NUMBER", help="Change a figure of the radio."
)
@click.option("--all", "every", is_flag=True, help="Print each length in its own row.")
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), default=None, help="The plot as SVG.")
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
    found = message_costs(_radio(radio_name, packet_bytes, timeout_ms, settings), _lengths(lengths))
    if svg is not None:
        _write_svg(found, svg)
    if as_json:
        print_json(found.document())
    else:
        _print(found, every)
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


def _lengths(text: str) -> list[int]:
    lengths: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        try:
            first, last = int(low), int(high if dash else low)
        except ValueError:
            raise InputError(f"--bytes {text}: give lengths such as 16, 1-256 or 16,32,47") from None
        if not 1 <= first <= last <= BYTES_MAX:
            raise InputError(f"--bytes {part}: give 1 to {BYTES_MAX}, the smaller first")
        if len(lengths) + last - first >= LENGTHS_MAX:
            raise InputError(f"--bytes {text}: more than {LENGTHS_MAX} lengths; give fewer")
        lengths.update(range(first, last + 1))
    return sorted(lengths)


def _print(found: Survey, every: bool) -> None:
    rows = found.rows()
    shown = [(row, row) for row in rows] if every else even_stretches(rows)
    print_table(
        f"{found.radio.title}, packets of {found.radio.packet_bytes} bytes, by the model",
        (
            *("bytes", "packets", "on air bytes", "air ms", "write ms", "deliver ms"),
            *("sender uJ", "receiver uJ", "padded to", "padded ms", "saved ms"),
        ),
        [_cells(first, last) for first, last in shown],
        _text(found, rows) + (_EVENLY if len(shown) < len(rows) else ""),
        ("saved ms", "receiver uJ", "write ms", "padded ms", "padded to", "on air bytes"),
    )
    if len(rows) > 1:
        from motecrypt.air.radios.plots import text_plot

        lengths = [row["message_bytes"] for row in rows]
        plain = [row["delivery_time_us"] / 1000 for row in rows]
        padded = [row["padded_delivery_time_us"] / 1000 for row in rows]
        print(text_plot(lengths, [("o", "as it is", plain), (".", "padded", padded)], "ms to deliver"))


_FORMS = (
    *(("message_bytes", 1, "g"), ("packets", 1, "g"), ("air_bytes", 1, "g")),
    *((name, 1000, ".3f") for name in ("air_time_us", "write_time_us", "delivery_time_us")),
    *(("sender_uj", 1, ".1f"), ("receiver_uj", 1, ".1f"), ("padded_bytes", 1, "g")),
    *((name, 1000, ".3f") for name in ("padded_delivery_time_us", "padding_gain_us")),
)
_EVENLY = (
    " In a row of several lengths each figure changes evenly from its first to its last value; --all prints "
    "each length in its own row."
)


def _cells(first: Row, last: Row) -> list[str]:
    """A row of the table for the lengths from one to another, which may be the same."""
    cells = []
    for name, divisor, form in _FORMS:
        ends = [format(row[name] / divisor, form) for row in (first, last)]
        cells.append(" to ".join(dict.fromkeys(ends)))
    return cells


def _text(found: Survey, rows: list[dict[str, float]]) -> str:
    from motecrypt.adviser.shown import plural

    best, padded = found.best_packet, found.best_packet_padded
    message = rows[found.best_message]
    rate = message["message_bytes"] / message["delivery_time_us"] * 1000
    gains = [row["padding_gain_us"] / 1000 for row in rows if row["padded_bytes"] != row["message_bytes"]]
    if not gains:
        gained = "Every length here already fills whole packets: padding changes nothing."
    elif max(gains) <= 0:
        gained = f"Padding saves nothing here; it costs up to {-min(gains):.3f} ms."
    else:
        gained = (
            f"Padding to whole packets saves {min(gains):.3f} to {max(gains):.3f} ms if it has an effect."
        )
    return (
        f"Best message length here: {plural(int(message['message_bytes']), 'byte')}, {rate:.3f} KB/s. "
        f"Best packet length for these messages: {plural(best.packet_bytes, 'byte')} without padding "
        f"({best.mean_delivery_us / 1000:.3f} ms on average), "
        f"{plural(padded.packet_bytes, 'byte')} with padding "
        f"({padded.mean_padded_us / 1000:.3f} ms). {gained}"
    )


def _write_svg(found: Survey, path: Path) -> None:
    from motecrypt.air.radios.plots import svg_plot

    rows = found.rows()
    lengths = [row["message_bytes"] for row in rows]
    series = [
        ("#c0392b", "as it is", [row["delivery_time_us"] / 1000 for row in rows]),
        ("#2471a3", "padded", [row["padded_delivery_time_us"] / 1000 for row in rows]),
    ]
    try:
        path.write_text(svg_plot(found.radio.title, lengths, series, "ms to deliver"), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--svg {path}: {error.strerror}; choose another file") from None
