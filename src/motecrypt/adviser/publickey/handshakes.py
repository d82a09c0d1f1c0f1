"""What it costs a node to agree on keys: the messages of standard handshakes on a radio, and the node's
computation. Pure: it reads a data file.

The node begins. Counted are the operations of public keys, and both radios' states while a message is on the
air; not counted are hashes, the layers below, repetitions, and listening while the other side computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.adviser.publickey.baseline import AesCost
from motecrypt.adviser.publickey.rows import PublicKeyRow, behind, fastest, kept_records
from motecrypt.air.radios import Radio, costs
from motecrypt.base.descriptor import Table
from motecrypt.base.energy import energy_uj, time_us
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device, Operation
from motecrypt.catalog.places import DATA

HANDSHAKES = DATA / "public_key" / "handshakes.toml"
FLIGHT_BYTES_MAX = 65_535
BLOCKS_MAX = 1_000_000
_LISTED: tuple[Operation, ...] = ("keygen", "agree", "sign", "verify")


@dataclass(frozen=True)
class Handshake:
    """A handshake: `flights` in bytes, the node's own first; `operations` (algorithm, operation) that the
    node computes; `aes_blocks` where AES is all that it computes."""

    name: str
    title: str
    flights: tuple[int, ...]
    operations: tuple[tuple[str, Operation], ...]
    aes_blocks: int
    note: str
    source: str

    @property
    def total_bytes(self) -> int:
        """Bytes of all its messages."""
        return sum(self.flights)


def handshakes(path: Path = HANDSHAKES) -> dict[str, Handshake]:
    """The handshakes by name.

    Raises
    ------
    InputError
        The file is wrong.
    """
    table, found = Table.read(path), {}
    for entry in table.tables("handshake"):
        flights = entry.integers("flights")
        if not flights or not all(1 <= size <= FLIGHT_BYTES_MAX for size in flights):
            raise InputError(f"{entry.where}: 'flights' needs bytes, each from 1 to {FLIGHT_BYTES_MAX:,}")
        one = Handshake(
            name=entry.text("name", filled=True),
            title=entry.text("title", filled=True),
            flights=flights,
            operations=tuple((name, kind) for kind in _LISTED for name in entry.texts(kind)),
            aes_blocks=entry.integer("aes_blocks", low=0, high=BLOCKS_MAX),
            note=entry.text("note"),
            source=entry.text("source"),
        )
        entry.done()
        found[one.name] = one
    table.done()
    return found


@dataclass(frozen=True)
class Compute:
    """What a handshake costs a device to compute.

    `missing` names an operation that did not run there, with the reason; then the rest is 0. Without a
    known current there is no `energy_uj`. `flash_bytes` and `ram_bytes` (with its stack) are of its
    largest operation: a program with several shares much of their code. `behind` says of each operation
    for which faster code is public how many times its cycles ours takes.
    """

    cycles: float
    time_us: float
    energy_uj: float | None
    flash_bytes: int
    ram_bytes: int
    missing: str = ""
    behind: tuple[str, ...] = ()


@dataclass(frozen=True)
class OnAir:
    """What a handshake costs the node's radio: packets both ways, air time, energy."""

    packets: int
    air_us: float
    sent_air_us: float
    energy_uj: float


def active_ma(device: Device) -> float | None:
    """The current of a working chip in mA, else of its board; None where the descriptor has none."""
    current = device.current("active", "chip") or device.current("active")
    return current.milliamperes if current else None


def compute(
    handshake: Handshake, device: Device, rows: Sequence[PublicKeyRow], aes: AesCost | None
) -> Compute:
    """What the node computes, by the fastest implementation of each operation in `rows`."""
    cycles, flash, ram = 0.0, 0, 0
    slower: dict[str, None] = {}
    for algorithm, operation in handshake.operations:
        best = fastest(rows, device.name, algorithm, operation)
        if best is None or best.cycles is None:
            return Compute(0, 0, 0, 0, 0, missing=_missing(rows, device.name, algorithm, operation))
        cycles += best.cycles
        if faster := behind(best, kept_records()):
            slower[faster.text] = None
        flash = max(flash, best.flash_bytes or 0)
        ram = max(ram, (best.ram_bytes or 0) + (best.stack_bytes or 0))
    if handshake.aes_blocks:
        if aes is None:
            return Compute(0, 0, 0, 0, 0, missing="AES is not measured")
        cycles += handshake.aes_blocks * aes.block_cycles
    duration = time_us(cycles, device.clock_hz)
    return Compute(cycles, duration, work_uj(device, duration), flash, ram, behind=tuple(slower))


def work_uj(device: Device, duration_us: float) -> float | None:
    """The energy of a working chip in uJ; None where its current is not known."""
    current_ma = active_ma(device)
    return None if current_ma is None else energy_uj(device.volts, current_ma, duration_us)


def _missing(rows: Sequence[PublicKeyRow], device: str, algorithm: str, operation: str) -> str:
    """Why an operation has no figure there: the least of its shortfalls, or a reason, or nothing measured."""
    own = [r for r in rows if (r.device, r.algorithm, r.operation) == (device, algorithm, operation)]
    if not own:
        return (
            f"{algorithm} {operation} is not measured: "
            f"motecrypt measure --public-key {algorithm} --device {device}"
        )
    short = [r for r in own if r.needed is not None and r.available is not None]
    least = min(short, key=lambda r: (r.needed or 0) - (r.available or 0)) if short else own[0]
    return f"{algorithm} {operation} {least.why}"


def on_air(handshake: Handshake, radio: Radio) -> OnAir:
    """The handshake's messages as packets of this radio, seen from the node."""
    packets, air, sent, energy = 0, 0.0, 0.0, 0.0
    for number, size in enumerate(handshake.flights):
        one = costs(radio, size)
        packets += int(one.packets)
        air += float(one.air_time_us)
        sent += float(one.air_time_us) * (number % 2 == 0)
        energy += float(one.receiver_uj if number % 2 else one.sender_uj)
    return OnAir(packets, air, sent, energy)


@dataclass(frozen=True)
class Year:
    """A year of encrypted messages: cycles and energy of encrypting, energy of sending, how many.

    Without a known current of the device there is no `cpu_uj`."""

    messages: float
    cycles: float
    cpu_uj: float | None
    radio_uj: float


#: The messages that a handshake is compared with: a reading with the tag of the cipher, every ten minutes.
MESSAGE_BYTES, TAG_BYTES, EVERY_S = 16, 8, 600.0
YEAR_S = 365.25 * 86400


def year(device: Device, radio: Radio, aes: AesCost, every_s: float = EVERY_S) -> Year:
    """A year of messages of 16 bytes."""
    count = YEAR_S / every_s
    cycles = count * aes.cycles(MESSAGE_BYTES)
    sent = costs(radio, MESSAGE_BYTES + TAG_BYTES)
    return Year(
        messages=count,
        cycles=cycles,
        cpu_uj=work_uj(device, time_us(cycles, device.clock_hz)),
        radio_uj=count * float(sent.sender_uj),
    )
