"""Tables 1 to 3 and figures 1 to 11 of the Wi-Fi study, as rows of comparisons. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from motecrypt.air.wlan import capture
from motecrypt.base import energy
from motecrypt.catalog.processors import processor
from motecrypt.studies.facts import Comparison, FactKind, Tolerance
from motecrypt.studies.judge import NOTHING_ELSE, Bound, Check, Evidence, Expected, compare
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.causes import duration_cause
from motecrypt.studies.wlan.plan import (
    CIPHERS,
    COLUMN_TITLES,
    COLUMNS,
    DATA,
    SOURCE,
    TABLES,
    TOLERANCE,
    Stored,
)

AGAIN = "motecrypt reproduce wlan --rows"
#: Above this ratio to the plaintext a printed time takes more than a cipher and its padding.
ENCODED_FROM = 1.5


def row(
    table: str,
    name: str,
    column: str,
    unit: str,
    published: float | str | None,
    measured: float | str | None,
    *,
    id: str,
    kind: FactKind = "figure",
    tolerance: Tolerance | None = None,
    evidence: Evidence = NOTHING_ELSE,
    expected: Expected | None = None,
    found: float | None = None,
    note: str = "",
    topic: str = "",
) -> Comparison:
    """A comparison; numbers are judged by the study's tolerance unless another is given."""
    return compare(
        id=f"wlan-{id}",
        source=SOURCE,
        table=table,
        row=name,
        column=column,
        unit=unit,
        kind=kind,
        published=published,
        measured=measured,
        expected=expected,
        found=found,
        tolerance=TOLERANCE if tolerance is None else tolerance,
        evidence=evidence,
        note=note,
        topic=topic,
    )


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
                ratio = printed[data, cipher, column] / printed[data, "none", column]
                rows.append(
                    row(
                        table=table,
                        name=f"{data}: {cipher}",
                        column=COLUMN_TITLES[column],
                        unit="ratio to no encryption",
                        published=ratio,
                        measured=own / plain if own and plain else None,
                        id=cell_id(data, cipher, column),
                        evidence=Evidence(
                            "same algorithm, ours",
                            checks=tuple(_checks(printed, data, cipher, column)),
                            cause=duration_cause(stored, (data, cipher, column)),
                        ),
                        note=_note(printed, data, cipher, column)
                        + _recorded(stored, data, (cipher, column), ("none", column)),
                    )
                )
    return rows


Durations = dict[tuple[str, str, str], float]


def _plain_row(stored: Stored, printed: Durations, data: str, table: str, column: str) -> Comparison:
    """The row without encryption, as a ratio to the first column, whose own cell is in seconds."""
    first = next(iter(COLUMNS))
    base, own = total_seconds(stored, data, "none", first), total_seconds(stored, data, "none", column)
    moved = stored.seconds(plan.transfer(data, "none", column))
    spread = f"ours {moved.mean:.2f} s, runs {moved.low:.2f} to {moved.high:.2f}; " if moved else ""
    said, one = printed[data, "none", column], column == first
    return row(
        table=table,
        name=f"{data}: no encryption",
        column=COLUMN_TITLES[column],
        unit="s" if one else "ratio to ad hoc, open",
        published=said if one else said / printed[data, "none", first],
        measured=own if one else own / base if own and base else None,
        id=cell_id(data, "none", column),
        evidence=Evidence(
            "other",
            checks=tuple(_checks(printed, data, "none", column)),
            bring="the source's file: its length is not printed, so seconds cannot be compared"
            if one
            else "",
            cause=duration_cause(stored, (data, "none", column)),
        ),
        note=f"{spread}paper {said:g} s" + _recorded(stored, data, ("none", column), ("none", first)),
    )


def _recorded(stored: Stored, data: str, *cells: tuple[str, str]) -> str:
    """For the end of a note: that a transfer of these cells came with the program and did not run here."""
    days = stored.recorded(plan.transfer(data, cipher, column) for cipher, column in cells)
    return f"; transfers as recorded on {', '.join(days)}" if days else ""


def _note(printed: Durations, data: str, cipher: str, column: str) -> str:
    own, plain = printed[data, cipher, column], printed[data, "none", column]
    if own < plain:
        return f"less than without encryption: {own:g} s against {plain:g} s in the same column"
    if own / plain > ENCODED_FROM:
        return f"needs {own / plain:.2f} times the bytes; a ciphertext has its plaintext's length"
    return f"paper {own:g} s of {plain:g} s"


def _checks(printed: Durations, data: str, cipher: str, column: str) -> Iterator[Check]:
    """What a printed duration cannot be less than, other things being equal; transfers differ by so much."""
    own = printed[data, cipher, column]
    room = Tolerance(plan.NOISE[COLUMNS[column][2]], 0.0, "model: the spread of simulated runs")
    lesser = [
        ("none", column, "without encryption", "more bytes and more work", cipher != "none"),
        (cipher, "bss_open", "open", "TKIP adds 20 bytes to each frame", column == "bss_wpa_tkip"),
        (cipher, "adhoc_open", "open", "WEP adds 8 bytes to each frame", column == "adhoc_wep"),
        ("DES", column, "with DES", "the same bytes, three times the work", cipher == "3DES"),
    ]
    for other, where, name, why, applies in lesser:
        if applies:
            less = printed[data, other, where]
            said = f"{own:g} s, {name} {less:g} s: {why}"
            yield Check(own, Bound("at least", less), said, AGAIN, room)


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
_BARS = "the paper's bars carry no numbers; ours are here to draw them"


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
                place = places[index] if len(places) > 1 else places[0]
                what, unit = column.split(", ")
                made = f"bar-{data}-{cipher.lower()}-{_BAR_IDS.get(what, what)}"
                rows.append(row(place, f"{data}: {cipher}", column, unit, None, value, id=made, note=_BARS))
    for data, place in MOVED.items():
        for cipher in ("none", *CIPHERS):
            for column in COLUMNS:
                if data == "image":
                    value, unit = total_seconds(stored, data, cipher, column), "s"
                else:
                    value, unit = with_radio(stored, data, cipher, column), "µJ/byte"
                title, made = COLUMN_TITLES[column], cell_id(data, cipher, column)
                made = made.replace("duration", "bar")
                note = _BARS + _recorded(stored, data, (cipher, column))
                rows.append(row(place, f"{data}: {cipher}", title, unit, None, value, id=made, note=note))
    return rows


_BAR_IDS = {"energy": "power"}
"""The source calls the energy for a byte power. The stable names of its bars do, too."""


def _handshake() -> Comparison:
    frames = capture.handshake("wep")
    steps = [f.summary for f in frames]
    return row(
        table="figure 1",
        name="shared key authentication",
        column="frames",
        unit="frames",
        published=4.0,
        measured=float(len(steps)),
        id="handshake",
        note="; ".join(steps),
    )
