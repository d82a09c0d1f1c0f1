"""What a message over a serial radio takes, in every mode."""

from __future__ import annotations

import statistics
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.air.radios import load_radio
from motecrypt.base.errors import MotecryptError
from motecrypt.link.native import LONG, Event, KeyBlock
from motecrypt.measuring.experiments import transfer as radio
from motecrypt.measuring.experiments.transfer import Transfer
from motecrypt.results import Results

TRANSFERS = {
    # mode, bytes: bytes written, packets, then us in the air, to write, until delivered
    ("T", 0): (0, 0, 0.0, 0.0, 0.0),
    ("T", 1): (1, 1, 448.0, 86.806, 100621.611),
    ("C", 1): (32, 3, 2272.0, 2777.778, 104144.222),
    ("P", 1): (36, 3, 2400.0, 3125.0, 4966.667),
    ("B", 1): (32, 3, 2272.0, 2777.778, 104144.222),
    ("T", 70): (70, 6, 4736.0, 6076.389, 107680.444),
    ("C", 70): (160, 14, 10944.0, 13888.889, 114780.111),
    ("P", 70): (168, 14, 11200.0, 14583.333, 16425.0),
    ("B", 70): (96, 8, 6400.0, 8333.333, 10175.0),
}
FIGURES = ("sent_bytes", "packets", "air_us", "write_us", "delivery_us")


def letters(size: int) -> bytes:
    return (b"abcdefghijklmnopqrstuvwxyz" * 5)[:size]


@pytest.mark.parametrize(("mode", "size"), TRANSFERS)
def test_a_message_in_a_paper_mode(mode: str, size: int) -> None:
    made = radio._paper(load_radio("srf"), mode, letters(size))
    assert made == dict(zip(FIGURES, TRANSFERS[mode, size], strict=True))


def test_a_message_over_the_secure_link() -> None:
    for size, figures, confirmed in (
        (0, (24, 2, 1600.0, 2083.333, 3925.0), 7725.0),
        (6, (12, 1, 800.0, 1041.667, 2883.333), 6683.333),  # a short packet
        (14, (36, 3, 2400.0, 3125.0, 4966.667), 8766.667),
        (70, (120, 10, 8000.0, 10416.667, 12258.333), 16058.333),
        (123, (180, 15, 12000.0, 15625.0, 17466.667), 21266.667),
        (126, (204, 17, 13600.0, 17708.333, 26108.333), 29666.667),  # two messages, one behind the other
    ):
        made = radio._safe(load_radio("srf"), letters(size))
        assert made == dict(zip(FIGURES, figures, strict=True)) | {"confirmed_us": confirmed}


def test_readers_are_told_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    class Reader(radio.StreamReader):
        def packets(self, data: bytes, now_ms: int) -> list[bytes]:
            told.append(now_ms)
            return super().packets(data, now_ms)

    monkeypatch.setattr(radio, "StreamReader", Reader)
    made = radio._safe(load_radio("srf"), letters(14))
    assert told == sorted(told) and {int(made[name] / 1000) for name in ("delivery_us", "confirmed_us")} <= {
        *told
    }
    assert max(told) == int(made["confirmed_us"] / 1000)


def test_times_are_kept_to_a_nanosecond() -> None:
    odd = load_radio("srf").with_figures(air_rate_baud=71300, serial_baud=97000)
    for made in (radio._paper(odd, "T", letters(7)), radio._safe(odd, letters(1))):
        times = [value for name, value in made.items() if name.endswith("_us")]
        assert times == [round(value, 3) for value in times]
        assert all(value != round(value, 2) for value in times), times


def test_every_message_in_every_mode_with_every_timeout(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed: list[tuple[str, bytes]] = []
    monkeypatch.setattr(
        radio, "_encryption_us", lambda mode, message: timed.append((mode, message)) or 1.2345
    )
    said: list[str] = []
    wanted = Transfer("srf", (1, 70), (100.0, 12.5))
    rows = wanted.ensure(results, said.append).outcome["rows"]
    assert said == [f"mode {mode}" for mode in ("T", "C", "P", "B", "safe")]
    assert [(row["mode"], row["message_bytes"]) for row in rows] == [
        (mode, size) for mode in ("T", "C", "P", "B", "safe") for size in (1, 70)
    ]
    assert timed == [(mode, letters(size)) for mode in ("T", "C", "P", "B", "safe") for size in (1, 70)]
    for row in rows:
        assert row["encryption_us"] == 1.23 and list(row["delivery_us"]) == ["100", "12.5"]
        if row["mode"] != "safe":
            expected = TRANSFERS[row["mode"], row["message_bytes"]]
            assert [row[name] for name in FIGURES[:4]] == list(expected[:4])
            assert row["delivery_us"]["100"] == expected[4]
    # A packet that is not full waits for the timeout; one that is does not.
    assert rows[0]["delivery_us"]["12.5"] == 13121.611  # 87.5 ms less
    assert rows[5]["delivery_us"]["12.5"] == TRANSFERS["P", 70][4]
    assert rows[9]["confirmed_us"] == 16058.333
    monkeypatch.setattr(Transfer, "_row", lambda *_: pytest.fail("run again"))
    assert wanted.ensure(results).outcome == {"rows": rows}
    assert wanted.asked() | {"figures": 0} == {
        "radio": "srf",
        "figures": 0,
        "message_bytes": [1, 70],
        "timeouts_ms": [100.0, 12.5],
        "modes": ["T", "C", "P", "B", "safe"],
    }
    assert wanted.asked()["figures"]["serial_baud"] == 115200.0


def test_what_arrives_as_something_else_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radio, "decode", lambda mode, key, data: b"other")
    with pytest.raises(MotecryptError, match=r"^transfer of 3 bytes in mode C: arrived as something else$"):
        radio._paper(load_radio("srf"), "C", b"abc")
    in_step = radio._in_step

    def refusing(packet_bytes: int, hand_over: Any) -> Any:
        node, _ = in_step(packet_bytes, hand_over)
        return node, lambda data, at_us, answer: None

    monkeypatch.setattr(radio, "_in_step", refusing)
    with pytest.raises(MotecryptError, match=r"^transfer of 3 bytes in the safe mode: not accepted$"):
        radio._safe(load_radio("srf"), b"abc")
    monkeypatch.setattr(radio, "_in_step", lambda p, hand_over: in_step(p, lambda m: hand_over(m + b"!")))
    with pytest.raises(MotecryptError, match=r"^transfer of 3 bytes in the safe mode: arrived as something"):
        radio._safe(load_radio("srf"), b"abc")


def test_the_median_of_fifty_encryptions(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(float(n * n) for n in range(1000))  # the n-th of them takes 4n + 1 s
    monkeypatch.setattr(radio, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    asked: list[bytes] = []
    done: list[int] = []
    monkeypatch.setattr(
        radio, "_link_encrypts", lambda message: asked.append(message) or (lambda: done.append(1))
    )
    assert radio._encryption_us("T", b"abc") == 0.0
    assert radio._encryption_us("safe", b"abc") == 1e6 * statistics.median(4 * n + 1 for n in range(50))
    assert asked == [b"abc"] and len(done) == 50
    made: list[tuple[Any, ...]] = []
    monkeypatch.setattr(radio, "encode", lambda *a: made.append(a))
    clock = iter(float(n) for n in range(1000))
    assert radio._encryption_us("P", b"abc") == 1e6 and made == [("P", radio.KEY, b"abc")] * 50
    made.clear()
    assert radio._encryption_us("zz", b"abc") == 1e6 and len(made) == 50
    assert bytes(range(32)) == radio.KEY


def test_the_link_encrypts_each_part_under_a_new_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[bytes, int]] = []

    class Noted(radio.NativeLink):
        def provision(self, block: KeyBlock) -> None:
            assert block == KeyBlock(radio.NODE, radio.OPTIONS, radio.PACKET_BYTES, 1, radio.MASTER)
            super().provision(block)

        def send(self, message: bytes, how: int = 0) -> Event:
            sent.append((message, how))
            event = super().send(message, how)
            assert event is Event.SENT
            return event

    monkeypatch.setattr(radio, "NativeLink", Noted)
    encrypt = radio._link_encrypts(letters(126))
    for _ in range(300):
        encrypt()
    assert sent == [(letters(126)[:123], LONG), (letters(126)[123:], LONG)] * 300
