"""The table of standings is well formed, ordered rightly, and covers the project's ciphers."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import motecrypt
from motecrypt.catalog import Catalog

DATA = Path(motecrypt.__file__).parent / "data" / "security.toml"
TABLES = tomllib.loads(DATA.read_text())["standing"]


def standing_of(cipher: str) -> str:
    for table in TABLES:
        if any(fnmatchcase(cipher, pattern) for pattern in table["ciphers"]):
            return str(table["standing"])
    return "unrated"


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t["ciphers"][0])
def test_each_table_names_standing_reason_and_source(table: dict[str, object]) -> None:
    assert set(table) == {"ciphers", "standing", "reason", "source"}
    assert table["standing"] in {"recommended", "acceptable", "legacy", "broken"}
    for key in ("reason", "source"):
        text = table[key]
        assert isinstance(text, str) and text and "\n" not in text


@pytest.mark.parametrize(
    ("cipher", "expected"),
    [
        ("rc4", "broken"),
        ("rc4k", "broken"),
        ("rc4dkip", "broken"),
        ("des-cbc", "broken"),
        ("3des-cbc", "legacy"),
        ("rc2-cbc", "legacy"),
        ("blowfish-cbc", "legacy"),
        ("blowfish-ecb", "broken"),
        ("rc6-cbc", "legacy"),
        ("aes128-ecb", "broken"),
        ("aes256-cbc", "legacy"),
        ("aes128-ctr", "legacy"),
        ("aes128-cts", "legacy"),
        ("aes128-ccm4", "acceptable"),
        ("aes192-ccm8", "recommended"),
        ("aes256-ccm16", "recommended"),
        ("aes128-siv", "recommended"),
        ("ascon-aead128", "recommended"),
        ("chacha20-poly1305", "recommended"),
        ("hctr2-aes128", "acceptable"),
        ("adiantum", "acceptable"),
        ("no-such-cipher", "unrated"),
    ],
)
def test_standing(cipher: str, expected: str) -> None:
    assert standing_of(cipher) == expected


def test_nothing_without_authentication_is_recommended() -> None:
    for cipher in (
        "aes128-ecb",
        "aes128-cbc",
        "aes128-ctr",
        "rc4",
        "chacha20",
        "hctr2-aes128",
        "blowfish-ecb",
    ):
        assert standing_of(cipher) != "recommended"


def test_every_cipher_of_the_project_has_a_standing() -> None:
    unrated = [c.name for c in Catalog.load().ciphers.values() if c.standing == "unrated"]
    assert not unrated, "add them to data/security.toml"
