"""Tables 1 to 3 and figures 1 to 11 of the Wi-Fi study, as rows of comparisons. Pure."""

from __future__ import annotations

from motecrypt import energy
from motecrypt.catalog.processors import processor
from motecrypt.model import Comparison, Verdict
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.plan import CIPHERS, COLUMN_TITLES, COLUMNS, DATA, SOURCE, TABLES, Stored
from motecrypt.wlan import capture

TOLERANCE = 0.10  # a ratio within 10 % of the printed one counts as reproduced


def row(
    table: str,
    name: str,
    column: str,
    unit: str,
    published: float | str | None,
    measured: float | str | None,
    verdict: Verdict | None = None,
    note: str = "",
    id: str = "",
) -> Comparison:
    """A comparison; without a verdict, numbers are judged by the tolerance."""
    ratio = None
    if isinstance(published, int | float) and isinstance(measured, int | float) and published:
        ratio = measured / published
    if verdict is None:
        verdict = judge(ratio, measured)
    return Comparison(
        source=SOURCE,
        table=table,
        row=name,
        column=column,
        unit=unit,
        published=published,
        measured=measured,
        ratio=ratio,
        verdict=verdict,
        note=note,
        id=id,
    )


def judge(ratio: float | None, measured: object) -> Verdict:
    """Reproduced within the tolerance, contradicted beyond it."""
    if measured is None:
        return "not measured"
    if ratio is None:
        return "not reproducible"
    return "reproduced" if abs(ratio - 1) <= TOLERANCE else "contradicted"


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
                ratio = own / plain if own and plain else None
                rows.append(
                    row(
                        table=table,
                        name=f"{data}: {cipher}",
                        column=COLUMN_TITLES[column],
                        unit="ratio to no encryption",
                        published=printed[data, cipher, column] / printed[data, "none", column],
                        measured=ratio,
                        note=_note(printed, data, cipher, column),
                    )
                )
    return rows


def _plain_row(
    stored: Stored, printed: dict[tuple[str, str, str], float], data: str, table: str, column: str
) -> Comparison:
    """The row without encryption, as a ratio to the first column."""
    first = next(iter(COLUMNS))
    base, own = total_seconds(stored, data, "none", first), total_seconds(stored, data, "none", column)
    moved = stored.seconds(plan.transfer(data, "none", column))
    spread = f"ours {moved.mean:.2f} s, runs {moved.low:.2f} to {moved.high:.2f}; " if moved else ""
    return row(
        table=table,
        name=f"{data}: no encryption",
        column=COLUMN_TITLES[column],
        unit="ratio to ad hoc, open",
        published=printed[data, "none", column] / printed[data, "none", first],
        measured=own / base if own and base else None,
        note=f"{spread}paper {printed[data, 'none', column]:g} s",
    )


def _note(printed: dict[tuple[str, str, str], float], data: str, cipher: str, column: str) -> str:
    own, plain = printed[data, cipher, column], printed[data, "none", column]
    if own < plain:
        return f"the paper cannot be: {own:g} s encrypted against {plain:g} s plain in the same column"
    if own / plain > 1.5:
        return f"needs {own / plain:.2f} times the bytes; a ciphertext has its plaintext's length"
    return f"paper {own:g} s of {plain:g} s"


def impossible(printed: dict[tuple[str, str, str], float]) -> list[tuple[str, str, str, str]]:
    """What the paper says that cannot be: table, where, what, why."""
    found = []
    for (data, cipher, column), own in printed.items():
        table, where = TABLES[data], f"{cipher}, {COLUMN_TITLES[column]}"
        plain = printed[data, "none", column]
        if cipher != "none" and own < plain:
            found.append(
                (
                    table,
                    where,
                    f"{own:g} s, plaintext {plain:g} s",
                    "more bytes and more work cannot take less time",
                )
            )
        if cipher != "none" and own / plain > 1.5:
            found.append(
                (
                    table,
                    where,
                    f"{own / plain:.2f} times plaintext",
                    "a ciphertext has its plaintext's length and a block",
                )
            )
        if column == "bss_wpa_tkip" and own < printed[data, cipher, "bss_open"]:
            less = printed[data, cipher, "bss_open"]
            found.append((table, where, f"{own:g} s, open {less:g} s", "TKIP adds 20 bytes to each frame"))
        if column == "adhoc_wep" and own < printed[data, cipher, "adhoc_open"]:
            less = printed[data, cipher, "adhoc_open"]
            found.append((table, where, f"{own:g} s, open {less:g} s", "WEP adds 8 bytes to each frame"))
    for data, table in TABLES.items():
        for column in COLUMNS:
            one, three = printed[data, "DES", column], printed[data, "3DES", column]
            if three < one:
                found.append(
                    (
                        table,
                        f"3DES, {COLUMN_TITLES[column]}",
                        f"{three:g} s, DES {one:g} s",
                        "the same bytes, three times the work",
                    )
                )
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
_BARS = "the paper's bars carry no numbers; ours stand here to draw them"


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
                "power, µJ/byte": None if nanoseconds is None else microjoule_per_byte(nanoseconds),
            }
            for index, (column, value) in enumerate(values.items()):
                place = places[index] if len(places) > 1 else places[0]
                rows.append(
                    row(place, f"{data}: {cipher}", column, column.split(", ")[1], None, value, note=_BARS)
                )
    for data, place in MOVED.items():
        for cipher in ("none", *CIPHERS):
            for column in COLUMNS:
                if data == "image":
                    value, unit = total_seconds(stored, data, cipher, column), "s"
                else:
                    value, unit = with_radio(stored, data, cipher, column), "µJ/byte"
                rows.append(
                    row(place, f"{data}: {cipher}", COLUMN_TITLES[column], unit, None, value, note=_BARS)
                )
    return rows


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
        note="; ".join(steps),
    )
