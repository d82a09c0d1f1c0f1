"""Sections of docs/public-key.md that compare: operations with AES, handshakes on radios with a year of AES.
Pure: rows in, Markdown out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from motecrypt.adviser.publickey.baseline import AesCost
from motecrypt.adviser.publickey.handshakes import Handshake, compute, on_air, year
from motecrypt.adviser.publickey.rows import PublicKeyRow
from motecrypt.adviser.publickey.slower import Slower
from motecrypt.air.radios import Radio
from motecrypt.base.model import Device

NO_CURRENT = "energy not known (no active current)"

SLOWER = """## Next to AES

Cycles of each operation, divided by those of AES-128-CCM with a tag of 8 bytes (our fastest implementation on
the device). AES encrypts one message of 16 bytes, 1,024 bytes, or a message of 16 bytes every ten minutes for
a year. `motecrypt reproduce wlan` judges the statement "almost 1000 times slower" by these.
"""

HANDSHAKES = """## What a handshake costs

The node begins. Computation is by the fastest implementation above; hashes are not
counted. Each cell names the operations for which faster code is public. A node with that code needs less.
"""

ON_RADIOS = """On the node's radio, at the data sheet's currents; layers below, repetitions and waiting for
the other side are not counted. LoRaWAN's join uses no public keys.
"""

A_YEAR = """A year of messages (16 bytes and a tag of 8, every ten minutes) on the same node, and how many
EDHOC handshakes its encryption is worth:
"""


def costs_text(
    compared: Sequence[Slower],
    shakes: Sequence[Handshake],
    rows: Sequence[PublicKeyRow],
    aes: Mapping[str, AesCost],
    places: tuple[Mapping[str, Device], Sequence[Radio]],
) -> str:
    """The sections. `places` are the devices by name and the radios."""
    devices, radios = places
    known = [devices[name] for name in aes]
    parts = [SLOWER, "\n".join(_slower(compared)), ""]
    parts += [HANDSHAKES, "\n".join(_computed(shakes, known, rows, aes)), ""]
    parts += [ON_RADIOS, "\n".join(_radios(shakes, radios)), ""]
    parts += [A_YEAR, "\n".join(_year(known, radios, shakes[0], rows, aes)), ""]
    parts += [f"- {one.title}: {one.note}; {one.source}." for one in shakes]
    return "\n".join(parts) + "\n"


def times(ratio: float) -> str:
    """A ratio with three digits or more, never as a power of ten."""
    if ratio >= 100:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}" if ratio >= 1 else f"{ratio:.4f}"


def _slower(compared: Sequence[Slower]) -> Iterator[str]:
    yield "| device | algorithm | operation | implementation | one message | 1,024 bytes | a year |"
    yield "|---|---|---|---|---:|---:|---:|"
    for one in compared:
        yield (
            f"| {one.device} | {one.algorithm} | {one.operation} | {one.implementation} | "
            f"{times(one.message)} | {times(one.kilobyte)} | {times(one.year)} |"
        )


def _computed(
    shakes: Sequence[Handshake],
    devices: Sequence[Device],
    rows: Sequence[PublicKeyRow],
    aes: Mapping[str, AesCost],
) -> Iterator[str]:
    yield f"| handshake | bytes | {' | '.join(device.name for device in devices)} |"
    yield f"|---|---:|{'---:|' * len(devices)}"
    for shake in shakes:
        cells = []
        for device in devices:
            one = compute(shake, device, rows, aes.get(device.name))
            told = f"{one.time_us / 1e3:,.1f} ms, {_millijoule(one.energy_uj)}"
            cells.append(one.missing or "; ".join([told, *one.behind]))
        sizes = " + ".join(map(str, shake.flights))
        yield f"| {shake.title} | {sizes} = {shake.total_bytes} | {' | '.join(cells)} |"


def _radios(shakes: Sequence[Handshake], radios: Sequence[Radio]) -> Iterator[str]:
    yield f"| radio | {' | '.join(shake.title for shake in shakes)} |"
    yield f"|---|{'---:|' * len(shakes)}"
    for radio in radios:
        cells = []
        for shake in shakes:
            one = on_air(shake, radio)
            packets = f"{one.packets} packet{'' if one.packets == 1 else 's'}"
            cells.append(f"{packets}, {one.air_us / 1e3:,.1f} ms, {_millijoule(one.energy_uj)}")
        yield f"| {radio.title} | {' | '.join(cells)} |"


def _year(
    devices: Sequence[Device],
    radios: Sequence[Radio],
    shake: Handshake,
    rows: Sequence[PublicKeyRow],
    aes: Mapping[str, AesCost],
) -> Iterator[str]:
    yield f"| device | encrypting | {' | '.join(f'sending, {radio.name}' for radio in radios)} | handshakes |"
    yield f"|---|---:|{'---:|' * len(radios)}---:|"
    for device in devices:
        years = [year(device, radio, aes[device.name]) for radio in radios]
        one = compute(shake, device, rows, aes[device.name])
        sent, cpu_uj, shake_uj = (
            " | ".join(_joule(each.radio_uj) for each in years),
            years[0].cpu_uj,
            one.energy_uj,
        )
        worth = NO_CURRENT if cpu_uj is None or shake_uj is None else times(cpu_uj / shake_uj)
        worth = "none runs" if one.missing else worth
        yield f"| {device.name} | {_joule(cpu_uj)} | {sent} | {worth} |"


def _millijoule(microjoule: float | None) -> str:
    if microjoule is None:
        return NO_CURRENT
    return f"{microjoule / 1e3:,.3f} mJ" if microjoule < 1e4 else f"{microjoule / 1e3:,.1f} mJ"


def _joule(microjoule: float | None) -> str:
    if microjoule is None:
        return NO_CURRENT
    return f"{microjoule / 1e6:,.3f} J" if microjoule < 1e7 else f"{microjoule / 1e6:,.0f} J"
