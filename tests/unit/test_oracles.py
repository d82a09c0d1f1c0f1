"""What an output is compared with: an oracle's answers are checked, and so is each file of vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cipher
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import Vector, _vector, oracle, vectors

NO_NUMBER = "invalid literal for int() with base 2: 'x'"
LACKING = "module 'motecrypt_oracle_la_cks' has no attribute 'encrypt'"
CBC = Catalog.load().cipher("aes128-cbc")


def cipher(folder: Path, program: str | None = None, tag_bytes: int = 2) -> Cipher:
    folder.mkdir(exist_ok=True)
    if program is not None:
        (folder / "oracle.py").write_text(program)
    return replace(CBC, name="mine", folder=folder, oracle="oracle.py", tag_bytes=tag_bytes)


def encrypting(answer: str) -> str:
    return f"def encrypt(name, key, nonce, ad, message):\n    return {answer}\n"


def test_an_oracle_is_asked_with_the_ciphers_name(tmp_path: Path) -> None:
    program = encrypting("bytearray(message[::-1]), (name + '|').encode()[:1] + key[:1]")
    encrypt = oracle(cipher(tmp_path / "a", program))
    assert encrypt(b"k", b"n", b"a", b"123") == (b"321", b"mk")
    assert [type(part) for part in encrypt(b"k", b"n", b"a", b"")] == [bytes, bytes]
    program = encrypting("nonce + ad, key + message")
    assert oracle(cipher(tmp_path / "b", program))(b"k", b"n", b"", b"m") == (b"n", b"km")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *(
            (answer, "encrypt() must return (ciphertext, tag), both bytes, for mine")
            for answer in (
                "message",
                "[message, b'tt']",
                "(message,)",
                "(b'12', b'tt', b'')",
                "(b'12', 'tt')",
            )
        ),
        *(
            (answer, f"encrypt() returned {told} for mine; 3 and 2 were expected")
            for answer, told in (
                ("(b'12', b'tt')", "2 bytes and a tag of 2"),
                ("(b'1234', b'tt')", "4 bytes and a tag of 2"),
                ("(message, b't')", "3 bytes and a tag of 1"),
                ("(message, b'ttt')", "3 bytes and a tag of 3"),
            )
        ),
        ("int('x', 2)", f"encrypt() failed for mine and 3 bytes: ValueError: {NO_NUMBER}"),
    ],
)
def test_an_answer_that_is_none_is_told(answer: str, said: str, tmp_path: Path) -> None:
    encrypt = oracle(cipher(tmp_path / "a", encrypting(answer)))
    with pytest.raises(InputError) as told:
        encrypt(b"k", b"n", b"a", b"123")
    assert str(told.value) == f"{tmp_path}/a/oracle.py: {said}"


def test_an_oracle_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    for name, program, said in (
        ("none", None, "missing; a cipher's folder needs an oracle to be checked against"),
        ("fails", "int('x', 2)", f"cannot be used: ValueError: {NO_NUMBER}"),
        ("la-cks", "", f"cannot be used: AttributeError: {LACKING}"),
    ):
        with pytest.raises(InputError) as told:
            oracle(cipher(tmp_path / name, program))
        assert str(told.value) == f"{tmp_path}/{name}/oracle.py: {said}"
    plain = replace(cipher(tmp_path / "text", ""), oracle="oracle.txt")  # nothing that Python would load
    (tmp_path / "text" / "oracle.txt").write_text("")
    with pytest.raises(InputError, match=r"oracle\.txt: missing; a cipher's folder needs an oracle"):
        oracle(plain)
    program = "from motecrypt.base.errors import MotecryptError\n" + encrypting("no()")
    encrypt = oracle(cipher(tmp_path / "ours", program + "def no():\n    raise MotecryptError('as it is')\n"))
    with pytest.raises(MotecryptError, match=r"^as it is$"):
        encrypt(b"", b"", b"", b"")


def stored(folder: Path, **files: Any) -> list[Vector]:
    (folder / "vectors").mkdir(parents=True, exist_ok=True)
    for name, document in files.items():
        text = document if isinstance(document, str) else json.dumps(document)
        (folder / "vectors" / f"{name}.json").write_text(text)
    return list(vectors(cipher(folder)))


def test_vectors_of_all_files_with_their_numbers(tmp_path: Path) -> None:
    whole = {name: f"{number:02x}ff" for number, name in enumerate(("key", "nonce", "ad", "message"))}
    whole |= {"ciphertext": "AA", "tag": "bb", "valid": False, "comment": "why"}
    other = {"cipher": "other", "vectors": [{}, {}]}
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "c.txt").write_text("no vectors")
    found = stored(
        tmp_path,
        b=[other, {"cipher": "mine", "vectors": [whole, {}], "source": "a paper"}],
        a={"cipher": "mine", "vectors": [{"key": "01"}]},
    )
    a, b = tmp_path / "vectors" / "a.json", tmp_path / "vectors" / "b.json"
    assert found == [
        Vector("mine", b"\x01", b"", b"", b"", b"", b"", True, "", "a.json", a, 1),
        Vector(
            *("mine", b"\x00\xff", b"\x01\xff", b"\x02\xff", b"\x03\xff", b"\xaa", b"\xbb", False),
            *("why", "a paper", b, 3),
        ),
        Vector("mine", b"", b"", b"", b"", b"", b"", True, "", "a paper", b, 4),
    ]
    assert [vector.where for vector in found] == [
        f"{a}: vector 1",
        f"{b}: vector 3 (why)",
        f"{b}: vector 4",
    ]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        *(
            (document, 'expected {"cipher": NAME, "vectors": [...]}, or a list of them')
            for document in (
                *(1, [1], {}, [{"cipher": "mine", "vectors": []}, []], {"cipher": 1, "vectors": []}),
                {"cipher": "mine", "vectors": {}},
            )
        ),
        (
            {"cipher": "mine", "vectors": [{}, 5]},
            "vector 2: expected an object with key, message, ciphertext and so on",
        ),
        (
            {"cipher": "mine", "vectors": [{"kex": "", "key": "", "iv": ""}]},
            "vector 1: unknown 'iv'; allowed: key, nonce, ad, message, ciphertext, tag, valid, comment",
        ),
        *(
            (
                {"cipher": "mine", "vectors": [{name: text}]},
                f"vector 1: '{name}' is not hexadecimal (two digits a byte)",
            )
            for name, text in (("key", "0"), ("tag", "gg"), ("ad", 5), ("message", None))
        ),
    ],
)
def test_a_file_that_is_not_as_described_is_told(document: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        stored(tmp_path, f=document)
    assert str(told.value) == f"{tmp_path}/vectors/f.json: {said}"


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\xff"])
def test_a_file_that_is_no_json_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "f.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as told:
        list(vectors(cipher(tmp_path)))
    assert str(told.value).startswith(f"{tmp_path}/vectors/f.json: not valid JSON: ")


def test_vectors_are_right_unless_told() -> None:
    for given, valid in (({}, True), ({"valid": True}, True), ({"valid": False}, False)):
        assert _vector(Path("f"), 1, {"cipher": "mine"}, given).valid is valid
