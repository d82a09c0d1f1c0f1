"""What `send`, `receive` and `radio` report: measured times, and figures of the model by name."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.air.radios import Channel, RadioNetwork, RadioPair, load_radio
from motecrypt.air.radios.costs import AirCosts, costs
from motecrypt.app import paper_link, radio, receive, send
from motecrypt.app.link_ends import SerialRadio
from motecrypt.link.file_parts import FileCollector, file_parts
from motecrypt.link.native import Event
from motecrypt.link.ports import session
from motecrypt.link.told import NodeMessage


class Line:
    """A port whose line takes `slow` seconds for each byte, and the clock that it drives."""

    path = "/dev/p"

    def __init__(self, slow: float) -> None:
        self.now, self.slow, self.empty_at = 100.0, slow, 100.0

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return round(self.now * 1e9)

    perf_counter = time = monotonic

    def select(self, readers: Any, writers: Any, _: object, seconds: float) -> tuple[list[Any], ...]:
        if not writers:
            self.now += seconds
        return [], writers, []

    def write(self, data: bytes) -> int:
        self.now += 0.5
        self.empty_at = self.now + self.slow * len(data)
        return len(data)

    def queued(self) -> int:
        return int(self.now < self.empty_at)


class Running:
    asked = False


def sent(line: Line, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The row of a message in the paper's mode for plaintext."""
    for module in (session, paper_link):
        monkeypatch.setattr(module, "time", line)
    monkeypatch.setattr(session, "select", line)
    monkeypatch.setattr(session, "LINE_S", 0.125)
    monkeypatch.setattr(paper_link, "SerialPort", lambda path, baud: nullcontext(line))
    link = paper_link.PaperLink(line.path, SerialRadio(load_radio("srf")), "T", pause_s=0.0)
    return dict(paper_link.send_paper(link, [b"hello"], stop=Running()).messages[0])  # type: ignore[arg-type]


def test_a_slow_line_shows_in_what_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, slow = sent(Line(0.0), monkeypatch), sent(Line(2.0), monkeypatch)
    assert {name for name in quick if quick[name] != slow[name]} == {"line_empty_ms"}
    assert (quick["line_empty_ms"], slow["line_empty_ms"]) == (500.0, 10_500.0)
    assert slow["written"] == "1970-01-01T00:01:40.000Z" and slow["write_returned_ms"] == 500.0


def test_another_model_changes_modelled_figures_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sent(Line(1.0), monkeypatch)

    def slower(radio: Any, length: Any) -> AirCosts:
        cost = costs(radio, length)
        return AirCosts(**{field.name: 3 * getattr(cost, field.name) for field in dataclasses.fields(cost)})

    monkeypatch.setattr(paper_link, "costs", slower)
    after = sent(Line(1.0), monkeypatch)
    named = {name for name in before if name.startswith("modelled_")}
    assert len(named) == 4
    assert {name for name in before if before[name] != after[name]} == named - {
        "modelled_time_difference_ms"  # plaintext is sent
    }


def test_the_rate_of_the_link_is_that_of_what_was_accepted() -> None:
    talk = SimpleNamespace(seconds=2.0, sent_bytes=60, packets=5, packets_again=0)

    def outcome(item: Any, report: Any) -> str:
        return "accepted" if item.length == 30 else "unconfirmed"

    delivery: Any = SimpleNamespace(told={}, forged=0, talk=talk, item=outcome)

    def item(length: int) -> Any:
        return send._Item("message", lambda: [bytes(length)], length, 0, False)

    way = send._Way(None, lambda text, how: Event.SENT, 5, 0, 12)  # type: ignore[arg-type]

    def sent(*items: Any) -> dict[str, Any]:
        return send._send(delivery, way, items, Running(), lambda *_: None).document()  # type: ignore[arg-type]

    told = sent(item(30), item(7))
    assert (told["message_bytes"], told["accepted_bytes"], told["seconds"]) == (37, 30, 2.0)
    assert told["throughput_kb_s"] == 0.015 and "unconfirmed" in told["failed"]
    told = sent(item(7))
    assert told["seconds"] == 2.0 and told["throughput_kb_s"] is None


def test_the_virtual_radios_mark_what_their_model_says() -> None:
    srf = load_radio("srf")
    network = RadioNetwork(srf, 3, Channel())
    records = [
        dataclasses.asdict(RadioPair(srf, Channel()).tally(0)),
        network.summary(),
        network.port_summary(0),
    ]
    for record in records:
        for name, value in radio.modelled(record).items():
            assert name.startswith("modelled_") or isinstance(value, int), name


# --- arrivals


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def received(clock: Clock) -> tuple[list[dict[str, Any]], receive.Inbox]:
    """What arrives in an inbox, as in JSON."""
    told: list[dict[str, Any]] = []
    return told, receive.Inbox(lambda each: told.append(each.document()), lambda _: None, clock)


def test_a_message_of_a_published_mode_has_the_times_of_its_bytes() -> None:
    clock = Clock()
    told, inbox = received(clock)
    feed = paper_link._gathering("T", b"", inbox)
    for at_s, data in ((0.0, b"he"), (0.5, b"llo"), (0.75, b""), (9.0, b"again"), (9.25, b"")):
        clock.now = 1_700_000_000.0 + at_s
        feed(data, 5e6 + 1e6 * at_s)
    first, second = told
    assert (first["message"], first["receiving_ms"]) == ("hello", 500.0)
    assert first["received"] == "2023-11-14T22:13:20.500Z"
    assert (second["received"], second["receiving_ms"]) == ("2023-11-14T22:13:29.000Z", 0.0)
    assert inbox.seconds == 8.5


def test_messages_and_files_of_the_link_have_the_times_of_their_arrival(tmp_path: Path) -> None:
    clock = Clock()
    told, inbox = received(clock)
    heard = receive._Heard(FileCollector(tmp_path), inbox, receive.Ending(inbox, receive.Until()))

    def take(event: Event, content: bytes) -> None:
        clock.now += 2.0
        assert heard._take(NodeMessage(5, content, event))

    parts = list(file_parts("log.txt", b"line\n" * 30, 100))
    take(Event.FILE_PART, next(iter(file_parts("given up", b"x", 100))))
    for part in parts:
        take(Event.FILE_PART, part)
    take(Event.MESSAGE, b"hello")
    file, message = told
    assert len(parts) == 4 and file["receiving_ms"] == 6000.0
    assert (file["received"], message["received"]) == ("2023-11-14T22:13:30.000Z", "2023-11-14T22:13:32.000Z")
    assert inbox.seconds == 2.0


def test_without_any_message_there_is_no_time() -> None:
    assert received(Clock())[1].seconds is None
    assert receive.ReceiveResult("T", 0, 0).document() == {
        "mode": "T",
        "items": 0,
        "faults": 0,
        "seconds": None,
    }
