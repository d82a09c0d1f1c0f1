"""What the source says of public-key cryptography over its radio: high overhead, "not usable" full-time,
after earlier work of its authors with ElGamal and RSA. Pure: from the recorded figures.

Full-time is taken as one message every ten seconds for a year on three AA cells; the energy is that of
computing and of the radio during packets, without sleep, which is the same for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from motecrypt.adviser.publickey.baseline import AesCost, aes_costs
from motecrypt.adviser.publickey.handshakes import (
    EVERY_S,
    MESSAGE_BYTES,
    TAG_BYTES,
    YEAR_S,
    Compute,
    Handshake,
    OnAir,
    Year,
    compute,
    handshakes,
    on_air,
    work_uj,
    year,
)
from motecrypt.adviser.publickey.page_costs import times
from motecrypt.adviser.publickey.rows import PublicKeyRow, behind, fastest, kept_records, kept_rows
from motecrypt.air.radios import costs, load_radio, radio_names
from motecrypt.base.energy import parse_battery, time_us
from motecrypt.base.model import Device, Section
from motecrypt.catalog import Catalog
from motecrypt.studies.facts import Comparison
from motecrypt.studies.judge import Bound
from motecrypt.studies.words import words

RADIO = "srf"
FULL_TIME_S = 10.0
BATTERY = "2850mAh,4.5V"  # three AA cells, data/batteries.toml
#: Not usable: the battery is empty before the year is over.
EMPTY = Bound("above", 100.0)
#: High: more bytes than twice the message.
HIGH = Bound("above", 2.0)


@dataclass(frozen=True)
class Scheme:
    """A way to protect each message: operations for each, bytes on the air, and handshakes a year."""

    name: str
    title: str
    operations: tuple[tuple[str, str], ...]
    sent_bytes: int
    with_aes: bool
    handshakes_a_year: float = 0.0


_SEALED = MESSAGE_BYTES + TAG_BYTES
SCHEMES = (
    Scheme("rsa", "RSA-2048 for each message", (("rsa2048", "verify"),), 256, False),
    Scheme("elgamal", "ElGamal-2048 for each message", (("elgamal2048", "encapsulate"),), 512, False),
    Scheme(
        "x25519",
        "X25519 for each message",
        (("x25519", "keygen"), ("x25519", "agree")),
        32 + _SEALED,
        True,
    ),
    Scheme("edhoc-day", "AES, EDHOC once a day", (), _SEALED, True, 365.25),
    Scheme("edhoc-once", "AES, EDHOC once", (), _SEALED, True, 1.0),
    Scheme("aes", "AES, the key known before", (), _SEALED, True),
)
#: What the authors' earlier work used for data; the paper prints no figure of it.
EARLIER = ("rsa", "elgamal")


@dataclass(frozen=True)
class FullTime:
    """A scheme on a device: microseconds and microjoules for each message, the share of the battery that a
    year takes in per cent, and the shortest interval with which the battery lasts a year."""

    device: str
    scheme: Scheme
    busy_us: float
    message_uj: float
    battery_percent: float
    shortest_s: float
    behind: tuple[str, ...] = ()


def full_time(catalog: Catalog) -> list[FullTime]:
    """Every scheme on every device that runs its operations."""
    rows, aes, edhoc = kept_rows(), aes_costs(), handshakes()["edhoc"]
    found = []
    for name, cost in aes.items():
        device = catalog.device(name)
        for scheme in SCHEMES:
            one = _full_time(device, scheme, rows, cost, edhoc)
            found += [one] if one else []
    return found


def _full_time(
    device: Device, scheme: Scheme, rows: Sequence[PublicKeyRow], aes: AesCost, edhoc: Handshake
) -> FullTime | None:
    cycles = aes.cycles(MESSAGE_BYTES) if scheme.with_aes else 0.0
    slower: list[str] = []
    for algorithm, operation in scheme.operations:
        best = fastest(rows, device.name, algorithm, operation)
        if best is None or best.cycles is None:
            return None
        cycles += best.cycles
        faster = behind(best, kept_records())
        slower += [faster.text] if faster else []
    shaken = 0.0
    radio = load_radio(RADIO)
    if scheme.handshakes_a_year:
        one = compute(edhoc, device, rows, aes)
        if one.missing or one.energy_uj is None:
            return None
        slower += one.behind
        shaken = scheme.handshakes_a_year * (one.energy_uj + on_air(edhoc, radio).energy_uj)
    busy = time_us(cycles, device.clock_hz)
    sent = costs(radio, scheme.sent_bytes)
    computing = work_uj(device, busy)
    if computing is None:
        return None
    message = computing + float(sent.sender_uj)
    full = parse_battery(BATTERY).energy_j * 1e6
    used = message * YEAR_S / FULL_TIME_S + shaken
    shortest = max(busy / 1e6, message * YEAR_S / (full - shaken)) if shaken < full else float("inf")
    return FullTime(device.name, scheme, busy, message, 100 * used / full, shortest, tuple(slower))


def asymmetric(source: str, catalog: Catalog) -> list[Comparison]:
    """Both statements as rows: the authors' earlier schemes first, then what one would take today."""
    found = full_time(catalog)
    earlier = [one for one in found if one.scheme.name in EARLIER]
    least = min(earlier, key=lambda one: one.battery_percent)
    most = max(earlier, key=lambda one: one.battery_percent)
    first = words("rf").row(
        "asymmetric",
        source=source,
        low=_percent(least),
        least=least,
        high=_percent(most),
        most=most,
        expected=EMPTY,
        found=least.battery_percent,
        every=FULL_TIME_S,
        battery=BATTERY,
    )
    return [first, *(_row(source, one) for one in found), *_overhead(source)]


def _percent(one: FullTime) -> str:
    return f"{one.battery_percent:,.0f} %" if one.battery_percent >= 10 else f"{one.battery_percent:.2g} %"


def _row(source: str, one: FullTime) -> Comparison:
    return words("rf").row(
        "scheme",
        source=source,
        one=one,
        said=None if one.scheme.name == "aes" else "not usable",
        measured=one.battery_percent,
        expected=EMPTY,
        earlier=one.scheme.name in EARLIER,
        busy=one.busy_us / 1e3,
        message=one.message_uj / 1e3,
        shortest=_seconds(one.shortest_s),
        behind="".join(f"; {text}" for text in one.behind),
    )


def _seconds(value: float) -> str:
    if value < 1:
        return f"{value * 1e3:,.1f} ms"
    return f"{value:,.1f} s" if value < 600 else f"{value / 60:,.0f} min"


def _overhead(source: str) -> list[Comparison]:
    """Bytes on the air for one message of 16 bytes."""
    radio = load_radio(RADIO)
    made: list[Comparison] = []
    for scheme in SCHEMES[:4]:
        sent = costs(radio, scheme.sent_bytes)
        first = not made
        made.append(
            words("rf").row(
                "overhead",
                source=source,
                scheme=scheme,
                first=first,
                kind="claim" if first else "derived",
                measured=scheme.sent_bytes / MESSAGE_BYTES,
                expected=HIGH,
                derived_from=() if first else ("rf-claim-asymmetric-overhead",),
                message_bytes=MESSAGE_BYTES,
                packets=int(sent.packets),
                radio=radio,
                air=float(sent.air_time_us) / 1e3,
            )
        )
    return made


def table(catalog: Catalog) -> list[dict[str, Any]]:
    """Each handshake on each radio, as plain records."""
    aes, rows = aes_costs(), kept_rows()
    records = []
    for name in radio_names():
        radio = load_radio(name)
        for shake in handshakes().values():
            air = on_air(shake, radio)
            computed = {d: compute(shake, catalog.device(d), rows, cost) for d, cost in aes.items()}
            records.append(
                {
                    "radio": name,
                    "handshake": shake.name,
                    "bytes": shake.total_bytes,
                    "packets": air.packets,
                    "air_us": air.air_us,
                    "radio_uj": air.energy_uj,
                    "compute_uj": {d: None if c.missing else c.energy_uj for d, c in computed.items()},
                    "behind": {d: list(c.behind) for d, c in computed.items()},
                }
            )
    return records


def sections(catalog: Catalog) -> list[Section]:
    """Public keys for each message, and handshakes on every radio next to a year of AES."""
    return [_full_time_section(catalog), *_handshake_sections(catalog)]


def _full_time_section(catalog: Catalog) -> Section:
    lines = [
        [
            *(one.device, one.scheme.title, f"{one.busy_us / 1e3:,.3f}", f"{one.message_uj / 1e3:,.3f}"),
            *(_percent(one), _seconds(one.shortest_s)),
        ]
        for one in full_time(catalog)
    ]
    behind = _told((one.device, text) for one in full_time(catalog) for text in one.behind)
    return words("rf").section("full-time", lines, bytes=MESSAGE_BYTES, every=FULL_TIME_S, behind=behind)


def _handshake_sections(catalog: Catalog) -> list[Section]:
    aes, rows, shakes = aes_costs(), kept_rows(), list(handshakes().values())
    lines = []
    for name in radio_names():
        radio = load_radio(name)
        for shake in shakes:
            air = on_air(shake, radio)
            line = [
                name,
                shake.title,
                str(shake.total_bytes),
                str(air.packets),
                f"{air.energy_uj / 1e3:,.3f}",
            ]
            for device, cost in aes.items():
                board = catalog.device(device)
                one, messages = compute(shake, board, rows, cost), year(board, radio, cost)
                line.append("does not run" if one.missing else _of_a_year(one, air, messages))
            lines.append(line)
    behind = _told(
        (device, text)
        for device, cost in aes.items()
        for shake in shakes
        for text in compute(shake, catalog.device(device), rows, cost).behind
    )
    made = words("rf").section(
        "handshakes", lines, bytes=MESSAGE_BYTES, tag=TAG_BYTES, minutes=EVERY_S / 60, behind=behind
    )
    return [replace(made, columns=[*made.columns, *(f"of a year, {device}" for device in aes)])]


def _told(behind: Iterable[tuple[str, str]]) -> str:
    """How far the operations of each device are behind public code."""
    lines: dict[str, dict[str, None]] = {}
    for device, text in behind:
        lines.setdefault(device, {})[text] = None
    return "".join(f"; {device}: {', '.join(texts)}" for device, texts in lines.items())


def _of_a_year(shake: Compute, air: OnAir, messages: Year) -> str:
    if shake.energy_uj is None or messages.cpu_uj is None:
        return "energy not known"
    whole = messages.cpu_uj + messages.radio_uj
    return times(100 * (shake.energy_uj + air.energy_uj) / whole) + " %"
