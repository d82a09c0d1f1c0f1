"""Virtual radios at their rarer ends, against a clock that the test steps."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from motecrypt.air.radios.ends import Arrival
from motecrypt.base import serial_port
from motecrypt.simulate.ports import virtual


def test_how_much_is_read_at_once() -> None:
    assert (serial_port.READ_BYTES, virtual.READ_BYTES) == (4096, 512)


def test_lateness_is_summed_up() -> None:
    assert virtual.Pacing().summary() == {"deliveries": 0, "overrun_bytes": 0}
    pacing = virtual.Pacing([float(n) for n in range(200, 0, -1)], 7)
    assert pacing.summary() == {
        "deliveries": 200,
        "median_us": 101.0,
        "p99_us": 199.0,
        "max_us": 200.0,
        "overrun_bytes": 7,
    }
    assert virtual.Pacing([3.14159]).summary() == {
        **dict.fromkeys(("median_us", "p99_us", "max_us"), 3.1),
        "deliveries": 1,
        "overrun_bytes": 0,
    }


class Pair:
    """A pair of radios whose next event is at `due`."""

    def __init__(self, due: float | None = None, arrival: bool = False, booked: float = 0.0) -> None:
        self.due, self.arrival, self.booked = due, arrival, booked
        self.wrote: list[Any] = []
        self.advanced: list[float] = []

    def next_us(self) -> float | None:
        return self.due

    def next_is_arrival(self) -> bool:
        return self.arrival

    def line_booked_us(self, end: int, now_us: float) -> float:
        return self.booked if end else 0.0

    def write(self, end: int, data: bytes, now_us: float) -> None:
        self.wrote.append((end, data, now_us))

    def advance(self, now_us: float) -> list[Arrival]:
        self.advanced.append(now_us)
        return [Arrival(1, b"heard", 40.0)]


def turned(monkeypatch: pytest.MonkeyPatch, pair: Pair, end_us: float | None, came: int | None = None) -> Any:
    radios = virtual.VirtualRadios(pair)  # type: ignore[arg-type]
    asked: list[Any] = []
    clock = [0]

    def now_ns() -> int:
        clock[0] += 1000
        return clock[0]

    def select(readers: list[int], writers: object, errors: object, seconds: float) -> Any:
        asked.append(([*readers], seconds))
        return ([radios._masters[came]] if came is not None else [], [], [])

    try:
        radios._start_ns = 0
        monkeypatch.setattr(virtual, "time", SimpleNamespace(monotonic_ns=now_ns))
        monkeypatch.setattr(virtual, "select", SimpleNamespace(select=select))
        if came is not None:
            os.write(radios._slaves[came], b"typed")
        os.set_blocking(radios._slaves[1], False)
        radios._turn(end_us, 99)
        (readers, seconds), masters = asked[0], radios._masters
        heard = os.read(radios._slaves[1], 99)
        return [masters.index(r) if r in masters else r for r in readers], seconds, heard, radios.pacing
    finally:
        radios.close()


def test_a_turn_waits_for_the_next_event(monkeypatch: pytest.MonkeyPatch) -> None:
    # The clock says 1 us at the start of a turn, and continues by 1 us with each look.
    readers, seconds, heard, pacing = turned(monkeypatch, Pair(), None)
    assert (readers, seconds, heard) == ([0, 1, 99], 1.0, b"heard")
    assert len(pacing.late_us) == 1 and pacing.late_us[0] == 3.0 - 40.0 and pacing.overrun_bytes == 0
    assert turned(monkeypatch, Pair(5001.0), None)[1] == pytest.approx(0.005)
    assert turned(monkeypatch, Pair(5001.0), 2001.0)[1] == pytest.approx(0.002)
    assert turned(monkeypatch, Pair(5001.0, arrival=True), None)[1] == pytest.approx((5000 - 600.0) / 1e6)
    assert turned(monkeypatch, Pair(-50.0), None)[1] == 0.0
    full = turned(monkeypatch, Pair(1e6, booked=80_000.0), None)
    assert full[0] == [0, 99] and full[1] == pytest.approx(80_000.0 / 4e6)
    assert turned(monkeypatch, Pair(1e6, booked=80_000.0 - 1), None)[0] == [0, 1, 99]


def test_what_is_due_at_once_is_spun_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(1.0 + 600.0, arrival=True)
    assert turned(monkeypatch, pair, None)[1] == 0.0
    assert pair.advanced[0] >= 1.0 + 600.0


def test_what_a_program_writes_goes_to_its_radio(monkeypatch: pytest.MonkeyPatch) -> None:
    for end in (0, 1):
        pair = Pair()
        turned(monkeypatch, pair, None, came=end)
        assert [(e, data) for e, data, _ in pair.wrote] == [(end, b"typed")]


def test_radios_run_until_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    radios = virtual.VirtualRadios(Pair())  # type: ignore[arg-type]
    turns: list[Any] = []
    try:
        monkeypatch.setattr(radios, "_turn", lambda end_us, wake: turns.append((end_us, wake)))
        radios.run(lambda: len(turns) >= 3, wake=7)
        assert turns == [(None, 7)] * 3
        clock = iter(range(0, 10**9, 250_000))
        monkeypatch.setattr(radios, "now_us", lambda: float(next(clock)))
        turns.clear()
        radios.run(lambda: False, seconds=1.0)
        assert turns == [(1e6, None)] * 3
        assert len({*radios.ports}) == 2
        assert not any(os.get_blocking(master) for master in radios._masters)
    finally:
        radios.close()
    for handle in (*radios._masters, *radios._slaves):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)
    assert virtual.VirtualRadios.now_us(SimpleNamespace(_start_ns=0)) > 0  # type: ignore[arg-type]


def test_bytes_that_nobody_reads_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair()
    radios = virtual.VirtualRadios(pair)  # type: ignore[arg-type]
    try:
        monkeypatch.setattr(radios, "now_us", lambda: 50.0)
        radios._read(0, radios._masters[0])  # nothing has come
        assert pair.wrote == []
        for taken in (3, None):

            def write(handle: int, data: bytes, taken: int | None = taken) -> int:
                assert handle == radios._masters[0]
                if taken is None:
                    raise BlockingIOError
                return taken

            monkeypatch.setattr(virtual, "os", SimpleNamespace(write=write))
            radios._deliver(0, b"12345", 20.0)
        assert radios.pacing == virtual.Pacing([30.0, 30.0], 2 + 5)
    finally:
        monkeypatch.undo()
        radios.close()
