"""The campaign of `./test campaign`, short: nothing that must not happen, and faults built in are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from campaign.main import run


@pytest.mark.parametrize("seed", [2, 3, 4])
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
        "file parts",
        "full disks",
        "flipped bits",
        "worn cells",
        "both copies",
        "key changes",
        "outages",
        "replays",
        "commands",
        "commands held back",
        "commands held over a start",
        "epochs met",
        "fragments forged",
        "bound",
        "restored backups",
        "from a node",
        "from the gateway",
        "storage",
    ):
        assert counts[what] > 0, f"the campaign had no {what}"


@pytest.mark.parametrize(
    ("fault", "experiment", "seed"),
    [
        ("ANSWERS", "amplified", 0),
        ("ANSWER_FIRST", "accepted_without_delivery", 0),
        ("ERASED_IS_NEW", "counters_reused", 0),
        ("FIRST_CLAIM", "silenced", 1),
        ("LATE_CLAIM", "doubled", 0),
        ("MALFORMED", "malformed", 0),
        ("NO_BOUND", "unbounded", 0),
        ("NO_DOUBT", "counters_reused", 1),
        ("NO_READ_BACK", "doubled", 1),
        ("NO_WINDOW", "doubled", 0),
        ("OLD_COMMAND", "stale_commands", 0),
        ("ONE_COPY", "doubled", 1),
        ("REFLECTION", "forged", 0),
        ("SHARED_KEY", "forged", 1),
        ("STALE_COMMAND", "stale_commands", 0),
        ("STEP=250", "out_of_step", 3),
        ("STORAGE_IGNORED", "doubled", 1),
        ("TWO_COMMANDS", "unasked_commands", 0),
        ("UNBOUND_STATE", "counters_reused", 3),
        ("UNKEPT_EPOCH", "epochs_lost", 0),
    ],
)
def test_a_fault_is_found(fault: str, experiment: str, seed: int) -> None:
    """By 3,000 messages, from there on 3,000 of each further seed if need be."""
    for each in range(seed, seed + 4):
        wrong, _ = run(each, 3000, (f"MC_FAULT_{fault}",))
        if getattr(wrong, experiment):
            return
    raise AssertionError(f"{fault}: not found")
