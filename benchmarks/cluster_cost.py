"""What a cluster adds to measuring: its speed and processor time a cell, and Dask's cost of a task.

Thresholds, on a local cluster of two workers and cells that take 50 ms each: at least 0.85 of the speed of
two processes that do nothing else, and at most 1 ms of processor time of scheduler and sweep a cell, with
planning and storing. A cell sleeps for its 50 ms, so that other work on the computer disturbs little.
Without a threshold: what scheduler, sweep and worker take for each of 100,000 tasks that do nothing, and the
bytes of a cell. CLUSTER_COST_TASKS and CLUSTER_COST_CELLS set other numbers.
"""

from __future__ import annotations

import operator
import os
import pickle
import queue
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from motecrypt.app.sweep_plan import SweepPlan, read_plan  # noqa: E402
from motecrypt.base.model import OPERATIONS  # noqa: E402
from motecrypt.build.setup import need  # noqa: E402
from motecrypt.measuring import bench  # noqa: E402
from motecrypt.measuring.cluster import batches, crew  # noqa: E402
from motecrypt.measuring.cluster.crew import ClusterCrew  # noqa: E402
from motecrypt.measuring.cluster.start import connected, local  # noqa: E402
from motecrypt.results import Results  # noqa: E402
from stored_rows import rows  # noqa: E402

PLAN = """
[[sweep]]
ciphers = ["ascon-aead128", "aes128-ccm8", "aes128-ccm16"]
libraries = ["motecrypt"]
flags = ["", "-O2", "-O3"]
bytes = "1-{last}"
"""
CELLS = 4000
CELL_S = 0.05
EFFICIENCY_MIN = 0.85
CELL_MS_MAX = 1.0
MADE_UP = next(rows())
TASKS = 100_000
WINDOW = 200
DEADLINE_S = 1500.0


def measure(sent: bytes, *_: object) -> batches.BatchAnswer:
    """What a worker does here instead of measuring: it sleeps, and answers with figures that are made up."""
    begun = time.monotonic()
    batch: batches.CellBatch = pickle.loads(sent)
    told = [
        [
            replace(MADE_UP, operation=operation, message_bytes=run[2])
            for run in part.runs
            for operation in OPERATIONS
        ]
        for part in batch.parts
    ]
    time.sleep(CELL_S * sum(map(len, told)))
    return batches.BatchAnswer("worker", time.monotonic() - begun, batches.packed(told))


def make(*_: object) -> None:
    """In place of building."""


def main() -> int:
    """Sweep, print the figures, and say whether the thresholds hold."""
    need("avr", "cluster")
    tasks, cells = (
        int(os.environ.get(f"CLUSTER_COST_{n}", m)) for n, m in (("TASKS", TASKS), ("CELLS", CELLS))
    )
    os.environ["PYTHONPATH"] = f"{HERE}:{os.environ.get('PYTHONPATH', '')}"
    import cluster_cost  # by the name that workers find it under

    crew.remote = cluster_cost  # type: ignore[assignment]
    with (
        tempfile.TemporaryDirectory(prefix="motecrypt-") as name,
        local(2, print) as (place, workers, scheduler),
    ):
        folder = Path(name)
        plan = folder / "plan.toml"
        plan.write_text(PLAN.format(last=1))
        plan.write_text(PLAN.format(last=-(-cells // len(read_plan(plan).cells))))
        read = read_plan(plan)
        count = len(read.cells)
        with connected(place) as client:
            _warm(client, len(workers.pids))
            answers = _note_bytes()
            began = time.monotonic(), _cpu_s(scheduler.process.pid), time.process_time()
            _cluster(read, client, folder / "results.db")
            took_s, scheduler_s, sweep_s = (
                now - then
                for now, then in zip(
                    (time.monotonic(), _cpu_s(scheduler.process.pid), time.process_time()), began, strict=True
                )
            )
            speed, cost = count * CELL_S / len(workers.pids) / took_s, (scheduler_s + sweep_s) * 1000 / count
            stored = (folder / "results.db").stat().st_size / count
            _no_ops(client, tasks, scheduler.process.pid, workers.pids)
    print(f"{count:,} cells in {len(answers)} batches, {took_s:.0f} s")
    print(f"bytes a cell: {sum(answers) / count:.0f} in answers, {stored:.0f} in the results file")
    print(f"two workers to two processes: {speed:.2f} of the speed (at least {EFFICIENCY_MIN:g} wanted)")
    print(
        f"scheduler {scheduler_s * 1000 / count:.2f} ms and sweep {sweep_s * 1000 / count:.2f} ms of "
        f"processor time a cell: {cost:.2f} ms (at most {CELL_MS_MAX:g} wanted)"
    )
    return 0 if speed >= EFFICIENCY_MIN and cost <= CELL_MS_MAX else 1


def _cluster(plan: SweepPlan, client: Any, db: Path) -> None:
    def crew_of(stop: threading.Event, keys: Any) -> ClusterCrew:
        return ClusterCrew(client, stop, keys, plan.chosen.own, print)

    with Results(db) as results:
        bench.ensure(plan.cells, results, plan.chosen.catalog, crew_of=crew_of)


def _note_bytes() -> list[int]:
    """The lengths of all answers from now on."""
    noted: list[int] = []
    unpacked = batches.unpacked

    def noting(answer: batches.BatchAnswer) -> Any:
        noted.append(len(answer.packed))
        return unpacked(answer)

    crew.unpacked = noting
    return noted


def _warm(client: Any, count: int) -> None:
    until = time.monotonic() + DEADLINE_S
    while len(client.scheduler_info()["workers"]) < count:
        if time.monotonic() > until:
            raise SystemExit("the workers do not come")
        time.sleep(0.1)


def _no_ops(client: Any, tasks: int, scheduler: int, workers: list[int]) -> None:
    """What tasks that do nothing cost, a few hundred of them on their way at a time as in a sweep."""
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    places = list(client.scheduler_info()["workers"])

    def fetch(future: Any) -> None:
        future.result(timeout=60)
        ended.put(future.key)

    def begin(number: int) -> None:
        future = client.submit(operator.not_, number, key=f"nothing-{number}", workers=places, pure=False)
        kept[future.key] = future
        future.add_done_callback(fetch)

    kept: dict[str, Any] = {}
    before = [time.process_time(), _cpu_s(scheduler), sum(map(_cpu_s, workers))]
    started = time.monotonic()
    for number in range(min(WINDOW, tasks)):
        begin(number)
    for number in range(tasks):
        kept.pop(ended.get(timeout=120)).release()
        if number + WINDOW < tasks:
            begin(number + WINDOW)
        if time.monotonic() - started > DEADLINE_S:
            raise SystemExit(f"{number} tasks took {DEADLINE_S:g} s")
    took = time.monotonic() - started
    client_s, scheduler_s, workers_s = (
        now - then
        for now, then in zip(
            [time.process_time(), _cpu_s(scheduler), sum(map(_cpu_s, workers))], before, strict=True
        )
    )
    print(
        f"{tasks:,} tasks that do nothing, each: scheduler {scheduler_s * 1000 / tasks:.2f} ms, sweep "
        f"{client_s * 1000 / tasks:.2f} ms, worker {workers_s * 1000 / tasks:.2f} ms of processor time; "
        f"{took:.0f} s",
        flush=True,
    )


def _cpu_s(pid: int) -> float:
    """Processor time of a process, all its threads together (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
