"""From catalog, measurements and data files to the adviser's plain records.

Reads data/batteries.toml; opens no results: anyone who has measurements hands them over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import inf
from pathlib import Path

from motecrypt.adviser.model import (
    BatteryPart,
    Candidate,
    DeviceFacts,
    Point,
    RadioPart,
    RegulatorPart,
)
from motecrypt.adviser.unknown import RADIO_LACKS, device_lacks
from motecrypt.air.radios import Radio
from motecrypt.air.radios.air import air_time_us
from motecrypt.base.descriptor import Table
from motecrypt.base.energy import parse_battery
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cipher, Device, Implementation, Measurement
from motecrypt.catalog import DATA, Catalog

KINDS = ("board", "chip")
OPTIONAL = ("sleep_ma", "wake_us", "duty_percent")

RANDOM_IV_MODES = ("cbc", "cts")  # SP 800-38A, appendix C: the IV must be unpredictable

_OF = {"board": "stock board; use --bare-chip for the chip alone", "chip": "chip alone; omit --bare-chip"}


def device_part(device: Device, of: str = "board", sleeps: bool = False) -> DeviceFacts:
    """A device of the catalog for the adviser.

    Parameters
    ----------
    of
        "board", as delivered, or "chip", the chip alone.
    sleeps
        Whether the program sleeps between messages.

    Raises
    ------
    InputError
        Its folder lacks such a current (asleep: only if the program sleeps) or RAM, as for the host.
    """
    active = device.current("active", of)
    sleep = device.current("sleep", of) or (None if sleeps else active)
    if active is None or sleep is None or "ram" not in device.memory:
        raise InputError(f"{device.name}: its folder has no {_lacking(device, of, sleeps)}")
    idle = device.current("idle", of)
    return DeviceFacts(
        name=device.name,
        title=device.title,
        of=of,
        clock_hz=device.clock_hz,
        flash_bytes=device.memory["flash"].bytes,
        ram_bytes=device.memory["ram"].bytes,
        volts=device.volts,
        volts_min=device.volts_min,
        volts_max=device.volts_max,
        active_ma=active.milliamperes,
        idle_ma=(idle or active).milliamperes,
        sleep_ma=sleep.milliamperes,
        sleeps=sleeps,
        wake_us=float(device.extra.get("wake_us", 0.0)),
        store_byte_us=float(device.extra.get("store_byte_us", 0.0)),
        message_bytes_max=int(device.bench["message"]),
        unknown=device_lacks(device, of),
    )


def _lacking(device: Device, of: str, sleeps: bool) -> str:
    """What its folder has no figure of, and what to do."""
    if not weighable(device, "", sleeps):
        missing = "'active' and 'sleep'" if sleeps else "'active'"
        remedy = "choose another device ('motecrypt list devices')"
        return f"{missing} current, so its battery life cannot be computed; {remedy}"
    missing = "current asleep" if device.current("active", of) else "currents"
    return f"{missing} of the {_OF[of]}"


def device_refusals(device: Device) -> dict[str, list[str]]:
    """Why a device cannot be considered as "board" or "chip", first awake, then asleep; empty: it can."""
    return {of: [_refusal(device, of, sleeps) for sleeps in (False, True)] for of in KINDS}


def _refusal(device: Device, of: str, sleeps: bool) -> str:
    try:
        device_part(device, of, sleeps)
    except InputError as error:
        return str(error)
    return ""


def weighable(device: Device, of: str, sleeps: bool = True) -> bool:
    """Whether a device's folder has the currents that a battery is considered against."""
    states = ("active", "sleep") if sleeps else ("active",)
    return "ram" in device.memory and all(device.current(state, of) for state in states)


def sleeps_with(radio: RadioPart, radios: Sequence[str]) -> bool:
    """Whether a radio is among these: names, or "serial" for all on a serial line."""
    return radio.name in radios or (radio.serial_byte_us > 0 and "serial" in radios)


def radio_part(radio: Radio) -> RadioPart:
    """A radio for the adviser, its air times as a table up to its packet length."""
    optional = {name: radio.figures[name].value for name in OPTIONAL if name in radio.figures}
    return RadioPart(
        name=radio.name,
        title=radio.title,
        packet_bytes=radio.packet_bytes,
        timeout_us=radio.timeout_us,
        serial_byte_us=radio.serial_byte_us,
        gap_us=radio.value("gap_us"),
        turn_round_us=radio.value("turn_round_us"),
        supply_v=radio.value("supply_v"),
        tx_ma=radio.value("tx_ma"),
        rx_ma=radio.value("rx_ma"),
        sleep_ma=optional.get("sleep_ma", 0.0),
        wake_us=optional.get("wake_us", 0.0),
        duty_percent=optional.get("duty_percent", 100.0),
        air_us=(0.0, *(float(air_time_us(radio, n)) for n in range(1, radio.packet_bytes + 1))),
        unknown=tuple(name for name in RADIO_LACKS if name not in optional),
    )


# --- batteries and regulators ----------------------------------------------------------------------


@lru_cache(maxsize=1)
def supplies() -> tuple[dict[str, BatteryPart], dict[str, RegulatorPart]]:
    """The cells and the regulators there are, by name."""
    return read_supplies(DATA / "batteries.toml")


def read_supplies(path: Path) -> tuple[dict[str, BatteryPart], dict[str, RegulatorPart]]:
    """Cells and regulators of a file, by name; InputError for what is not as it should be."""
    table = Table.read(path)
    cells = {name: _read_cell(name, t) for name, t in table.named_tables("cell").items()}
    regulators = {name: _read_regulator(name, t) for name, t in table.named_tables("regulator").items()}
    table.done()
    return cells, regulators


def _read_cell(name: str, table: Table) -> BatteryPart:
    cell = BatteryPart(
        name=name,
        title=table.text("title", filled=True),
        cells=1,
        capacity_mah=table.number("capacity_mah", above=0),
        volts=table.number("volts", above=0),
        volts_full=table.number("volts_full", above=0),
        volts_empty=table.number("volts_empty", above=0),
        self_discharge_percent_per_year=table.number("self_discharge_percent_per_year", low=0, high=100),
        shelf_years=table.number("shelf_years", 0.0, low=0),
        pulse_ma=table.number("pulse_ma", above=0),
        curve=table.points("curve"),
    )
    table.text("source")
    table.text("curve_source", filled=True)
    shelf_source = table.text("shelf_source", "")
    table.done()
    if not cell.volts_empty < cell.volts <= cell.volts_full:
        raise InputError(f"{table.where}: needs volts_empty < volts <= volts_full")
    if cell.shelf_years and not shelf_source.strip():
        raise InputError(f"{table.where}: 'shelf_years' needs its 'shelf_source'")
    points = cell.curve
    falling = all(a[0] > b[0] and a[1] <= b[1] for a, b in pairwise(points))
    if len(points) < 2 or not falling or points[0][1] != 0 or points[-1][1] != 1:
        raise InputError(f"{table.where}: 'curve' needs falling volts and the charge used, from 0 to 1")
    return cell


def _read_regulator(name: str, table: Table) -> RegulatorPart:
    regulator = RegulatorPart(
        name=name,
        kind=table.text("kind", choices=("none", "linear", "switch")),
        title=table.text("title", filled=True),
        efficiency=table.number("efficiency", above=0, high=1),
        quiescent_ma=table.number("quiescent_ma", low=0),
        dropout_v=table.number("dropout_v", low=0),
        volts_in_min=table.number("volts_in_min", low=0),
        volts_in_max=table.number("volts_in_max", above=0),
    )
    table.text("source")
    table.done()
    return regulator


def cell_names() -> list[str]:
    """The kinds of cells there are."""
    return list(supplies()[0])


def regulator_names() -> list[str]:
    """The regulators there are."""
    return list(supplies()[1])


def regulator_part(name: str) -> RegulatorPart:
    """The regulator of that name; InputError names the others."""
    return regulator_of(name, supplies()[1])


def regulator_of(name: str, regulators: Mapping[str, RegulatorPart]) -> RegulatorPart:
    """One of these regulators; InputError names the others."""
    if name not in regulators:
        raise InputError(f"--regulator '{name}': unknown; choose one of {', '.join(regulators)}")
    return regulators[name]


_PACK = re.compile("(?:([0-9]{1,2}) *x *)?([A-Za-z0-9-]+)")


def battery_part(text: str) -> BatteryPart:
    """`battery_of` of the cells there are."""
    return battery_of(text, supplies()[0])


def battery_of(text: str, cells: Mapping[str, BatteryPart]) -> BatteryPart:
    """The battery in "3xAA", "CR2032", "2xAAA-NiMH" or "1200mAh,3.7V".

    Raises
    ------
    InputError
        An unknown cell, no cells at all, or more than 24.
    """
    if "," in text:
        own = parse_battery(text)
        return BatteryPart(
            name=text,
            title="as given; its voltage is assumed constant",
            cells=1,
            capacity_mah=own.capacity_mah,
            volts=own.voltage_v,
            volts_full=own.voltage_v,
            volts_empty=own.voltage_v,
            self_discharge_percent_per_year=0.0,
            shelf_years=0.0,
            pulse_ma=inf,
            curve=((own.voltage_v, 0.0), (own.voltage_v * 0.999, 1.0)),
        )
    match = _PACK.fullmatch(text.strip())
    by_name = {name.lower(): cell for name, cell in cells.items()}
    cell = by_name.get(match[2].lower()) if match is not None else None
    if match is None or cell is None:
        known = ", ".join(cells)
        raise InputError(f"--battery '{text}': unknown; write 3xAA or 1200mAh,3.7V; available: {known}")
    return pack(cell, int(match[1] or 1))


def pack(cell: BatteryPart, count: int) -> BatteryPart:
    """A number of cells in series."""
    if not 1 <= count <= 24:
        raise InputError(f"--battery: {count:d} cells of {cell.name}; take 1 to 24")
    return replace(
        cell,
        name=f"{count:d}x{cell.name}" if count > 1 else cell.name,
        cells=count,
        volts=cell.volts * count,
        volts_full=cell.volts_full * count,
        volts_empty=cell.volts_empty * count,
        curve=tuple((volts * count, used) for volts, used in cell.curve),
    )


# --- candidates ------------------------------------------------------------------------------------


def placed(catalog: Catalog, device: Device) -> list[tuple[Implementation, int, str, str]]:
    """Every implementation, key length, placement and flash cache that the adviser considers.

    A flash cache counts as cold: a node wakes, runs the code once and sleeps again.
    """
    found = []
    for body in catalog.implementations:
        if not body.runs_on(device.core):
            continue
        wanted = [p for p in device.placements if p in (body.placements or ("flash",))]
        for placement in wanted or list(device.placements)[:1]:
            caches = device.placements[placement].caches
            cache = "cold" if "cold" in caches else caches[0]
            found += [(body, bits, placement, cache) for bits in body.key_bits]
    return found


def nonce_kind(cipher: Cipher) -> str:
    """How a cipher's nonce is made: "random" where it must be unpredictable, else "counter"."""
    if not cipher.nonce_bytes:
        return "none"
    return "random" if cipher.mode in RANDOM_IV_MODES else "counter"


def candidate(
    cipher: Cipher,
    body: Implementation,
    key_bits: int,
    placement: str,
    cache: str,
    measurements: Iterable[Measurement] = (),
) -> Candidate:
    """One candidate with what is measured of it; without measurements its status is "not measured"."""
    of_length: dict[int, dict[str, Measurement]] = {}
    failed: Measurement | None = None
    for m in measurements:
        if m.status == "ok":
            of_length.setdefault(m.message_bytes, {})[m.operation] = m
        else:
            failed = failed or m
    complete = {n: of for n, of in of_length.items() if set(of) >= {"setup", "encrypt", "decrypt"}}
    points = tuple(
        Point(
            message_bytes=n,
            setup_cycles=int(of["setup"].cycles_median or 0),
            encrypt_cycles=int(of["encrypt"].cycles_median or 0),
            decrypt_cycles=int(of["decrypt"].cycles_median or 0),
        )
        for n, of in sorted(complete.items())
    )
    every = [m for of in complete.values() for m in of.values()]
    sized = every[0] if every else failed
    stacks = [m.stack_bytes for m in every if m.stack_bytes is not None]
    status = "ok" if points else failed.status if failed else "not measured"
    reason = "" if points else _why(failed) if failed else "not measured"
    return Candidate(
        cipher=cipher.name,
        implementation=body.name,
        key_bits=key_bits,
        placement=placement,
        cache=cache,
        security=cipher.security,
        security_reason=cipher.security_reason,
        nonce=nonce_kind(cipher),
        nonce_bytes=cipher.nonce_bytes,
        tag_bytes=cipher.tag_bytes,
        message_bytes_min=cipher.message.min,
        message_bytes_multiple=cipher.message.multiple,
        flash_bytes=sized.flash_bytes if sized else None,
        ram_bytes=sized.ram_bytes if sized else None,
        stack_bytes=max(stacks) if stacks else None,
        timing_varies=any(
            m.cycles_min != m.cycles_max or (cache != "none" and bool(m.timing_varies)) for m in every
        ),
        points=points,
        status=status,
        reason=reason,
    )


def _why(failed: Measurement) -> str:
    """The bench's reason; where it counts bytes, also how many are too many."""
    if failed.status == "build-failed":
        return f"does not build: {failed.extra.get('cause') or failed.reason}"
    if failed.status == "wrong-output":
        return f"gives wrong outputs here: {failed.reason}"
    short = failed.shortfall
    return failed.reason if short is None else f"{failed.reason}, {short.missing:,} too many"


def candidates_from(catalog: Catalog, device: Device, measurements: Sequence[Measurement]) -> list[Candidate]:
    """Every candidate for a device, with what these measurements say of it.

    Measurements with flags other than the device's and implementation's own, or with associated data,
    are left out; of equal cells the first counts, so hand over the newest first (as `Results` does).
    """
    weighed = placed(catalog, device)
    of = by_candidate(device, measurements)
    return [measured(catalog, one, of.get(candidate_key(*one), ())) for one in weighed]


Placed = tuple[Implementation, int, str, str]


def candidate_key(body: Implementation, key_bits: int, placement: str, cache: str) -> tuple[str | int, ...]:
    """What distinguishes a candidate from the others of its device."""
    return (body.cipher, body.library, body.configuration, body.variant, key_bits, placement, cache)


def by_candidate(
    device: Device, measurements: Iterable[Measurement]
) -> dict[tuple[str | int, ...], list[Measurement]]:
    """The first of equal cells, by candidate."""
    found: dict[tuple[str | int, ...], dict[tuple[int, str], Measurement]] = {}
    for m in measurements:
        if m.device == device.name and not m.ad_bytes and not m.flags_asked:
            key = (m.cipher, m.library, m.configuration, m.variant, m.key_bits, m.placement, m.cache)
            found.setdefault(key, {}).setdefault((m.message_bytes, m.operation), m)
    return {key: list(own.values()) for key, own in found.items()}


def measured(catalog: Catalog, one: Placed, own: Sequence[Measurement]) -> Candidate:
    """A candidate with what these measurements, all of them its own, say of it."""
    body, bits, placement, cache = one
    return candidate(catalog.cipher(body.cipher), body, bits, placement, cache, own)
