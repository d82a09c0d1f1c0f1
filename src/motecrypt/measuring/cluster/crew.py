"""The workers of a cluster as a crew of `bench.ensure`: it is given jobs, and hands out their outcomes.

Batches are sent a few at a time, so that a long sweep does not fill the scheduler. A batch whose worker died,
was cut off or hangs is sent to another one; the first answer counts, and another one changes nothing, since a
cell has the same figures wherever it is measured.
"""

from __future__ import annotations

import pickle
import queue
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.build.toolchain.toolchain import identity
from motecrypt.measuring.bench.crew import Outcome
from motecrypt.measuring.bench.keys import CellKeys
from motecrypt.measuring.bench.plan import Job, Run
from motecrypt.measuring.cluster import remote
from motecrypt.measuring.cluster.batches import (
    BATCH_S,
    BatchAnswer,
    CellBatch,
    FirmwareRuns,
    Kind,
    Own,
    Pace,
    batch_s,
    cells_of,
    split,
    unpacked,
)
from motecrypt.measuring.cluster.copies import difference
from motecrypt.simulate.runners import runner_of

LOOK_S = 1.0  # between two looks at which workers there are
CHECK_S = 5.0  # between two looks at what each of them is at
FIRST_S = 60.0  # until the first worker is there
NOBODY_S = 300.0  # until one is there again
SILENT_S = 1800.0  # without any answer, while workers have batches
FETCH_S = 20.0  # to fetch an answer
HANGS_S, HANGS_TIMES, HANGS_UNKNOWN_S = 30.0, 10.0, 600.0
"""A batch hangs that takes longer than both the first and so many times what it should; the third where
it is not known what it should."""
FAILURES_MAX = 4  # of one batch, before it is taken for what ends the workers
AHEAD = 2  # batches for each worker's thread, one of them waiting
_CLOSED = ("closed", "closing")


@dataclass
class _SentBatch:
    """A batch on its way: its jobs with the runs of each; when and how often it was sent."""

    kind: Kind
    parts: list[tuple[Job, tuple[Run, ...]]]
    expected_s: float | None
    begun: float = 0.0
    attempts: int = 0
    failures: int = 0
    able: frozenset[str] = frozenset()  # workers that it was sent to
    futures: dict[str, Any] = field(default_factory=dict)
    spared: set[str] = field(default_factory=set)  # workers that hang with it

    @property
    def runs(self) -> int:
        return sum(len(runs) for _, runs in self.parts)


class ClusterCrew:
    """The workers that a scheduler knows.

    Parameters
    ----------
    client
        Dask's, connected. It is not closed here.
    stop, keys
        Of the sweep: set when nobody wants more; the keys of its cells.
    own
        The user's own folders, which workers must have, too.
    say
        Called with a line about a worker that is refused, hangs or has gone.
    """

    def __init__(
        self,
        client: Any,
        stop: threading.Event,
        keys: CellKeys,
        own: Own,
        say: Callable[[str], None],
    ) -> None:
        self._client, self._stop, self._keys, self._own, self._say = client, stop, keys, own, say
        self._waiting: dict[Kind, deque[tuple[Job, tuple[Run, ...]]]] = {}
        self._left: Counter[Kind] = Counter()  # runs that are waiting
        self._sent: dict[int, _SentBatch] = {}
        self._with: Counter[Kind] = Counter()  # batches that workers have
        self._again: deque[_SentBatch] = deque()
        self._answers: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
        self._pace: dict[Kind, Pace] = {}
        self._builds: dict[str, Any] = {}
        self._open: Counter[str] = Counter()  # runs by the build that they need
        self._refused: dict[tuple[str, Kind], str] = {}
        self._others: dict[str, str] = {}  # workers of another motecrypt, and what differs
        self._threads: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._hanging: set[str] = set()
        self._number = 0
        self._looked = self._checked = 0.0
        self._seen = self._heard = time.monotonic()
        self._ever = False

    # --- what bench.ensure asks of a crew ------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether there is work that has not come to its end."""
        return bool(self._sent or self._again or any(self._waiting.values()))

    @property
    def has_room(self) -> bool:
        """Whether more jobs are needed to fill the next batches."""
        return self._waiting_s() < 2 * AHEAD * self._slots * BATCH_S

    @property
    def titles(self) -> list[str]:
        """What is being worked on."""
        return list(dict.fromkeys(job.title for sent in self._sent.values() for job, _ in sent.parts[:1]))

    def begin(self, job: Job) -> None:
        """Take in a job."""
        kind = (job.device.name, job.toolchain)
        if not self.busy:
            self._heard = time.monotonic()
        self._waiting.setdefault(kind, deque()).append((job, job.runs))
        self._left[kind] += len(job.runs)
        self._open[job.build_key] += len(job.runs)

    def help(self) -> None:
        """Nothing: batches are divided all the time."""

    def ended(self, timeout_s: float) -> Iterator[tuple[Job, Outcome]]:
        """What workers have come to the end of, waiting for the first one.

        Raises
        ------
        InputError
            There is no worker, or none that has the right compiler.
        MotecryptError
            The scheduler or all workers have gone, or a batch ends every worker that it is given to.
        """
        self._look()
        self._send()
        try:
            arrived = [self._answers.get(timeout=min(timeout_s, LOOK_S))]
        except queue.Empty:
            return
        while not self._answers.empty():
            arrived.append(self._answers.get())
        for number, name, answer in arrived:
            yield from self._take(number, name, answer)
        self._send()

    def stop(self) -> list[tuple[Job, Outcome]]:
        """Cancel what was sent; all that has come is stored already."""
        self._stop.set()
        futures = [f for sent in (*self._sent.values(), *self._again) for f in sent.futures.values()]
        self._sent.clear()
        self._again.clear()
        self._waiting.clear()
        self._builds.clear()
        if futures and self._client.status not in _CLOSED:
            self._client.cancel(futures, asynchronous=False)
        return []

    # --- workers -------------------------------------------------------------------------------------

    @property
    def _slots(self) -> int:
        return max(1, sum(n for address, n in self._threads.items() if address not in self._hanging))

    def _look(self) -> None:
        """See which workers there are, and whether they still answer."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        known = self._told(lambda: self._client.scheduler_info()["workers"])
        self._threads = {address: int(told["nthreads"]) for address, told in known.items()}
        self._names |= {address: f"{told['name']} ({address})" for address, told in known.items()}
        for address, told in known.items():
            if address not in self._others:
                self._others[address] = difference(told.get("resources", {}))
                if self._others[address]:
                    self._say(f"worker {self._called(address)} refused: {self._others[address]}")
        self._hanging &= set(self._threads)
        if self._threads:
            self._seen, self._ever = now, True
        elif now - self._seen > (NOBODY_S if self._ever else FIRST_S):
            raise InputError(
                f"no worker for {now - self._seen:.0f} s; what was measured is stored: start some with "
                "'motecrypt cluster worker', then give the same command again"
            )
        for number, sent in list(self._sent.items()):
            if not sent.able & self._threads.keys():
                self._requeue(number, sent)
        for kind in {*(k for k, jobs in self._waiting.items() if jobs), *(s.kind for s in self._again)}:
            self._somebody(kind)
        if self.busy and now - self._heard > SILENT_S:
            raise MotecryptError(
                f"no worker has answered for {SILENT_S / 60:.0f} minutes; what was measured is stored: "
                "start the workers again, then give the same command again"
            )
        if now - self._checked > CHECK_S:
            self._checked = now
            self._find_hanging(now)

    def _told(self, ask: Callable[[], Any]) -> Any:
        """What the scheduler answers; MotecryptError where it does not answer."""
        try:
            if self._client.status != "running":
                raise OSError("not connected")
            return ask()
        except (OSError, TimeoutError, KeyError) as error:
            raise MotecryptError(
                "the scheduler does not answer any more; what was measured is stored: "
                "start it, and give the same command again"
            ) from error

    def _able(self, kind: Kind) -> list[str]:
        return [a for a in self._threads if not self._reason(a, kind) and a not in self._hanging]

    def _reason(self, address: str, kind: Kind) -> str:
        """Why a worker does not measure this kind; "" where it does."""
        return self._others.get(address, "") or self._refused.get((address, kind), "")

    def _somebody(self, kind: Kind) -> None:
        """Raise if every worker there is has refused this kind."""
        reasons = [self._reason(address, kind) for address in self._threads]
        if reasons and all(reasons):
            raise InputError(f"no worker can measure {kind[0]}; the first one {reasons[0]}")

    def _find_hanging(self, now: float) -> None:
        """Send again what takes much longer than it should, and spare those workers until they answer."""
        limits = {
            number: HANGS_UNKNOWN_S
            if sent.expected_s is None
            else max(HANGS_S, HANGS_TIMES * AHEAD * sent.expected_s)
            for number, sent in self._sent.items()
        }
        late = {n: s for n, s in self._sent.items() if now - s.begun > limits[n]}
        if not late:
            return
        processing = self._told(self._client.processing)
        at = {key: address for address, keys in processing.items() for key in keys}
        for number, sent in late.items():
            where = {at[key] for key in sent.futures if key in at}
            new = where - self._hanging
            self._hanging |= new
            then = "its batches go to others" if self._able(sent.kind) else "no other can take its batches"
            for address in new:
                self._say(f"worker {self._called(address)} does not answer; {then}")
            sent.spared |= where
            self._requeue(number, sent)

    def _called(self, address: str) -> str:
        return self._names.get(address, address)

    # --- batches -------------------------------------------------------------------------------------

    def _waiting_s(self) -> float:
        return sum(runs * self._of(kind).run_s for kind, runs in self._left.items())

    def _of(self, kind: Kind) -> Pace:
        return self._pace.setdefault(kind, Pace())

    def _send(self) -> None:
        """Send batches until each worker has enough."""
        for _ in range(len(self._again)):
            sent = self._again.popleft()
            able = [address for address in self._able(sent.kind) if address not in sent.spared]
            if able or (able := self._able(sent.kind)):
                self._submit(sent, able)
            else:
                self._again.append(sent)
        for kind, jobs in self._waiting.items():
            able = self._able(kind)
            room = AHEAD * sum(self._threads[a] for a in able)
            while jobs and able and self._with[kind] < room:
                self._submit(self._next(kind, jobs), able)

    def _next(self, kind: Kind, jobs: deque[tuple[Job, tuple[Run, ...]]]) -> _SentBatch:
        """Take the next batch off what is waiting."""
        pace = self._of(kind)
        left = pace.fitting(batch_s(self._waiting_s(), self._slots))
        parts = []
        while jobs and left > 0:
            job, runs = jobs.popleft()
            now, later = split(runs, left)
            parts.append((job, now))
            left -= len(now)
            if later:
                jobs.appendleft((job, later))
        count = sum(len(runs) for _, runs in parts)
        self._left[kind] -= count
        return _SentBatch(kind, parts, pace.run_s * count if pace.known else None)

    def _submit(self, sent: _SentBatch, able: Sequence[str]) -> None:
        sent.attempts += 1
        self._number += 1
        number = self._number
        job = sent.parts[0][0]
        batch = CellBatch(
            kind=sent.kind,
            own=self._own,
            compiler=identity(job.device.compiler.command),
            runner=runner_of(job.device.runner).identity(job.device),
            parts=tuple(self._part(job, runs) for job, runs in sent.parts),
        )
        builds = [
            self._build(batch, part, able)
            for part, (job, runs) in zip(batch.parts, sent.parts, strict=True)
            if len(runs) < len(job.runs) and sent.attempts == 1
        ]
        name = f"motecrypt-{id(self):x}-{number}"
        future = self._client.submit(
            remote.measure, pickle.dumps(batch), *builds, key=name, workers=list(able), pure=False
        )
        sent.futures[name] = future
        sent.begun = time.monotonic()
        if not sent.able.issuperset(able):  # not when it goes to the same ones again
            self._heard = sent.begun
        sent.able = frozenset(able)
        self._with[sent.kind] += 1
        self._sent[number] = sent
        future.add_done_callback(lambda done: self._answers.put((number, name, _fetched(done))))

    def _part(self, job: Job, runs: tuple[Run, ...]) -> FirmwareRuns:
        body = job.implementation
        return FirmwareRuns(
            body=(body.cipher, body.library, body.configuration, body.variant, *body.operations),
            placement=job.placement,
            flags=job.flags,
            runs=runs,
            build_key=job.build_key,
            first_key=self._keys(job.cells(runs[0])[0]),
        )

    def _build(self, batch: CellBatch, part: FirmwareRuns, able: Sequence[str]) -> Any:
        """A firmware that several batches run: one worker builds it for all."""
        key = part.build_key
        if key not in self._builds:
            alone = CellBatch(
                kind=batch.kind,
                own=batch.own,
                compiler=batch.compiler,
                runner=batch.runner,
                parts=(part,),
            )
            name = f"motecrypt-build-{id(self):x}-{key}"
            self._builds[key] = self._client.submit(
                remote.make,
                pickle.dumps(alone),
                key=name,
                workers=list(able),
                allow_other_workers=not any(self._others.values()),
                pure=False,
            )
        return self._builds[key]

    def _take(self, number: int, name: str, answer: Any) -> Iterator[tuple[Job, Outcome]]:
        sent = self._sent.get(number)
        if sent is None:
            sent = next((s for s in (*self._sent.values(), *self._again) if name in s.futures), None)
        if sent is None:  # another worker was faster
            return
        if not isinstance(answer, BatchAnswer):
            self._failed(number, sent, answer)
            return
        self._hanging.discard(answer.worker)
        self._heard = time.monotonic()
        if answer.refused:
            self._refuse(answer, sent.kind)
            self._requeue(number, sent)
            return
        self._forget(sent)
        self._of(sent.kind).took(sent.runs, answer.seconds)
        for (job, runs), measured in zip(sent.parts, unpacked(answer), strict=True):
            outcome: Mapping[Any, Any] = dict(zip(cells_of(job, runs), measured, strict=True))
            yield job, outcome
        self._drop_builds(sent)

    def _failed(self, number: int, sent: _SentBatch, error: Any) -> None:
        """A batch that came to no answer: its worker has gone, or what it does is wrong."""
        killed = getattr(sys.modules.get("distributed"), "KilledWorker", OSError)
        lost = error is None or isinstance(error, (killed, OSError, TimeoutError))
        if not lost:
            raise MotecryptError(f"{sent.parts[0][0].title}: a worker failed: {error!r}"[:500])
        if number not in self._sent:
            return
        sent.failures += 1
        if sent.failures == FAILURES_MAX:
            raise MotecryptError(
                f"{sent.parts[0][0].title}: {FAILURES_MAX} workers ended with this batch; not stored"
            )
        self._requeue(number, sent)

    def _refuse(self, answer: BatchAnswer, kind: Kind) -> None:
        if (answer.worker, kind) not in self._refused:
            self._refused[answer.worker, kind] = answer.refused
            self._say(f"worker {self._called(answer.worker)} refused: {answer.refused}")

    def _requeue(self, number: int, sent: _SentBatch) -> None:
        if self._sent.pop(number, None) is not None:
            self._with[sent.kind] -= 1
            self._again.append(sent)

    def _forget(self, sent: _SentBatch) -> None:
        """The batch is done: whatever else was sent of it is not wanted any more."""
        for number in [n for n, s in self._sent.items() if s is sent]:
            del self._sent[number]
            self._with[sent.kind] -= 1
        if sent in self._again:
            self._again.remove(sent)
        for future in sent.futures.values():
            future.release()

    def _drop_builds(self, sent: _SentBatch) -> None:
        for job, runs in sent.parts:
            self._open[job.build_key] -= len(runs)
            if not self._open[job.build_key]:
                del self._open[job.build_key]
                self._builds.pop(job.build_key, None)


def _fetched(future: Any) -> Any:
    """The answer of a batch that has ended; what it raised; None where it was lost on the way."""
    if future.status == "finished":
        try:
            return future.result(timeout=FETCH_S)
        except Exception as error:
            return error
    return future.exception(timeout=FETCH_S) if future.status == "error" else None
