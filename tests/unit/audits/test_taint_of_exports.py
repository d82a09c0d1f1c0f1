"""Key and message of exported ciphers under valgrind's memcheck: a sample of `./test campaign --taint`."""

from __future__ import annotations

import pytest

from campaign.taint import EXPECTED, authenticated, verdict
from motecrypt.catalog import Catalog
from motecrypt.exports.library import choose
from motecrypt.exports.targets import target
from tool_sets import needs_tool_set

CATALOG = Catalog.load()
LIBRARIES = {library.name: library for library in authenticated()}


@needs_tool_set("taint")
@pytest.mark.parametrize("cipher", ["aes128-ccm8", "chacha20-poly1305"])
def test_what_is_exported_for_a_computer_has_no_secret_dependence(cipher: str) -> None:
    """Encrypting, decrypting and refusing."""
    body = choose(CATALOG, CATALOG.cipher(cipher), target("c", CATALOG), None)
    assert verdict(LIBRARIES[f"{cipher} {body.variant}"], "gcc", "-O2") == ("no secret dependence", "")


@needs_tool_set("taint")
def test_tables_are_seen() -> None:
    told, place = verdict(LIBRARIES["aes128-ccm8 tables"], "gcc", "-O2")
    assert told == EXPECTED["tables"] and place.startswith("address at ") and "aes_tables.c" in place


def test_all_that_a_computer_runs_is_followed() -> None:
    ciphers = {library.cipher.name for library in LIBRARIES.values()}
    assert ciphers >= {cipher.name for cipher in CATALOG.ciphers.values() if cipher.kind == "aead"}
    assert {library.body.timing for library in LIBRARIES.values()} <= set(EXPECTED)
