"""Every attack succeeds on what it is meant for, and fails where there is nothing to find."""

import random

import audit_toys as toys
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.attack.audits import _rc4d_state as rc4d
from motecrypt.attack.audits.attacks import _play as play
from motecrypt.attack.audits.attacks import (
    all_attacks,
    attacks_on,
    poly1305_nonce_reuse,
    rc4d_chosen,
    rc4d_passive,
    rc4d_two_keys,
)

ACCESS = {
    "rc4d": (toys.RC4D, toys.rc4d_access),
    "rc4": (toys.RC4, toys.rc4_access),
    **{f"aes128-{mode}": (toys.aes_cipher(mode), toys.aes_access(mode)) for mode in ("ecb", "cbc", "ctr")},
    "aes128-ccm8": (toys.CCM, toys.ccm_access),
    "chacha20-poly1305": (toys.CHACHA, toys.chacha_access),
}
EXPECTED = {
    "rc4d": {"rc4d-chosen-plaintext", "rc4d-ciphertext-only", "rc4d-distinguisher"},
    "rc4": {"keystream-reuse", "rc4-broadcast"},
    "aes128-ecb": {"ecb-block-swap", "fixed-iv"},
    "aes128-cbc": {"cbc-padding-oracle", "fixed-iv"},
    "aes128-ctr": {"keystream-reuse"},
    "aes128-ccm8": {"keystream-reuse"},
    "chacha20-poly1305": {"keystream-reuse", "poly1305-nonce-reuse"},
}


def test_a_start_gives_the_output_that_its_guess_was():
    """Of each table that is found, the second step leads to the known one and gives out the guessed byte."""
    drawn = random.Random(5)
    for c in range(4):
        g = bytes(drawn.sample(range(256), 256))
        for first in range(256):
            for state in rc4d.starts_through_output(g, c, first):
                assert rc4d.functions(state, 2)[1].translate(bytes(x ^ c for x in range(256))) == g
                assert rc4d.functions(state, 1)[0][rc4d.FEEDBACK_START] == first


@pytest.mark.parametrize("name", sorted(ACCESS))
def test_attacks_find_their_ciphers(name):
    assert {attack.NAME for attack in attacks_on(ACCESS[name][0])} == EXPECTED[name]


def test_every_attack_describes_itself():
    for attack in all_attacks():
        assert attack.NAME and attack.TITLE and attack.SOURCE and attack.NEEDS


@pytest.mark.parametrize(
    "name", ["rc4", "aes128-ecb", "aes128-cbc", "aes128-ctr", "aes128-ccm8", "chacha20-poly1305"]
)
def test_attacks_succeed(name):
    cipher, access = ACCESS[name]
    for attack in attacks_on(cipher):
        part = attack.run(access, cipher, 1, True)
        assert part.weight in ("bad", "note"), part


def test_recovered_table_is_rc4d():
    key = bytes(range(1, 17))
    state = toys.schedule(key)
    for n in (1, 2, 5, 64, 300):
        message = random.Random(n).randbytes(n)
        ciphertext = toys.rc4d_encrypt(key, message)
        assert rc4d.encrypt(state, message) == ciphertext
        assert rc4d.decrypt(state, ciphertext) == message


@given(key=st.binary(min_size=1, max_size=32), message=st.binary(min_size=1, max_size=300))
def test_a_table_is_as_good_as_the_key(key, message):
    state = toys.schedule(key)
    ciphertext = rc4d.encrypt(state, message)
    assert ciphertext == toys.rc4d_encrypt(key, message) and rc4d.decrypt(state, ciphertext) == message


@given(key=st.binary(min_size=1, max_size=32), steps=st.integers(1, 300))
def test_steps_are_undone(key, steps):
    start = toys.schedule(key)
    s, j = list(start), 0
    for step in range(1, steps + 1):
        i = step % 256
        j = (j + s[i]) % 256
        s[i], s[j] = s[j], s[i]
    assert rc4d.undo(s, steps, j) == (bytes(start), 0)


def test_chosen_plaintext_recovers_the_very_table():
    for number in range(5):
        choose = random.Random(number)
        key = choose.randbytes(16)
        oracle = play.Counted(lambda m, key=key: toys.rc4d_encrypt(key, m))
        assert rc4d_chosen.attack(oracle, choose) == bytes(toys.schedule(key))
        assert oracle.queries <= 200


def test_chosen_plaintext_gives_up_on_another_cipher():
    choose = random.Random(1)
    assert rc4d_chosen.attack(lambda message: choose.randbytes(len(message)), choose) is None


@pytest.mark.parametrize("message_bytes", [4, 16, 64])
def test_ciphertexts_alone_recover_the_very_table(message_bytes):
    choose = random.Random(message_bytes)
    key, header = choose.randbytes(16), choose.randrange(256)
    state = bytes(toys.schedule(key))
    claim = rc4d_passive.attack(lambda: rc4d.encrypt(state, play.telegram(choose, header, message_bytes)))
    assert claim is not None and claim.state == state
    assert claim.first_byte == header and claim.messages <= 1800


def test_two_keys_fall_as_one_does():
    choose = random.Random(4)
    key = choose.randbytes(32)
    oracle = play.Counted(lambda message: toys.rc4d_two_keys(key, message))
    wanted = bytes(toys.schedule(key[:16])), bytes(toys.schedule(key[16:]))
    assert rc4d_two_keys.attack(oracle, choose) == wanted
    assert oracle.queries <= 300
    message = choose.randbytes(40)
    assert rc4d.decrypt(wanted[0], toys.rc4d_two_keys(key, message), wanted[1]) == message
    assert rc4d_two_keys.attack(lambda message: choose.randbytes(2), choose) is None


def test_poly1305_key_needs_a_repeated_nonce():
    keyed = toys.chacha_access.keyed(bytes(32))
    apart = [keyed.encrypt(bytes((n,)) * 16, bytes((n,)) * 12) for n in (1, 2)]
    assert poly1305_nonce_reuse.attack(*apart) is None


def test_passive_attack_gives_up_when_the_first_byte_varies():
    choose, key = random.Random(3), bytes(16)
    assert rc4d_passive.attack(lambda: toys.rc4d_encrypt(key, choose.randbytes(8))) is None


def test_both_ways_of_undoing_agree():
    table = list(range(256))
    random.Random(1).shuffle(table)
    pytest.importorskip("numpy", reason="numpy is not installed: only the plain way exists")
    for steps in (2, 7):
        assert rc4d._starts_plain(table, steps) == rc4d._starts_vectorised(table, steps)
