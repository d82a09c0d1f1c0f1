"""How long write() takes: what is timed, and that what is written arrives."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.measuring.experiments import serial_write
from motecrypt.measuring.experiments.serial_write import SerialWrites
from motecrypt.results import Results
from motecrypt.results.experiments.serial_write import SerialWriteTimes


def test_the_median_of_each_size_is_kept_and_timed_once(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, written = [0], []

    def write(port: int, data: bytes) -> int:
        written.append(len(data))
        now[0] += 1000 * len(data) + (50_000 if len(written) == 2 else 0)  # one that was held up
        return os.write(port, data)

    monkeypatch.setattr(serial_write, "write", write)
    monkeypatch.setattr(serial_write, "time", SimpleNamespace(perf_counter_ns=lambda: now[0]))
    question = SerialWrites((7, 256), rounds=3)
    question.ensure(results)
    question.ensure(results)
    assert written == [7] * 3 + [256] * 3
    found = question.answer(results)
    assert found == SerialWriteTimes({"7": 7.0, "256": 256.0}) and found.longest_us == 256.0
    assert question.alone


@pytest.mark.parametrize("short", [0, 6])
def test_what_is_not_written_whole_is_no_figure(
    short: int, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serial_write, "ARRIVES_S", 0.01)
    monkeypatch.setattr(serial_write, "write", lambda port, data: os.write(port, data[:short]))
    with pytest.raises(MotecryptError, match=f"a pseudo-terminal took {short} of 7 bytes, or lost some"):
        SerialWrites((7,)).ensure(results)
    assert SerialWrites((7,)).answer(results) is None


def test_one_of_the_writes_is_the_median() -> None:
    assert SerialWrites((7,)).rounds % 2 == 1


def test_a_write_returns_long_before_the_line_has_the_bytes(results: Results) -> None:
    """266 bytes take 23 ms on the line."""
    SerialWrites((266,)).ensure(results)
    found = SerialWrites((266,)).answer(results)
    assert found is not None and 0 < found.longest_us < 266 * 86.8
