"""Every view says of made-up results what tests/golden/views keeps: no column swapped, no sentence lost."""

from __future__ import annotations

import difflib
import json

import pytest

import golden_views


@pytest.mark.parametrize("name", golden_views.GOLDEN)
def test_the_view_says_what_it_said(name: str) -> None:
    kept = (golden_views.PLACE / f"{name}.json").read_text()
    said = golden_views.written(golden_views.GOLDEN[name]())
    if said != kept:
        lines = difflib.unified_diff(kept.splitlines(), said.splitlines(), "kept", "now", n=0, lineterm="")
        shown = "\n".join(line[:300] for _, line in zip(range(30), lines, strict=False))
        pytest.fail(f"{name}: if this is meant, run: {golden_views.COMMAND}\n{shown}", pytrace=False)


def test_only_what_is_compared_is_kept() -> None:
    assert {path.stem for path in golden_views.PLACE.glob("*.json")} == set(golden_views.GOLDEN)
    for name in golden_views.GOLDEN:
        assert json.loads((golden_views.PLACE / f"{name}.json").read_text())
