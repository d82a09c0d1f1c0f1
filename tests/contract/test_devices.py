"""One contract over every simulated device: the right output, a stack within its RAM, and on AVRs the cycles
of the UNO, except for calls and returns.
"""

from __future__ import annotations

import pytest

from motecrypt.base.model import Measurement
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from tool_sets import on_devices

CATALOG = Catalog.load()
SIMULATED = on_devices(*(device for device in CATALOG.devices.values() if device.simulated))
AVRS = on_devices(*(device for device in CATALOG.devices.values() if device.runner == "simavr"))
CIPHER = "aes128-ccm8"


def measured(results: Results, device: str, variant: str, cipher: str = CIPHER) -> dict[str, Measurement]:
    """By operation, at 16 bytes in flash with a warm cache."""
    target = CATALOG.device(device)
    body = next(
        body for body in CATALOG.implementations_of(cipher, device, ["motecrypt"]) if body.variant == variant
    )
    placement = next(iter(target.placements))
    cells = [
        cell
        for cell in bench.cells_for(CATALOG, target, body, message_bytes=[16], placements=[placement])
        if cell.cache in ("none", "warm")
    ]
    found = bench.ensure(cells, results, CATALOG)
    return {m.operation: m for m in found.values()}


@pytest.mark.parametrize("device", SIMULATED)
def test_a_cipher_in_c_runs(results: Results, device: str) -> None:
    found = measured(results, device, "small")
    assert {m.status for m in found.values()} == {"ok"}, [m.reason for m in found.values()]
    for m in found.values():
        assert m.cycles_median is not None and m.stack_bytes is not None and m.flash_bytes is not None
        assert 0 <= m.stack_bytes < CATALOG.device(device).memory["ram"].bytes
        assert m.stack_bytes or (m.operation == "setup" and CATALOG.device(device).runner == "riscv"), (
            "only a RISC-V function that calls nothing needs no stack"
        )


JUMP_CYCLES = 3


@pytest.mark.parametrize("device", AVRS)
def test_an_avr_takes_the_cycles_of_the_uno_except_for_calls(results: Results, device: str) -> None:
    """The block in assembly, the mode in C. An ATmega8 and an ATtiny reach all with RCALL, a cycle less than
    CALL; an ATmega2560 pushes three bytes, a cycle more for each call and each return. The UNO's set-up
    jumps to the room behind the vectors, which other chips do not all have.
    """
    uno, other = measured(results, "uno", "avr"), measured(results, device, "avr")
    for operation, m in other.items():
        assert m.status == "ok", m.reason
        own, its = m.cycles_median, uno[operation].cycles_median
        assert own is not None and its is not None
        more = own - its
        if operation == "setup" and more == -JUMP_CYCLES:
            more = 0
        core = CATALOG.device(device).core
        if core == "avr4":
            assert -60 < more < 0
        elif core == "avr25":
            assert -60 < more < 300, "without MUL, GCC 14 makes longer code of the mode in C"
        elif core == "avr6":
            assert 0 <= more < 60, "one for each call and for each return; the compiler may save or add some"
            assert more > 0 or operation == "setup"
        else:
            assert more == 0


@pytest.mark.parametrize("device", on_devices(CATALOG.device("due"), CATALOG.device("nrf52840")))
def test_waiting_for_the_flash_is_no_variation(results: Results, device: str) -> None:
    """Code without branches on data and without tables waits for the same lines for every input."""
    for m in measured(results, device, "words", "ascon-aead128").values():
        assert m.status == "ok", m.reason
        assert m.cycles_min == m.cycles_max and m.timing_varies is False
        if m.operation != "setup":
            assert m.extra["wait_cycles"] > 0
