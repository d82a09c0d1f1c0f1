"""Sweeps with the workers of a cluster: batches, and workers that fail."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from command_line import run
from motecrypt import __version__
from motecrypt.app.sweep_plan import SweepPlan, read_plan
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.build.toolchain import carried
from motecrypt.measuring import bench
from motecrypt.measuring.bench import keys as bench_keys
from motecrypt.measuring.cluster import batches, copies, crew, remote, worker
from motecrypt.measuring.cluster.batches import BatchAnswer, CellBatch, Pace
from motecrypt.measuring.cluster.crew import ClusterCrew
from motecrypt.measuring.cluster.keys import make_keys
from motecrypt.results import Results
from tool_sets import needs_tool_set
from unit.test_sweep import rows

PLAN = """
[[sweep]]
ciphers = ["ascon-aead128"]
libraries = ["motecrypt"]
variants = ["avr", "bytes"]
bytes = "{}"
"""


def plan_of(folder: Path, lengths: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(PLAN.format(lengths))
    return path


# --- batches -------------------------------------------------------------------------------------------


def test_a_batch_takes_as_long_as_the_pace_says_and_less_at_the_end() -> None:
    pace = Pace()
    assert not pace.known and pace.fitting(1.0) == int(1 / batches.GUESS_S)
    pace.took(10, 1.0)
    assert pace.known and pace.fitting(2.0) == 20 and pace.fitting(0) == 1
    for _ in range(100):
        pace.took(1, 1.0)
    assert pace.fitting(2.5) == 2 and 0.99 < pace.run_s < 1.01
    assert batches.batch_s(1000, 2) == batches.BATCH_S
    assert batches.batch_s(4, 2) == 1.0
    assert batches.batch_s(0, 2) == batches.LEAST_S


class Handle:
    """A future of Dask's that says how it ended, and notes that it was released."""

    def __init__(self, status: str = "pending", answer: Any = None) -> None:
        self.status, self.released, self._answer = status, 0, answer

    def release(self) -> None:
        self.released += 1

    def result(self, timeout: float) -> Any:
        assert timeout == crew.FETCH_S
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    exception = result


def job(title: str, build: str) -> Any:
    return SimpleNamespace(title=title, build_key=build)


def test_a_crew_counts_what_workers_have() -> None:
    said: list[str] = []
    own: Any = None
    found = ClusterCrew(None, threading.Event(), own, own, said.append)
    kind: Any = ("arm", "gcc")
    one = crew._SentBatch(kind, [(job("first", "a"), (1, 2)), (job("other", "b"), (3,))], 1.0)  # type: ignore[arg-type]
    two = crew._SentBatch(kind, [(job("first", "a"), (4,))], 1.0)  # type: ignore[arg-type]
    handles = {"x": Handle(), "y": Handle()}
    one.futures.update(handles)
    assert (one.runs, two.runs, found.busy, found.titles) == (3, 1, False, [])
    found._sent = {1: one, 2: two, 3: one}
    found._with[kind] = 3
    assert found.busy and found.titles == ["first"]
    two.parts[0] = (job("second", "a"), (4,))  # type: ignore[assignment]
    assert found.titles == ["first", "second"]
    for _ in range(2):  # once more changes nothing
        found._requeue(1, one)
        assert found._with[kind] == 2 and [*found._again] == [one]
    found._forget(one)
    assert found._sent == {2: two} and found._with[kind] == 1 and not found._again
    assert [handle.released for handle in handles.values()] == [1, 1]
    found._forget(two)
    assert not found.busy and found._with[kind] == 0
    found._open.update({"a": 3, "b": 1})
    found._builds.update(a="built a", b="built b")
    found._drop_builds(one)
    assert found._builds == {"a": "built a"} and found._open == {"a": 1}
    found._drop_builds(two)
    assert not found._builds and not found._open
    for _ in range(2):  # it is said once
        found._refuse(SimpleNamespace(worker="w", refused="another compiler"), kind)  # type: ignore[arg-type]
    assert len(said) == 1 and said[0].endswith("refused: another compiler")


def test_a_batch_that_workers_do_not_survive_is_given_up() -> None:
    own: Any = None
    found = ClusterCrew(None, threading.Event(), own, own, lambda line: None)
    batch = crew._SentBatch(("arm", "gcc"), [(job("first", "a"), (1,)), (job("last", "a"), (2,))], 1.0)  # type: ignore[arg-type]
    with pytest.raises(MotecryptError, match=r"^first: a worker failed: ValueError\('no'\)$"):
        found._failed(1, batch, ValueError("no"))
    for error in (OSError(), TimeoutError()):
        found._failed(1, batch, error)  # not sent: another worker was faster
    assert not batch.failures
    for number in range(crew.FAILURES_MAX - 1):
        found._sent[number] = batch
        found._failed(number, batch, None)
    assert len(found._again) == crew.FAILURES_MAX - 1
    found._sent[9] = batch
    with pytest.raises(MotecryptError, match=r"^first: 4 workers ended with this batch; not stored$"):
        found._failed(9, batch, None)


def test_what_a_future_brings() -> None:
    error = ValueError("no")
    assert crew._fetched(Handle("finished", 5)) == 5
    assert crew._fetched(Handle("finished", error)) is error
    assert crew._fetched(Handle("error", 7)) == 7
    assert crew._fetched(Handle("lost", 7)) is None


def test_a_firmware_arrives_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "one"))
    key = "ab" * 32
    place = tmp_path / "one" / "firmware" / key[:2] / key
    place.mkdir(parents=True)
    (place / "firmware.elf").write_bytes(b"code")
    digest = "5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b"  # of b"code"
    (place / "sizes.json").write_text(f'{{"sha256": "{digest}"}}')
    whole = carried.carry(key)
    monkeypatch.setenv("MOTECRYPT_CACHE", str(tmp_path / "two"))
    for wrong in (replace(whole, sizes='{"sha256": "00"}'), replace(whole, elf=whole.elf[:-1])):
        with pytest.raises(InputError, match="damaged"):
            carried.put(wrong)
    with pytest.raises(InputError, match="not the key"):
        carried.put(replace(whole, key="../../../etc"))
    assert not list((tmp_path / "two").rglob("firmware.elf"))
    carried.put(whole)
    (arrived,) = (tmp_path / "two").rglob("firmware.elf")
    assert arrived.read_bytes() == b"code" and arrived.parent.name == key


# --- workers that fail, without Dask ---------------------------------------------------------------------


class Future:
    """As Dask's, as far as a crew uses it."""

    def __init__(self) -> None:
        self.status = "pending"
        self._value: Any = None

    def end(self, status: str, value: Any = None) -> None:
        self.status, self._value = status, value
        self.told(self)

    def add_done_callback(self, told: Callable[[Future], None]) -> None:
        self.told = told

    def result(self, timeout: float) -> Any:
        return self._value

    def exception(self, timeout: float) -> Any:
        return self._value

    def release(self) -> None:
        self.status = "released"


class Scheduler:
    """A client of a scheduler whose workers do what a test says, in this process.

    `does` maps a worker's address to what it does with a batch: measure, or a fault.
    """

    def __init__(self, does: dict[str, str]) -> None:
        self.does, self.status = does, "running"
        self.sent: list[tuple[str, CellBatch]] = []
        self.at: dict[str, str] = {}
        self._pool = ThreadPoolExecutor(1)

    def scheduler_info(self) -> dict[str, Any]:
        marks = {"is older": {"GPU": 1.0}, "is another": {"motecrypt 9.9.9 ab": 1.0}}
        own = {copies.mark(): 1.0}
        there = {a: what for a, what in self.does.items() if what != "gone"}
        told = {a: {"nthreads": 1, "name": a, "resources": marks.get(what, own)} for a, what in there.items()}
        return {"workers": told}

    def processing(self) -> dict[str, list[str]]:
        return {a: [key for key, at in self.at.items() if at == a] for a in self.does}

    def submit(
        self, function: Any, batch: bytes, *builds: Any, key: str, workers: list[str], **_: Any
    ) -> Future:
        future = Future()
        if function is remote.make:
            return future
        done = self._pool.submit(self._do, key, pickle.loads(batch), future, workers)
        done.add_done_callback(lambda done: done.exception() and future.end("error", done.exception()))
        return future

    def _do(self, key: str, batch: CellBatch, future: Future, workers: list[str]) -> None:
        time.sleep(0.01)
        address = next((a for a in workers if self.does[a] != "gone"), "")
        if not address:  # Dask waits until it comes back
            return
        self.sent.append((address, batch))
        self.at[key] = address
        what = self.does[address]
        if what == "measures":
            future.end("finished", replace(worker.measure(batch), worker=address))
        elif what == "refuses":
            future.end("finished", BatchAnswer(address, refused="compiles with another one"))
        elif what == "dies":
            self.does[address] = "gone"
            self._do(key, batch, future, workers)
        elif what == "is wrong":
            future.end("error", ValueError("a fault of the program"))
        elif what == "loses":
            if len(self.sent) == 2:
                self.does[address] = "measures"
            future.end("error", OSError("no connection"))
        elif what == "always loses":
            future.end("cancelled")
        else:
            assert what == "hangs"

    def cancel(self, futures: list[Future], asynchronous: bool) -> None:
        pass


@pytest.fixture
def plan(tmp_path: Path) -> SweepPlan:
    return read_plan(plan_of(tmp_path, "1-4"))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("LOOK_S", 0.02), ("CHECK_S", 0.02), ("FIRST_S", 0.2), ("NOBODY_S", 0.3)):
        monkeypatch.setattr(crew, name, seconds)


def swept(plan: SweepPlan, scheduler: Scheduler, db: Path, said: list[str] | None = None) -> Any:
    lines = [] if said is None else said
    catalog = plan.chosen.catalog
    with Results(db) as results:
        return bench.ensure(
            plan.cells,
            results,
            catalog,
            crew_of=lambda stop, keys: ClusterCrew(scheduler, stop, keys, plan.chosen.own, lines.append),
        )


@pytest.fixture
def alone(plan: SweepPlan, tmp_path: Path) -> list[tuple[object, ...]]:
    """The rows of one computer."""
    with Results(tmp_path / "alone.db") as results:
        bench.ensure(plan.cells, results, plan.chosen.catalog)
    return rows(tmp_path / "alone.db")


@needs_tool_set("avr")
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("measures", ""),
        ("refuses", "worker b (b) refused: compiles with another one"),
        ("dies", ""),
        ("hangs", "worker b (b) does not answer; its batches go to others"),
        ("loses", ""),
    ],
)
def test_nothing_is_lost_when_a_worker_fails(
    plan: SweepPlan,
    alone: list[tuple[object, ...]],
    tmp_path: Path,
    quick: None,
    fault: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if fault == "hangs":
        for name in ("HANGS_S", "HANGS_UNKNOWN_S", "HANGS_TIMES"):
            monkeypatch.setattr(crew, name, 0.5)
    scheduler = Scheduler({"b": fault, "a": "measures"})
    lines: list[str] = []
    measured = swept(plan, scheduler, tmp_path / "r.db", lines)
    assert list(measured) == list(plan.cells)
    assert rows(tmp_path / "r.db") == alone
    assert said in lines if said else not lines
    assert scheduler.sent[0][0] == "b"  # it had its chance


@needs_tool_set("avr")
@pytest.mark.parametrize(
    ("does", "error", "said"),
    [
        ({}, InputError, "no worker for"),
        ({"b": "dies"}, InputError, "no worker for"),
        ({"b": "refuses"}, InputError, "no worker can measure uno; the first one compiles with another one"),
        ({"b": "is wrong"}, MotecryptError, "a fault of the program"),
        ({"b": "always loses"}, MotecryptError, "4 workers ended with this batch"),
    ],
)
def test_a_sweep_that_cannot_go_on_ends_with_the_reason(
    plan: SweepPlan, tmp_path: Path, quick: None, does: dict[str, str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        swept(plan, Scheduler(does), tmp_path / "r.db")


@needs_tool_set("avr")
def test_a_scheduler_that_has_gone_ends_the_sweep(plan: SweepPlan, tmp_path: Path, quick: None) -> None:
    scheduler = Scheduler({"b": "hangs"})
    threading.Timer(0.2, setattr, [scheduler, "status", "connecting"]).start()
    with pytest.raises(MotecryptError, match="the scheduler does not answer any more"):
        swept(plan, scheduler, tmp_path / "r.db")


@needs_tool_set("avr")
def test_a_worker_with_something_else_refuses_with_the_reason(
    plan: SweepPlan, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With another version, compiler, simulator, sources, or without the implementation."""
    scheduler = Scheduler({"a": "measures"})
    swept(plan, scheduler, tmp_path / "r.db")
    batch = scheduler.sent[0][1]
    (part, *_) = batch.parts
    assert not worker.measure(batch).refused
    other = replace(part, first_key="0" * 64)
    for wrong, said in (
        (replace(batch, parts=(replace(part, body=("x", "y", "z", "")),)), "has no implementation x/y/z"),
        (replace(batch, parts=(other,), compiler="avr-gcc 99"), "expected avr-gcc 99"),
        (replace(batch, parts=(other,), runner="another 7"), "expected another 7"),
        (replace(batch, parts=(other,)), "other sources, headers or C libraries for uno"),
    ):
        assert said in worker.measure(wrong).refused
        assert worker.make(wrong) is None
    made = worker.make(batch)
    assert made is not None and made.key == part.build_key
    monkeypatch.setattr(worker, "Task", lambda job: SimpleNamespace(begin=lambda: _fail()))
    assert worker.measure(batch).refused == "no room"


@needs_tool_set("avr")
def test_a_worker_of_another_motecrypt_gets_nothing_and_is_named_once(
    plan: SweepPlan, alone: list[tuple[object, ...]], tmp_path: Path, quick: None
) -> None:
    scheduler = Scheduler({"a": "is older", "b": "measures", "c": "is another"})
    said: list[str] = []
    swept(plan, scheduler, tmp_path / "r.db", said)
    assert {address for address, _ in scheduler.sent} == {"b"} and rows(tmp_path / "r.db") == alone
    older, another = said
    assert older.startswith(f"worker a (a) refused: has an older motecrypt than {__version__}")
    assert another == f"worker c (c) refused: has motecrypt 9.9.9, expected {__version__}"
    with pytest.raises(InputError, match=r"no worker can measure uno; the first one has motecrypt 9\.9\.9"):
        swept(plan, Scheduler({"a": "is another", "b": "is older"}), tmp_path / "none.db")


def test_a_mark_tells_versions_and_copies_apart() -> None:
    assert copies.difference([copies.mark()]) == ""
    assert copies.difference(["GPU", copies.mark()]) == ""
    assert "runs other files" in copies.difference([f"motecrypt {__version__} {'0' * 64}"])
    assert "has motecrypt 9.9.9" in copies.difference(["motecrypt 9.9.9"])
    for marks in ([], ["GPU"], ["motecrypter 1 2"]):
        assert "has an older motecrypt" in copies.difference(marks)


def test_a_copy_is_known_by_code_and_descriptors_as_they_were_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("a = 1\n")
    (package / "data/device.toml").write_text("b = 1\n")
    seen = {copies.copy_in(package)}
    monkeypatch.setattr(copies, "motecrypt", SimpleNamespace(__file__=str(package / "__init__.py")))
    monkeypatch.setattr(copies, "running_copy", lru_cache(copies.running_copy.__wrapped__))
    assert {copies.running_copy()} == seen
    for name, text in (("__init__.py", "a = 2\n"), ("data/device.toml", "b = 2\n"), ("new.py", "")):
        (package / name).write_text(text)
        seen.add(copies.copy_in(package))
    (package / ".#new.py").symlink_to("nobody@nowhere")  # an editor's lock
    (package / "folder.py").mkdir()
    assert copies.copy_in(package) in seen
    (package / "new.py").rename(package / "newer.py")
    seen.add(copies.copy_in(package))
    assert (
        len(seen) == 5 and copies.running_copy() in seen and copies.running_copy() != copies.copy_in(package)
    )


@needs_tool_set("avr")
def test_a_source_that_changes_while_a_worker_runs_is_seen(
    plan: SweepPlan, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = Scheduler({"a": "measures"})
    swept(plan, scheduler, tmp_path / "r.db")
    batch = scheduler.sent[0][1]
    assert not worker.measure(batch).refused
    monkeypatch.setattr(bench_keys, "key_of", lambda *_: "f" * 64)
    assert "has other sources" in worker.measure(batch).refused


def _fail() -> None:
    raise MotecryptError("no room")


@needs_tool_set("avr")
def test_a_sweep_whose_workers_all_hang_ends(
    plan: SweepPlan, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HANGS_S", "HANGS_UNKNOWN_S", "HANGS_TIMES"):
        monkeypatch.setattr(crew, name, 0.1)
    monkeypatch.setattr(crew, "SILENT_S", 0.6)
    scheduler = Scheduler({"b": "hangs"})
    threading.Timer(20, setattr, [scheduler, "status", "closed"]).start()
    lines: list[str] = []
    with pytest.raises(MotecryptError, match="no worker has answered for"):
        swept(plan, scheduler, tmp_path / "r.db", lines)
    assert lines == ["worker b (b) does not answer; no other can take its batches"]


@needs_tool_set("avr")
def test_a_scheduler_that_fails_while_a_worker_hangs_ends_the_sweep(
    plan: SweepPlan, tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HANGS_S", "HANGS_UNKNOWN_S", "HANGS_TIMES"):
        monkeypatch.setattr(crew, name, 0.1)
    scheduler = Scheduler({"b": "hangs"})
    monkeypatch.setattr(scheduler, "processing", _cut_off)
    with pytest.raises(MotecryptError, match="the scheduler does not answer any more"):
        swept(plan, scheduler, tmp_path / "r.db")


def _cut_off() -> None:
    raise OSError("no connection")


# --- with Dask -------------------------------------------------------------------------------------------


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Kills a worker of a local cluster when the first measurements are stored."""
    from motecrypt.measuring.cluster import start

    done: list[int] = []
    there: list[start.Workers] = []
    begin, store = start.Workers.__init__, Results.store

    def note(self: start.Workers, *words: Any) -> None:
        begin(self, *words)
        there.append(self)

    def kill(self: Results, *words: Any) -> None:
        store(self, *words)
        if not done:
            done.append(there[0].pids[0])
            os.kill(done[0], signal.SIGKILL)

    monkeypatch.setattr(start.Workers, "__init__", note)
    monkeypatch.setattr(Results, "store", kill)
    yield done


@needs_tool_set("avr", "cluster")
def test_a_local_cluster_with_a_killed_worker_is_one_run(
    plan: SweepPlan,
    alone: list[tuple[object, ...]],
    tmp_path: Path,
    killed: list[int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    db = tmp_path / "r.db"
    code, out, error = run(
        capsys, "sweep", str(tmp_path / "plan.toml"), "--cluster", "local:2", "--db", str(db)
    )
    assert code == 0 and f"{len(plan.cells)} cells: {len(plan.cells)} ok" in out, error
    assert killed and rows(db) == alone
    (tls,) = make_keys(tmp_path / "other", ["stranger"], 2)
    code, _, error = run(
        capsys,
        "sweep",
        str(tmp_path / "plan.toml"),
        "--cluster",
        "tls://127.0.0.1:9",
        "--tls",
        str(tls),
        "--db",
        str(db),
    )
    assert code == 2 and "no scheduler answers" in error.splitlines()[-1]
