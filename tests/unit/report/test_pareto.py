"""The figure of cycles against flash: whose each point is, and which are on the front."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from goldens.views.made_up import measured
from motecrypt.adviser.records.rows import RecordRow
from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.catalog.cells import cells_for
from motecrypt.present.report.costs import Cost, join
from motecrypt.present.report.pareto import pareto_figure

CATALOG = Catalog.load()
CIPHER = CATALOG.cipher("aes128-ecb")
RECORDED = RecordRow(
    device="uno",
    cipher="aes128-ecb",
    library="theirs",
    implementation="theirs/best",
    setup_cycles=1,
    encrypt_cycles=(1500, 1, 1),
    decrypt_cycles=(1, 1, 1),
    flash_bytes=900,
    own_bytes=1,
    ram_bytes=1,
    stack_bytes=1,
    timing="none seen",
    recorded="2026-11-23",
)
COSTS = {"avr": (2000, 1000), "fast": (1000, 3000), "small": (3000, 1000), "low-ram": (500, 9000)}


def costs(device: str = "uno") -> list[Cost]:
    made: list[Measurement] = []
    for body in CATALOG.implementations_of("aes128-ecb", device, ["motecrypt"]):
        if body.variant in COSTS:
            cycles, flash = COSTS[body.variant]
            for cell in cells_for(
                CATALOG, CATALOG.device(device), body, message_bytes=[16], placements=["flash"]
            ):
                made.append(
                    replace(measured(cell, "near"), status="ok", cycles_median=cycles, flash_bytes=flash)
                )
    return join(made, CATALOG.devices)


def values(rows: list[RecordRow], of: list[Cost]) -> dict[str, dict[str, Any]]:
    figure = pareto_figure(CIPHER, of, rows)
    assert figure is not None
    return {row["implementation"]: dict(row) for row in figure.data()}


def test_every_implementation_is_a_point_and_the_front_is_marked() -> None:
    found = values([RECORDED], costs())
    assert {
        name: (row["cycles"], row["flash_bytes"], row["front"], row["whose"]) for name, row in found.items()
    } == {
        "motecrypt/avr": (2000, 1000, "behind", "ours"),
        "motecrypt/small": (3000, 1000, "behind", "ours"),
        "motecrypt/fast": (1000, 3000, "front", "ours"),
        "motecrypt/low-ram": (500, 9000, "front", "ours"),
        "theirs/best": (1500, 900, "front", "recorded"),
    }


def test_recorded_code_of_another_device_or_that_was_measured_is_not_a_point() -> None:
    elsewhere = replace(RECORDED, device="pico")
    again = replace(RECORDED, implementation="motecrypt/avr")
    found = values([elsewhere, again], costs())
    assert "theirs/best" not in found and found["motecrypt/avr"]["whose"] == "ours"


def test_a_cipher_without_records_or_with_few_points_has_no_figure() -> None:
    assert pareto_figure(CIPHER, costs(), []) is None
    few = [cost for cost in costs() if cost.implementation in ("motecrypt/avr", "motecrypt/fast")]
    assert pareto_figure(CIPHER, few, [replace(RECORDED, device="pico")]) is None
    assert pareto_figure(CIPHER, few, [RECORDED]) is not None


def test_other_places_and_flags_and_lengths_are_left_out() -> None:
    changed = [replace(cost, placement="ram") for cost in costs()]
    changed += [replace(cost, flags="-O3") for cost in costs()]
    changed += [replace(cost, message_bytes=17) for cost in costs()]
    assert pareto_figure(CIPHER, changed, [RECORDED]) is None
