"""Each audit says of each cipher what tests/golden/audits.json keeps: figures, verdict and sentences."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import golden_audits
import pytest

from goldens.text import plain


@lru_cache(maxsize=1)
def kept() -> dict[str, Any]:
    return dict(json.loads(golden_audits.PLACE.read_text()))


@pytest.mark.parametrize("name", golden_audits.CIPHERS)
def test_each_part_says_what_it_said(name: str) -> None:
    said = json.loads(json.dumps(plain(golden_audits.audited(name))))
    wanted = {part: told for part, told in kept().items() if part.split(" ")[0] == name}
    assert said == wanted, f"if this is meant, run: {golden_audits.COMMAND}"


def test_all_that_is_kept_is_compared() -> None:
    assert {part.split(" ")[0] for part in kept()} == set(golden_audits.CIPHERS)
