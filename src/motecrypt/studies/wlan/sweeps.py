"""What the Wi-Fi study measured without printing it: packet sizes, encodings, batteries run to empty.

The sizes are those of its text files and, because it speaks of packets, those of a short message and of a
full frame. Energy and battery follow from the times by the study's own model, V x I x t.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from motecrypt.air.wlan import dcf
from motecrypt.base import energy
from motecrypt.base.energy import parse_battery
from motecrypt.base.model import Section
from motecrypt.catalog.processors import processor
from motecrypt.results.experiments.file_sizes import ENCODINGS, OPERATIONS
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Bound
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.plan import CIPHERS, DATA, SIZES, Stored
from motecrypt.studies.wlan.tables import microjoule_per_byte, row
from motecrypt.studies.words import words

FAST = "pentium-m-1500"
CITED_RUNS, CITED_BYTES, CITED_CIPHER = 600, 5_000_000, "3DES"
COLUMNS = ("adhoc_open", "bss_wpa_tkip")
TOLD_SIZES = (1504, 321_008, 7_139_008)
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def rows(stored: Stored) -> list[Comparison]:
    """Sizes, encodings and batteries as rows: one claim of the conclusions, and what no table has."""
    return [_order(stored), *_sizes(stored), *_encodings(stored), _cited(stored), *_runs(stored)]


# --- sizes -----------------------------------------------------------------------------------------------


def rate(stored: Stored, name: str, size: int, operation: str = "encrypt") -> float | None:
    """Megabytes a second for messages of one size, the key's set-up of each included."""
    times = stored.sizes(name)
    found = None if times is None else times.ns(size, operation)
    return None if found is None else 1e3 * size / found


def _order(stored: Stored) -> Comparison:
    """That Blowfish is the fastest and RC6 the second at each size."""
    right, measured, fastest = 0, 0, []
    for size in SIZES:
        rates = {name: rate(stored, name, size) for name in CIPHERS}
        known = {name: value for name, value in rates.items() if value is not None}
        if known.keys() == rates.keys():
            measured += 1
            ranked = sorted(known, key=lambda name: -known[name])
            right += ranked[:2] == ["Blowfish", "RC6"]
            fastest.append(f"{size:,} bytes: {ranked[0]}, {ranked[1]}")
    whole = measured == len(SIZES)
    return row(
        "packet-sizes",
        count=len(SIZES),
        whole=whole,
        expected=Bound("at least", float(len(SIZES))),
        found=float(right),
        fastest="; ".join(fastest),
    )


def _sizes(stored: Stored) -> Iterable[Comparison]:
    for name in CIPHERS:
        for size in TOLD_SIZES:
            told = {"name": name.lower(), "cipher": name, "size": size}
            yield row("size", **told, measured=rate(stored, name, size))


# --- encodings -------------------------------------------------------------------------------------------


def encoded_ms(stored: Stored, name: str, encoding: str) -> float | None:
    """Milliseconds to encrypt the text file and to encode its ciphertext; encoding "none" encodes nothing."""
    nanoseconds, times = stored.ns_per_byte(name), stored.encodings
    if nanoseconds is None or (times is None and encoding != "none"):
        return None
    own = 0.0 if times is None or encoding == "none" else times.encode_ns_per_byte[encoding]
    return (nanoseconds * DATA["text"] + own * plan.sent_bytes("text", name)) / 1e6


def _encodings(stored: Stored) -> Iterable[Comparison]:
    for name in CIPHERS:
        raw = encoded_ms(stored, name, "none")
        for encoding in ENCODINGS:
            own = encoded_ms(stored, name, encoding)
            told = {"name": name.lower(), "cipher": name, "encoding": encoding}
            yield row("encoding", **told, measured=own / raw if own and raw else None)


# --- batteries -------------------------------------------------------------------------------------------


def run_joule(stored: Stored, name: str, column: str = "", cpu_name: str = plan.PROCESSOR) -> float | None:
    """What one encryption of the text file takes, in joules; with a column, also sending it by the radio."""
    nanoseconds, cpu = stored.ns_per_byte(name), processor(cpu_name)
    if nanoseconds is None:
        return None
    joule = energy.energy_uj(cpu.supply_v, cpu.current_ma, nanoseconds * DATA["text"] / 1000) / 1e6
    if not column:
        return joule
    radio = stored.joule(plan.transfer("text", name, column))
    return None if radio is None else joule + radio.mean


def runs_to_empty(joule: float | None) -> float | None:
    """How often a full battery allows what takes so many joules."""
    return None if not joule else parse_battery(plan.BATTERY).energy_j / joule


def _cited(stored: Stored) -> Comparison:
    (entry,) = (e for e in plan.published("wlan_claims") if e["claim"].startswith("battery left"))
    nanoseconds, cpu = stored.ns_per_byte(CITED_CIPHER), processor(FAST)
    left = None
    if nanoseconds is not None:
        micro = energy.energy_uj(cpu.supply_v, cpu.current_ma, nanoseconds * CITED_BYTES / 1000)
        left = 100 - CITED_RUNS * energy.battery_percent(micro, parse_battery(plan.BATTERY))
    told = {"runs": CITED_RUNS, "cipher": CITED_CIPHER, "battery": plan.BATTERY}
    return row("battery-cited", **told, published=float(entry["value"]), measured=left)


def _runs(stored: Stored) -> Iterable[Comparison]:
    for name in CIPHERS:
        for column in ("", COLUMNS[0]):
            own = runs_to_empty(run_joule(stored, name, column))
            yield row("battery", name=name.lower(), cipher=name, sent=bool(column), measured=own)


# --- for people ------------------------------------------------------------------------------------------


def sections(stored: Stored) -> list[Section]:
    """The three tables."""
    return [_size_section(stored), _encoding_section(stored), _battery_section(stored)]


def _shown(value: float | None, digits: int = 3) -> str:
    return "not measured" if value is None else f"{value:,.{digits}f}"


def _size_section(stored: Stored) -> Section:
    battery = parse_battery(plan.BATTERY)
    lines = []
    for name in CIPHERS:
        times = stored.sizes(name)
        for operation in OPERATIONS:
            for size in SIZES:
                found = None if times is None else times.row(size, operation)
                if times is None or found is None:
                    lines.append([name, operation, f"{size:,}", "not measured", *[""] * 4])
                    continue
                nanoseconds = times.setup_ns + found.ns
                micro = microjoule_per_byte(nanoseconds / size)
                lines.append(
                    [
                        *(name, operation, f"{size:,}", f"{nanoseconds / 1e6:,.4f}"),
                        f"{_load(nanoseconds, size):.2f}",
                        f"{1e3 * size / nanoseconds:,.1f}",
                        f"{micro:.5f}",
                        f"{energy.battery_percent(micro * size, battery):.2e}",
                    ]
                )
    return words("wlan").section("sizes", lines)


def _load(nanoseconds: float, size: int) -> float:
    """Per cent of the time in which the processor encrypts, while it encrypts and sends by ad hoc Wi-Fi."""
    seconds = nanoseconds / 1e9
    return 100 * seconds / (seconds + dcf.transfer(size).seconds)


def _encoding_section(stored: Stored) -> Section:
    times = stored.encodings
    lines = [
        [name, *(_shown(encoded_ms(stored, name, encoding), 2) for encoding in ("none", *ENCODINGS))]
        for name in CIPHERS
    ]
    text = "encoding by the C code that comes with Python"
    if times is not None:
        told = ", ".join(
            f"{n} {times.encode_ns_per_byte[n]:.2f} to encode, {times.decode_ns_per_byte[n]:.2f} to decode"
            for n in ENCODINGS
        )
        text += f"; ns for each byte of ciphertext: {told}"
    return Section(
        "Encodings: ms to encrypt 2 MB of text on this host and to encode the ciphertext",
        ["cipher", "none", *ENCODINGS],
        lines,
        text,
    )


def _battery_section(stored: Stored) -> Section:
    lines = []
    for name in CIPHERS:
        joules = [
            run_joule(stored, name),
            run_joule(stored, name, cpu_name=FAST),
            *(run_joule(stored, name, column) for column in COLUMNS),
        ]
        lines.append([name, *(_shown(runs_to_empty(joule), 0) for joule in joules)])
    made = words("wlan").section("battery", lines, battery=plan.BATTERY)
    return replace(made, columns=[*made.columns, *(f"sent, {plan.COLUMN_TITLES[c]}" for c in COLUMNS)])


# --- charts ----------------------------------------------------------------------------------------------


def charts(stored: Stored) -> dict[str, dict[str, Any]]:
    """Each sweep as a Vega-Lite specification, where it was measured whole."""
    made = {
        "wlan-packet-sizes": _size_chart(stored),
        "wlan-encodings": _encoding_chart(stored),
        "wlan-battery": _battery_chart(stored),
    }
    return {name: chart for name, chart in made.items() if chart is not None}


def _frame(title: str, description: str, panels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "$schema": _SCHEMA,
        "title": title,
        "description": description,
        "background": "white",
        "concat": list(panels),
        "columns": 2,
    }


def _size_chart(stored: Stored) -> dict[str, Any] | None:
    values = []
    for name in CIPHERS:
        for size in SIZES:
            found = rate(stored, name, size)
            if found is None:
                return None
            nanoseconds = 1e3 * size / found
            values.append(
                {
                    "cipher": name,
                    "bytes": size,
                    "ms": nanoseconds / 1e6,
                    "rate": found,
                    "energy": microjoule_per_byte(nanoseconds / size),
                }
            )
    series = {"field": "cipher", "type": "nominal", "sort": None, "title": None}

    def panel(field: str, title: str) -> dict[str, Any]:
        return {
            "title": title.partition(",")[0],
            "width": 300,
            "height": 220,
            "data": {"values": values},
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {
                    "field": "bytes",
                    "type": "quantitative",
                    "title": "message, bytes",
                    "scale": {"type": "log"},
                },
                "y": {"field": field, "type": "quantitative", "title": title, "scale": {"type": "log"}},
                "color": series,
                "shape": series,
                "tooltip": [{"field": "cipher"}, {"field": "bytes"}, {"field": field, "format": ".4g"}],
            },
        }

    return _frame(
        "packet sizes: time, throughput and energy of encryption on this host",
        "Encryption of messages of all sizes, each with its key's set-up: our portable C on this host; "
        "energy by the source's model. The source has bars without numbers (figure 2).",
        [
            panel("ms", "processor time, ms"),
            panel("rate", "throughput, MB/s"),
            panel("energy", "energy, µJ/byte"),
        ],
    )


def _bars(title: str, values: list[dict[str, Any]], unit: str, by: str) -> dict[str, Any]:
    series = {"field": by, "type": "nominal", "sort": None, "title": None}
    return {
        "title": title,
        "width": 340,
        "height": 220,
        "data": {"values": values},
        "mark": {"type": "bar", "stroke": "#333333", "strokeWidth": 0.5},
        "encoding": {
            "x": {"field": "cipher", "type": "nominal", "sort": None, "title": None},
            "xOffset": {"field": by, "sort": None},
            "y": {"field": "value", "type": "quantitative", "title": unit},
            "color": series,
            "tooltip": [{"field": "cipher"}, {"field": by}, {"field": "value", "format": ".4g"}],
        },
    }


def _encoding_chart(stored: Stored) -> dict[str, Any] | None:
    values = []
    for name in CIPHERS:
        for encoding in ("none", *ENCODINGS):
            found = encoded_ms(stored, name, encoding)
            if found is None:
                return None
            values.append({"cipher": name, "value": found, "encoding": encoding})
    return _frame(
        "encodings: encrypting 2 MB of text on this host and encoding the ciphertext",
        "Time to encrypt 2 MB of text and to encode the ciphertext: our portable C, and the encoders that "
        "come with Python. The source names the comparison and prints nothing of it.",
        [_bars("encryption and encoding", values, "time, ms", "encoding")],
    )


def _battery_chart(stored: Stored) -> dict[str, Any] | None:
    alone, sent = [], []
    for name in CIPHERS:
        runs = runs_to_empty(run_joule(stored, name))
        if runs is None:
            return None
        alone.append({"cipher": name, "value": runs, "way": "encrypting alone"})
        for column in COLUMNS:
            found = runs_to_empty(run_joule(stored, name, column))
            if found is None:
                return None
            sent.append({"cipher": name, "value": found, "way": f"sent, {plan.COLUMN_TITLES[column]}"})
    return _frame(
        f"battery: how often 2 MB of text until {plan.BATTERY} is empty",
        "Files of 2 MB until a battery is empty: the rated energy over what a file takes by the source's "
        "model. The source gives differences in battery percentage as bars without numbers.",
        [
            _bars("encrypting alone", alone, "files until it is empty", "way"),
            _bars("encrypting and sending", sent, "files until it is empty", "way"),
        ],
    )
