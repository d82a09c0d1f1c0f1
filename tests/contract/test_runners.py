"""One contract over every runner: right output, repeatable figures, and every fault a stored cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from motecrypt.base.model import Cell, Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import needs_tool_set, on_devices

FAULTY = Path(__file__).resolve().parents[1] / "data" / "faulty"
CATALOG = Catalog.load(ciphers=[FAULTY])
SIMULATED = on_devices(*map(CATALOG.device, ("uno", "pico", "stm32f4", "hifive1")))
DEVICES = [*SIMULATED, *on_devices(CATALOG.device("host"))]
"""One for each runner; test_devices.py has every device."""


def measure(results: Results, device: str, cipher: str, length: int = 20) -> list[Measurement]:
    """Each request may take a hundredth of the device's cycles: endless ones end sooner."""
    given = CATALOG.device(device)
    most = int(given.simulator.get("max_cycles", 0)) // 100
    target = replace(given, simulator={**given.simulator, "max_cycles": most}) if most else given
    catalog = replace(CATALOG, devices={**CATALOG.devices, device: target})
    body = CATALOG.implementations_of(cipher, device)[0]
    placement = next(iter(target.placements))
    cells = bench.cells_for(catalog, target, body, message_bytes=[length], placements=[placement])
    return list(bench.ensure(cells, results, catalog).values())


@pytest.mark.parametrize("device", DEVICES)
def test_a_sound_cipher_is_measured(results: Results, device: str) -> None:
    for m in measure(results, device, "faulty-not"):
        assert (m.status, m.reason) == ("ok", "")
        assert m.inputs == 32
        assert m.cycles_median is not None and m.cycles_median >= 0
        assert m.elf_sha256 and m.compiler and m.runner


@pytest.mark.parametrize("device", SIMULATED)
def test_cycles_repeat_exactly_and_do_not_vary(tmp_path: Path, device: str) -> None:
    seen = []
    for name in ("a", "b"):
        with Results(tmp_path / f"{name}.db") as results:
            figures = measure(results, device, "faulty-not")
            seen.append([(m.cycles_min, m.cycles_max, m.stack_bytes, m.elf_sha256) for m in figures])
            assert all(m.timing_varies is False for m in figures if m.cache == "none")
    assert seen[0] == seen[1]


@pytest.mark.parametrize("device", SIMULATED)
def test_a_branch_on_the_key_is_seen(results: Results, device: str) -> None:
    for m in measure(results, device, "faulty-branches"):
        if m.operation != "setup":
            assert m.timing_varies is True
            assert m.cycles_min is not None and m.cycles_max is not None and m.cycles_min < m.cycles_max


@pytest.mark.parametrize("device", SIMULATED)
@pytest.mark.parametrize(
    ("cipher", "status", "kind", "said"),
    [
        pytest.param("faulty-loops", "fault", "silent", "no answer within", marks=pytest.mark.long),
        ("faulty-crashes", "fault", "crashed", ""),
        ("faulty-floods", "fault", "flood", "flood"),
        ("faulty-flips", "wrong-output", "wrong-bytes", "byte 3 is"),
        ("faulty-source", "build-failed", "refused", "error"),
    ],
)
def test_a_fault_is_a_stored_cell(
    results: Results, device: str, cipher: str, status: str, kind: str, said: str
) -> None:
    figures = measure(results, device, cipher)
    assert {m.status for m in figures} == {status}
    assert {m.extra["failure"] for m in figures} == {kind} and not any(m.transient for m in figures)
    assert all(said in m.reason for m in figures)
    assert all(m.cycles_median is None for m in figures)
    stored = results.measurements(cipher=cipher)
    assert len(stored) == len(figures)


def test_what_does_not_fit_says_by_how_much(results: Results) -> None:
    figures = measure(results, "uno", "faulty-large")
    assert {m.status for m in figures} == {"does-not-fit"}
    assert "of 2,048 bytes of RAM" in figures[0].reason
    shortfall = figures[0].shortfall
    assert shortfall is not None and figures[0].extra["failure"] == "does-not-fit"
    assert (shortfall.memory, shortfall.available) == ("ram", 2048)
    assert f"needs {shortfall.needed:,} of" in figures[0].reason
    assert figures[0].ram_bytes == 2338 + 16


def test_a_stack_that_runs_into_the_data_is_a_fault(results: Results) -> None:
    figures = measure(results, "uno", "faulty-stack")
    assert {m.status for m in figures} == {"fault"}
    assert "the stack ran into the data" in figures[0].reason
    assert {m.extra["failure"] for m in figures} == {"stack"}
    overflow = figures[0].extra["overflow"]
    assert overflow["bytes"] == overflow["limit"] - overflow["stack_pointer"] > 0
    assert figures[0].reason.endswith(f"; {overflow['bytes']:,} bytes too deep")
    assert figures[0].shortfall is None


@pytest.mark.parametrize("device", SIMULATED)
def test_the_stack_is_as_deep_as_the_paint_says(results: Results, device: str) -> None:
    """The AVR's stack pointer is written in two halves: its value between them is not a depth."""
    for m in measure(results, device, "faulty-frame"):
        assert m.status == "ok", m.reason
        if m.operation != "setup":
            assert m.stack_bytes is not None and m.stack_bytes > 9 * 32
            assert abs(m.stack_bytes - m.extra["painted_stack_bytes"]) < 40


@needs_tool_set("avr")
def test_one_failed_cell_never_stops_the_others(results: Results) -> None:
    cells: list[Cell] = []
    for cipher in ("faulty-crashes", "faulty-not", "faulty-source"):
        body = CATALOG.implementations_of(cipher, "uno")[0]
        cells += bench.cells_for(CATALOG, CATALOG.device("uno"), body, message_bytes=[16])
    outcome = bench.ensure(cells, results, CATALOG)
    assert {m.cipher: m.status for m in outcome.values()} == {
        "faulty-crashes": "fault",
        "faulty-not": "ok",
        "faulty-source": "build-failed",
    }


def test_what_is_stored_is_not_run_again(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    first = measure(results, "uno", "faulty-not")
    monkeypatch.setattr("motecrypt.measuring.bench.task.Task.begin", lambda task: pytest.fail("ran again"))
    assert measure(results, "uno", "faulty-not") == first


def test_a_message_too_long_for_the_firmware_says_so(results: Results) -> None:
    figures = measure(results, "uno", "faulty-not", length=257)
    assert {m.status for m in figures} == {"does-not-fit"}
    assert "holds 256" in figures[0].reason
