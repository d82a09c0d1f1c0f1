"""Claims on cells: one process at a time, until it gives them back, ends, or lets its deadline pass."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from motecrypt.results import Claims, Results, schema
from motecrypt.results.claims import has_ended, this_process
from older_results import take_back

PROCESSES = multiprocessing.get_context("spawn")


def held(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as connection:
        return dict(connection.execute("SELECT key, owner FROM claim"))


def test_a_cell_is_claimed_once_until_it_is_given_back(results: Results) -> None:
    first, second = Claims(results), Claims(results)
    assert first.owner != second.owner
    assert first.take({"a", "b"}) == {"a", "b"} == first.take({"a", "b"})
    assert second.take({"b", "c"}) == {"c"}
    first.release({"b", "c"})
    assert held(results.path) == {"a": first.owner, "c": second.owner}
    assert second.take({"a", "b"}) == {"b"}
    second.release()
    assert held(results.path) == {"a": first.owner}


def test_a_claim_counts_until_its_deadline_and_no_longer(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, ticks = [1e9], [50.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(time, "monotonic", lambda: ticks[0])
    first, second = Claims(results), Claims(results)
    first.take({"a", "b"})
    now[0] += 59
    ticks[0] += 14.9
    first.renew()
    assert second.take({"a"}) == set()
    now[0] += 1
    assert second.take({"a"}) == {"a"}, "it was not yet due to be renewed"
    now[0] += 50
    ticks[0] += 0.1
    second.renew()
    now[0] += 59
    assert first.take({"a", "b"}) == {"b"}
    now[0] += 1
    assert first.take({"a"}) == {"a"}


def test_a_clock_put_back_leaves_no_claim_for_long(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    Claims(results).take({"a"})
    now[0] -= 60
    assert Claims(results).take({"a"}) == set()
    now[0] -= 1
    assert Claims(results).take({"a"}) == {"a"}


@pytest.mark.parametrize("deadline", [1e300, "tomorrow", b"1", 9e9])
def test_a_deadline_that_no_claim_can_have_is_none(results: Results, deadline: object) -> None:
    with sqlite3.connect(results.path) as connection:
        connection.execute("INSERT INTO claim VALUES ('a', 'x x 1 1 0', ?)", (deadline,))
    assert Claims(results).take({"a"}) == {"a"}


@pytest.mark.parametrize("owner", ["", "someone", "a b c", b"\xff", "a b c d e f"])
def test_an_owner_that_nobody_is_holds_nothing(results: Results, owner: object) -> None:
    with sqlite3.connect(results.path) as connection:
        connection.execute("INSERT INTO claim VALUES ('a', ?, ?)", (owner, time.time() + 30))
    assert Claims(results).take({"a"}) == {"a"}


def test_who_lives_is_known_on_this_machine_and_nowhere_else() -> None:
    boot, space, pid, started = this_process().split()
    assert (int(pid), has_ended(f"{this_process()} 0")) == (os.getpid(), False)
    since_boot_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert 0 < int(started) / os.sysconf("SC_CLK_TCK") <= since_boot_s
    assert has_ended(f"{boot} {space} {pid} {int(started) + 1} 0"), "another process had this number"
    assert has_ended(f"{boot} {space} {2**30} {started} 0")
    for other in (f"other {space}", f"{boot} other", "unknown unknown"):
        assert not has_ended(f"{other} {2**30} {started} 0")
    assert not has_ended(f"{boot} {space} ../x {started} 0")


def test_without_a_proc_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(path: Path) -> None:
        raise OSError

    monkeypatch.setattr(Path, "readlink", unreadable)
    assert this_process().startswith("unknown unknown ")
    assert not has_ended(f"unknown unknown {2**30} 1 0")


def _claims_and_waits(path: Path, told: Connection) -> None:
    with Results(path) as results:
        Claims(results).take({"a"})
        told.send(os.getpid())
        time.sleep(60)


def test_what_a_killed_process_had_claimed_is_free_at_once(results: Results) -> None:
    ours, theirs = PROCESSES.Pipe()
    other = PROCESSES.Process(target=_claims_and_waits, args=(results.path, theirs))
    other.start()
    assert ours.poll(60)
    pid = ours.recv()
    mine = Claims(results)
    assert mine.take({"a", "b"}) == {"b"}
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ended, and nobody has asked how
    assert mine.take({"a"}) == {"a"}
    other.join()


def test_a_file_of_the_format_before_gets_the_table(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    with Results(path) as results:
        results.store_experiment("kind", 1, {"a": 1}, {"b": 2})
    with sqlite3.connect(path) as connection:
        take_back(connection, 5)
    with Results(path) as results:
        assert results.experiment("kind", 1, {"a": 1}) is not None
        assert Claims(results).take({"a"}) == {"a"}
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_a_claim_keeps_nobody_from_reading(results: Results) -> None:
    with results.transaction() as connection:
        connection.execute("INSERT INTO claim VALUES ('a', 'b', 1)")
        with Results(results.path) as reader:
            assert reader.measurements() == [] and reader.measurement("a") is None
