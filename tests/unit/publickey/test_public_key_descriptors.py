"""An algorithm's folder: what is read of it, and one line for each mistake in it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.catalog.publickey import read_public_key_folder
from motecrypt.catalog.publickey_oracles import public_key_vectors

TOY = Path(__file__).parents[3] / "examples" / "toydh"


def _folder(tmp_path: Path, before: str, after: str) -> Path:
    folder = tmp_path / "toydh"
    shutil.copytree(TOY, folder)
    file = folder / "algorithm.toml"
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))
    return folder


def test_a_folder_is_read() -> None:
    (algorithm,), bodies = read_public_key_folder(TOY, ["cortex-m4"])
    assert (algorithm.name, algorithm.kind, algorithm.key_bits, algorithm.inputs) == (
        *("toydh", "agreement", 31, 4),
    )
    assert (algorithm.security, algorithm.operations) == ("broken", ("keygen", "agree"))
    assert [body.operations for body in bodies] == [("keygen",), ("agree",)]
    assert algorithm.input_bytes("agree") == 8 and algorithm.output_bytes("keygen") == 8
    keygen, agree = (body.defines for body in bodies)
    assert "PUBLIC_KEY_OPERATION=0" in keygen and "PUBLIC_KEY_OPERATION=1" in agree
    assert "PUBLIC_KEY_SHARED_BYTES=4" in agree


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('kind = "agreement"', 'kind = "agrement"', "agrement"),
        ("shared = 4", "shared = 0", "'sizes' needs 'shared' in bytes: 'agree' has one"),
        ("shared = 4", "shared = 8193", "shared"),
        ("seed = 4", "seeds = 4", "seeds"),
        ("key_bits = 31", "key_bits = 0", "key_bits"),
        ('operations = ["keygen", "agree"]\nsizes', 'operations = ["sign"]\nsizes', "sign"),
        ('algorithms = ["toydh"]', 'algorithms = ["toydsa"]', "matches no algorithm"),
        ('sources = ["toydh.c"]', "", "sources"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, before: str, after: str, told: str) -> None:
    folder = _folder(tmp_path, before, after)
    with pytest.raises(InputError) as refused:
        read_public_key_folder(folder, ["cortex-m4"])
    assert told in str(refused.value) and "algorithm.toml" in str(refused.value)


@pytest.mark.parametrize("name", ["x25519", "aes128-cbc"])
def test_a_name_that_exists_is_refused(tmp_path: Path, name: str) -> None:
    folder = _folder(tmp_path, '"toydh"', f'"{name}"')
    with pytest.raises(InputError, match=f"'{name}' is also in "):
        Catalog.load(public_keys=[folder])


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown public-key algorithm 'x2519'; did you mean x25519"):
        Catalog.load().public_key("x2519")
    assert Catalog.load().measured("x25519") is Catalog.load().public_key("x25519")
    assert Catalog.load().measured("aes128-cbc") is Catalog.load().cipher("aes128-cbc")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"shared": "00"}, "'shared' has 1 bytes; expected 4"),
        ({"shared": "zz"}, "needs 'shared', in hexadecimal"),
        ({"shared": None}, "needs 'shared', in hexadecimal"),
    ],
)
def test_a_damaged_vector_is_named(tmp_path: Path, change: dict[str, str | None], told: str) -> None:
    folder = _folder(tmp_path, "toydh", "toydh")
    file = folder / "vectors" / "toydh.json"
    document = json.loads(file.read_text())
    document["vectors"][1] |= change
    file.write_text(json.dumps(document))
    algorithm = Catalog.load(public_keys=[folder]).public_key("toydh")
    with pytest.raises(InputError) as refused:
        list(public_key_vectors(algorithm))
    assert f"{file}: vector 2: {told}" in str(refused.value)


def test_a_file_that_has_no_vectors_is_named(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "toydh", "toydh")
    file = folder / "vectors" / "toydh.json"
    algorithm = Catalog.load(public_keys=[folder]).public_key("toydh")
    file.write_text('{"operation": "encrypt", "vectors": []}')
    with pytest.raises(InputError, match="expected 'algorithm', 'operation', 'source' and 'vectors'"):
        list(public_key_vectors(algorithm))
    file.write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        list(public_key_vectors(algorithm))
