"""Host speeds: stored once, refused when an output is wrong, and missing ones reported as missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.measuring.experiments import host_speed
from motecrypt.measuring.experiments.host_speed import HostSpeed
from motecrypt.results import Results
from motecrypt.results.experiments import host_speed as speeds
from motecrypt.results.experiments.host_speed import SpeedPoint
from motecrypt.simulate.runners import host
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

POINTS = (SpeedPoint("aes128-cbc", 128), SpeedPoint("rc6-ctr", 128), SpeedPoint("rc6-ctr", 128, rounds=12))


def test_timed_once_and_then_read(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = HostSpeed(POINTS, message_bytes=4096, rounds=5)
    said: list[str] = []
    experiment = wanted.ensure(results, said.append)
    assert said == ["aes128-cbc, 128-bit key", "rc6-ctr, 128-bit key", "rc6-ctr, 128-bit key, 12 rounds"]
    monkeypatch.setattr(HostSpeed, "time_point", lambda *_: pytest.fail("timed again"))
    assert wanted.ensure(results).outcome == experiment.outcome
    answer = speeds.Speeds.from_json(experiment.outcome)
    assert answer is not None and answer == wanted.answer(results)
    raw = {(r["cipher"], r["rounds"], r["operation"], r["library"]): r for r in experiment.outcome["rows"]}
    groups = speeds.grouped(answer.rows)
    assert len(groups) == len(POINTS) * 3
    for (_, _, _, operation), rows in groups.items():
        for row in rows:
            kept = raw[row.cipher, row.rounds, row.operation, row.library]
            assert kept["cycles_low"] <= row.cycles <= kept["cycles_high"]
            assert (row.cycles_per_byte is None) == (operation == "setup")
    installed = [name for name in wanted.libraries if host_speed.library_version(name)]
    assert list(answer.missing) == [name for name in wanted.libraries if name not in installed]
    aes = groups["aes128-cbc", 128, 0, "decrypt"]
    assert {row.library for row in aes} >= set(installed)
    if "openssl" in installed and host.machine().aes_instructions:
        assert speeds.NO_AES in {row.library for row in aes}
    for rounds in (0, 12):
        assert speeds.best_of_ours(groups["rc6-ctr", 128, rounds, "encrypt"]) is not None


def test_a_wrong_output_is_no_figure(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_speed, "expected_digest", lambda *_: "0" * 16)
    with pytest.raises(MotecryptError, match="differ from the oracle's"):
        HostSpeed((SpeedPoint("des-ecb", 64),), 512, 5, libraries=()).ensure(results)


def test_without_other_libraries_ours_are_timed(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_speed, "library_version", lambda _: None)
    experiment = HostSpeed((SpeedPoint("rc2-cbc", 128),), 512, 5).ensure(results)
    assert experiment.outcome["missing"] == list(speeds.LIBRARIES)
    assert {row["library"] for row in experiment.outcome["rows"]} == {"motecrypt/plain"}
    answer = speeds.Speeds.from_json(experiment.outcome)
    assert answer is not None
    rows = speeds.grouped(answer.rows)["rc2-cbc", 128, 0, "encrypt"]
    assert speeds.ratio_to(rows, "libtomcrypt") is None


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (HostSpeed(POINTS, message_bytes=100), "multiple of 16"),
        (HostSpeed(POINTS, rounds=1), "rounds"),
        (HostSpeed(POINTS, libraries=("nacl",)), "unknown"),
        (HostSpeed((SpeedPoint("aes128-ctr", 128, rounds=8),)), "fixed"),
    ],
)
def test_what_cannot_be_timed(wanted: HostSpeed, said: str, results: Results) -> None:
    with pytest.raises(InputError, match=said):
        wanted.ensure(results)


def test_energy_counters_are_read_around_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a fake RAPL counter that turns over while the work runs."""
    counter = tmp_path / "energy_uj"
    counter.write_text("990000\n")
    (tmp_path / "max_energy_range_uj").write_text("999999\n")
    monkeypatch.setattr(host, "rapl_counters", lambda: (counter,))

    def fake_run(*arguments: object) -> list[dict[str, object]]:
        counter.write_text("14000\n")
        return []

    monkeypatch.setattr(host_speed, "run_driver", fake_run)
    speed = HostSpeed(POINTS, message_bytes=1000 * 16, rounds=5)
    used = speed._rapl("encrypt", b"", b"", "library", {}, wall_ns=host_speed.RAPL_LEAST_S * 1e9 / 10)
    assert used == pytest.approx(24_000 / (16_000 * 12))  # 10 rounds and the two that warm up


def test_energy_counters_turn_over() -> None:
    assert host_speed.rapl_difference(10, 25, 99) == 15
    assert host_speed.rapl_difference(95, 5, 99) == 10
