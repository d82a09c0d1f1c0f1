"""What messages cost on a radio, for a terminal: a table, a plot, and what is best in words."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.adviser.shown import plural
from motecrypt.air.radios.plots import svg_plot, text_plot
from motecrypt.air.radios.stretches import Row, even_stretches
from motecrypt.air.radios.survey import Survey
from motecrypt.base.model import Section

COLUMNS = (
    *("bytes", "packets", "on air bytes", "air ms", "write ms", "deliver ms"),
    *("sender uJ", "receiver uJ", "padded to", "padded ms", "saved ms"),
)
LEAST = ("saved ms", "receiver uJ", "write ms", "padded ms", "padded to", "on air bytes")


def table(found: Survey, every: bool) -> Section:
    """Rows of lengths whose figures change evenly, or of each length."""
    rows = found.rows()
    shown = [(row, row) for row in rows] if every else even_stretches(rows)
    title = f"{found.radio.title}, packets of {found.radio.packet_bytes} bytes, by the model"
    text = _text(found, rows) + (_EVENLY if len(shown) < len(rows) else "")
    return Section(title, COLUMNS, [_cells(first, last) for first, last in shown], text)


def plot(found: Survey) -> str:
    """Times to deliver over the length; empty where there is one length."""
    lengths, plain, padded = _times(found)
    marks = [("o", "as it is", plain), (".", "padded", padded)]
    return text_plot(lengths, marks, "ms to deliver") if len(lengths) > 1 else ""


def svg(found: Survey) -> str:
    """The same as SVG."""
    lengths, plain, padded = _times(found)
    series = [("#c0392b", "as it is", plain), ("#2471a3", "padded", padded)]
    return svg_plot(found.radio.title, lengths, series, "ms to deliver")


def _times(found: Survey) -> tuple[list[int], list[float], list[float]]:
    rows = found.rows()
    lengths = [row["message_bytes"] for row in rows]
    plain = [row["delivery_time_us"] / 1000 for row in rows]
    return lengths, plain, [row["padded_delivery_time_us"] / 1000 for row in rows]


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


def _text(found: Survey, rows: Sequence[Row]) -> str:
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
