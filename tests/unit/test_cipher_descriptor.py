"""A faulty cipher.toml is answered with file, key and what was expected."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog

TAGS = Path(__file__).resolve().parents[1] / "data" / "tags"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("key_bits = [128]", "key_bits = []", "'key_bits' is empty"),
        ("key_bits = [128]", "key_bits = [12]", "multiples of 8"),
        ("key_bits = [128]", "key_bits = [true]", "a list of whole numbers"),
        ("key_bits = [128]", "", "'key_bits' is missing"),
        ("key_bits = [128]", "key_bit = [128]", "'key_bits' is missing"),
        ("tag_bytes = 4", "tag_bytes = 17", "expected 0 to 16"),
        ("tag_bytes = 4", "tag_byte = 4", "unknown 'tag_byte'"),
        ("tag_bytes = 4", "message = { multiple = 0 }", "expected a whole number from 1 on"),
        ("tag_bytes = 4", "message = { min = 9, max = 2 }", "0 <= min <= max"),
        ("tag_bytes = 4", "nonce_bytes = -1", "'nonce_bytes' is -1"),
        ("tag_bytes = 4", 'mode = "cbd"', "'mode' is 'cbd'; available: "),
        ("tag_bytes = 4", 'mode = "cbc"', "mode 'cbc' takes whole blocks"),
        ("tag_bytes = 4", 'mode = "ecb"\nmessage = { multiple = 1 }', "mode 'ecb' takes whole blocks"),
        (
            'kind = "aead"',
            'kind = "aed"',
            "expected one of block mode, stream, variable block, wide block, aead",
        ),
        ('ciphers = ["tags-*"]', 'ciphers = ["other-*"]', "matches no cipher"),
        ("[[implementation]]", "[[implementation]", "not valid TOML"),
    ],
)
def test_a_fault_is_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    folder = tmp_path / "own"
    shutil.copytree(TAGS, folder)
    text = (folder / "cipher.toml").read_text()
    assert old in text
    (folder / "cipher.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as told:
        Catalog.load(ciphers=[folder])
    assert said in str(told.value)
    assert "cipher.toml" in str(told.value)


def test_tables_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "cipher.toml").write_text('family = "f"\ntitle = "t"\nsource = "s"\ncipher = [1]\n')
    with pytest.raises(InputError, match="expected an array of tables"):
        Catalog.load(ciphers=[tmp_path])
