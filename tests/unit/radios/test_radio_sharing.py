"""What descriptors say about sharing a channel."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.air.radios import load_radio, radio_names
from motecrypt.air.radios.catalog import ACCESS, FOLDER, ChannelSharing, read_radio
from motecrypt.base.errors import InputError


def test_each_radio_has_its_way_and_its_figures() -> None:
    every = {name: load_radio(name).sharing.access for name in radio_names()}
    ways = {
        "srf": "listen",
        "cc1101": "listen",
        "802.15.4": "csma-ca",
        "esp-now": "dcf",
        "nrf24": "aloha",
        "lora": "aloha",
        "ble-1m": "aloha",
    }
    assert every == every | ways
    assert set(ways.values()) == set(ACCESS)
    for name in ways:
        sharing = load_radio(name).sharing
        assert sharing.value("capture_db") > 0 and sharing.value("sensitivity_dbm") < -80
        assert (sharing.known("cca_dbm") is None) is (sharing.access == "aloha")
        assert all(figure.source for figure in sharing.figures.values())
        assert load_radio(name).with_figures(packet_bytes=7).sharing == sharing


def test_a_radio_that_says_nothing_does_not_listen() -> None:
    folder = Path(__file__).resolve().parents[3] / "examples"
    assert read_radio(folder / "rfm69.toml").sharing == ChannelSharing("aloha", {})
    with pytest.raises(KeyError):
        ChannelSharing().value("capture_db")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("srf", 'access = "listen"', 'access = "polite"', "'access' is 'polite'; expected one of aloha"),
        ("srf", "cca_turn_us", "cca_us", "sharing: unknown 'figure.cca_us'"),
        ("srf", "cca_turn_us", "cca_turn", "did you mean 'cca_turn_us'"),
        ("srf", "cca_turn_us = ", "#", "sharing figure 'cca_turn_us' is missing; access 'listen' needs it"),
        (
            "srf",
            'value = 30, unit = "us"',
            'value = -30, unit = "us"',
            "'value' is -30; expected a number from 0",
        ),
        (
            "esp-now",
            "backoff_slots = { value = 31",
            "backoff_slots = { value = 1.5",
            "expected a whole number",
        ),
        ("esp-now", "backoff_slots = { value = 31", "backoff_slots = { value = 65536", "up to 65,535"),
        ("802.15.4", "exponent_min = { value = 3", "exponent_min = { value = 6", "exponents from 6 to 5"),
        ("802.15.4", "exponent_max = { value = 5", "exponent_max = { value = 17", "a range up to 16"),
    ],
)
def test_faulty_sharing_is_refused(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    text = (FOLDER / f"{name}.toml").read_text()
    assert old in text
    (tmp_path / "bad.toml").write_text(text.replace(old, new))
    with pytest.raises(InputError) as refused:
        read_radio(tmp_path / "bad.toml")
    assert message in str(refused.value) and "\n" not in str(refused.value)
