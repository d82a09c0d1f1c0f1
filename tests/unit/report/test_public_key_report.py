"""The report on public-key operations: recorded and measured figures, failures, energy, and their figure."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from made_rows import made_measurement
from motecrypt.adviser.publickey.rows import PublicKeyRow, recorded
from motecrypt.catalog import Catalog
from motecrypt.present.report import gather, render
from motecrypt.present.report.public_keys import KeyCost, PublicKeyPart, public_key_part
from motecrypt.results import Results

MEASURED = made_measurement(
    device="pico",
    library="monocypher",
    configuration="",
    cipher="x25519",
    variant="",
    key_bits=255,
    operation="agree",
    message_bytes=0,
    cache="warm",
    cycles_median=1250,
    cycles_max=1500,
    inputs=4,
    timing_varies=True,
    time_us=10.0,
    flash_bytes=77,
    flash_symbol_bytes=77,
    ram_bytes=5,
    stack_bytes=321,
    compiler="gcc <made up>",
    runner="made-up",
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """What is built in."""
    return Catalog.load()


def _found(part: PublicKeyPart, device: str = "pico", implementation: str = "monocypher") -> list[KeyCost]:
    wanted = ("x25519", "agree", implementation)
    costs = part.by_device.get(device, ())
    return [c for c in costs if (c.row.algorithm, c.row.operation, c.row.implementation) == wanted]


def _recorded() -> PublicKeyRow:
    wanted = ("pico", "x25519", "agree", "monocypher")
    (row,) = (r for r in recorded() if (r.device, r.algorithm, r.operation, r.implementation) == wanted)
    return row


def test_all_recorded_rows_are_there_without_results(catalog: Catalog) -> None:
    part = public_key_part(catalog, [])
    shown = [cost.row for costs in part.by_device.values() for cost in costs]
    assert sorted(map(repr, shown)) == sorted(map(repr, recorded()))
    assert all(cost.from_record for costs in part.by_device.values() for cost in costs)
    assert {row.device for row in shown} >= {"uno", "pico", "stm32f4", "nrf52840"}


def test_a_measured_figure_takes_the_place_of_the_recorded_one(catalog: Catalog) -> None:
    older = replace(MEASURED, cycles_median=9, measured_at="2025-01-01T00:00:00+00:00")
    (cost,) = _found(public_key_part(catalog, [MEASURED, older]))
    assert (cost.row.cycles, cost.row.stack_bytes, cost.from_record) == (1250, 321, False)
    assert cost.time_ms == 0.01
    pico = catalog.device("pico")
    current = pico.current("active")
    assert current is not None
    assert cost.energy_mj == pytest.approx(pico.volts * current.milliamperes * 10e-6)
    assert cost.varies == "yes"


@pytest.mark.parametrize(
    "change",
    [
        {"cache": "cold"},
        {"flags_asked": "-O3"},
        {"status": "timeout", "cycles_median": None, "time_us": None, "extra": {"transient": True}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_does_not_compare_replaces_nothing(catalog: Catalog, change: dict[str, object]) -> None:
    (cost,) = _found(public_key_part(catalog, [replace(MEASURED, **change)]))  # type: ignore[arg-type]
    assert cost.row == _recorded() and cost.from_record


def test_what_is_not_in_the_catalog_is_not_told(catalog: Catalog) -> None:
    assert public_key_part(catalog, [replace(MEASURED, cipher="toydh")]) == public_key_part(catalog, [])


@pytest.mark.parametrize(
    ("varies", "least", "most", "told"),
    [
        (None, 1, 1, "?"),
        (False, 1, 1, "none seen"),
        (True, 1, 1, "addresses"),
        (True, 1, 2, "yes"),
    ],
)
def test_variation_in_words(catalog: Catalog, varies: bool | None, least: int, most: int, told: str) -> None:
    row = replace(_recorded(), timing_varies=varies, cycles_min=least, cycles_max=most)
    assert KeyCost(row, catalog.device("pico"), True).varies == told


def test_the_fastest_of_each_device_and_why_none_runs(catalog: Catalog) -> None:
    part = public_key_part(catalog, [])
    by_name = {(one.algorithm.name, one.operation): one for one in part.operations}
    agree, sign = by_name["x25519", "agree"], by_name["ed25519", "sign"]
    for device, cost in agree.best.items():
        rows = [r for r in recorded() if (r.device, r.algorithm, r.operation) == (device, "x25519", "agree")]
        assert cost.row.cycles == min(r.cycles for r in rows if r.cycles is not None)
    assert set(agree.best) >= {"uno", "pico"} and not agree.fails
    assert "bytes of flash" in sign.fails["uno"].row.why and "uno" not in sign.best
    assert part.figure is not None
    values = part.figure.data()
    (point,) = (v for v in values if (v["operation"], v["device"]) == ("x25519 agree", "pico"))
    assert point["cycles"] == agree.best["pico"].row.cycles
    assert point["value"] == pytest.approx((agree.best["pico"].row.time_us or 0) / 1000, abs=0.001)
    assert not [v for v in values if (v["operation"], v["device"]) == ("ed25519 sign", "uno")]
    assert part.figure.specification["encoding"]["x"]["scale"]["type"] == "log"


def test_this_computer_comes_last_without_energy_and_outside_the_figure(catalog: Catalog) -> None:
    part = public_key_part(catalog, [replace(MEASURED, device="host", cache="none")])
    assert list(part.by_device)[-1] == "host"
    (cost,) = _found(part, device="host")
    assert (cost.row.cycles, cost.energy_mj) == (1250, None)
    assert part.figure is not None and "host" not in {v["device"] for v in part.figure.data()}


def test_the_page_has_each_row_and_links_to_each_device(catalog: Catalog, results: Results) -> None:
    hostile = replace(MEASURED, operation="keygen", status="failed", reason="<b>made up</b>")
    results.store({"one": MEASURED, "two": hostile})
    content = gather(results, catalog)
    page = render(content, bundle="")
    assert not content.empty and content.measurements == 2
    assert "public-key-time" in {figure.name for figure in content.all_figures()}
    section = page[page.index('<section id="public-keys"') : page.index('<section id="explorer"')]
    assert section.count("<tr><td>") + section.count("<tr class=failed>") == len(recorded())
    assert section.count("<tr class=failed>") == 1 + sum(not row.ran for row in recorded())
    assert "&lt;b&gt;made up" in section and "<b>made up" not in section
    assert "needs 36,728 of 32,768 bytes of flash" in section
    links = set(re.findall(r'href="#(public-keys-[a-z0-9-]+)"', section))
    assert links == set(re.findall(r'id="(public-keys-[a-z0-9-]+)"', section)) and len(links) >= 4
    (row,) = re.findall(
        r"<tr><td>x25519</td><td>agree</td><td>monocypher</td><td>measured</td>.*</tr>", section
    )
    cells = re.findall(r"<td>(.*?)</td>", row)[4:]
    assert [*cells[:4], *cells[5:]] == ["yes", "", "1,250", "0.01", "77", "5", "321"]
    assert float(cells[4]) > 0
