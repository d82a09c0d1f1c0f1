"""Determinism, integrity and statistics: sound ciphers pass, the others are caught for the right reason."""

import random
from dataclasses import replace

import audit_toys as toys
import pytest

from motecrypt.attack.audits import avalanche, determinism, integrity, statistics
from motecrypt.base.model import MessageLengths


def test_authenticated_cipher_passes():
    assert integrity.audit(toys.ccm_access, toys.CCM, 1).weight == "good"
    found = determinism.audit(toys.ccm_access, toys.CCM, 1)
    assert found.weight == "note" and found.data["xor_leak_bytes"] == 48


def test_rc4d_forgeries_and_repetition():
    found = integrity.audit(toys.rc4d_access, toys.RC4D, 1)
    assert found.weight == "bad"
    assert found.data["plaintext_bytes_moved_max"] == 3
    assert found.data["controlled"]["ciphertext"] == [[47, 0]]
    repeated = determinism.audit(toys.rc4d_access, toys.RC4D, 1)
    assert repeated.data["one_byte_in_clear"] and repeated.data["xor_leak_bytes"] == 0
    assert repeated.verdict == "deterministic"


def test_cbc_lets_a_forger_write_the_next_block():
    found = integrity.audit(toys.aes_access("cbc"), toys.aes_cipher("cbc"), 1)
    assert found.data["controlled"]["ciphertext"] == [[i, i + 16] for i in range(32)]
    assert found.data["controlled"]["nonce"] == [[i, i] for i in range(16)]


def test_ecb_shows_equal_blocks():
    found = determinism.audit(toys.aes_access("ecb"), toys.aes_cipher("ecb"), 1)
    assert found.data["equal_block_bytes"] == 16 and found.weight == "bad"
    assert determinism.audit(toys.aes_access("cbc"), toys.aes_cipher("cbc"), 1).data["equal_block_bytes"] == 0


def test_statistics_find_gross_faults_and_nothing_in_good_noise():
    noise = random.Random(5).randbytes(1 << 16)
    for test in (statistics.monobit, statistics.runs, statistics.byte_values, statistics.pairs):
        assert test(noise) > 1e-4
    assert statistics.monobit(bytes(1000) + noise) < 1e-6
    assert statistics.runs(b"\x55" * 1000) < 1e-6
    assert statistics.byte_values(bytes(range(128)) * 200) < 1e-6
    assert statistics.pairs(b"\x12" * 1000) < 1e-6


@pytest.mark.parametrize(
    ("statistic", "p"),
    [(200.0, 0.99543), (255.0, 0.48822), (293.25, 0.0499), (330.52, 0.001), (511.0, 3.5e-20)],
)
def test_chi_square_p_values(statistic, p):
    # R's pchisq(statistic, 255, lower.tail=FALSE)
    got = statistics._upper_gamma(255 / 2, statistic / 2)
    assert got == pytest.approx(p, rel=0.6 if p < 1e-9 else 0.02)


def test_rc4s_second_byte_is_found():
    choose = random.Random(1)
    heads = [toys.rc4(choose.randbytes(16), bytes(2)) for _ in range(12_000)]
    second = statistics.position_bias(heads)[1]
    assert second["p"] < statistics.ALARM and second["most_frequent"] == 0
    assert 1.6 < second["times_chance"] < 2.4


def test_parts_are_reproducible_from_their_seed():
    for audit in (determinism.audit, integrity.audit):
        assert audit(toys.rc4d_access, toys.RC4D, 3) == audit(toys.rc4d_access, toys.RC4D, 3)


@pytest.mark.parametrize("name", ["one-block", "short"])
def test_ciphers_that_take_little_are_audited_too(name):
    if name == "one-block":
        cipher = toys.described("one-block", "block", mode="ecb", message=MessageLengths(16, 16, 16))
        access = toys.aes_access("ecb")
    else:
        cipher = toys.described("short", message=MessageLengths(1, 5))
        access = toys.rc4_access
    for audit in (avalanche.audit, determinism.audit, integrity.audit):
        assert audit(access, cipher, 1).sentences
    found = statistics.audit(access, cipher, 1, quick=True)
    assert found.data["sample_bytes"] <= statistics.SAMPLE_BYTES // 8


class Last:
    """Draws the last of every range, and bytes of one value."""

    def randrange(self, count):
        return count - 1

    def randbytes(self, count):
        return b"r" * count


def test_every_forgery_is_tried():
    c, nonce, ad, tag = bytes(range(16)), b"nonce", b"ad", b"tag"

    def forged(lengths, *parts):
        cipher = replace(toys.RC4D, message=lengths)
        return list(integrity._forgeries(integrity.Sent(*parts), cipher, Last()))

    def last_bit(data):
        return data[:-1] + bytes([data[-1] ^ 0x80])

    made = forged(MessageLengths(), c, nonce, ad, tag)
    expected = [("one bit of ciphertext", (last_bit(c), nonce, ad, tag))] * 16
    expected += [
        ("one byte of ciphertext", (c[:-1] + bytes([c[-1] ^ 0x55]), nonce, ad, tag)),
        ("cut short", (c[:15], nonce, ad, tag)),
        ("cut short", (c[:8], nonce, ad, tag)),
        ("extended", (c + b"r", nonce, ad, tag)),
        ("halves exchanged", (c[8:] + c[:8], nonce, ad, tag)),
        ("replaced by random bytes", (b"r" * 16, nonce, ad, tag)),
    ]
    expected += [
        ("one bit of nonce", (c, last_bit(nonce), ad, tag)),
        ("one bit of tag", (c, nonce, ad, last_bit(tag))),
        ("one bit of associated data", (c, nonce, last_bit(ad), tag)),
    ] * 4
    expected += [("associated data cut", (c, nonce, b"a", tag)), ("tag of zeros", (c, nonce, ad, bytes(3)))]
    assert [(name, (s.ciphertext, s.nonce, s.ad, s.tag)) for name, s in made] == expected
    # Whole blocks: a block less, half of them, a block more; none of it where the cipher takes one length.
    blocks = [s.ciphertext for name, s in forged(MessageLengths(multiple=8), c * 3, b"", b"", b"")]
    assert [len(data) for data in blocks[16:]] == [48, 40, 24, 56, 48, 48]
    names = [name for name, _ in forged(MessageLengths(min=16, max=16), c, b"", b"", b"")]
    assert names[15:] == ["one bit of ciphertext", "one byte of ciphertext", "halves exchanged", names[-1]]


@pytest.mark.parametrize(("repeats", "told"), [(0.4, False), (0.5, False), (0.51, True), (1.0, True)])
def test_equal_blocks_are_visible_when_most_are_repeated(repeats, told):
    """Of a sample that fails; one that does not is not called repeated."""
    (first, *more), _, verdict = statistics._read({"runs": 0.0}, [], 4096, 8, repeats)
    assert "fail: runs" in first and verdict == "biased"
    assert any("The same 8 bytes are repeated" in sentence for sentence in more) == told
    assert "repeated" not in str(statistics._read({"runs": 0.5}, [], 4096, 8, repeats))
