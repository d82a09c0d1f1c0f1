"""The power of six ciphers for wireless devices (text, images, audio, video over Wi-Fi), tested again.

The durations of its tables are compared as ratios to "no encryption" in the same column: the files
behind them are not stated. Ours come from the Wi-Fi experiment, from timings on this host and from
cells on nodes; nothing here measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from motecrypt.air.wlan import parameters
from motecrypt.air.wlan.protection import SECURITIES
from motecrypt.base.energy import parse_battery
from motecrypt.base.model import Section
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.wlan_transfer import CLOSED_FORM, missing_note
from motecrypt.studies.facts import Comparison
from motecrypt.studies.wlan import asymmetric, hypotheses, plan, sweeps
from motecrypt.studies.wlan.charts import charts as drawn
from motecrypt.studies.wlan.claims import claims
from motecrypt.studies.wlan.costs import costs
from motecrypt.studies.wlan.plan import CIPHERS, COLUMN_TITLES, COLUMNS, DATA, TABLES, Stored
from motecrypt.studies.wlan.tables import (
    duration_rows,
    figures,
    impossible,
    microjoule_per_byte,
    total_seconds,
    with_radio,
)
from motecrypt.studies.words import words

ORDER = 4
TITLE = "wlan: six ciphers over Wi-Fi"
SOURCE = plan.SOURCE


def comparisons(results: Results) -> list[Comparison]:
    """Every table, figure and claim of the source as rows."""
    stored = Stored(results, Catalog.load())
    rows = [*duration_rows(stored), *figures(stored), *claims(stored), *costs(stored), *sweeps.rows(stored)]
    return [*rows, *asymmetric.asymmetric(stored.catalog)]


def charts(results: Results) -> dict[str, dict[str, Any]]:
    """Figures 2 to 11 and what the source measured without printing it, as Vega-Lite specifications."""
    stored = Stored(results, Catalog.load())
    return drawn(stored) | sweeps.charts(stored)


def tables(results: Results) -> dict[str, list[dict[str, Any]]]:
    """The hypotheses as plain records; they need no results."""
    return {"hypotheses": hypotheses.table()}


def sections(results: Results) -> list[Section]:
    """The tables that ``reproduce wlan`` prints."""
    stored = Stored(results, Catalog.load())
    return [
        *(_durations(stored, data) for data in TABLES),
        _impossible(),
        hypotheses.section(),
        *(_alone(stored, data) for data in DATA),
        *(_moved(stored, data) for data in DATA),
        _both_ways(stored),
        *sweeps.sections(stored),
        _nodes(stored),
        _verdicts("The claims, one by one", claims(stored)),
        _verdicts("What costs what", costs(stored)),
        *asymmetric.sections(stored.catalog),
        _verdicts("Public keys: the statements, judged", asymmetric.judged(stored.catalog)),
        _assumptions(stored),
    ]


def _number(value: float | None, digits: int = 3) -> str:
    return "not measured" if value is None else f"{value:.{digits}f}"


def _durations(stored: Stored, data: str) -> Section:
    printed = plan.durations()
    rows = []
    for cipher in ("none", *CIPHERS):
        line = [cipher]
        for column in COLUMNS:
            base = "adhoc_open" if cipher == "none" else column
            own = total_seconds(stored, data, cipher, column)
            plain = total_seconds(stored, data, "none", base)
            ratio = own / plain if own and plain else None
            said = printed[data, cipher, column] / printed[data, "none", base]
            mark = " !" if cipher != "none" and said < 1 else ""
            line.append(f"{_number(ratio)} | {said:.2f}{mark}")
        rows.append(line)
    seconds = [total_seconds(stored, data, "none", column) for column in COLUMNS]
    rows.append(["none, seconds", *(_number(s, 2) for s in seconds)])
    first = next(iter(COLUMNS))
    text = ""
    if seconds[0]:
        plain = printed[data, "none", first]
        implied = plain / seconds[0] * DATA[data] / 1e6
        text = f"at our rate the printed {plain:g} s ({COLUMN_TITLES[first]}, plaintext) are {implied:.1f} MB"
    told = {"where": TABLES[data], "data": data, "size": DATA[data] // 1000, "implied": text}
    return _with(words("wlan").section("durations", rows, **told), COLUMN_TITLES.values())


def _with(section: Section, columns: Iterable[str]) -> Section:
    """A table with more columns than its file names."""
    return replace(section, columns=[*section.columns, *columns])


def _impossible() -> Section:
    found = impossible(plan.durations())
    kinds: dict[tuple[str, str], list[str]] = {}
    for table, where, said, why in found:
        kinds.setdefault((table, why), []).append(f"{where} ({said})")
    rows = [[table, why, str(len(places)), "; ".join(places[:3])] for (table, why), places in kinds.items()]
    return words("wlan").section("impossible", rows, count=len(found))


def _bar(value: float | None, largest: float) -> str:
    return "" if value is None else "█" * max(1, round(20 * value / largest))


def _alone(stored: Stored, data: str) -> Section:
    places = {"text": "figure 2", "image": "figures 4, 5, 6", "audio": "figure 8", "video": "figure 10"}
    speeds = {cipher: stored.ns_per_byte(cipher, data) for cipher in CIPHERS}
    largest = max((s for s in speeds.values() if s is not None), default=1.0)
    aes = speeds["AES"]
    said = {
        entry["claim"].split()[0]: float(entry["value"])
        for entry in plan.published("wlan_claims")
        if "power / AES power" in entry["claim"] and entry["data"] == data
    }
    rows = []
    for cipher, nanoseconds in speeds.items():
        if nanoseconds is None:
            rows.append([cipher, *["not measured"] * 4, "", ""])
            continue
        ratio = f"{nanoseconds / aes:.2f}" if aes else ""
        rows.append(
            [
                *(cipher, f"{nanoseconds * DATA[data] / 1e6:.2f}", f"{1e3 / nanoseconds:.1f}"),
                *(f"{microjoule_per_byte(nanoseconds):.5f}", ratio),
                *(f"{said[cipher]:g}" if cipher in said else "", _bar(nanoseconds, largest)),
            ]
        )
    return words("wlan").section("alone", rows, place=places[data], size=DATA[data] // 1000, data=data)


def _moved(stored: Stored, data: str) -> Section:
    places = {"text": "figure 3", "image": "figure 7", "audio": "figure 9", "video": "figure 11"}
    image = data == "image"
    measure = total_seconds if image else with_radio
    values = {c: [measure(stored, data, c, column) for column in COLUMNS] for c in ("none", *CIPHERS)}
    largest = max((line[0] for line in values.values() if line[0] is not None), default=1.0)
    rows = [[c, *(_number(value) for value in line), _bar(line[0], largest)] for c, line in values.items()]
    what = "seconds" if image else "µJ/byte, processor and sender's radio"
    return Section(
        f"{places[data]}: sending {DATA[data] // 1000} KB of {data}, {what}",
        ["cipher", *COLUMN_TITLES.values(), "ad hoc, open"],
        rows,
    )


def _both_ways(stored: Stored) -> Section:
    """Encryption and decryption on this host, with the load and the battery's share of a transfer."""
    moved = stored.seconds(plan.transfer("text", "none", "adhoc_open"))
    battery = parse_battery(plan.BATTERY)
    rows = []
    for name, (cipher, bits) in CIPHERS.items():
        line = [name]
        for operation in ("encrypt", "decrypt"):
            found = stored.speed(cipher, bits, operation)
            if found is None or not found.bytes:
                line += ["not measured", "", "", "", ""]
                continue
            nanoseconds = found.wall_ns / found.bytes
            seconds = nanoseconds * DATA["text"] / 1e9
            joule = microjoule_per_byte(nanoseconds) * DATA["text"] / 1e6
            line += [
                f"{1e3 / nanoseconds:,.0f}",
                f"{found.cycles / found.bytes:.2f}",
                f"{microjoule_per_byte(nanoseconds):.5f}",
                f"{100 * seconds / (seconds + moved.mean):.2f}" if moved else "",
                f"{100 * joule / battery.energy_j:.7f}",
            ]
        rows.append(line)
    heads = ("MB/s", "cycles/byte", "µJ/byte", "CPU load %", "battery %")
    host = stored.machine
    counted = f"{host.processor}, {host.counter}" if host else "nothing was timed"
    if host and not host.rapl:
        counted += "; no energy counter (RAPL) can be read here, so energy is the source's model"
    made = words("wlan").section("both-ways", rows, counted=counted, battery=plan.BATTERY)
    return _with(made, (*heads, *(f"{head}, decrypt" for head in heads)))


def _nodes(stored: Stored) -> Section:
    rows = []
    for (device_name, cipher, bits), cells in stored.cells.items():
        device, cost = stored.catalog.device(device_name), stored.node(device_name, cipher, bits)
        active = device.current("active")
        if cost is None:
            reason = stored.node_reason(device_name, cipher, bits) or plan.NOT_MEASURED
            reason = reason if cells else "no implementation for it"
            rows.append([device_name, cipher, str(bits), "", "", "", reason])
            continue
        energy = ""
        if active is not None:
            energy = (
                f"{device.volts * active.milliamperes * cost.cycles_per_byte / device.clock_hz * 1e3:.3f}"
            )
        rows.append(
            [
                *(
                    device_name,
                    cipher,
                    str(bits),
                    f"{cost.setup_cycles:,.0f}",
                    f"{cost.cycles_per_byte:,.1f}",
                ),
                *(energy, cost.implementation),
            ]
        )
    return words("wlan").section("nodes", rows)


def _verdicts(title: str, found: Sequence[Comparison]) -> Section:
    rows = [[c.row, c.column, _cell(c.published), _ours(c), c.verdict, c.note] for c in found]
    return words("wlan").section("judged", rows, title=title)


def _ours(row: Comparison) -> str:
    return _cell(row.measured) + (" (recomputed)" if row.recomputed and row.measured is not None else "")


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.3f}"


def _assumptions(stored: Stored) -> Section:
    poor = parameters.signal("poor")
    card = parameters.card("wavelan")
    engines, days = stored.engines(plan.transfers()), stored.recorded(plan.transfers())
    rows = [
        ["transfers by", ", ".join(sorted(engines)) or "not measured"],
        *([["", missing_note()]] if CLOSED_FORM in engines else []),
        *([["", f"as recorded on {', '.join(days)}; --full simulates them again"]] if days else []),
        ["radio", f"802.11b, TCP with delayed acknowledgements; {card.title}; {card.source}"],
        ["poor signal", f"{poor.title}; {poor.source}"],
        ["security", ", ".join(f"{s.name} {s.frame_bytes} bytes a frame" for s in SECURITIES.values())],
        ["ciphers", "CBC with PKCS #7 padding, the IV sent; the source names no mode"],
        [
            "duration",
            "encryption on this host, then the transfer; the source does not say whether they overlap",
        ],
        [
            "energy",
            "E = V x I x t with the source's sample processor; the radio by its currents in each state",
        ],
        ["verdict", "matches: within 10 % of the printed ratio, up and down"],
    ]
    return words("wlan").section("assumptions", rows)
