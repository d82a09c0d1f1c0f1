"""What the text of the Wi-Fi study claims, one by one, each with the evidence. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from motecrypt.base import energy
from motecrypt.catalog.processors import processor
from motecrypt.results.findings.data_types import DataTypesQuestion
from motecrypt.studies.facts import Comparison, FactKind, Tolerance
from motecrypt.studies.judge import EXACT, Between, Bound, Check, Evidence, Expected
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.plan import CIPHERS, COLUMNS, DATA, Stored
from motecrypt.studies.wlan.tables import AGAIN, cell_id, microjoule_per_byte, row, total_seconds

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


OURS = Evidence("same algorithm, ours")
MEASURE = "motecrypt measure --device pico --cipher"
#: Of what the paper timed without a transfer: it names neither its library nor its language.
OTHER_CODE = "another program than ours: the source names no code"


def claim(
    id: str,
    text: str,
    where: str,
    unit: str,
    published: float | str | None,
    measured: float | str | None,
    *,
    kind: FactKind = "claim",
    expected: Expected | None = None,
    found: float | None = None,
    tolerance: Tolerance | None = None,
    evidence: Evidence = OURS,
    note: str = "",
    topic: str = "",
) -> Comparison:
    """A row of the table of claims; bounds are exact unless a tolerance is given."""
    if tolerance is None and isinstance(expected, Bound):
        tolerance = EXACT
    return row(
        "claims",
        text,
        where,
        unit,
        published,
        measured,
        id=f"claim-{id}",
        kind=kind,
        expected=expected,
        found=found,
        tolerance=tolerance,
        evidence=evidence,
        note=note,
        topic=topic,
    )


def of(*ids: str) -> Evidence:
    """The evidence of a row that is derived from others."""
    return Evidence("same algorithm, ours", derived_from=tuple(f"wlan-{id}" for id in ids))


def over(first: float | None, second: float | None) -> float | None:
    """The ratio of two figures, or None where one is missing."""
    return first / second if first is not None and second else None


def _printed(needle: str) -> list[dict[str, str]]:
    return [entry for entry in plan.published("wlan_claims") if needle in entry["claim"]]


def _power(stored: Stored) -> list[Comparison]:
    """Blowfish and RC6 against AES, without transmission."""
    note = "our portable C on this host, without AES instructions; V and I cancel"
    rows = []
    for entry in _printed("power / AES power"):
        name, data = entry["claim"].split()[0], entry["data"]
        own = over(stored.ns_per_byte(name, data), stored.ns_per_byte("AES", data))
        text, said = entry["claim"], float(entry["value"])
        made = f"power-{name.lower()}-{data}"
        evidence = Evidence("same algorithm, ours", cause=OTHER_CODE)
        rows.append(claim(made, text, data, "ratio", said, own, kind="figure", evidence=evidence, note=note))
    return rows


def _sizes() -> list[Comparison]:
    rows = []
    for entry in _printed("sizes used"):
        kind = entry["data"]
        note = f"the sizes of our samples; the tables use {DATA[kind] // 1000} KB"
        evidence = Evidence("the paper itself")
        made, said = f"sizes-{kind}", entry["value"]
        rows.append(
            claim(made, "sizes used", kind, "KB", said, None, kind="input", evidence=evidence, note=note)
        )
    return rows


def _sample_energy() -> Comparison:
    entry = _printed("energy of 20000 cycles")[0]
    own = energy.work(20_000, processor(plan.PROCESSOR)).energy_uj
    note = (
        "recomputed: E = V x I x t, with the 200 mA that the printed charge of 5.71e-3 mA s implies: "
        "not a figure of ours"
    )
    text = "energy of 20,000 cycles at 700 MHz and 1.35 V"
    evidence = Evidence("the paper itself")
    said = float(entry["value"])
    return claim("energy-20000", text, "any", "µJ", said, own, kind="figure", evidence=evidence, note=note)


def _transmission(stored: Stored) -> list[Comparison]:
    note = "equal bytes take equal time; the paper's AES files must have been nearly twice as long"
    rows = []
    for entry in _printed("transmission time / AES"):
        data = entry["data"]
        column = "adhoc_open" if "ad hoc" in entry["claim"] else "bss_wpa_tkip"
        fast = [total_seconds(stored, data, cipher, column) for cipher in ("Blowfish", "RC6")]
        known = [value for value in fast if value is not None]
        mean = sum(known) / 2 if len(known) == 2 else None
        own = over(mean, total_seconds(stored, data, "AES", column))
        text, said = entry["claim"], float(entry["value"])
        made = f"transmission-{data}-{column.replace('_', '-')}"
        evidence = replace(
            of(*(cell_id(data, cipher, column) for cipher in ("Blowfish", "RC6", "AES"))),
            cause="AES's files were nearly twice as long",
        )
        rows.append(claim(made, text, data, "ratio", said, own, kind="derived", evidence=evidence, note=note))
    return rows


#: The text rounds, and says "about".
SUMS = Tolerance(0.10, 0.0, 'wording: "about"')


def _poor(stored: Stored) -> list[Comparison]:
    """Poor against good signal: as claimed, and how it hangs on the walls, which the source does not
    state."""
    rows, printed = [], plan.durations()
    columns = ("adhoc_poor", "adhoc_open")
    for entry in _printed("poor signal"):
        data, said = entry["data"], float(entry["value"].removeprefix("about "))
        poor, good = (sum(printed[data, cipher, column] for cipher in CIPHERS) for column in columns)
        origins = (f"wlan-{cell_id(data, cipher, column)}" for column in columns for cipher in CIPHERS)
        why = f"the sums of its own table over the six ciphers give {poor / good:.2f}"
        rows.append(
            claim(
                f"poor-{data}",
                entry["claim"],
                data,
                "ratio",
                said,
                poor / good,
                kind="derived",
                tolerance=SUMS,
                evidence=Evidence(
                    "the paper itself",
                    checks=(Check(said, poor / good, why, AGAIN, SUMS),),
                    derived_from=tuple(origins),
                ),
                note=f"{why}; ours, by the walls, are the next rows",
            )
        )
    base = stored.seconds(plan.good("adhoc"))
    low, high = PUBLISHED_POOR
    cells = [cell_id(data, "none", column) for data in plan.TABLES for column in ("adhoc_poor", "adhoc_open")]
    moves = {decibel: stored.seconds(plan.walls("adhoc", decibel)) for decibel in plan.WALLS}
    within = [d for d, moved in moves.items() if moved and base and low <= moved.mean / base.mean <= high]
    shown = replace(
        of(*cells),
        cause=f"the walls, which are not described: {within[0]:g} dB fit" if within else "",
    )
    for decibel, moved in moves.items():
        own = over(moved.mean, base.mean) if moved and base else None
        note = "51 m, Rayleigh fading, 802.11b; paper: 1.64 text, 1.85 audio, 2.34 video"
        if moved and base:
            note += f"; runs {moved.low / base.mean:.2f} to {moved.high / base.mean:.2f}"
        rows.append(
            claim(
                f"poor-walls-{decibel:g}",
                "poor signal / good signal",
                f"{decibel:g} dB of walls",
                "ratio",
                f"{low} to {high}",
                own,
                kind="derived",
                expected=Between(low, high),
                evidence=shown,
                note=note,
            )
        )
    return rows


def _orders(stored: Stored) -> list[Comparison]:
    """Which cipher is faster than which."""
    speeds = {name: stored.ns_per_byte(name, "image") for name in CIPHERS}
    known = {name: value for name, value in speeds.items() if value is not None}
    whole = len(known) == len(CIPHERS)
    order = " < ".join(f"{name} {value:.1f}" for name, value in sorted(known.items(), key=lambda e: e[1]))

    def say(
        made: str, text: str, data: str, later: Iterable[str], first: Iterable[str], note: str
    ) -> Comparison:
        """That all of `later` take longer than all of `first`."""
        found = min(known[n] for n in later) / max(known[n] for n in first) if whole else None
        return claim(
            f"order-{made}",
            text,
            data,
            "ns/byte",
            "yes",
            order if whole else None,
            expected=Bound("above", 1.0),
            found=found,
            evidence=replace(OURS, cause=OTHER_CODE),
            note=note,
        )

    others = [name for name in CIPHERS if name != "RC2"]
    return [
        say(
            "image",
            "RC2, RC6 and Blowfish are slower than the others",
            "image",
            ("RC2", "RC6", "Blowfish"),
            ("AES", "DES", "3DES"),
            "the type of data changes no cipher's time, see below",
        ),
        say("3des", "3DES is slower than DES", "image", ["3DES"], ["DES"], "the same rounds three times"),
        say(
            "aes",
            "AES is ahead of DES, 3DES and RC2",
            "text",
            ("DES", "3DES", "RC2"),
            ["AES"],
            "our portable C, no AES instructions",
        ),
        say("rc2", "RC2 is the slowest of the six", "text", ["RC2"], others, "3DES is"),
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
    small, why = Bound("below", 1.1), f"its own tables show differences of up to {widest:.1f} times"
    return claim(
        "insignificant",
        "data transmission makes the differences between ciphers insignificant",
        "any",
        "",
        "yes",
        f"at most {100 * (max(spreads) - 1):.1f} %" if spreads else None,
        expected=small,
        found=max(spreads, default=0.0),
        evidence=Evidence("same algorithm, ours", checks=(Check(widest, small, why, AGAIN),)),
        note=f"between any two ciphers in one column; the paper's own tables show up to {widest:.1f} times",
    )


#: From a twentieth on a cost is noticeable; timings on a host vary by less.
NOTICEABLE = Bound("above", 1.05)


def _keys(stored: Stored) -> list[Comparison]:
    """What a longer key (and with AES its further rounds) costs: here, on motes, next to the radio."""
    rows = []
    text = "a longer key costs noticeably more battery and time"
    for name, keys in plan.LONGER_KEYS.items():
        short, long = keys[0], keys[-1]
        own = over(stored.cycles_per_byte(*long), stored.cycles_per_byte(*short))
        note = "host, ratio of cycles"
        for device in plan.DEVICES:
            a, b = stored.mote(device, *short), stored.mote(device, *long)
            if a and b:
                note += f"; {device} {b.cycles_per_byte / a.cycles_per_byte:.2f}"
        added = _beside_radio(stored, name, own)
        if added is not None:
            note += f"; with the radio's energy {100 * added:+.3f} %"
        first = name == next(iter(plan.LONGER_KEYS))
        rows.append(
            claim(
                "longer-key" if first else f"longer-key-{name.lower()}",
                text,
                f"{name}, {long[1]} for {short[1]} bits",
                "ratio",
                "yes",
                own,
                kind="claim" if first else "derived",
                expected=NOTICEABLE,
                evidence=replace(
                    OURS if first else of("claim-longer-key"),
                    cause="a longer key adds no rounds to this cipher",
                    known="shown by experiment",
                    command=f"{MEASURE} {long[0]} --key-bits {short[1]},{long[1]}",
                ),
                note=note,
            )
        )
    few, many = (stored.cycles_per_byte("rc6-cbc", 128, rounds=rounds) for rounds in (12, 24))
    own = over(many, few)
    note = "host, ratio of cycles: the rounds cost what they do, the key's length does not"
    rows.append(
        claim(
            "more-rounds",
            "more rounds cost more battery and time",
            "RC6, 24 for 12 rounds",
            "ratio",
            "yes",
            own,
            expected=NOTICEABLE,
            note=note,
        )
    )
    return rows


def _beside_radio(stored: Stored, name: str, ratio: float | None) -> float | None:
    """What a cipher's ratio adds to the energy of sending the text file, as a part of the radio's."""
    radio = stored.joule(plan.transfer("text", "AES", "adhoc_open"))
    nanoseconds = stored.ns_per_byte(name)
    if radio is None or nanoseconds is None or ratio is None:
        return None
    return (ratio - 1) * microjoule_per_byte(nanoseconds) * DATA["text"] / 1e6 / radio.mean


def _data_types(stored: Stored) -> list[Comparison]:
    """It cannot matter: a cipher's work depends on the length, at most (tables, rotations) on the bits."""
    text, unit = "the type of data changes a cipher's time", "ratio to text"
    rows, extremes = [], []
    for name, (cipher, bits) in CIPHERS.items():
        times, worst, note = stored.host(DataTypesQuestion(cipher, bits)), None, ""
        if times is not None and times.ratio_to_text:
            ratios = times.ratio_to_text
            worst = max((ratio.median for ratio in ratios.values()), key=_from_one)
            extremes.append(worst)
            said = ", ".join(f"{k} {v.low:.3f} to {v.high:.3f}" for k, v in ratios.items() if k != "text")
            note = f"95 % intervals of the median: {said}; {times.outliers} of {times.timings} outliers"
            spread = stored.mote_spread("uno", cipher, bits)
            if spread is not None:
                least, most, inputs = spread
                varied = f"{least:,} to {most:,}" if most > least else f"always {most:,}"
                note += (
                    f"; uno: {varied} cycles for {max(plan.MOTE_LENGTHS)} bytes over {inputs} random inputs"
                )
        rows.append(
            claim(
                f"data-type-{name.lower()}",
                text,
                name,
                unit,
                "yes",
                worst,
                kind="derived",
                expected=CHANGES,
                found=None if worst is None else _from_one(worst),
                evidence=_shown(of("claim-data-type")),
                note=note,
            )
        )
    largest = max(extremes, key=_from_one) if len(extremes) == len(CIPHERS) else None
    found = None if largest is None else _from_one(largest)
    note = "the largest change of the six"
    return [
        claim(
            "data-type",
            text,
            "any",
            unit,
            "yes",
            largest,
            expected=CHANGES,
            found=found,
            evidence=_shown(OURS),
            note=note,
        ),
        *rows,
    ]


def _shown(evidence: Evidence) -> Evidence:
    return replace(
        evidence,
        cause="a cipher's work depends on the length of its input: four kinds of data, timed in turns, take "
        "the same time",
        known="shown by experiment",
        command=AGAIN,
    )


#: From a twentieth on a ratio differs from 1; timings on a host vary by less.
CHANGES = Bound("at least", 0.05)


def _from_one(ratio: float) -> float:
    return abs(ratio - 1)
