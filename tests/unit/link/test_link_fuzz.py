"""Hostile packets for the link core, in short: nothing found, and nearly all that takes them reached."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fuzz.link import CHECKS, build, coverage, run


@pytest.mark.parametrize(("stubbed", "runs"), [(True, 20_000), (False, 2_000)])
def test_hostile_packets_break_nothing(stubbed: bool, runs: int, tmp_path: Path) -> None:
    program = build(tmp_path / "program", stubbed, "gcc", *CHECKS, "-DOWN_INPUTS")
    assert run(program, runs, 1) is None


def test_the_inputs_reach_nearly_every_line_and_branch(tmp_path: Path) -> None:
    reached = coverage(tmp_path, 10_000)
    assert {"receive_piece", "hand_over", "answer", "transmit"} < set(reached.functions)
    assert "link_send" not in reached.functions
    assert reached.lines >= 95 and reached.branches >= 95, reached
