"""How long a packet is on the air: one formula for each kind of radio.

Each takes the payload bytes of one packet (a number or a numpy array, 1 or more) and returns
microseconds. Sources stand with the formulas and, for each constant, in data/radios.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from motecrypt.radios.catalog import Radio

Amount = Any
"""An int, a float, or a numpy array of them; the formulas use only operators that all three share."""


def overhead_bytes(radio: Radio) -> float:
    """Bytes that a packet carries on the air beside its payload."""
    value = radio.value
    if radio.air == "fsk":
        return sum(
            value(part)
            for part in ("preamble_bytes", "sync_bytes", "length_bytes", "address_bytes", "crc_bytes")
        )
    if radio.air == "nrf24":
        return 1 + value("address_bytes") + 9 / 8 + value("crc_bytes")
    if radio.air == "lora":
        # The explicit header is 20 bits of the first, always 4/8 coded symbols; the CRC 16 bits.
        return 2.5 * value("explicit_header") + 2 * value("crc_on")
    if radio.air == "802.15.4":
        return value("phy_bytes") + value("header_bytes") + value("crc_bytes")
    if radio.air == "ble":
        return 1 + 4 + 2 + value("mic_bytes") + 3
    return value("header_bytes") + value("crc_bytes")


def _fsk(radio: Radio, payload_bytes: Amount) -> Amount:
    """Preamble, sync word, length, address, payload and CRC at the air rate (TI SWRS061, section 15)."""
    return (overhead_bytes(radio) + payload_bytes) * (8e6 / radio.value("air_rate_baud"))


def _nrf24(radio: Radio, payload_bytes: Amount) -> Amount:
    """Settling, then preamble, address, 9-bit control field, payload, CRC (nRF24L01+ spec., 7.3 and 7.10)."""
    bits = 8 + 8 * radio.value("address_bytes") + 9 + 8 * payload_bytes + 8 * radio.value("crc_bytes")
    return radio.value("settle_us") + bits * (1e6 / radio.value("air_rate_baud"))


def _lora(radio: Radio, payload_bytes: Amount) -> Amount:
    """Semtech AN1200.13: preamble symbols + 4.25, then 8 and the coded payload symbols."""
    factor = radio.value("spreading_factor")
    symbol_us = 1e6 * 2**factor / radio.value("bandwidth_hz")
    low_rate = 1 if symbol_us > 16000 else 0  # low data rate optimisation, mandated above 16 ms a symbol
    header_bits = 0 if radio.value("explicit_header") else 20
    bits = 8 * payload_bytes - 4 * factor + 28 + 16 * radio.value("crc_on") - header_bits
    groups = -(-bits // (4 * (factor - 2 * low_rate)))
    groups = groups * (groups > 0)
    symbols = 8 + groups * (radio.value("coding_rate") + 4)
    return (radio.value("preamble_symbols") + 4.25 + symbols) * symbol_us


def _ieee802154(radio: Radio, payload_bytes: Amount) -> Amount:
    """(6 + MPDU) x 32 us (IEEE 802.15.4-2006, 6.3 and 6.5)."""
    return (overhead_bytes(radio) + payload_bytes) * radio.value("byte_us")


def _ble(radio: Radio, payload_bytes: Amount) -> Amount:
    """Preamble 1, access address 4, header 2, payload, MIC, CRC 3, at 8 us a byte (Core 4.2, 6.B.2)."""
    return (overhead_bytes(radio) + payload_bytes) * 8


def _esp_now(radio: Radio, payload_bytes: Amount) -> Amount:
    """The long 802.11b preamble, then the action frame at the air rate (ESP-IDF guide; 802.11-2016)."""
    bits = (overhead_bytes(radio) + payload_bytes) * 8
    return radio.value("preamble_us") + bits * (1e6 / radio.value("air_rate_baud"))


_FORMULAS: dict[str, Callable[[Radio, Amount], Amount]] = {
    "fsk": _fsk,
    "nrf24": _nrf24,
    "lora": _lora,
    "802.15.4": _ieee802154,
    "ble": _ble,
    "esp-now": _esp_now,
}


def air_time_us(radio: Radio, payload_bytes: Amount) -> Amount:
    """Air time of one packet with that payload, in us."""
    return _FORMULAS[radio.air](radio, payload_bytes)
