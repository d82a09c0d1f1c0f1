"""The studies conclude of made-up figures at their edges what tests/golden/edges.json keeps."""

from __future__ import annotations

import json

import pytest

import golden_edges
from goldens.text import written


@pytest.mark.parametrize("name", golden_edges.EDGES)
def test_figures_at_their_edges_are_judged_as_they_were(name: str) -> None:
    kept = json.loads(golden_edges.PLACE.read_text())
    said = json.loads(written(golden_edges.EDGES[name]()))
    wanted = {key: value for key, value in kept.items() if key.split(" ")[0] == name}
    assert said.keys() == wanted.keys()
    for key, value in wanted.items():
        assert said[key] == value, f"{key}: if this is meant, run: {golden_edges.COMMAND}"


def test_all_that_is_kept_is_compared() -> None:
    assert {key.split(" ")[0] for key in json.loads(golden_edges.PLACE.read_text())} == set(
        golden_edges.EDGES
    )
