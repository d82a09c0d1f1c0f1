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
    ("data/wlan.toml", r"(card|signal)\..*\.(title|source|condition)"),
    ("c/target.toml", r"title|tested|link\.(storage|provision|tested)"),
    ("c/target.toml", r"(.*\.)?(file|example)\.\d+\.template"),
    ("c/target.toml", r"link_device\.\d+\.(cores|storage|provision|tested)"),
    ("sensor/example.toml", r"about"),
    (
        "accelerators/esp32.toml",
        r"title|source|block\.\d+\.(name|source)|block\.\d+\.published\.\d+\.(what|source)",
    ),
    ("accelerators/none.toml", r"title|source|without\.\d+\.source"),
    ("chips/FE310-G002.toml", r"name|title|source|clock\.source|clock\.sources\.\d+\.name"),
    ("chips/FE310-G002.toml", r"registers\.(blocks\.\d+\.name|gaps\.\d+\.what|resets\.\d+\.register)"),
    ("data/alternatives.toml", r"alternative\..*\.(title|frame|chip|is|source)"),
    ("data/batteries.toml", r"(cell|regulator)\..*\.(title|source|curve_source)"),
    ("data/conformance.toml", r"feature\.\d+\.(chip|part|what)"),
    ("data/hardware.toml", r"(compiler|training|excluded|difference|variant)\.\d+\.reason|cause\.\d+\.text"),
    ("data/protection.toml", r"resistance\.\d+\.(device|variant)"),
    ("data/storage.toml", r"[a-z-]+\.(title|source)"),
    ("libraries/simavr.toml", r"library|release|source|title"),
    ("public_key/causes.toml", r"cause\.\d+\.(source|text)"),
    ("public_key/entropy.toml", r"entropy\.\d+\.(advice|source|title)"),
    ("public_key/handshakes.toml", r"handshake\.\d+\.(name|source|title)"),
    ("public_key/published.toml", r"published\.\d+\.(code|source)"),
    ("recorded/rc4d_sketches.toml", r"provenance\..*|prints\..*\.(hex|source)"),
    ("radios/srf.toml", r"name|title|figure\..*\.source"),
    ("studies/wlan.toml", r"tolerance\..*\.origin"),
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
        places = {(where[-1], len(where), where[0]): where for where in meant}  # one of each kind
        for where in places.values():
            tried.add(where[-1])
            with pytest.raises(InputError, match=rf"'{where[-1]}' is ' '; expected some text"):
                changed.read(where, lambda table, key: table.update({key: " "}))
    assert tried
