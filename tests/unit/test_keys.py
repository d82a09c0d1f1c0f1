"""Key warnings against the lists of weak keys that NIST printed, and against the cipher itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.attack.audits import weak_keys
from motecrypt.attack.audits.weak_keys import des_round_keys, key_warnings, with_odd_parity

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


def test_the_tables_of_des_are_those_of_the_standard() -> None:
    # PC-1 walks up the columns of the 8 x 8 bits: 1 to 3 and half of 4 from the left, then from the right.
    columns = [list(range(56 + column, 0, -8)) for column in range(1, 8)]
    assert (*columns[0], *columns[1], *columns[2], *columns[3][:4]) == weak_keys._DES_C
    assert (*columns[6], *columns[5], *columns[4], *columns[3][4:]) == weak_keys._DES_D
    shifts = [2 - (n in (1, 2, 9, 16)) for n in range(1, 17)]  # FIPS 46-3, appendix 1
    assert tuple(sum(shifts[: n + 1]) for n in range(16)) == weak_keys._DES_ROTATIONS


ONE_BYTE = "every byte of the key is the same: keys must be random (NIST SP 800-133 r2)"
TEXT = (
    "the key is readable text, which has less strength than its length: use a random key or derive it "
    "(NIST SP 800-132)"
)
SHORT = "key bits can be searched through: at least 112 are asked for (NIST SP 800-131A r2)"
ROOS = (
    "the first two bytes add up to 0: the first keystream bytes reveal such RC4 keys "
    "(Roos, A class of weak keys in the RC4 stream cipher, 1995)"
)
PARITY = "bytes without odd parity: the last bit of each DES key byte is parity and is ignored (FIPS 46-3)"
WEAK_KEY = (
    "weak DES key: all round keys are equal, encrypting twice gives the plaintext back "
    "(NIST SP 800-67 r2, weak keys; FIPS 74)"
)
SEMI = (
    "semi-weak DES key: only 2 round keys differ, another key reverses it "
    "(NIST SP 800-67 r2, weak keys; FIPS 74)"
)
POSSIBLY = "possibly weak DES key: only 4 of 16 round keys differ (FIPS 74)"
SINGLE = "two adjacent keys are equal: this is single DES (NIST SP 800-67 r2, key requirements)"
TWO_KEYS = (
    "the first and the third key are equal: two-key triple DES has 80 bits of strength and has been "
    "disallowed for encryption since 2016 (NIST SP 800-131A r2)"
)
A, B, C = GOOD_DES, "0E329232EA6D0D73", "2A6BD9526E0D1F43"
C = with_odd_parity(bytes.fromhex(C)).hex()


@pytest.mark.parametrize(
    ("cipher", "key", "warnings"),
    [
        ("rc4", "", [f"0 {SHORT}"]),
        ("rc4", "aa", [f"8 {SHORT}"]),
        ("x", "", []),
        ("x", "aa", []),
        ("x", "aaaa", [ONE_BYTE]),
        ("x", "aaab", []),
        ("rc4", "aa56", [f"16 {SHORT}", ROOS]),
        ("rc4", "0000", [ONE_BYTE, f"16 {SHORT}", ROOS]),
        ("rc4", "aa55", [f"16 {SHORT}"]),
        ("rc4k", "aa56" + "01" * 12, []),
        ("rc4", "aa57" + "01" * 12, []),
        ("rc4", "00" * 14, [ONE_BYTE, ROOS]),
        ("rc6-ctr", "01" * 12 + "02", [f"104 {SHORT}"]),
        ("rc2-cbc", "01" * 13 + "02", []),
        ("blowfish", "01" * 4, [ONE_BYTE, f"32 {SHORT}"]),
        ("aes128", "0102", []),
        ("x", b" abcde~~".hex(), [TEXT]),
        ("x", b"abcdefg".hex(), []),
        ("x", b"\x1fabcdefgh".hex(), []),
        ("x", b"abcdefgh\x7f".hex(), []),
        ("x", b"aaaaaaaa".hex(), [ONE_BYTE]),
        ("des-cbc", GOOD_DES, []),
        ("des-cbc", "12" + GOOD_DES[2:], [PARITY]),
        ("des-cbc", GOOD_DES[2:], []),
        ("des-cbc", GOOD_DES + "01", []),
        ("des-ecb", WEAK[0], [ONE_BYTE, WEAK_KEY]),
        ("des-ecb", WEAK[2], [WEAK_KEY]),
        ("des-ecb", "00" + WEAK[0][2:], [PARITY, WEAK_KEY]),
        ("des-ecb", SEMI_WEAK[0][0], [SEMI]),
        ("des-ecb", POSSIBLY_WEAK[0], [POSSIBLY]),
        ("3des-cbc", A + B + C, []),
        ("3des-cbc", A + B, []),
        ("3des-cbc", A + A + C, [SINGLE]),
        ("3des-cbc", A + B + B, [SINGLE]),
        ("3des-cbc", A + B + A, [TWO_KEYS]),
        ("3des-cbc", A + A + A, [SINGLE]),
        ("3des-cbc", "12" + A[2:] + A + C, [SINGLE, f"key 1 of 3: {PARITY}"]),
        ("3des-cbc", A + B + "12" + A[2:], [TWO_KEYS, f"key 3 of 3: {PARITY}"]),
        ("3des-cbc", WEAK[2] + B + WEAK[2], [TWO_KEYS, f"key 1 of 3: {WEAK_KEY}"]),
        ("3des-cbc", A + WEAK[2] + SEMI_WEAK[0][0], [f"key 2 of 3: {WEAK_KEY}", f"key 3 of 3: {SEMI}"]),
    ],
)
def test_a_keys_warnings_are_these(cipher: str, key: str, warnings: list[str]) -> None:
    assert key_warnings(cipher, bytes.fromhex(key)) == warnings


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
