"""What `motecrypt list` has of each thing is what its descriptor says."""

from __future__ import annotations

from motecrypt.catalog import Catalog
from motecrypt.present.terminal.listed import rows_of


def test_a_device_has_its_memories_and_this_computer_none() -> None:
    catalog = Catalog.load()
    columns, rows = rows_of("devices", catalog)
    places = [columns.index(name) for name in ("device", "clock_hz", "flash_bytes", "ram_bytes", "runner")]
    found = {row[0]: tuple(row[at] for at in places[1:]) for row in rows}
    assert found.keys() == catalog.devices.keys()
    assert found["host"][1:] == (None, None, "host"), "its memory is no limit"
    assert found["uno"] == (16_000_000, 32_768, 2_048, "simavr")
    assert found["pico"] == (125_000_000, 2_097_152, 270_336, "arm"), "264 KB of an RP2040"
    assert all(
        isinstance(each[1], int) and isinstance(each[2], int)
        for name, each in found.items()
        if name != "host"
    )
