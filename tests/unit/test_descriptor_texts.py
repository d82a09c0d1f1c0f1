"""Texts in descriptors that must say something: of blanks alone, each is refused by its name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from unit.test_descriptors import FILES, Changed, read

#: Which file, which keys (their paths joined by dots).
FILLED = [
    ("device.toml", r"runner|title|chip|core|tool_set|source"),
    ("device.toml", r"simulator\.(mcu|flash_read\.\d+\.(name|source))"),
    ("device.toml", r"current\.\d+\.(condition|source)"),
    ("processors.toml", r".*\.(title|source)"),
    ("toolchains/gcc-12.toml", r"title|source|target\.\d+\.version"),
    ("wlan.toml", r"card\..*\.(title|source)"),
]


def texts(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a document has texts, lists of them left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, (*where, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts(inner, (*where, number))
    elif isinstance(value, str) and isinstance(where[-1], str):
        yield where


@pytest.mark.parametrize(("file", "pattern"), FILLED)
def test_a_text_says_something(
    file: str, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = set()
    for path in (path for path in FILES if str(path).endswith(f"/{file}")):
        document = tomllib.loads(path.read_text())
        meant = [where for where in texts(document) if re.fullmatch(pattern, ".".join(map(str, where)))]
        if not meant:
            continue
        changed = Changed(path, tmp_path, monkeypatch)
        read(changed.place)
        for where in meant[:12]:
            tried.add(where[-1])
            with pytest.raises(InputError, match=rf"'{where[-1]}' is ' '; expected some text"):
                changed.read(where, lambda table, key: table.update({key: " "}))
    assert tried
