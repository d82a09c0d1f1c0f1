"""Key warnings against the lists of weak keys that NIST printed, and against the cipher itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.audits.weak_keys import des_round_keys, key_warnings, with_odd_parity

# FIPS 74 and SP 800-67.
WEAK = ["0101010101010101", "FEFEFEFEFEFEFEFE", "E0E0E0E0F1F1F1F1", "1F1F1F1F0E0E0E0E"]
SEMI_WEAK = [
    ("01FE01FE01FE01FE", "FE01FE01FE01FE01"),
    ("1FE01FE00EF10EF1", "E01FE01FF10EF10E"),
    ("01E001E001F101F1", "E001E001F101F101"),
    ("1FFE1FFE0EFE0EFE", "FE1FFE1FFE0EFE0E"),
    ("011F011F010E010E", "1F011F010E010E01"),
    ("E0FEE0FEF1FEF1FE", "FEE0FEE0FEF1FEF1"),
]
POSSIBLY_WEAK = [
    "1F1F01010E0E0101",
    "011F1F01010E0E01",
    "E0E00101F1F10101",
    "FE0101FEFE0101FE",
    "01E01FFE01F10EFE",
]
GOOD_DES = "133457799BBCDFF1"
GOOD_3DES = "133457799bbcdff10e329232ea6d0d732a6bd9526e0d1f43"


@pytest.mark.parametrize("key", WEAK)
def test_weak_des_keys(key: str) -> None:
    from Crypto.Cipher import DES

    raw = bytes.fromhex(key)
    assert des_round_keys(raw) == 1
    assert any("weak DES key: all round keys" in warning for warning in key_warnings("des-cbc", raw))
    cipher = DES.new(raw, DES.MODE_ECB)
    assert cipher.encrypt(cipher.encrypt(b"plaintxt")) == b"plaintxt"  # what the warning says is so


@pytest.mark.parametrize(("key", "partner"), SEMI_WEAK)
def test_semi_weak_des_keys(key: str, partner: str) -> None:
    from Crypto.Cipher import DES

    for each in (key, partner):
        assert des_round_keys(bytes.fromhex(each)) == 2
        assert any("semi-weak" in warning for warning in key_warnings("des-ecb", bytes.fromhex(each)))
    once = DES.new(bytes.fromhex(key), DES.MODE_ECB).encrypt(b"plaintxt")
    assert DES.new(bytes.fromhex(partner), DES.MODE_ECB).encrypt(once) == b"plaintxt"


@pytest.mark.parametrize("key", POSSIBLY_WEAK)
def test_possibly_weak_des_keys(key: str) -> None:
    assert des_round_keys(bytes.fromhex(key)) == 4
    assert any("possibly weak" in warning for warning in key_warnings("des-ctr", bytes.fromhex(key)))


def test_good_keys_pass() -> None:
    assert key_warnings("des-cbc", bytes.fromhex(GOOD_DES)) == []
    assert key_warnings("3des-cbc", with_odd_parity(bytes.fromhex(GOOD_3DES))) == []
    for cipher in ("aes128-ctr", "rc6-ctr", "blowfish-cbc", "rc2-cbc", "rc4"):
        assert key_warnings(cipher, bytes(range(1, 17))) == []


def test_parity() -> None:
    wrong = bytes([0x12]) + bytes.fromhex(GOOD_DES)[1:]
    assert [
        warning
        for warning in key_warnings("des-cbc", wrong)
        if "parity" in warning and "FIPS 46-3" in warning
    ]
    assert with_odd_parity(wrong)[0] == 0x13


@given(st.binary(min_size=8, max_size=8))
def test_parity_is_odd_and_leaves_the_key(key: bytes) -> None:
    fixed = with_odd_parity(key)
    assert all(bin(byte).count("1") % 2 == 1 for byte in fixed)
    assert all(a & 0xFE == b & 0xFE for a, b in zip(key, fixed, strict=True))
    assert des_round_keys(fixed) == des_round_keys(key)


def test_degenerate_triple_des() -> None:
    a, b, c = (with_odd_parity(bytes.fromhex(GOOD_3DES)[i : i + 8]) for i in (0, 8, 16))
    flipped = bytes(byte ^ 1 for byte in a)  # other parity, the same key
    assert any("single DES" in warning for warning in key_warnings("3des-ecb", a + flipped + c))
    assert any("single DES" in warning for warning in key_warnings("3des-ecb", a + b + b))
    assert any("two-key" in warning for warning in key_warnings("3des-ecb", a + b + a))
    weak = bytes.fromhex(WEAK[2])
    assert any(w.startswith("key 2 of 3: weak") for w in key_warnings("3des-ecb", a + weak + c))


def test_short_and_unrandom_keys() -> None:
    assert any("can be searched" in warning for warning in key_warnings("rc2-cbc", bytes(range(1, 6))))
    assert any("the same" in warning for warning in key_warnings("aes128-cbc", bytes(16)))
    assert any(
        "readable text" in warning for warning in key_warnings("blowfish-ctr", b"correct horse battery")
    )
    assert any("Roos" in warning for warning in key_warnings("rc4", bytes([3, 253, *range(14)])))


@given(
    st.sampled_from(["des-ecb", "3des-cbc", "rc2-ctr", "rc4", "aes128-ccm", "ascon-aead128"]),
    st.binary(max_size=64),
)
def test_any_key_has_an_answer_that_does_not_show_it(cipher: str, key: bytes) -> None:
    for warning in key_warnings(cipher, key):
        assert "\n" not in warning
        assert len(key) < 4 or key.hex() not in warning


def test_the_command_warns_and_goes_on() -> None:
    from click.testing import CliRunner

    from motecrypt.cli.crypt import command

    done = CliRunner().invoke(command, ["des-ecb", "00" * 8, "--key", WEAK[0]])
    assert done.exit_code == 0
    assert "weak DES key" in done.stderr
    assert done.stdout.strip() == "8ca64de9c1b123a7"
