"""Every number that the models and views are built on is as tests/golden/constants.json keeps it."""

from __future__ import annotations

import difflib

import golden_constants


def test_the_constants_are_what_they_were() -> None:
    kept, now = golden_constants.PLACE.read_text(), golden_constants.written()
    changed = list(difflib.unified_diff(kept.splitlines(), now.splitlines(), "kept", "now", n=0, lineterm=""))
    assert not changed, f"if this is meant, run: {golden_constants.COMMAND}"
