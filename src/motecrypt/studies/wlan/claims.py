"""What the text of the Wi-Fi study claims, one by one, each with a verdict and the evidence. Pure."""

from __future__ import annotations

from motecrypt import energy
from motecrypt.catalog.processors import processor
from motecrypt.findings.data_types import DataTypesQuestion
from motecrypt.model import Comparison, Verdict
from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.plan import CIPHERS, COLUMNS, DATA, Stored
from motecrypt.studies.wlan.tables import TOLERANCE, microjoule_per_byte, row, total_seconds
from motecrypt.wlan.samples import KINDS

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


def claim(
    text: str,
    where: str,
    unit: str,
    published: float | str | None,
    measured: float | str | None,
    verdict: Verdict | None = None,
    note: str = "",
    id: str = "",
) -> Comparison:
    """A row of the table of claims."""
    return row("claims", text, where, unit, published, measured, verdict, note, id)


def holds(measured: object, true: bool) -> Verdict:
    """A claim's verdict: whether it holds, where something was measured."""
    if measured is None:
        return "not measured"
    return "reproduced" if true else "contradicted"


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
        rows.append(claim(entry["claim"], data, "ratio", float(entry["value"]), own, note=note))
    return rows


def _sizes() -> list[Comparison]:
    rows = []
    for entry in _printed("sizes used"):
        kind = KINDS[entry["data"]]
        own = f"{kind.smallest // 1000}-{kind.largest // 1000}"
        note = f"samples can be made at any of these sizes; the tables use {DATA[kind.name] // 1000} KB"
        verdict = holds(own, own == entry["value"])
        rows.append(claim("sizes used", kind.name, "KB", entry["value"], own, verdict, note))
    return rows


def _sample_energy() -> Comparison:
    entry = _printed("energy of 20000 cycles")[0]
    own = energy.work(20_000, processor(plan.PROCESSOR)).energy_uj
    note = "E = V x I x t; the printed charge of 5.71e-3 mA s implies 200 mA"
    text = "energy of 20,000 cycles at 700 MHz and 1.35 V"
    return claim(text, "any", "µJ", float(entry["value"]), own, note=note)


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
        rows.append(claim(entry["claim"], data, "ratio", float(entry["value"]), own, note=note))
    return rows


def _poor(stored: Stored) -> list[Comparison]:
    """Poor against good signal: as claimed, and how it hangs on the walls that the source does not tell."""
    rows = []
    printed = plan.durations()
    for entry in _printed("poor signal"):
        data = entry["data"]
        poor = total_seconds(stored, data, "none", "adhoc_poor")
        own = over(poor, total_seconds(stored, data, "none", "adhoc_open"))
        table = printed[data, "none", "adhoc_poor"] / printed[data, "none", "adhoc_open"]
        note = f"its own table gives {table:.2f} without encryption; ours with 6.8 dB of walls, see below"
        said = float(entry["value"].removeprefix("about "))
        rows.append(claim(entry["claim"], data, "ratio", said, own, note=note))
    base = stored.seconds(plan.good("adhoc"))
    low, high = PUBLISHED_POOR
    for decibel in plan.WALLS:
        moved = stored.seconds(plan.walls("adhoc", decibel))
        own = over(moved.mean, base.mean) if moved and base else None
        fits = own is not None and low * (1 - TOLERANCE) <= own <= high * (1 + TOLERANCE)
        note = "51 m, Rayleigh fading, 802.11b; paper: 1.64 text, 1.85 audio, 2.34 video"
        if moved and base:
            note += f"; runs {moved.low / base.mean:.2f} to {moved.high / base.mean:.2f}"
        where = f"{decibel:g} dB of walls"
        verdict = holds(own, fits)
        rows.append(
            claim("poor signal / good signal", where, "ratio", f"{low} to {high}", own, verdict, note)
        )
    return rows


def _orders(stored: Stored) -> list[Comparison]:
    """Which cipher is faster than which."""
    speeds = {name: stored.ns_per_byte(name, "image") for name in CIPHERS}
    known = {name: value for name, value in speeds.items() if value is not None}
    if len(known) < len(CIPHERS):
        return [claim("the order of the six ciphers", "any", "order", "claim", None, "not measured")]
    order = " < ".join(f"{name} {value:.1f}" for name, value in sorted(known.items(), key=lambda e: e[1]))

    def say(text: str, data: str, true: bool, note: str) -> Comparison:
        return claim(text, data, "ns/byte", "claim", order, holds(order, true), note)

    slow_first = min(known[n] for n in ("RC2", "RC6", "Blowfish")) > max(
        known[n] for n in ("AES", "DES", "3DES")
    )
    ahead = known["AES"] < min(known[n] for n in ("DES", "3DES", "RC2"))
    return [
        say(
            "RC2, RC6 and Blowfish are slower than the others",
            "image",
            slow_first,
            "the type of data changes no cipher's time, see below",
        ),
        say("3DES is slower than DES", "image", known["3DES"] > known["DES"], "the same rounds three times"),
        say("AES is ahead of DES, 3DES and RC2", "text", ahead, "our portable C, no AES instructions"),
        say("RC2 is the slowest of the six", "text", known["RC2"] == max(known.values()), "3DES is"),
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
    own = f"at most {100 * (max(spreads) - 1):.1f} %" if spreads else None
    note = f"between any two ciphers in one column; the paper's own tables show up to {widest:.1f} times"
    text = "data transmission makes the differences between ciphers insignificant"
    return claim(text, "any", "", "claim", own, holds(own, max(spreads, default=0.0) < 1.1), note)


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
        where = f"{name}, {long[1]} for {short[1]} bits"
        rows.append(
            claim(text, where, "ratio", "claim", own, holds(own, own is not None and own > 1.05), note)
        )
    few, many = (stored.cycles_per_byte("rc6-cbc", 128, rounds=rounds) for rounds in (12, 24))
    own = over(many, few)
    note = "host, ratio of cycles: the rounds cost what they do, the key's length does not"
    verdict = holds(own, own is not None and own > 1.05)
    rows.append(
        claim(
            "more rounds cost more battery and time",
            "RC6, 24 for 12 rounds",
            "ratio",
            "claim",
            own,
            verdict,
            note,
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
    text = "the type of data changes a cipher's time"
    rows = []
    for name, (cipher, bits) in CIPHERS.items():
        times = stored.host(DataTypesQuestion(cipher, bits))
        if times is None or not times.ratio_to_text:
            rows.append(claim(text, name, "ratio to text", "claim", None))
            continue
        ratios = times.ratio_to_text
        worst = max((ratio.median for ratio in ratios.values()), key=lambda median: abs(median - 1))
        said = ", ".join(f"{k} {v.low:.3f} to {v.high:.3f}" for k, v in ratios.items() if k != "text")
        note = f"95 % intervals of the median: {said}; {times.outliers} of {times.timings} outliers"
        spread = stored.mote_spread("uno", cipher, bits)
        if spread is not None:
            least, most, inputs = spread
            varied = f"{least:,} to {most:,}" if most > least else f"always {most:,}"
            note += f"; uno: {varied} cycles for {max(plan.MOTE_LENGTHS)} bytes over {inputs} random inputs"
        verdict = holds(worst, not 0.95 < worst < 1.05)
        rows.append(claim(text, name, "ratio to text", "claim", worst, verdict, note))
    return rows
