"""A made-up measurement and a made-up row of a public-key operation; tests change what they look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from motecrypt.adviser.model import Candidate, Point
from motecrypt.adviser.publickey.rows import PublicKeyRow
from motecrypt.base.model import Measurement

_MEASUREMENT = Measurement(
    device="uno",
    library="mine",
    configuration="default",
    cipher="aes128-cbc",
    variant="fast",
    key_bits=128,
    operation="encrypt",
    message_bytes=16,
    ad_bytes=0,
    tag_bytes=0,
    placement="flash",
    cache="none",
    cycles_min=1000,
    cycles_median=1000,
    cycles_max=1000,
    inputs=32,
    timing_varies=False,
    time_us=62.5,
    flash_bytes=2000,
    flash_symbol_bytes=1900,
    ram_bytes=100,
    eeprom_bytes=0,
    stack_bytes=50,
    status="ok",
    reason="",
    compiler="gcc 1",
    flags="-Os",
    runner="simavr",
    cycles_exact=True,
    elf_sha256="00",
    measured_at="2026-01-01T00:00:00+00:00",
    motecrypt_version="0",
)

_PUBLIC_KEY = PublicKeyRow(
    device="uno",
    algorithm="x25519",
    operation="agree",
    implementation="code",
    message_bytes=0,
    cache="none",
    status="ok",
    reason="",
    cycles=16_000_000,
    cycles_min=15_999_990,
    cycles_max=16_000_010,
    time_us=1e6,
    timing_varies=True,
    flash_bytes=1234,
    ram_bytes=5,
    stack_bytes=678,
    memory="",
    needed=None,
    available=None,
    compiler="gcc 1",
    measured_on="2026-01-02",
)


def made_measurement(**changes: Any) -> Measurement:
    """One that ran."""
    return replace(_MEASUREMENT, **changes)


def made_public_key(**changes: Any) -> PublicKeyRow:
    """An agreement that ran."""
    return replace(_PUBLIC_KEY, **changes)


def candidates_of(data: Mapping[str, Any], device: str) -> list[Candidate]:
    """The candidates of a device back from `export`ed (and JSON-decoded) data."""
    return [
        Candidate(**{**entry, "points": tuple(Point(**point) for point in entry["points"])})
        for entry in data["candidates"][device]
    ]
