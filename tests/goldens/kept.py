"""Text that is kept in a file of many parts: each key begins with the name of its part and a mark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from goldens.text import written


@lru_cache(maxsize=4)
def _kept(place: Path) -> dict[str, Any]:
    return dict(json.loads(place.read_text()))


def parts_kept(place: Path, mark: str = ": ") -> set[str]:
    """The names of all parts."""
    return {key.partition(mark)[0] for key in _kept(place)}


def assert_as_kept(place: Path, part: str, made: Mapping[str, Any], command: str, mark: str = ": ") -> None:
    """A part says what the file keeps of it; `command` writes the file again."""
    said = json.loads(written(made))
    wanted = {key: value for key, value in _kept(place).items() if key.partition(mark)[0] == part}
    assert said.keys() == wanted.keys()
    for key, value in wanted.items():
        assert said[key] == value, f"{key}: if this is meant, run: {command}"
