"""The studies conclude of made-up figures at their edges what tests/golden/edges.json keeps."""

from __future__ import annotations

import pytest

import golden_edges
from goldens.kept import assert_as_kept, parts_kept


@pytest.mark.parametrize("name", golden_edges.EDGES)
def test_figures_at_their_edges_are_judged_as_they_were(name: str) -> None:
    made = golden_edges.EDGES[name]()
    assert_as_kept(golden_edges.PLACE, name, made, golden_edges.COMMAND, " ")


def test_all_that_is_kept_is_compared() -> None:
    assert parts_kept(golden_edges.PLACE, " ") == set(golden_edges.EDGES)
