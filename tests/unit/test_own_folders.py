"""Folders of a user's own: a path in place of a name, and known answers that are run before anything else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.known_answers import WrongAnswer, prove
from motecrypt.catalog import Catalog
from motecrypt.catalog.oracles import vectors
from motecrypt.measuring.audits import part_names
from tool_sets import needs_tool_set

TAGS = Path(__file__).resolve().parents[1] / "data" / "tags"
UNO = Catalog.load().device("uno")


def device_folder(at: Path, old: str = "", new: str = "") -> Path:
    """The UNO's folder under another name, changed in one place."""
    shutil.copytree(UNO.folder, at)
    text = (at / "device.toml").read_text()
    assert old in text
    (at / "device.toml").write_text(text.replace(old, new, 1))
    return at


# --- a path in place of a name -------------------------------------------------------------------------


def test_a_folder_of_several_ciphers_means_all_and_one_is_named_behind_a_slash() -> None:
    every = select([str(TAGS)])
    assert every.ciphers == ["tags-sound", "tags-unchecked", "tags-half-checked", "tags-not-wiped"]
    with pytest.raises(InputError, match=r"several ciphers; name one \(.*tags/tags-sound\)"):
        _ = every.cipher
    assert select([f"{TAGS}/tags-unchecked"]).cipher.name == "tags-unchecked"
    with pytest.raises(InputError, match="unknown cipher 'tags-unchekced'; did you mean tags-unchecked"):
        select([f"{TAGS}/tags-unchekced"])


def test_a_folder_in_the_current_one_is_never_taken_for_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(TAGS, tmp_path / "rc4")
    shutil.copytree(TAGS, tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    assert select(["rc4"]).cipher.folder == Catalog.load().cipher("rc4").folder
    with pytest.raises(InputError, match=r"mine: no cipher of that name; the folder here is written \./mine"):
        select(["mine"])
    assert select(["./mine/tags-sound"]).cipher.folder == tmp_path / "mine"


def test_a_device_of_ones_own_stands_beside_ours_and_gets_the_variants_of_its_core(tmp_path: Path) -> None:
    chosen = select(devices=[str(device_folder(tmp_path / "duo")), "pico"])
    assert [device.name for device in chosen.devices] == ["duo", "pico"]
    theirs, ours = (
        {body.name for body in chosen.catalog.implementations_of("aes128-cbc", name, ["motecrypt"])}
        for name in ("duo", "uno")
    )
    assert theirs == ours and "motecrypt/unrolled" in theirs
    pico = {body.name for body in chosen.catalog.implementations_of("aes128-cbc", "pico", ["motecrypt"])}
    assert "motecrypt/unrolled" not in pico


def test_a_device_with_a_name_of_ours_is_refused(tmp_path: Path) -> None:
    folder = device_folder(tmp_path / "uno")
    with pytest.raises(InputError, match=r"device 'uno' is also in .*; give the folder another name"):
        select(devices=[str(folder)])


def test_a_typing_error_in_a_device_is_told_with_its_file(tmp_path: Path) -> None:
    folder = device_folder(tmp_path / "duo", "clock_hz", "clok_hz")
    with pytest.raises(InputError, match=r"duo/device\.toml: 'clock_hz' is missing"):
        select(devices=[str(folder)])


def test_an_audit_looks_at_the_timing_on_every_simulated_device() -> None:
    catalog = Catalog.load()
    simulated = {f"timing:{name}" for name, device in catalog.devices.items() if device.simulated}
    assert simulated == {f"timing:{name}" for name in catalog.devices if name != "host"}
    assert {n for n in part_names(catalog.cipher("rc4")) if n.startswith("timing:")} == simulated


# --- known answers -------------------------------------------------------------------------------------

SOUND = {"key": "00" * 16, "message": "61626364"}


def own(at: Path, *entries: object) -> Catalog:
    """The catalog with the toy cipher, and these vectors in its folder."""
    shutil.copytree(TAGS, at)
    (at / "vectors").mkdir()
    document = {"cipher": "tags-sound", "source": "made here", "vectors": entries}
    (at / "vectors" / "own.json").write_text(json.dumps(document))
    return Catalog.load(ciphers=[at])


def answered(at: Path) -> dict[str, str]:
    """A right vector: what the toy's oracle says."""
    from motecrypt.catalog.oracles import oracle

    cipher = own(at).cipher("tags-sound")
    ciphertext, tag = oracle(cipher)(bytes(16), b"", b"", b"abcd")
    return {**SOUND, "ciphertext": ciphertext.hex(), "tag": tag.hex()}


@needs_tool_set("host")
def test_right_vectors_pass_and_are_counted(tmp_path: Path) -> None:
    right = answered(tmp_path / "a")
    refused = {**right, "tag": "00" * 4, "valid": False, "comment": "wrong tag"}
    catalog = own(tmp_path / "b", right, refused)
    assert prove(catalog, catalog.cipher("tags-sound")) == 2


@pytest.mark.parametrize("field", ["ciphertext", "tag"])
def test_a_wrong_vector_is_told_with_file_number_expected_and_got(tmp_path: Path, field: str) -> None:
    right = answered(tmp_path / "a")
    wrong = {**right, field: "ff" * 4, "comment": "mistyped"}
    catalog = own(tmp_path / "b", right, wrong)
    with pytest.raises(WrongAnswer) as told:
        prove(catalog, catalog.cipher("tags-sound"))
    assert str(told.value) == (
        f"{tmp_path}/b/vectors/own.json: vector 2 (mistyped): {field}: expected ffffffff, "
        f"oracle.py gives {right[field]}"
    )


@needs_tool_set("host")
def test_code_that_differs_from_vector_and_oracle_is_named(tmp_path: Path) -> None:
    right = answered(tmp_path / "a")
    catalog = own(tmp_path / "b", right)
    source = tmp_path / "b" / "tags.c"
    text = source.read_text()
    assert "^" in text
    source.write_text(text.replace("^", "^ 1 ^", 1))
    with pytest.raises(WrongAnswer, match=r"own\.json: vector 1: .*variant '.*' (gives|refuses)"):
        prove(catalog, catalog.cipher("tags-sound"))


@needs_tool_set("host")
def test_code_that_takes_a_wrong_tag_is_named(tmp_path: Path) -> None:
    wrong = {**answered(tmp_path / "a"), "tag": "00" * 4, "valid": False}
    own(tmp_path / "b", wrong)
    file = tmp_path / "b" / "vectors" / "own.json"
    file.write_text(file.read_text().replace("tags-sound", "tags-unchecked"))
    catalog = Catalog.load(ciphers=[tmp_path / "b"])
    with pytest.raises(WrongAnswer, match=r"vector 1: variant '.*' accepts it, expected to be refused"):
        prove(catalog, catalog.cipher("tags-unchecked"))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({**SOUND, "ciphertext": "zz"}, "vector 1: 'ciphertext' is not hexadecimal"),
        ({**SOUND, "ciphertext": 7}, "vector 1: 'ciphertext' is not hexadecimal"),
        ({**SOUND, "cipher_text": "00"}, "vector 1: unknown 'cipher_text'"),
        (["00"], "vector 1: expected an object"),
    ],
)
def test_a_malformed_vector_is_told_with_file_and_number(tmp_path: Path, entry: object, said: str) -> None:
    catalog = own(tmp_path / "own", entry)
    with pytest.raises(InputError) as told:
        list(vectors(catalog.cipher("tags-sound")))
    assert said in str(told.value) and "vectors/own.json" in str(told.value)


def test_a_vector_for_a_key_that_the_cipher_does_not_take_is_told(tmp_path: Path) -> None:
    catalog = own(tmp_path / "own", {**SOUND, "key": "00"})
    with pytest.raises(InputError, match="vector 1: a key of 8 bits; tags-sound takes 128"):
        prove(catalog, catalog.cipher("tags-sound"))


@pytest.mark.parametrize("text", ["{", "[1]", '{"vectors": []}', "[" * 100_000])
def test_a_file_of_another_shape_is_told(tmp_path: Path, text: str) -> None:
    catalog = own(tmp_path / "own")
    (tmp_path / "own" / "vectors" / "own.json").write_text(text)
    with pytest.raises(InputError, match=r"own\.json: (not valid JSON|expected)"):
        list(vectors(catalog.cipher("tags-sound")))


def test_the_page_names_every_air_with_its_figures_and_every_level() -> None:
    from motecrypt.air.radios.air import AIRS
    from motecrypt.base.model import SECURITY_STATUSES

    page = (Path(__file__).resolve().parents[2] / "docs" / "adding.md").read_text()
    for name, air in AIRS.items():
        assert f"| `{name}` | {', '.join(f'`{figure}`' for figure in air.figures)} |" in page
    assert all(f"`{level}`" in page for level in SECURITY_STATUSES)
