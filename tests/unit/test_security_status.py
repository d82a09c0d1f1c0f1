"""Each cipher's folder states its security status; a user's own may, or is unrated."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog

TAGS = Path(__file__).resolve().parents[1] / "data" / "tags"
OURS = Catalog.load().ciphers.values()
STATED = '[security]\nlevel = "legacy"\nreason = "old"\nsource = "a paper"\n'


@pytest.mark.parametrize(
    ("cipher", "expected"),
    [
        ("rc4", "broken"),
        ("rc4d", "broken"),
        ("des-cbc", "broken"),
        ("3des-cbc", "legacy"),
        ("3des-ecb", "broken"),
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
        ("aes128-hctr2", "acceptable"),
        ("ascon-aead128", "recommended"),
        ("chacha20-poly1305", "recommended"),
    ],
)
def test_security(cipher: str, expected: str) -> None:
    assert Catalog.load().cipher(cipher).security == expected


def test_every_cipher_of_the_project_states_security_reason_and_source() -> None:
    for cipher in OURS:
        assert cipher.security != "unrated", cipher.name
        for text in (cipher.security_reason, cipher.security_source):
            assert text and "\n" not in text, cipher.name


def test_nothing_without_authentication_is_recommended() -> None:
    recommended = [cipher for cipher in OURS if cipher.security == "recommended"]
    assert recommended
    assert all(cipher.tag_bytes for cipher in recommended)


def own(folder: Path, replaced: str = "", by: str = "", *, first: str = "") -> Catalog:
    """The catalog with a folder of a user's own: that of tests/data/tags, changed."""
    shutil.copytree(TAGS, folder)
    text = (folder / "cipher.toml").read_text()
    assert replaced in text
    (folder / "cipher.toml").write_text(first + text.replace(replaced, by, 1))
    return Catalog.load(ciphers=[folder])


def test_a_users_own_cipher_is_unrated_unless_it_says_otherwise(tmp_path: Path) -> None:
    found = own(tmp_path / "silent")
    names = [name for name, cipher in found.ciphers.items() if cipher.folder == tmp_path / "silent"]
    assert {found.cipher(name).security for name in names} == {"unrated"}
    stated = own(tmp_path / "stated", "[[cipher]]", STATED + "\n[[cipher]]")
    assert {stated.cipher(name).security for name in names} == {"legacy"}
    assert stated.cipher(names[0]).security_source == "a paper"


@pytest.mark.parametrize("table", ["", "cipher."])
def test_a_folder_of_the_version_before_is_read(tmp_path: Path, table: str) -> None:
    stated = "\n" + STATED.replace("[security]", f"[{table}standing]")
    found = own(tmp_path / "before", "\n[[implementation]]", stated + "\n[[implementation]]")
    assert [c.security for c in found.ciphers.values() if c.folder == tmp_path / "before"][-1] == "legacy"


def test_one_ciphers_security_goes_before_its_folders(tmp_path: Path) -> None:
    of_one = STATED.replace("[security]", "\n[cipher.security]").replace("legacy", "broken")
    found = own(
        tmp_path / "both",
        "\n[[implementation]]",
        of_one + "\n[[implementation]]",
        first='security = { level = "legacy", reason = "old", source = "a paper" }\n',
    )
    statuses = [c.security for c in found.ciphers.values() if c.folder == tmp_path / "both"]
    assert statuses[-1] == "broken"
    assert set(statuses[:-1]) <= {"legacy"}


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (
            STATED.replace("legacy", "excellent"),
            "'level' is 'excellent'; expected one of recommended, acceptable",
        ),
        (STATED.replace('reason = "old"\n', ""), "'reason' is missing"),
        (STATED.replace('source = "a paper"\n', ""), "'source' is missing"),
        (STATED.replace('level = "legacy"\n', ""), "'level' is missing"),
        (STATED + 'sauce = "x"\n', "unknown 'sauce'"),
    ],
)
def test_a_faulty_security_is_told_in_one_line(tmp_path: Path, stated: str, said: str) -> None:
    with pytest.raises(InputError) as told:
        own(tmp_path / "own", "[[cipher]]", stated + "\n[[cipher]]")
    assert said in str(told.value)
    assert "cipher.toml: security" in str(told.value)


def test_a_variant_for_a_core_that_no_device_has_is_refused(tmp_path: Path) -> None:
    said = r"no device has a core 'avrr\*'; available: avr25, avr4, avr5, avr51, avr6, "
    said += (
        "cortex-m0, cortex-m0plus, cortex-m3, cortex-m33, cortex-m4, esp32c3, native, qingke-v2a, sifive-e31"
    )
    with pytest.raises(InputError, match=said):
        own(tmp_path / "own", "[[implementation]]", '[[implementation]]\ncores = ["avrr*"]')
