"""Kinds of data, passwords and features: what is stored of each."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.base.errors import InputError
from motecrypt.measuring.experiments import data_types, features, passwords
from motecrypt.results import Results


def test_the_median_and_its_interval_by_ranks() -> None:
    values = list(range(100, 141))  # 41 rounds: ranks 14 and 26, counted from 0
    random.Random(1).shuffle(values)
    assert data_types.interval(values) == {"median": 120, "low": 114, "high": 126}
    assert data_types.interval([3.0, 1.0, 2.0]) == {"median": 2.0, "low": 1.0, "high": 3.0}
    assert data_types.interval(range(10)) == {"median": 4.5, "low": 1, "high": 8}
    # Quartiles of 0..10 are 2 and 8: whiskers end at -7 and 17.
    plain = list(range(11))
    assert data_types.outliers(plain) == 0
    assert statistics.quantiles(plain, n=4) == [2, 5, 8]
    assert data_types.outliers([*plain[:-1], 17]) == 0 and data_types.outliers([*plain[:-1], 18]) == 1
    assert data_types.outliers([-7, *plain[1:]]) == 0 and data_types.outliers([-8, *plain[1:-1], 18]) == 2


def test_kinds_of_data_are_timed_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    done: list[bytes] = []

    def encrypt(piece: bytes) -> None:
        done.append(piece)
        now[0] += len(piece)

    pieces = {"text": b"t" * 2, "image": b"i" * 3, "audio": b"a" * 4, "video": b"v" * 6}
    monkeypatch.setattr(data_types, "time", SimpleNamespace(thread_time=lambda: now[0]))
    monkeypatch.setattr(data_types, "_piece", lambda kind: pieces[kind])
    monkeypatch.setattr(data_types.DataTypes, "_encryptor", lambda self: ("body", encrypt))
    monkeypatch.setattr(data_types, "machine", lambda: SimpleNamespace(processor="p", aes_instructions=True))
    found = data_types.DataTypes("aes128-cbc", 128, rounds=5)._measure()
    assert done[:4] == list(pieces.values())  # each once, to warm up
    rounds = [done[n : n + 4] for n in range(4, len(done), 4)]
    assert len(rounds) == 5 and all(sorted(r) == sorted(pieces.values()) for r in rounds)
    assert len({tuple(r) for r in rounds}) > 1
    per_byte = found.pop("ns_per_byte")
    assert per_byte == {kind: len(p) * 1e9 / data_types.PIECE_BYTES for kind, p in pieces.items()}
    assert {kind: entry["median"] for kind, entry in found.pop("ratio_to_text").items()} == {
        "text": 1.0,
        "image": 1.5,
        "audio": 2.0,
        "video": 3.0,
    }
    assert found == {
        "implementation": "body",
        "entropy_bits_per_byte": dict.fromkeys(pieces, 0.0),
        "processor": "p",
        "aes_instructions": True,
        "outliers": 0,
        "timings": 20,
    }


def test_pieces_are_of_one_length(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"abc")
    assert data_types.PIECE_BYTES == 65536
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(
        data_types.samples, "sample", lambda kind, size: asked.append((kind, size)) or tmp_path / "small"
    )
    piece = data_types._piece("image")
    assert asked == [("image", data_types.samples.KINDS["image"].smallest)]
    assert len(piece) == data_types.PIECE_BYTES and piece[:7] == b"abcabca"


def test_which_variant_is_timed_and_what_it_depends_on() -> None:
    timed = {c: data_types.DataTypes(c, 128).implementation().variant for c in ("aes128-cbc", "rc6-cbc")}
    assert timed["aes128-cbc"] in ("tables", "fast")
    ours = data_types.Catalog.load().implementations_of("rc4d", "host", ["motecrypt"])
    assert len(ours) > 2 and not {body.variant for body in ours} & {"tables", "fast"}
    assert data_types.DataTypes("rc4d", 128).implementation() == ours[0]
    here = data_types.DataTypes("aes128-cbc", 128)
    inputs = here.inputs()
    assert len(inputs.pop("sources")) == 16 and inputs == here.asked()
    assert here.asked() == {
        "cipher": "aes128-cbc",
        "key_bits": 128,
        "rounds": 41,
        "kinds": ["text", "image", "audio", "video"],
        "piece_bytes": data_types.PIECE_BYTES,
        "samples": data_types.samples.VERSION,
    }
    other = data_types.DataTypes("aes128-ctr", 128)._source_hash()
    assert other != here._source_hash() == here._source_hash()


@pytest.mark.parametrize(("cipher", "bits", "nonce"), [("rc4d", 128, 0), ("aes256-cbc", 256, 16)])
def test_what_is_timed_has_its_key_and_its_nonce(
    cipher: str, bits: int, nonce: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    opened = SimpleNamespace(setup=told.append, encrypt=lambda piece, nonce: (piece, nonce))
    monkeypatch.setattr(data_types.native, "open_implementation", lambda cipher, body: opened)
    wanted = data_types.DataTypes(cipher, bits)
    name, encrypt = wanted._encryptor()
    assert name == wanted.implementation().name and [len(key) for key in told] == [bits // 8]
    assert encrypt(b"abc") == (b"abc", bytes(nonce))


def test_a_timing_is_kept(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = {
        "ns_per_byte": {"text": 1.0},
        "ratio_to_text": {"text": {"median": 1.0, "low": 1.0, "high": 1.0}},
        "outliers": 0,
        "timings": 1,
    }
    monkeypatch.setattr(data_types.DataTypes, "_measure", lambda self: outcome)
    wanted = data_types.DataTypes("aes128-cbc", 128)
    said: list[str] = []
    assert wanted.stored(results) is None
    first = wanted.ensure(results, said.append)
    assert said == ["aes128-cbc over text, image, audio, video"] and first.outcome == outcome
    assert wanted.ensure(results, said.append).outcome == outcome and len(said) == 1
    answer = wanted.answer(results)
    assert answer is not None and answer.ratio_to_text["text"].median == 1.0
    assert data_types.DataTypes("rc6-cbc", 128).answer(results) is None


def test_the_time_to_a_key_is_a_median_of_processor_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = iter([0.0, 0.001, 1.0, 1.009, 2.0, 2.002])
    monkeypatch.setattr(passwords, "time", SimpleNamespace(process_time=lambda: next(clock)))
    assert passwords.PasswordDerivation(rounds=3)._median_ms(lambda: None) == pytest.approx(2.0)
    derived: list[Any] = []
    monkeypatch.setattr(passwords.crypt_and_hash, "derive", lambda *a: derived.append(a))
    monkeypatch.setattr(passwords.container, "keys_of", lambda *a: derived.append(a))
    monkeypatch.setattr(passwords.PasswordDerivation, "_median_ms", lambda self, way: way() or 4.0)
    assert passwords.PasswordDerivation()._measure() == {"hashes_ms": 4.0, "argon2id_ms": 4.0}
    assert derived[0] == ("sha512", bytes(16), passwords.PASSWORD)
    header, secret = derived[1]
    assert secret.password == passwords.PASSWORD and header.from_password
    box = passwords.container
    monkeypatch.undo()
    (tmp_path / "plain").write_bytes(b"")
    box.encrypt_file(tmp_path / "plain", tmp_path / "sealed", secret)
    written = box.parse_header((tmp_path / "sealed").read_bytes(), "sealed")
    assert header == replace(written, salt=bytes(32))  # that of every file with a password


def test_the_time_to_a_key_is_kept(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = {"hashes_ms": 1.0, "argon2id_ms": 2.0}
    monkeypatch.setattr(passwords.PasswordDerivation, "_measure", lambda self: outcome)
    monkeypatch.setattr(passwords, "machine", lambda: SimpleNamespace(processor="p"))
    wanted = passwords.PasswordDerivation()
    said: list[str] = []
    assert wanted.stored(results) is None and wanted.answer(results) is None
    assert wanted.ensure(results, said.append).inputs == {**wanted.asked(), "processor": "p"}
    assert wanted.ensure(results, said.append).outcome == outcome and said == ["passwords to keys"]
    answer = wanted.answer(results)
    assert answer is not None and (answer.hashes_ms, answer.argon2id_ms) == (1.0, 2.0)


class FakeNative:
    """A cipher whose features are known; counts what it decrypts."""

    decrypted = 0

    def __init__(self, keys: Sequence[int], most: int, change: Callable[[bytes], bytes]) -> None:
        self.keys, self.most, self.change = keys, most, change

    def setup(self, key: bytes) -> None:
        if len(key) not in self.keys:
            raise InputError("a key")

    def encrypt(self, message: bytes, nonce: bytes) -> tuple[bytes, bytes]:
        assert len(nonce) == 16
        if len(message) > self.most:
            raise InputError("a message")
        return self.change(message), b"tag"

    def decrypt(self, ciphertext: bytes, nonce: bytes) -> bytes:
        self.decrypted += 1
        return bytes(sum(ciphertext) & 0xFF for _ in ciphertext)


def _features(native: FakeNative, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(features, "open_implementation", lambda cipher, body: native)
    monkeypatch.setattr(features, "TRIALS", 4)
    cipher, body = features.FeatureProbe("aes128-cbc", "small")._subject()
    return dict(features.FeatureProbe("aes128-cbc", "small")._try(cipher, body))


def test_the_features_of_a_cipher_that_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    native = FakeNative(range(257), 4096, bytes)
    tried = [*range(67), 127, 128, 129, 254, 255, 256, 257, 511, 512, 513, 1000, 4096]
    assert _features(native, monkeypatch) == {
        "message_bytes": tried,
        "message_bytes_tried": tried,
        "messages": "any",
        "key_bytes": list(range(257)),
        "keys": "any",
        "diffusion": "none",
        "diffusion_lengths": [2, 3, 16, 32, 33, 48],
        "diffusion_changed": [0.5, 0.3333, 0.0625, 0.0312, 0.0303, 0.0208],
        "diffusion_flips": [0.0625, 0.0417, 0.0078, 0.0039, 0.0038, 0.0026],
        "block_bytes": 0,
        "identity_bytes": list(range(1, 33)),
        "decrypt_reach_bytes": 32,
        "last_byte_passes_through": False,
    }
    assert native.decrypted == 16 * (1 + 8 * 32)  # each sample, and with each bit changed


def test_the_features_of_a_cipher_that_takes_little(monkeypatch: pytest.MonkeyPatch) -> None:
    for clear in (None, 0, 7):  # a bit of the last byte that does not pass through

        def turned(message: bytes, clear: int | None = clear) -> bytes:
            first = message[-1] & ~(1 << clear) if clear is not None else message[-1]
            return bytes([first]) + message[:-1]

        found = _features(FakeNative((16, 255), 32, lambda m: turned(m) if m else m), monkeypatch)
        assert found["last_byte_passes_through"] == (clear is None)
        assert (found["messages"], found["keys"]) == (", ".join(map(str, range(33))), "16, 255")
        assert found["identity_bytes"] == ([1] if clear is None else [])
        assert found["diffusion_lengths"] == [2, 3, 16, 32]


def test_how_lengths_are_said() -> None:
    for taken, tried, said in (
        ([7], range(9), "7"),
        ([0], range(9), "0"),
        ([1, 2, 3], range(1, 4), "any"),
        ([0, 2, 4], range(6), "multiples of 2"),
        ([2, 4], range(6), "2, 4"),
        ([0, 3], range(6), "multiples of 3"),
        ([4, 5], range(6), "4 to 5"),
        ([0, 1, 3], range(5), "0, 1, 3"),
        ([], range(5), "none"),
    ):
        assert features.spell(taken, tried) == said
    assert len(features._code_hash()) == 16


def test_reach_and_the_byte_that_passes_through() -> None:
    assert features._reach(lambda data: data, [b"\x00\x01"]) == 1
    assert features._reach(lambda data: bytes([sum(data) & 0xFF] * 3), [bytes(2), bytes(2)]) == 3
    assert features._reach(lambda data: b"", []) == 0
    assert features._last_byte_passes_through(lambda m: bytes([m[-1] ^ 0x55]), b"ab", 7)
    assert not features._last_byte_passes_through(lambda m: bytes([m[0]]), b"ab", 7)
    assert not features._last_byte_passes_through(lambda m: bytes([m[-1] & 0xF0]), b"ab", 7)


def test_what_is_not_stored_is_made_ready_and_nothing_else(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(data_types, "_piece", lambda kind: asked.append(kind))
    monkeypatch.setattr(data_types.DataTypes, "_encryptor", lambda self: asked.append(self.cipher))
    outcome = {"ns_per_byte": {}, "ratio_to_text": {}, "outliers": 0, "timings": 1}
    monkeypatch.setattr(data_types.DataTypes, "_measure", lambda self: outcome)
    wanted = data_types.DataTypes("aes128-cbc", 128)
    wanted.prepare(results)
    assert asked == [*wanted.kinds, "aes128-cbc"]
    wanted.ensure(results)
    wanted.prepare(results)
    assert asked == [*wanted.kinds, "aes128-cbc"]
