"""The paper's modes and metrics."""

from __future__ import annotations

import pytest
from Crypto.Cipher import AES
from Crypto.Util.Padding import pad
from hypothesis import given
from hypothesis import strategies as st

from motecrypt.base.errors import MotecryptError
from motecrypt.link.modes import MODES, decode, encode, encoded_bytes

KEY = bytes(range(32))


@given(st.sampled_from(sorted(MODES)), st.binary(max_size=300), st.sampled_from([12, 24, 50]))
def test_every_mode_gives_the_message_back(mode: str, message: bytes, packet_bytes: int) -> None:
    sent = encode(mode, KEY, message, packet_bytes)
    assert decode(mode, KEY, sent) == message
    assert len(sent) == encoded_bytes(mode, len(message), packet_bytes)
    assert mode != "P" or len(sent) % packet_bytes == 0


def test_mode_c_is_cbc_by_the_book() -> None:
    expected = AES.new(KEY, AES.MODE_CBC, bytes(16)).encrypt(pad(b"fourteen bytes", 16))
    assert encode("C", KEY, b"fourteen bytes") == expected.hex().upper().encode()
    assert encode("P", KEY, b"fourteen bytes") == expected.hex().upper().encode() + b"++++"


def test_equal_messages_show_without_an_iv_and_not_with_one() -> None:
    assert encode("C", KEY, b"alarm") == encode("C", KEY, b"alarm")
    assert encode("B", KEY, b"alarm") != encode("B", KEY, b"alarm")


@pytest.mark.parametrize("mode", ["C", "P", "B"])
@pytest.mark.parametrize("received", [b"", b"+", b"xyz", b"\xff" * 33, b"A" * 31, bytes(16)])
def test_what_is_no_message_is_one_line(mode: str, received: bytes) -> None:
    with pytest.raises(MotecryptError, match=f"mode {mode}"):
        decode(mode, KEY, received)


def test_the_papers_metrics() -> None:
    from motecrypt.link import metrics

    assert metrics.throughput_kb_s(3000, 6) == 500
    assert metrics.time_difference_ms(13.5, 6) == 7.5
    assert metrics.expansion(48, 20) == 2.4


def test_packets_of_the_papers_modes_by_hand() -> None:
    assert [encoded_bytes("B", length) for length in (0, 15, 16, 31)] == [32, 32, 48, 48]
    assert [encoded_bytes("C", length) for length in (0, 15, 16)] == [32, 32, 64]
    assert [encoded_bytes("P", length, 12) for length in (0, 16)] == [36, 72]
    assert encoded_bytes("P", 0, 32) == 32 and encoded_bytes("T", 7) == 7
    assert [encoded_bytes("P", length) for length in (0, 15, 16)] == [36, 36, 72]
    assert [encoded_bytes("P", 16, packet_bytes) for packet_bytes in (63, 64, 65)] == [126, 64, 65]


def test_what_the_modes_are() -> None:
    told = [(key, way.letter, way.keyed, way.binary, way.filled) for key, way in MODES.items()]
    assert told == [
        ("T", "T", False, False, False),
        ("C", "C", True, False, False),
        ("P", "P", True, False, True),
        ("B", "B", True, True, False),
    ]
    assert encode("T", b"", b"plain") == decode("T", b"", b"plain") == b"plain"


@pytest.mark.parametrize("length", [0, 15, 16, 17, 40])
def test_each_mode_is_its_formula(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    message, iv = bytes(range(length)), bytes(range(50, 66))
    drawn: list[int] = []
    monkeypatch.setattr("motecrypt.link.modes.os.urandom", lambda count: drawn.append(count) or iv)
    fixed, random = (AES.new(KEY, AES.MODE_CBC, each).encrypt(pad(message, 16)) for each in (bytes(16), iv))
    text = fixed.hex().upper().encode()
    filled = text.ljust((len(text) + 11) // 12 * 12, b"+")
    sent = {"T": message, "C": text, "P": filled, "B": iv + random}
    for mode, expected in sent.items():
        assert encode(mode, KEY, message) == expected and decode(mode, KEY, expected) == message
        assert encoded_bytes(mode, length) == len(expected)
    assert drawn == [16]
