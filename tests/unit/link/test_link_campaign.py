"""The campaign of `./test campaign`, short: nothing that must not happen, and faults built in are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from campaign.main import run


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_over_everything_that_may_go_wrong_nothing_happens_that_must_not(seed: int) -> None:
    wrong, counts = run(seed, 6000)
    assert wrong.total() == 0, wrong
    for what in (
        "handed over",
        "accepted",
        "refused",
        "attacks",
        "forged",
        "restarts",
        "power cuts",
        "epochs",
    ):
        assert counts[what] > 0, f"the campaign had no {what}"


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        ("NO_WINDOW", "doubled"),
        ("LATE_CLAIM", "doubled"),
        ("REFLECTION", "forged"),
        ("ANSWER_FIRST", "accepted_without_delivery"),
    ],
)
def test_a_fault_is_found(fault: str, finding: str) -> None:
    for seed in range(4):
        wrong, _ = run(seed, 4000, (f"MC_FAULT_{fault}",))
        if getattr(wrong, finding):
            return
    raise AssertionError(f"{fault}: not found")
