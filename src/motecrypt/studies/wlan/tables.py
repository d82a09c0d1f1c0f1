"""Tables 1 to 3 and figures 1 to 11 of the Wi-Fi study, as rows of comparisons. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from motecrypt.air.wlan import capture
from motecrypt.base import energy
from motecrypt.catalog.processors import processor
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound, Check
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.causes import duration_cause
from motecrypt.studies.wlan.plan import (
    CIPHERS,
    COLUMN_TITLES,
    COLUMNS,
    DATA,
    TABLES,
    TOLERANCE,
    Stored,
)
from motecrypt.studies.words import words

AGAIN = "motecrypt reproduce wlan --rows"
#: Above this ratio to the plaintext a printed time takes more than a cipher and its padding.
ENCODED_FROM = 1.5


def row(name: str, /, **given: Any) -> Comparison:
    """A row of data/studies/wlan.toml; numbers are judged by the study's tolerance unless it states another,
    bounds exactly."""
    own = words("wlan").rows[name]
    if own["tolerance"] is None and not isinstance(given.get("expected", own["expected"]), Bound):
        given = {"tolerance": TOLERANCE} | given
    return words("wlan").row(name, **given)


# --- tables 1 to 3 ---------------------------------------------------------------------------------


def total_seconds(stored: Stored, data: str, cipher: str, column: str) -> float | None:
    """Encryption on this host by our portable C, then the transfer: what the source calls duration."""
    moved = stored.seconds(plan.transfer(data, cipher, column))
    if moved is None:
        return None
    if cipher == "none":
        return moved.mean
    nanoseconds = stored.ns_per_byte(cipher, data)
    return None if nanoseconds is None else moved.mean + nanoseconds * DATA[data] / 1e9


def cell_id(data: str, cipher: str, column: str) -> str:
    """The id of a cell of tables 1 to 3, without the study's name."""
    return f"duration-{data}-{cipher.lower()}-{column.replace('_', '-')}"


def duration_rows(stored: Stored) -> list[Comparison]:
    """Every printed duration as a ratio to "no encryption" in its column."""
    printed = plan.durations()
    rows = []
    for data, table in TABLES.items():
        for column in COLUMNS:
            rows.append(_plain_row(stored, printed, data, table, column))
            plain = total_seconds(stored, data, "none", column)
            for cipher in CIPHERS:
                own = total_seconds(stored, data, cipher, column)
                said, base = printed[data, cipher, column], printed[data, "none", column]
                ratio = said / base
                rows.append(
                    row(
                        "duration",
                        **_place(data, cipher, column),
                        where=table,
                        published=ratio,
                        measured=own / plain if own and plain else None,
                        checks=tuple(_checks(printed, data, cipher, column)),
                        cause=duration_cause(stored, (data, cipher, column)),
                        own=said,
                        plain=base,
                        ratio=ratio,
                        less=said < base,
                        more=ratio > ENCODED_FROM,
                        fits=not said < base and not ratio > ENCODED_FROM,
                        recorded=_recorded(stored, data, (cipher, column), ("none", column)),
                    )
                )
    return rows


def _place(data: str, cipher: str, column: str) -> dict[str, str]:
    made = {"name": cell_id(data, cipher, column), "title": COLUMN_TITLES[column]}
    return {"data": data, "cipher": cipher, **made}


Durations = dict[tuple[str, str, str], float]


def _plain_row(stored: Stored, printed: Durations, data: str, table: str, column: str) -> Comparison:
    """The row without encryption, as a ratio to the first column, whose own cell is in seconds."""
    first = next(iter(COLUMNS))
    base, own = total_seconds(stored, data, "none", first), total_seconds(stored, data, "none", column)
    moved = stored.seconds(plan.transfer(data, "none", column))
    said, one = printed[data, "none", column], column == first
    return row(
        "plain",
        **_place(data, "none", column),
        where=table,
        first=one,
        published=said if one else said / printed[data, "none", first],
        measured=own if one else own / base if own and base else None,
        checks=tuple(_checks(printed, data, "none", column)),
        cause=duration_cause(stored, (data, "none", column)),
        moved=moved,
        own=said,
        recorded=_recorded(stored, data, ("none", column), ("none", first)),
    )


def _recorded(stored: Stored, data: str, *cells: tuple[str, str]) -> str:
    """For the end of a note: that a transfer of these cells came with the program and did not run here."""
    days = stored.recorded(plan.transfer(data, cipher, column) for cipher, column in cells)
    return f"; transfers as recorded on {', '.join(days)}" if days else ""


def _checks(printed: Durations, data: str, cipher: str, column: str) -> Iterator[Check]:
    """What a printed duration cannot be less than, other things being equal; transfers differ by so much."""
    own = printed[data, cipher, column]
    room = Tolerance(plan.NOISE[COLUMNS[column][2]], 0.0, "model: the spread of simulated runs")
    lesser = [
        ("none", "none", column, cipher != "none"),
        ("bss_open", cipher, "bss_open", column == "bss_wpa_tkip"),
        ("adhoc_open", cipher, "adhoc_open", column == "adhoc_wep"),
        ("DES", "DES", column, cipher == "3DES"),
    ]
    for text, other, where, applies in lesser:
        if applies:
            less = printed[data, other, where]
            why = words("wlan").text(text, own=own, less=less)
            yield Check(own, Bound("at least", less), why, AGAIN, room)


def impossible(printed: Durations) -> list[tuple[str, str, str, str]]:
    """What the paper says that cannot be: table, where, what, why."""
    found = []
    for data, cipher, column in printed:
        for check in _checks(printed, data, cipher, column):
            if not check.holds:
                said, _, why = check.why.partition(": ")
                found.append((TABLES[data], f"{cipher}, {COLUMN_TITLES[column]}", said, why))
    return found


# --- figures ---------------------------------------------------------------------------------------


def microjoule_per_byte(nanoseconds: float) -> float:
    """The source's model for the host's time: V x I of its sample processor, for each byte."""
    cpu = processor(plan.PROCESSOR)
    return energy.energy_uj(cpu.supply_v, cpu.current_ma, nanoseconds / 1000)


def with_radio(stored: Stored, data: str, cipher: str, column: str) -> float | None:
    """Microjoules for each byte of the file, processor and the sender's radio together."""
    radio = stored.joule(plan.transfer(data, cipher, column))
    nanoseconds = 0.0 if cipher == "none" else stored.ns_per_byte(cipher, data)
    if radio is None or nanoseconds is None:
        return None
    return radio.mean * 1e6 / DATA[data] + microjoule_per_byte(nanoseconds)


ALONE = {
    "text": ("figure 2",),
    "image": ("figure 4", "figure 5", "figure 6"),
    "audio": ("figure 8",),
    "video": ("figure 10",),
}
MOVED = {"text": "figure 3", "image": "figure 7", "audio": "figure 9", "video": "figure 11"}


def figures(stored: Stored) -> list[Comparison]:
    """Figures 1 to 11. Only some ratios are printed; the bars themselves carry no numbers."""
    rows = [_handshake()]
    for data, places in ALONE.items():
        for cipher in CIPHERS:
            nanoseconds = stored.ns_per_byte(cipher, data)
            size = DATA[data]
            values = {
                "time, ms": None if nanoseconds is None else nanoseconds * size / 1e6,
                "throughput, MB/s": None if nanoseconds is None else 1e3 / nanoseconds,
                "energy, µJ/byte": None if nanoseconds is None else microjoule_per_byte(nanoseconds),
            }
            for index, (column, value) in enumerate(values.items()):
                what, unit = column.split(", ")
                made = f"bar-{data}-{cipher.lower()}-{_BAR_IDS.get(what, what)}"
                told = {"name": made, "where": places[index % len(places)], "title": column}
                rows.append(
                    row("bar", **told, data=data, cipher=cipher, unit=unit, measured=value, recorded="")
                )
    for data, place in MOVED.items():
        for cipher in ("none", *CIPHERS):
            for column in COLUMNS:
                image = data == "image"
                told = _place(data, cipher, column)
                rows.append(
                    row(
                        "bar",
                        **told | {"name": told["name"].replace("duration", "bar"), "where": place},
                        unit="s" if image else "µJ/byte",
                        measured=(total_seconds if image else with_radio)(stored, data, cipher, column),
                        recorded=_recorded(stored, data, (cipher, column)),
                    )
                )
    return rows


_BAR_IDS = {"energy": "power"}
"""The source calls the energy for a byte power. The stable names of its bars do, too."""


def _handshake() -> Comparison:
    steps = [frame.summary for frame in capture.handshake("wep")]
    return row("handshake", measured=float(len(steps)), steps="; ".join(steps))
