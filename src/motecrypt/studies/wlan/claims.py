"""What the text of the Wi-Fi study claims, one by one, each with the evidence. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from motecrypt.base import energy
from motecrypt.catalog.processors import processor
from motecrypt.results.experiments.data_types import DataTypesQuestion
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Between
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.plan import CIPHERS, COLUMNS, DATA, Stored
from motecrypt.studies.wlan.tables import cell_id, microjoule_per_byte, row, total_seconds
from motecrypt.studies.words import words

PUBLISHED_POOR = (1.64, 2.34)  # tables 1 and 3: poor under WEP over open, no encryption


def claims(stored: Stored) -> list[Comparison]:
    """Every claim of the text, in its order."""
    return [
        *_power(stored),
        *_sizes(),
        _sample_energy(),
        *_transmission(stored),
        *_poor(stored),
        *_orders(stored),
        _insignificant(stored),
        *_keys(stored),
        *_data_types(stored),
    ]


def ids(*names: str) -> tuple[str, ...]:
    """Of rows of this study, by their names in it."""
    return tuple(f"wlan-{name}" for name in names)


def over(first: float | None, second: float | None) -> float | None:
    """The ratio of two figures, or None where one is missing."""
    return first / second if first is not None and second else None


def _printed(needle: str) -> list[dict[str, str]]:
    return [entry for entry in plan.published("wlan_claims") if needle in entry["claim"]]


def _power(stored: Stored) -> list[Comparison]:
    """Blowfish and RC6 against AES, without transmission."""
    rows = []
    for entry in _printed("power / AES power"):
        name, data = entry["claim"].split()[0], entry["data"]
        own = over(stored.ns_per_byte(name, data), stored.ns_per_byte("AES", data))
        told = {"claim": entry["claim"], "name": name.lower(), "data": data}
        rows.append(row("power", **told, published=float(entry["value"]), measured=own))
    return rows


def _sizes() -> list[Comparison]:
    return [
        row("sizes", data=data, published=entry["value"], size=DATA[data] // 1000)
        for entry in _printed("sizes used")
        for data in (entry["data"],)
    ]


def _sample_energy() -> Comparison:
    own = energy.work(20_000, processor(plan.PROCESSOR)).energy_uj
    return row("energy", published=float(_printed("energy of 20000 cycles")[0]["value"]), measured=own)


def _transmission(stored: Stored) -> list[Comparison]:
    rows = []
    for entry in _printed("transmission time / AES"):
        data = entry["data"]
        column = "adhoc_open" if "ad hoc" in entry["claim"] else "bss_wpa_tkip"
        fast = [total_seconds(stored, data, cipher, column) for cipher in ("Blowfish", "RC6")]
        known = [value for value in fast if value is not None]
        mean = sum(known) / 2 if len(known) == 2 else None
        rows.append(
            row(
                "transmission",
                claim=entry["claim"],
                data=data,
                where=column.replace("_", "-"),
                published=float(entry["value"]),
                measured=over(mean, total_seconds(stored, data, "AES", column)),
                derived_from=ids(*(cell_id(data, cipher, column) for cipher in ("Blowfish", "RC6", "AES"))),
            )
        )
    return rows


def _poor(stored: Stored) -> list[Comparison]:
    """Poor against good signal: as claimed, and how it hangs on the walls, which the source does not
    state."""
    rows, printed = [], plan.durations()
    columns = ("adhoc_poor", "adhoc_open")
    for entry in _printed("poor signal"):
        data, said = entry["data"], float(entry["value"].removeprefix("about "))
        poor, good = (sum(printed[data, cipher, column] for cipher in CIPHERS) for column in columns)
        origins = ids(*(cell_id(data, cipher, column) for column in columns for cipher in CIPHERS))
        told = {"claim": entry["claim"], "data": data, "derived_from": origins}
        rows.append(row("poor", **told, published=said, measured=poor / good, check=(said, poor / good)))
    base = stored.seconds(plan.good("adhoc"))
    low, high = PUBLISHED_POOR
    moves = {decibel: stored.seconds(plan.walls("adhoc", decibel)) for decibel in plan.WALLS}
    within = [d for d, moved in moves.items() if moved and base and low <= moved.mean / base.mean <= high]
    for decibel, moved in moves.items():
        rows.append(
            row(
                "walls",
                decibel=decibel,
                published=f"{low} to {high}",
                measured=over(moved.mean, base.mean) if moved and base else None,
                expected=Between(low, high),
                derived_from=ids(
                    *(cell_id(data, "none", column) for data in plan.TABLES for column in columns)
                ),
                fits=within[0] if within else None,
                low=moved.low / base.mean if moved and base else None,
                high=moved.high / base.mean if moved and base else None,
            )
        )
    return rows


def _orders(stored: Stored) -> list[Comparison]:
    """Which cipher is faster than which: all of the later take longer than all of the first."""
    speeds = {name: stored.ns_per_byte(name, "image") for name in CIPHERS}
    known = {name: value for name, value in speeds.items() if value is not None}
    whole = len(known) == len(CIPHERS)
    order = " < ".join(f"{name} {value:.1f}" for name, value in sorted(known.items(), key=lambda e: e[1]))
    orders: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = (
        ("image", ("RC2", "RC6", "Blowfish"), ("AES", "DES", "3DES")),
        ("3des", ["3DES"], ["DES"]),
        ("aes", ("DES", "3DES", "RC2"), ["AES"]),
        ("rc2", ["RC2"], [name for name in CIPHERS if name != "RC2"]),
    )
    return [
        row(
            f"order-{name}",
            name=name,
            order=order if whole else None,
            found=min(known[n] for n in later) / max(known[n] for n in first) if whole else None,
        )
        for name, later, first in orders
    ]


def _insignificant(stored: Stored) -> Comparison:
    """With transmission, the ciphers' differences vanish."""
    spreads = []  # the slowest to the fastest
    for data in ("text", "audio", "video"):
        for column in COLUMNS:
            times = [total_seconds(stored, data, cipher, column) for cipher in CIPHERS]
            known = [value for value in times if value is not None]
            if len(known) == len(CIPHERS):
                spreads.append(max(known) / min(known))
    printed = plan.durations()
    widest = max(
        max(printed[data, c, column] for c in CIPHERS) / min(printed[data, c, column] for c in CIPHERS)
        for data in ("text", "audio", "video")
        for column in COLUMNS
    )
    return row(
        "insignificant",
        most=100 * (max(spreads) - 1) if spreads else None,
        found=max(spreads, default=0.0),
        check=(widest, words("wlan").rows["insignificant"]["expected"]),
        widest=widest,
    )


def _keys(stored: Stored) -> list[Comparison]:
    """What a longer key (and with AES its further rounds) costs: here, on nodes, next to the radio."""
    rows = []
    for name, keys in plan.LONGER_KEYS.items():
        short, long = keys[0], keys[-1]
        own = over(stored.cycles_per_byte(*long), stored.cycles_per_byte(*short))
        nodes = ""
        for device in plan.DEVICES:
            a, b = stored.node(device, *short), stored.node(device, *long)
            if a and b:
                nodes += f"; {device} {b.cycles_per_byte / a.cycles_per_byte:.2f}"
        added = _beside_radio(stored, name, own)
        first = name == next(iter(plan.LONGER_KEYS))
        rows.append(
            row(
                "longer-key",
                **first_of(first, "claim-longer-key"),
                name=name.lower(),
                cipher=name,
                body=long[0],
                long=long[1],
                short=short[1],
                measured=own,
                nodes=nodes,
                added=None if added is None else 100 * added,
            )
        )
    few, many = (stored.cycles_per_byte("rc6-cbc", 128, rounds=rounds) for rounds in (12, 24))
    return [*rows, row("more-rounds", measured=over(many, few))]


def first_of(first: bool, claimed: str) -> dict[str, Any]:
    """The first of several rows is the claim, and the others are derived from it."""
    origins = () if first else ids(claimed)
    return {"first": first, "kind": "claim" if first else "derived", "derived_from": origins}


def _beside_radio(stored: Stored, name: str, ratio: float | None) -> float | None:
    """What a cipher's ratio adds to the energy of sending the text file, as a part of the radio's."""
    radio = stored.joule(plan.transfer("text", "AES", "adhoc_open"))
    nanoseconds = stored.ns_per_byte(name)
    if radio is None or nanoseconds is None or ratio is None:
        return None
    return (ratio - 1) * microjoule_per_byte(nanoseconds) * DATA["text"] / 1e6 / radio.mean


def _data_types(stored: Stored) -> list[Comparison]:
    """It cannot matter: a cipher's work depends on the length, at most (tables, rotations) on the bits."""
    rows, extremes = [], []
    nothing = dict.fromkeys(("times", "ratios", "varied", "bytes", "inputs", "cipher", "name"))
    for name, (cipher, bits) in CIPHERS.items():
        times, worst, told = stored.host(DataTypesQuestion(cipher, bits)), None, dict[str, Any]()
        if times is not None and times.ratio_to_text:
            ratios = times.ratio_to_text
            worst = max((ratio.median for ratio in ratios.values()), key=_from_one)
            extremes.append(worst)
            said = ", ".join(f"{k} {v.low:.3f} to {v.high:.3f}" for k, v in ratios.items() if k != "text")
            told = {"times": times, "ratios": said}
            spread = stored.node_spread("uno", cipher, bits)
            if spread is not None:
                least, most, inputs = spread
                varied = f"{least:,} to {most:,}" if most > least else f"always {most:,}"
                told |= {"varied": varied, "bytes": max(plan.NODE_LENGTHS), "inputs": inputs}
        told = nothing | told | first_of(False, "claim-data-type") | {"name": name.lower(), "cipher": name}
        rows.append(row("data-type", **told, measured=worst, found=worst and _from_one(worst)))
    largest = max(extremes, key=_from_one) if len(extremes) == len(CIPHERS) else None
    told = nothing | first_of(True, "") | {"cipher": "any", "measured": largest}
    return [row("data-type", **told, found=largest and _from_one(largest)), *rows]


def _from_one(ratio: float) -> float:
    return abs(ratio - 1)
