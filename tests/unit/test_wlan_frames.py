"""Protected 802.11 frames against the standard's vectors, against scapy, and opened by tshark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wifi_open
from motecrypt.air.wlan import protection
from motecrypt.air.wlan.tkip import frame_key, michael, mix_phase1
from motecrypt.base.errors import InputError, MotecryptError

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "ieee80211.json").read_text(encoding="utf-8")
)


def _hex(vector: dict[str, Any], name: str) -> bytes:
    return bytes.fromhex(vector[name])


@pytest.mark.parametrize("vector", VECTORS["michael"], ids=lambda v: v["message"] or "empty")
def test_michael_matches_the_standard(vector: dict[str, Any]) -> None:
    assert michael(_hex(vector, "key"), _hex(vector, "message")) == _hex(vector, "mic")


@pytest.mark.parametrize("vector", VECTORS["wep"], ids=lambda v: v["comment"])
def test_wep_matches_the_standard(vector: dict[str, Any]) -> None:
    key = _hex(vector, "key")
    sealed = protection.seal_wep(_hex(vector, "plain"), key, _hex(vector, "iv"), vector["key_id"])
    assert sealed == _hex(vector, "sealed")
    plain = _hex(vector, "plain")
    assert wifi_open.open_wep(sealed, key)[24:] == plain[24:]


@pytest.mark.parametrize("vector", VECTORS["tkip"], ids=lambda v: v["comment"])
def test_tkip_matches_the_standard(vector: dict[str, Any]) -> None:
    key, michael_key = _hex(vector, "temporal_key"), _hex(vector, "michael_key")
    plain, number = _hex(vector, "plain"), vector["packet_number"]
    phase1 = mix_phase1(key, plain[10:16], number >> 16)
    assert b"".join(w.to_bytes(2, "little") for w in phase1) == _hex(vector, "phase1")
    assert frame_key(key, plain[10:16], number) == _hex(vector, "phase2")
    assert protection.michael_of(plain, michael_key) == _hex(vector, "mic")
    sealed = protection.seal_tkip(plain, key, michael_key, number)
    assert sealed == _hex(vector, "sealed")
    assert wifi_open.open_tkip(sealed, key, michael_key)[24:] == plain[24:]


@pytest.mark.parametrize("vector", VECTORS["ccmp"], ids=lambda v: v["comment"])
def test_ccmp_matches_the_standard(vector: dict[str, Any]) -> None:
    key, plain = _hex(vector, "temporal_key"), _hex(vector, "plain")
    sealed = protection.seal_ccmp(plain, key, vector["packet_number"], vector["key_id"])
    assert sealed == _hex(vector, "sealed")
    length = protection.header_bytes(plain)
    assert wifi_open.open_ccmp(sealed, key)[length:] == plain[length:]


HEADERS = st.tuples(
    st.sampled_from([0x00, 0x01, 0x02, 0x03]), st.booleans(), st.binary(min_size=30, max_size=30)
)


def _frame(shape: tuple[int, bool, bytes], body: bytes) -> bytes:
    systems, quality, rest = shape
    head = bytes([0x88 if quality else 0x08, systems]) + rest
    return head[: protection.header_bytes(head)] + body


@given(HEADERS, st.binary(max_size=300), st.binary(min_size=32, max_size=32), st.integers(0, 2**48 - 1))
def test_what_is_sealed_opens_and_has_the_stated_length(
    shape: tuple[int, bool, bytes], body: bytes, key: bytes, number: int
) -> None:
    frame = _frame(shape, body)
    wep = protection.seal_wep(frame, key[:13], number.to_bytes(6, "big")[:3])
    tkip = protection.seal_tkip(frame, key[:16], key[16:24], number)
    ccmp = protection.seal_ccmp(frame, key[:16], number)
    assert wifi_open.open_wep(wep, key[:13]) == frame
    assert wifi_open.open_tkip(tkip, key[:16], key[16:24]) == frame
    assert wifi_open.open_ccmp(ccmp, key[:16]) == frame
    for name, sealed in (("wep", wep), ("tkip", tkip), ("ccmp", ccmp)):
        assert len(sealed) == len(frame) + protection.security(name).frame_bytes


@given(st.binary(min_size=1, max_size=80), st.integers(0, 7), st.data())
def test_a_changed_bit_is_noticed(body: bytes, bit: int, data: st.DataObject) -> None:
    frame = _frame((1, False, bytes(range(30))), body)
    key = bytes(range(32))
    sealed = {
        "wep": protection.seal_wep(frame, key[:5], b"abc"),
        "tkip": protection.seal_tkip(frame, key[:16], key[16:24], 7),
        "ccmp": protection.seal_ccmp(frame, key[:16], 7),
    }
    for name, whole in sealed.items():
        start = 24 + protection.security(name).header_bytes
        position = data.draw(st.integers(start, len(whole) - 1))
        broken = bytearray(whole)
        broken[position] ^= 1 << bit
        with pytest.raises(MotecryptError):
            if name == "wep":
                wifi_open.open_wep(bytes(broken), key[:5])
            elif name == "tkip":
                wifi_open.open_tkip(bytes(broken), key[:16], key[16:24])
            else:
                wifi_open.open_ccmp(bytes(broken), key[:16])


@given(st.binary(min_size=24, max_size=24), st.binary(min_size=6, max_size=6), st.integers(0, 2**48 - 1))
def test_key_mixing_and_michael_agree_with_scapy(key: bytes, address: bytes, number: int) -> None:
    crypto = pytest.importorskip("scapy.modules.krack.crypto", reason="scapy is not installed")
    counter = list(number.to_bytes(6, "little"))
    assert frame_key(key[:16], address, number) == crypto.gen_TKIP_RC4_key(
        counter, list(address), list(key[:16])
    )
    assert michael(key[16:], key + address) == crypto.michael(key[16:], key + address)


def test_an_unknown_security_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="wep, tkip, ccmp"):
        protection.security("wpa9")
