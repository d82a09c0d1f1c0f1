"""Of a bad value a message shows the first characters: enough to find it, never a screen full."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.app.selection import parse_hex
from motecrypt.base.descriptor import SHOWN_CHARACTERS, Table
from motecrypt.base.errors import InputError
from motecrypt.build.toolchain import carried, debian, sources
from motecrypt.catalog import toolchains
from motecrypt.catalog.flags import _shown
from motecrypt.exports.checks import check_address
from motecrypt.present.bundle.checks import MANIFEST, read_manifest
from motecrypt.present.report.orders import parse_order
from motecrypt.results import query
from motecrypt.results.rows import _hold

LONG = "z" * 1000


def order(**changed: Any) -> None:
    parse_order({"kind": "measure", "devices": ["uno"], "ciphers": ["rc4"], "bytes": [16]} | changed)


def source(**given: Any) -> Table:
    return Table({"source": given}, "file").table("source")


SHOWN: dict[str, tuple[Callable[[], object], int]] = {
    "hexadecimal": (lambda: parse_hex(LONG, "--key"), 40),
    "an order's field": (lambda: order(**{LONG: 1}), 40),
    "an order's device": (lambda: order(devices=[LONG]), 40),
    "an order's length": (lambda: order(bytes=[LONG]), 40),
    "an address": (lambda: check_address(LONG, "--url"), 60),
    "an archive": (lambda: debian.checked_mirror(LONG, "--mirror"), 60),
    "a toolchain's text": (lambda: toolchains._matched(LONG, re.compile("a"), "x", "a"), 60),
    "a hash": (lambda: sources._hashes(source(sha256=LONG)), 20),
    "a release": (lambda: sources._releases(source(release="Z" + LONG)), 19),
    "a key": (lambda: carried._folder(LONG), 80),
    "a column": (lambda: _hold(False, "file", "cell", "c", LONG, "a number"), 40),
    "a query": (lambda: (_ for _ in ()).throw(query._refused(ValueError(LONG))), 400),
    "a package's hash": (
        lambda: toolchains._package(
            Table({"name": "gcc", "version": "1", "sha256": {"amd64": LONG}}, "file")
        ),
        20,
    ),
}


@pytest.mark.parametrize("what", SHOWN)
def test_a_long_value_is_cut(what: str) -> None:
    call, characters = SHOWN[what]
    with pytest.raises(InputError) as told:
        call()
    runs = re.findall("z+", str(told.value))
    assert max(map(len, runs)) == characters


def test_a_long_flag_is_cut_with_dots() -> None:
    assert [_shown("z" * count) for count in (59, 60)] == ["z" * 59, "z" * 60]
    assert _shown("z" * 61) == "z" * 57 + "..." and SHOWN_CHARACTERS == 60


def test_names_in_a_bundle_are_short() -> None:
    told = {
        "format": 1,
        "studies": ["rf"],
        "made_at": LONG,
        "versions": {"motecrypt": LONG, "program_sha256": "0" * 64},
        "files": {},
    }
    read = lambda name, most: json.dumps(told).encode() if name == MANIFEST else b""  # noqa: E731
    bundle: Any = SimpleNamespace(read=read, path=Path("b"), refused=InputError)
    found = read_manifest(bundle)
    assert (len(found.made_at), len(found.version)) == (40, 40)
