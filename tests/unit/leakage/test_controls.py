"""The controls on two devices: what must leak does, where it must, and the rest does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from motecrypt.attack.leakage.controls import CONTROLS, check
from motecrypt.attack.leakage.harness import LeakWindow, harness
from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.leak_controls import built_control
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import read_image
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
TRACES = 5000


@pytest.mark.parametrize(
    "device", ["pico", pytest.param("ch32v003", marks=needs_tool_set("riscv"))]
)  # the UNO: test_leak_command.py
def test_controls_show_what_they_must(device: str) -> None:
    outcomes = list(check(CATALOG.device(device), TRACES))
    assert [o.control for o in outcomes] == list(CONTROLS)
    assert [o.found for o in outcomes] == [o.control.leaks for o in outcomes]
    assert all(o.passed for o in outcomes)
    caught = outcomes[-1]
    assert caught.place is not None
    assert (caught.place.channel, caught.place.function) == ("register", "leak_window")
    left = "line" in caught.place.what
    assert left, caught.place.what
    assert len(caught.assessment.orders[0].leaks) == 1
    assert outcomes[4].assessment.orders[0].tests > 100


def test_a_harness_names_what_it_lacks() -> None:
    device = CATALOG.device("uno")
    with built_control(device, "sbox") as elf:
        image = read_image(elf, device)
        recorder, variables = harness(image, device, LeakWindow("leak_window", "leak_start", vary="key"))
        assert [(v.name, v.role) for v in variables] == [
            ("leak_input", "random"),
            ("leak_key", "vary"),
            ("leak_random", "random"),
        ]
        assert [(p.name, p.bytes) for p in recorder.pokes] == [
            ("leak_input", 4),
            ("leak_key", 4),
            ("leak_random", 2),
        ]
        assert recorder.window.start != recorder.window.address
        shared = harness(image, device, LeakWindow("leak_window", shared=("leak_key",)))[1]
        assert [v.shares for v in shared] == [1, 2, 1]
        with pytest.raises(InputError, match=r"unknown function 'leak_windov'.*leak_window"):
            harness(image, device, LeakWindow("leak_windov"))
        with pytest.raises(InputError, match="no such variable"):
            harness(image, device, LeakWindow("leak_window", shared=("leak_mask",)))
        with pytest.raises(InputError, match="has no variable leak_nonce"):
            harness(image, device, LeakWindow("leak_window", vary="nonce"))
        with pytest.raises(InputError, match="has no symbols"):
            harness(replace(image, elf=None), device, LeakWindow("leak_window"))
