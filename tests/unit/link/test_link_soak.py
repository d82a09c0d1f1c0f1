"""The safe mode under loss, duplicates, reordering, bit errors, crashes and attacks, in virtual time."""

from __future__ import annotations

import pytest

from motecrypt.link.rehearsal import Hardship, Rehearsal, soak, unique_messages
from motecrypt.link.state import Window
from motecrypt.radios import Channel, load_radio

pytestmark = pytest.mark.long


def check(count: int, seed: int) -> None:
    ledger = soak(load_radio("srf"), count, seed)
    assert ledger.broken == []
    assert ledger.messages == count == ledger.received + ledger.not_delivered
    assert ledger.accepted <= ledger.received
    assert ledger.accepted + ledger.refused + ledger.unconfirmed + ledger.lost_to_crash == count
    # The hardship was real, and the link coped with it.
    assert ledger.sender_crashes > count / 200 and ledger.receiver_crashes > count / 1000
    assert ledger.attacks > count / 20
    assert ledger.accepted > 0.97 * count


def test_ten_thousand_messages() -> None:
    check(10_000, seed=1)


@pytest.mark.slow
def test_a_million_messages() -> None:
    for seed in range(100):
        check(10_000, seed=100 + seed)


@pytest.mark.parametrize("name", ["nrf24", "cc1101", "lora", "802.15.4", "ble-1m", "esp-now"])
def test_every_radio_carries_the_link(name: str) -> None:
    assert soak(load_radio(name), 150, seed=3).received > 140


def test_without_hardship_every_message_takes_one_burst() -> None:
    rehearsal = Rehearsal(load_radio("srf"), Channel())
    ledger = rehearsal.run(unique_messages(200, 60, seed=5))
    assert ledger.accepted == 200 and ledger.not_delivered == 0
    assert rehearsal._sender.tally.bursts == 200


def test_the_ledger_notices_a_broken_window(monkeypatch: pytest.MonkeyPatch) -> None:
    # A test that cannot fail is a defect: without the replay window the promises must be seen to break.
    monkeypatch.setattr(Window, "seen", lambda self, stream, counter: False)
    channel = Channel(loss=0.1, duplicate=0.2, seed=1)
    ledger = Rehearsal(load_radio("srf"), channel, Hardship(crash=0.001)).run(unique_messages(300, 40, 1))
    assert any("twice" in line for line in ledger.broken)
