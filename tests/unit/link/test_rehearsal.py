"""The rehearsal's ledger where every figure is known beforehand, and how it tells of broken promises."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from motecrypt.errors import MotecryptError
from motecrypt.link import rehearsal
from motecrypt.link.rehearsal import Hardship, Ledger, Rehearsal, soak, unique_messages
from motecrypt.link.sender import SendOutcome
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


FIGURES = ("messages", "accepted", "received", "unconfirmed", "refused", "lost_to_crash", "sender_crashes")
FIGURES += ("receiver_crashes", "attacks", "not_delivered", "bursts", "frames")


def test_two_seeded_runs_go_as_they_went() -> None:
    """Every draw of chance counts: another one anywhere would make these other runs."""
    mild = soak(load_radio("srf"), 150, 5)
    channel = Channel(loss=0.05, duplicate=0.05, reorder=0.05, bit_error_rate=1e-4, crc=False, seed=3)
    hard = Rehearsal(load_radio("srf"), channel, Hardship(crash=0.01, attack=0.3), 3)
    hard.run(unique_messages(60, 40, 3))
    for ledger, expected, virtual_us in (
        (mild, (150, 149, 149, 0, 0, 1, 1, 1, 33, 1, 285, 1097), 9122833.333333358),
        (hard.ledger, (60, 39, 47, 0, 3, 18, 18, 8, 172, 13, 76, 366), 1738766.666666672),
    ):
        assert tuple(getattr(ledger, name) for name in FIGURES) == expected
        assert ledger.virtual_us == pytest.approx(virtual_us, rel=1e-9) and ledger.broken == []


def test_a_sender_that_never_ends_is_told_and_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Rehearsal(load_radio("srf"), Channel())
    steps: list[float] = []
    monkeypatch.setattr(run, "_step", lambda until_us: steps.append(until_us) or True)
    run.ledger.messages = 7
    run._send(b"a message")
    assert run.ledger.broken == ["message 7 hangs"] and len(steps) == 100_000
    run._sender.submit(b"another", 0.0)
    run._used.add((run._counters.stream, 3))
    run._sender.abandon()
    monkeypatch.setattr(run._sender, "submit", lambda message, now_us: 3)
    run._send(b"a third")
    assert run.ledger.broken[1:] == [f"counter {(run._counters.stream, 3)} used twice"]


def test_every_broken_promise_is_written_down() -> None:
    run = Rehearsal(load_radio("srf"), Channel())
    run._hand_over(b"\x01\xff", 1, 1)
    run._open[b"once"] = "on its way"
    run._hand_over(b"once", 1, 2)
    assert run._open[b"once"] == "received" and run.ledger.received == 1
    run._hand_over(b"once", 1, 2)
    run._open[b"late"] = "reported"
    run._hand_over(b"late", 1, 3)
    run._hand_over(b"late", 1, 3)
    assert run._open[b"late"] == "done" and run.ledger.received == 2
    run.ledger.messages = 4
    run._open[b"lost"] = "on its way"
    run._settle(b"lost", SendOutcome.ACCEPTED)
    assert run.ledger.broken == [
        "a message that was never sent was accepted: 01ff",
        f"a message was accepted twice: {b'once'.hex()}",
        f"a message was accepted twice: {b'late'.hex()}",
        "message 4 accepted but never received",
    ]
    assert run._open[b"lost"] == "reported" and run.ledger.accepted == 1
    for outcome, name in (
        (SendOutcome.REFUSED, "refused"),
        (SendOutcome.UNCONFIRMED, "unconfirmed"),
        (None, "lost_to_crash"),
    ):
        run._open[b"x"] = "received"
        run._settle(b"x", outcome)
        assert getattr(run.ledger, name) == 1 and run._open[b"x"] == "done"
