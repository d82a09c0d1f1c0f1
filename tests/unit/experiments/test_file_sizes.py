"""Messages of all sizes are timed only where the code encrypts and decrypts them rightly."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.measuring.experiments import file_sizes, host_speed
from motecrypt.measuring.experiments.file_sizes import EncodingTiming, SizeSweep, rounds_of
from motecrypt.results import Results
from tool_sets import needs_tool_set

SWEEP = SizeSweep("rc2-cbc", 64, (64, 1504))


def test_a_larger_size_is_timed_less_often() -> None:
    assert [rounds_of(size) for size in (16, 64_516, 64_517, 321_008, 7_139_008)] == [31, 31, 30, 6, 1]


@needs_tool_set("host")
def test_each_size_is_timed_in_both_directions_and_stored(results: Results) -> None:
    SWEEP.prepare(results)
    experiment = SWEEP.ensure(results)
    answer = SWEEP.answer(results)
    assert answer is not None
    assert [(row.bytes, row.operation) for row in answer.rows] == [
        (64, "encrypt"),
        (64, "decrypt"),
        (1504, "encrypt"),
        (1504, "decrypt"),
    ]
    small, large = answer.row(64, "encrypt"), answer.row(1504, "encrypt")
    assert small is not None and large is not None and 5 * small.ns < large.ns
    assert answer.ns(64) == answer.setup_ns + small.ns and answer.ns(65) is None
    assert [row["rounds"] for row in experiment.outcome["rows"]] == [31] * 4
    assert SWEEP.ensure(results) == experiment


@needs_tool_set("host")
def test_what_is_compared_with_is_made_ahead_once(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(file_sizes, "build", made.append)
    monkeypatch.setattr(file_sizes, "expected_digest", lambda point, *asked: made.append(asked))
    monkeypatch.setattr(file_sizes, "pattern_digest", made.append)
    SWEEP.prepare(results)
    assert made == [SWEEP._request(), ("encrypt", file_sizes.CHECKED_BYTES), 64, 1504]
    monkeypatch.setattr(SizeSweep, "kept", lambda self, results, inputs: "stored")
    SWEEP.prepare(results)
    assert len(made) == 4


@needs_tool_set("host")
@pytest.mark.parametrize(
    ("operation", "size", "said"),
    [("encrypt", 1504, "differs from the oracle's"), ("decrypt", 64, "64 bytes were not decrypted")],
)
def test_a_wrong_output_is_no_figure(
    results: Results, monkeypatch: pytest.MonkeyPatch, operation: str, size: int, said: str
) -> None:
    driver = file_sizes.run_driver

    def wrong(*given: Any) -> list[dict[str, Any]]:
        (told,) = driver(*given)
        return [{**told, "output": "0"} if (given[0], given[3]) == (operation, size) else told]

    monkeypatch.setattr(file_sizes, "run_driver", wrong)
    with pytest.raises(MotecryptError, match=said):
        SWEEP.ensure(results)
    assert SWEEP.find(results) is None


def test_time_that_other_programs_took_is_not_the_ciphers() -> None:
    assert file_sizes._taken({"wall_ns": 900, "processor_ns": 300.0}) == 300.0
    assert file_sizes._taken({"wall_ns": 200, "processor_ns": 350.0}) == 200.0


def test_encodings_are_timed_and_have_to_be_decoded(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    timing = EncodingTiming(rounds=5)
    timing.ensure(results)
    answer = timing.answer(results)
    assert answer is not None
    assert set(answer.encode_ns_per_byte) == set(answer.decode_ns_per_byte) == {"base64", "hex"}
    assert all(ns > 0 for ns in (*answer.encode_ns_per_byte.values(), *answer.decode_ns_per_byte.values()))
    monkeypatch.setitem(file_sizes._CODERS, "hex", (bytes.hex, lambda text: b""))  # type: ignore[arg-type]
    with pytest.raises(MotecryptError, match="hex: what was encoded"):
        EncodingTiming(rounds=6).ensure(results)


def test_sweeps_that_are_prepared_at_the_same_time_make_a_digest_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def slow(data: bytes) -> str:
        made.append(len(data))
        time.sleep(0.05)
        return "0"

    monkeypatch.setattr(host_speed, "_digest", slow)
    host_speed._pattern_digest.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(host_speed.pattern_digest, [48] * 4)) == {"0"}
    host_speed._pattern_digest.cache_clear()
    assert made == [48]
