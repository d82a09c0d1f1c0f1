"""One job: its firmware is built once, then run at each of its lengths, by one thread or several."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from motecrypt.base.errors import FailureKind
from motecrypt.base.frames import ProtocolError
from motecrypt.base.model import Cell, Device, Measurement, Operation, Shortfall
from motecrypt.build.toolchain import BuildError, BuildRequest, Firmware, build
from motecrypt.catalog.publickey import PublicKeyAlgorithm
from motecrypt.measuring.bench.passes import CellFigures, Stopped, WrongOutput, run_passes, starts_of
from motecrypt.measuring.bench.plan import Job, Run, empty_request
from motecrypt.measuring.bench.publickey import run_public_key
from motecrypt.measuring.bench.record import Trouble, measurement
from motecrypt.simulate.runners import Fault, Starts


@dataclass(frozen=True)
class _Built:
    """A job's firmware and the one with a no-op cipher, or why there is none."""

    firmware: Firmware | None
    base: Firmware | None
    trouble: Trouble | None


class Task:
    """A job that is worked on.

    Parameters
    ----------
    job
        What to build and at which lengths to run it.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.left = deque(job.runs)  # each is taken by one thread
        self._built: _Built | None = None

    @property
    def helpable(self) -> bool:
        """Whether another thread could take a run: there is one left, of a firmware that is built."""
        return bool(self.left) and self._built is not None and self._built.trouble is None

    def begin(self) -> dict[Cell, Measurement]:
        """Build, and continue."""
        self._built = _build(self.job)
        return self.go_on()

    def go_on(self) -> dict[Cell, Measurement]:
        """Run at the lengths that no other thread has taken, until none is left or nobody wants more."""
        outcome: dict[Cell, Measurement] = {}
        assert self._built is not None
        firmware, base = self._built.firmware, self._built.base
        starts = starts_of(self.job.device, firmware) if firmware is not None else None
        try:
            while not self.job.stop.is_set():
                try:
                    run = self.left.popleft()
                except IndexError:
                    break
                passes, trouble = _run(self.job, starts, run, self._built.trouble)
                for cell in self.job.cells(run):
                    figures = passes.get(cell.operation)
                    outcome[cell] = measurement(self.job, cell, firmware, base, figures, trouble)
        except Stopped:
            pass
        finally:
            if starts is not None:
                starts.close()
        return outcome


def _build(job: Job) -> _Built:
    firmware: Firmware | None = None
    base: Firmware | None = None
    trouble: Trouble | None = None
    try:
        base = build(empty_request(job.device, job.placement, job.cipher.tag_bytes))
        firmware = build(BuildRequest(job.device, job.implementation, job.placement, job.flags))
        if firmware.key != job.build_key:
            raise BuildError(
                "a source changed in the meantime: measure again",
                kind=FailureKind.INTERRUPTED,
                transient=True,
            )
        trouble = _misfit(job.device, firmware)
    except BuildError as error:
        # If the no-op cipher does not build either, the failure is not this cipher's.
        trouble = Trouble.of("build-failed", error, transient=base is None)
    return _Built(firmware, base, trouble)


def _run(
    job: Job, starts: Starts | None, run: Run, trouble: Trouble | None
) -> tuple[dict[Operation, CellFigures], Trouble | None]:
    """The figures of one run, or why there are none."""
    cache, key_bits, message_bytes, ad_bytes = run
    algorithm = job.cipher if isinstance(job.cipher, PublicKeyAlgorithm) else None
    if trouble is None:
        if algorithm is None:
            trouble = _too_long(
                job,
                (
                    ("message", "a message", message_bytes),
                    ("ad", "associated data", ad_bytes),
                    ("key", "a key", key_bits // 8),
                ),
            )
        else:
            trouble = _too_long(job, (("ad", "a message", message_bytes),))
    if trouble is not None or starts is None:
        return {}, trouble
    try:
        if algorithm is not None:
            return run_public_key(job, algorithm, starts, cache, message_bytes), None
        return run_passes(job, starts, cache, key_bits, message_bytes, ad_bytes), None
    except Fault as error:
        return {}, Trouble.of("fault", error)
    except WrongOutput as error:
        return {}, Trouble.of("wrong-output", error)
    except ProtocolError as error:  # a board's line may have been at fault
        return {}, Trouble.of("fault", error, transient=job.device.runner == "board")
    except BuildError as error:
        return {}, Trouble.of("build-failed", error)


def _misfit(device: Device, firmware: Firmware) -> Trouble | None:
    for name, needed in (("flash", firmware.total.flash), ("ram", firmware.total.ram)):
        memory = device.memory.get(name)
        if memory is not None and needed > memory.bytes:
            shortfall = Shortfall(memory=name, needed=needed, available=memory.bytes)
            return _does_not_fit(shortfall, f"does not fit: {shortfall.text}")
    return None


def _too_long(job: Job, lengths: Iterable[tuple[str, str, int]]) -> Trouble | None:
    """The first that the firmware has no room for; of each the store, what it holds, and its bytes."""
    bench = job.device.bench
    for name, what, needed in lengths:
        if needed > bench[name]:
            told = f"{what} of {needed} bytes: the firmware on {job.device.name} holds {bench[name]}"
            return _does_not_fit(Shortfall(memory=name, needed=needed, available=bench[name]), told)
    return None


def _does_not_fit(shortfall: Shortfall, told: str) -> Trouble:
    return Trouble("does-not-fit", told, FailureKind.DOES_NOT_FIT, shortfall=shortfall)
