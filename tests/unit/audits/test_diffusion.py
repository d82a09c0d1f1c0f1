"""Diffusion: the verdict follows from the data, in both directions."""

import audit_toys as toys

from motecrypt.attack.audits import diffusion

KEY = bytes(range(1, 17))


def test_the_toy_is_rc4d():
    assert (
        toys.rc4d_encrypt(KEY, bytes(32)).hex()
        == "3f022b13fc02e704db7d8a9d96641b2df46c4c29dd2f34dc935f153e05e7729a"
    )
    assert toys.rc4d_encrypt(b"Key____________\0", b"Hello World!").hex() == "6fa30fe5eb5d8da72f094be7"
    assert toys.rc4(KEY, bytes(16)).hex() == "9ac7cc9a609d1ef7b2932899cde41b97"


def test_rc4_does_not_diffuse():
    found, maps = diffusion.diffusion_verdict(lambda m: toys.rc4(KEY, m), (1, 2, 8), seed=1, trials=4)
    assert found == "none"
    assert all(reach == {i} for i, reach in enumerate(maps[-1].reach()))


def test_rc4d_diffuses_fully_when_encrypting_and_not_when_decrypting():
    lengths = (1, 2, 3, 7, 12)
    there, maps = diffusion.diffusion_verdict(lambda m: toys.rc4d_encrypt(KEY, m), lengths, seed=1, trials=24)
    back, back_maps = diffusion.diffusion_verdict(
        lambda c: toys.rc4d_decrypt(KEY, c), lengths, seed=1, trials=24, input_name="ciphertext"
    )
    assert (there, back) == ("full", "none")
    assert diffusion.verdict(maps[0]) == "none"  # one byte is sent as itself
    assert max(len(reach) for found in back_maps for reach in found.reach()) == 3
    # The last plaintext byte moves the first ciphertext byte by exactly its own change.
    assert maps[-1].worst_rate in (0.0, 1.0)
    assert maps[-1].worst_input_bit // 8 == 11 and maps[-1].worst_output_bit // 8 == 0


def test_block_modes_are_told_from_full_diffusion():
    ecb = toys.aes_access("ecb").keyed(KEY)
    cbc = toys.aes_access("cbc").keyed(KEY)
    for transform in (lambda m: ecb.encrypt(m)[0], lambda m: cbc.encrypt(m, bytes(16))[0]):
        found, maps = diffusion.diffusion_verdict(transform, (16, 32, 48), seed=1, trials=12)
        assert found == "block"
        assert [diffusion.verdict(one) for one in maps] == ["full", "block", "block"]
        assert diffusion.block_bytes(maps[-1]) == 16


def test_blocks_of_odd_lengths_are_found_too():
    from Crypto.Cipher import AES

    def steal(message):  # CBC with ciphertext stealing, CS3, zero IV
        whole = message + bytes(-len(message) % 16)
        out = AES.new(KEY, AES.MODE_CBC, iv=bytes(16)).encrypt(whole)
        return (out[:-32] + out[-16:] + out[-32:-16])[: len(message)]

    found, _ = diffusion.diffusion_verdict(steal, (16, 17, 24, 40), seed=1, trials=12)
    assert found == "block"


def test_idle_key_bits_are_found():
    from Crypto.Cipher import DES

    found = diffusion.measure(lambda key: DES.new(key, DES.MODE_ECB).encrypt(bytes(8)), 8, seed=1, trials=8)
    assert found.idle_bits == tuple(range(0, 64, 8))


def test_a_byte_may_stay_as_it_was_now_and_then_but_not_often():
    assert diffusion.least_reached(64) > 0.85
    assert diffusion.least_reached(12) == 8 / 12
    assert diffusion.least_reached(1) == 1.0


def test_the_same_seed_gives_the_same_map():
    first = diffusion.measure(lambda m: toys.rc4d_encrypt(KEY, m), 5, seed=9, trials=3)
    assert first == diffusion.measure(lambda m: toys.rc4d_encrypt(KEY, m), 5, seed=9, trials=3)
    assert first != diffusion.measure(lambda m: toys.rc4d_encrypt(KEY, m), 5, seed=10, trials=3)


def test_a_message_of_two_bytes_counts_and_one_of_a_byte_does_not():
    def leaves(length):
        return lambda m: m if len(m) == length else toys.rc4d_encrypt(KEY, m)

    assert diffusion.diffusion_verdict(leaves(2), (2, 12), seed=1, trials=24)[0] == "none"
    assert diffusion.diffusion_verdict(leaves(1), (1, 12), seed=1, trials=24)[0] == "full"
