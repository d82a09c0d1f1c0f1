"""What goes over the air: one record for each kind of radio, with all properties of the kind.

A record has the figures that a descriptor of that kind must give. It has the bytes that a packet carries
next to its payload, the formula of its air time, and how soon a receiver is bound to the packet. Another
kind is another record in `AIRS`; no other module depends on kinds. Sources are given with the formulas and,
for each constant, in data/radios.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

Amount = Any
"""An int, a float, or a numpy array of them; the formulas use only operators that all three share."""

Value = Callable[[str], float]
"""A radio's figure by its name."""


@dataclass(frozen=True)
class Air:
    """One kind of air.

    Attributes
    ----------
    figures
        Names of the figures that overhead and formula ask for.
    overhead_bytes
        Bytes that a packet carries on the air next to its payload, from the figures.
    time_us
        Air time of one packet in us, from the figures and its payload bytes (1 or more).
    lock_us
        How long after a packet's begin a receiver has found its preamble and sync word, from the figures;
        from then on it looks for no other packet.
    """

    figures: tuple[str, ...]
    overhead_bytes: Callable[[Value], float]
    time_us: Callable[[Value, Amount], Amount]
    lock_us: Callable[[Value], float]


class _Radio(Protocol):
    @property
    def air(self) -> str: ...

    def value(self, figure: str, /) -> float: ...


def overhead_bytes(radio: _Radio) -> float:
    """Bytes that a packet carries on the air next to its payload."""
    return AIRS[radio.air].overhead_bytes(radio.value)


def air_time_us(radio: _Radio, payload_bytes: Amount) -> Amount:
    """Air time of one packet with that payload, in us."""
    return AIRS[radio.air].time_us(radio.value, payload_bytes)


def lock_us(radio: _Radio) -> float:
    """How long after a packet's begin a receiver is bound to it, in us."""
    return AIRS[radio.air].lock_us(radio.value)


# --- FSK: TI SWRS061, section 15 -------------------------------------------------------------------------


def _fsk_overhead(value: Value) -> float:
    parts = ("preamble_bytes", "sync_bytes", "length_bytes", "address_bytes", "crc_bytes")
    return sum(value(part) for part in parts)


def _fsk(value: Value, payload_bytes: Amount) -> Amount:
    """Preamble, sync word, length, address, payload and CRC at the air rate."""
    return (_fsk_overhead(value) + payload_bytes) * (8e6 / value("air_rate_baud"))


def _fsk_lock(value: Value) -> float:
    return (value("preamble_bytes") + value("sync_bytes")) * (8e6 / value("air_rate_baud"))


# --- nRF24L01+: product specification, 7.3 and 7.10 ------------------------------------------------------


def _nrf24_overhead(value: Value) -> float:
    return 1 + value("address_bytes") + 9 / 8 + value("crc_bytes")


def _nrf24(value: Value, payload_bytes: Amount) -> Amount:
    """Settling, then preamble, address, 9-bit control field, payload, CRC."""
    bits = 8 + 8 * value("address_bytes") + 9 + 8 * payload_bytes + 8 * value("crc_bytes")
    return value("settle_us") + bits * (1e6 / value("air_rate_baud"))


def _nrf24_lock(value: Value) -> float:
    return value("settle_us") + (1 + value("address_bytes")) * (8e6 / value("air_rate_baud"))


# --- LoRa: Semtech AN1200.13 -----------------------------------------------------------------------------


def _lora_overhead(value: Value) -> float:
    # The explicit header is 20 bits of the first, always 4/8 coded symbols; the CRC 16 bits.
    return 2.5 * value("explicit_header") + 2 * value("crc_on")


def _lora(value: Value, payload_bytes: Amount) -> Amount:
    """Preamble symbols + 4.25, then 8 and the coded payload symbols."""
    factor = value("spreading_factor")
    symbol_us = 1e6 * 2**factor / value("bandwidth_hz")
    low_rate = 1 if symbol_us > 16000 else 0  # low data rate optimisation, mandated above 16 ms a symbol
    header_bits = 0 if value("explicit_header") else 20
    bits = 8 * payload_bytes - 4 * factor + 28 + 16 * value("crc_on") - header_bits
    groups = -(-bits // (4 * (factor - 2 * low_rate)))
    groups = groups * (groups > 0)
    symbols = 8 + groups * (value("coding_rate") + 4)
    return (value("preamble_symbols") + 4.25 + symbols) * symbol_us


def _lora_lock(value: Value) -> float:
    return (value("preamble_symbols") + 4.25) * 1e6 * 2 ** value("spreading_factor") / value("bandwidth_hz")


# --- IEEE 802.15.4-2006, 6.3 and 6.5 ---------------------------------------------------------------------


def _ieee802154_overhead(value: Value) -> float:
    return value("phy_bytes") + value("header_bytes") + value("crc_bytes")


def _ieee802154(value: Value, payload_bytes: Amount) -> Amount:
    """(6 + MPDU) x 32 us."""
    return (_ieee802154_overhead(value) + payload_bytes) * value("byte_us")


def _ieee802154_lock(value: Value) -> float:
    # All that the PHY adds but its last byte, the length.
    return (value("phy_bytes") - 1) * value("byte_us")


# --- Bluetooth Low Energy: Core 4.2, 6.B.2 ---------------------------------------------------------------


def _ble_overhead(value: Value) -> float:
    return 1 + 4 + 2 + value("mic_bytes") + 3


def _ble(value: Value, payload_bytes: Amount) -> Amount:
    """Preamble 1, access address 4, header 2, payload, MIC, CRC 3, at 8 us a byte."""
    return (_ble_overhead(value) + payload_bytes) * 8


def _ble_lock(value: Value) -> float:
    return (1 + 4) * 8


# --- ESP-NOW: ESP-IDF guide; IEEE 802.11-2016 ------------------------------------------------------------


def _esp_now_overhead(value: Value) -> float:
    return value("header_bytes") + value("crc_bytes")


def _esp_now(value: Value, payload_bytes: Amount) -> Amount:
    """The long 802.11b preamble, then the action frame at the air rate."""
    bits = (_esp_now_overhead(value) + payload_bytes) * 8
    return value("preamble_us") + bits * (1e6 / value("air_rate_baud"))


def _esp_now_lock(value: Value) -> float:
    return value("preamble_us")


AIRS: dict[str, Air] = {
    "fsk": Air(
        ("air_rate_baud", "preamble_bytes", "sync_bytes", "length_bytes", "address_bytes", "crc_bytes"),
        _fsk_overhead,
        _fsk,
        _fsk_lock,
    ),
    "nrf24": Air(
        ("air_rate_baud", "address_bytes", "crc_bytes", "settle_us"), _nrf24_overhead, _nrf24, _nrf24_lock
    ),
    "lora": Air(
        (
            *("spreading_factor", "bandwidth_hz", "coding_rate"),
            *("preamble_symbols", "explicit_header", "crc_on"),
        ),
        _lora_overhead,
        _lora,
        _lora_lock,
    ),
    "802.15.4": Air(
        ("header_bytes", "crc_bytes", "phy_bytes", "byte_us"),
        _ieee802154_overhead,
        _ieee802154,
        _ieee802154_lock,
    ),
    "ble": Air(("mic_bytes",), _ble_overhead, _ble, _ble_lock),
    "esp-now": Air(
        ("air_rate_baud", "header_bytes", "crc_bytes", "preamble_us"),
        _esp_now_overhead,
        _esp_now,
        _esp_now_lock,
    ),
}
