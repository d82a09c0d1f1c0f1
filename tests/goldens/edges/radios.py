"""Radio modules, pairs, channels, the air and the catalog at their edges."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from types import SimpleNamespace
from typing import Any

from goldens.text import digest, plain
from motecrypt.air.radios import Channel, RadioPair, air, load_radio, radio_names
from motecrypt.air.radios.module import Module, Settings
from motecrypt.base.errors import InputError

LINES = (
    *(
        f"AT{name}"
        for name in ("", "AC", "DN", "RE", "WR", "EK", "EA", "VR", "SN", "PK", "RO", "RT", "DR", "BD")
    ),
    *(f"AT{name}" for name in ("CN", "ID", "EE", "XX")),
    *(
        "PK",
        "ATPK0",
        "ATPK1",
        "ATPKF0",
        "ATPKF1",
        "ATPK FF",
        "ATPK-1",
        "ATPKG",
        "ATPK000000010",
        "ATPK00000010",
    ),
    *(
        "ATRO0",
        "ATRO1",
        "ATROFFFF",
        "ATRO10000",
        "ATRT0",
        "ATRTFF",
        "ATRT100",
        "ATDR0",
        "ATDR1",
        "ATDR5",
        "ATDR6",
    ),
    *("ATBD4AF", "ATBD4B0", "ATBD3D090", "ATBD3D091", "ATCN0", "ATCNFF", "ATCN100", "ATID0", "ATIDFFFF"),
    *("ATID10000", "ATEE0", "ATEE1", "ATEE2", "ATEK" + "A" * 31, "ATEK" + "A" * 32, "ATEK" + "G" * 32),
    *("ATEAsixteen letters!", "ATEAfifteen letters", "ATAC1", "ATVR1", "ATSN1", "atpk18", " AT "),
    *("A" * 79, "A" * 80, "A" * 81, "A" * 200),
)


def _played(number: int) -> list[Any]:
    """Two radios that are written to at random: all that arrives, and what is reported meanwhile."""
    random = Random(f"radios {number}")
    radio = load_radio(random.choice(("srf", "srf", *radio_names())))
    chances = (0.0, 0.0, 0.3)
    channel = Channel(
        *(random.choice(chances), random.choice((0.0, 0.0, 2e-3)), random.choice((True, False))),
        *(random.choice(chances), random.choice(chances), number),
    )
    pair = RadioPair(radio, channel)
    told: list[Any] = [radio.name]
    now = 0.0
    for _ in range(50):
        for end in (0, 1):
            if random.random() < 0.6:
                data = random.choice(
                    (
                        random.randbytes(random.randrange(40)),
                        b"+" * random.randrange(1, 5),
                        b"+++",
                        b"+" * random.randrange(1, 3) + random.randbytes(random.randrange(30)),
                        random.choice(LINES).encode() + b"\r" + b"later" * random.randrange(2),
                        b"",
                    )
                )
                pair.write(end, data, now - random.choice((0.0, 0.0, 5.0)))
        told.append([pair.next_us(), pair.next_is_arrival(), pair.line_booked_us(0, now), pair.now_us])
        now += random.choice((0.0, 90.0, 3000.0, 20_000.0, 110_000.0, 1_000_000.0, 1_100_000.0, 5_000_000.0))
        told.append([[a.end, a.data.hex(), a.time_us] for a in pair.advance(now)])
        told.append([[pair.radio(end).packet_bytes, pair.module(end).commanding] for end in (0, 1)])
    return [*told, *([*vars(pair.tally(end)).values()] for end in (0, 1))]


def _air(kind: str, given: Mapping[str, float], payload: int) -> list[float]:
    radio = SimpleNamespace(air=kind, value=lambda name: given[name])
    return [air.air_time_us(radio, payload), air.overhead_bytes(radio)]


def radio_edges() -> dict[str, Any]:
    """Modules, pairs, channels, the air and the catalog at their edges."""
    played = [_played(number) for number in range(60)]
    answers = []
    for name in ("srf", "lora"):
        module = Module(load_radio(name))
        module.enter()
        for line in LINES:
            module.commanding = True
            answer, rest = module.feed(line.encode("latin-1") + b"\r\nAT")
            changed = plain(module.apply().figures)["packet_bytes"]["value"]
            answers.append([line[:24], answer.decode(), rest.hex(), module.commanding, changed])
            module.feed(b"\r")
        module.restart()
        answers.append(plain(module.settings))
    damaged = []
    for bits, crc, loss in (
        (0.0, True, 0.0),
        (0.01, False, 0.2),
        (0.01, True, 0.2),
        (1.0, False, 0.0),
        (0.2, False, 1.0),
    ):
        channel = Channel(loss=loss, bit_error_rate=bits, crc=crc, seed=4)
        generator = channel.generator()
        damaged.append(
            [_hex(channel.damage(generator, bytes(size))) for size in (1, 2, 12) for _ in range(12)]
        )
    lora = {"bandwidth_hz": 125_000.0, "coding_rate": 1, "preamble_symbols": 8}
    timed = [
        _air("lora", {**lora, "spreading_factor": factor, "explicit_header": header, "crc_on": crc}, payload)
        for factor in (7, 10, 11, 12)
        for header in (0, 1)
        for crc in (0, 1)
        for payload in (1, 5, 6, 51)
    ]
    timed += [
        _air(
            "lora",
            {**lora, "bandwidth_hz": hz, "spreading_factor": 11, "explicit_header": 1, "crc_on": 1},
            20,
        )
        for hz in (128_000.0, 127_999.0)
    ]
    ones = {
        figure: float(number)
        for number, figure in enumerate(sorted({f for a in air.AIRS.values() for f in a.figures}), 3)
    }
    others = [[kind, _air(kind, ones, 7)] for kind in air.AIRS]
    changes: list[dict[str, float]] = [
        *({"packet_bytes": n} for n in (0, 1, 240, 241, 12.5)),
        *({"timeout_ms": n} for n in (-1, 0, float("inf"), float("nan"))),
        *({"odd": 1}, {"serial_baud": 9600}, {}),
    ]
    sets = []
    for change in changes:
        try:
            made = load_radio("srf").with_figures(**change)
            sets.append(
                [made.packet_bytes, made.timeout_us, made.serial_byte_us, made.figures["timeout_ms"].source]
            )
        except InputError as error:
            sets.append([str(error)])
    refused = []
    for field in ("loss", "bit_error_rate", "duplicate", "reorder"):
        for value in (-0.1, 0, 1, 1.1):
            try:
                refused.append(getattr(Channel(**{field: value}), field))
            except InputError as error:
                refused.append(str(error))
    return {
        "radios played": [[each[0], digest(plain(each)), *plain(each[-2:])] for each in played],
        "radios answered": answers,
        "radios channels": [digest(damaged), *(each[-3:] for each in damaged), *refused],
        "radios air": plain([timed, others]),
        "radios set": plain(sets),
        "radios from the box": [
            [name, *plain(Settings.of(load_radio(name))).values()] for name in radio_names()
        ],
    }


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
