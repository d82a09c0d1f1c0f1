"""The rehearsal's ledger where every figure is known beforehand, and how it tells of broken promises."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from motecrypt.errors import MotecryptError
from motecrypt.link import rehearsal
from motecrypt.link.rehearsal import Hardship, Ledger, Rehearsal, soak, unique_messages
from motecrypt.radios import Channel, load_radio

ZERO = {
    **dict.fromkeys(("messages", "accepted", "received", "unconfirmed", "refused", "lost_to_crash"), 0),
    **dict.fromkeys(
        ("sender_crashes", "receiver_crashes", "attacks", "not_delivered", "bursts", "frames"), 0
    ),
    "virtual_us": 0.0,
    "broken": [],
}


def test_nothing_done_is_nothing_counted() -> None:
    assert asdict(Ledger()) == ZERO and Hardship() == Hardship(crash=0.0, attack=0.0)
    done = Rehearsal(load_radio("srf"), Channel()).run(iter(()))
    assert asdict(done) == ZERO


def test_without_hardship_every_message_arrives_once() -> None:
    done = Rehearsal(load_radio("srf"), Channel()).run(unique_messages(30, 40, 7))
    known = {**ZERO, "messages": 30, "accepted": 30, "received": 30, "bursts": 30}
    told = asdict(done)
    assert told.pop("virtual_us") > 0 and told.pop("frames") >= 30
    assert told == {name: value for name, value in known.items() if name not in ("virtual_us", "frames")}


def test_on_a_way_that_loses_all_nothing_arrives() -> None:
    done = Rehearsal(load_radio("srf"), Channel(loss=1.0)).run(unique_messages(3, 20, 7))
    assert (done.messages, done.received, done.accepted, done.not_delivered) == (3, 0, 0, 3)
    assert done.unconfirmed == 3 and done.broken == []


def test_messages_differ_and_have_their_number_first() -> None:
    made = list(unique_messages(300, 12, 3))
    assert [int.from_bytes(m[:4], "big") for m in made] == list(range(300))
    assert {len(m) for m in made} == set(range(4, 13))
    assert made == list(unique_messages(300, 12, 3)) and made != list(unique_messages(300, 12, 4))


def test_the_same_seed_is_the_same_run() -> None:
    once, again, other = (soak(load_radio("srf"), 60, seed) for seed in (5, 5, 6))
    assert once == again != other


def test_the_first_ten_broken_promises_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Ledger(broken=[f"promise {number:02}" for number in range(12)])
    monkeypatch.setattr(rehearsal.Rehearsal, "run", lambda self, messages: broken)
    with pytest.raises(MotecryptError) as told:
        soak(load_radio("srf"), 1, 9)
    first = "; ".join(f"promise {number:02}" for number in range(10))
    assert str(told.value) == f"the link broke its promises (seed 9): {first}"


def test_progress_is_told_each_thousand(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_take(_: Rehearsal, messages: object) -> Ledger:
        list(messages)  # type: ignore[call-overload]
        return Ledger()

    monkeypatch.setattr(rehearsal.Rehearsal, "run", only_take)
    seen: list[int] = []
    soak(load_radio("srf"), 2001, progress=seen.append)
    assert seen == [0, 1000, 2000]
