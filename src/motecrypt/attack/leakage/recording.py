"""Records traces: runs a function of a firmware on a simulator, again and again from one state.

The drivers (drivers/leak.h) count, for each instruction, bits that are set and bits that change; this module
starts and feeds them, and reads their output. Several processes share the work; the order of traces does not
depend on their number.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from motecrypt.attack.leakage.traces import Bytes
from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Device
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.run import Ended, FreeRun, Uart, ended_of, with_places
from motecrypt.simulate.emulate.run import command as driver_command

#: As enum leak_channel of drivers/leak.h.
CHANNELS = ("result", "register", "data", "address", "flash", "latch", "cell")
#: A window without a stated length may have this many instructions.
INSTRUCTIONS_MOST = 1 << 17
PROCESSES = 2
_RUNNERS = ("simavr", "arm", "riscv")
_CUT, _ABSENT = 1, 2
_HEAD = np.dtype([("instructions", "<u4"), ("flags", "<u4"), ("path", "<u8")])
_MEETING = np.dtype([("source", "<i4"), ("place", "<u4"), ("before", "<u4"), ("after", "<u4")])
_DETAIL = np.dtype([("pc", "<u4"), ("meetings", _MEETING, (len(CHANNELS),))])
_BATCH_BYTES = 1 << 18
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # Linux


def refuse_other(device: Device) -> None:
    """Refuse a device whose simulator does not record.

    Raises
    ------
    InputError
        For such a device.
    """
    if device.runner not in _RUNNERS:
        raise InputError(
            f"{device.name}: traces are recorded on simulated devices only; choose another --device"
        )


@dataclass(frozen=True)
class Poke:
    """A variable of the firmware that gets bytes of each run's input."""

    name: str
    address: int
    bytes: int


@dataclass(frozen=True)
class Window:
    """What is recorded.

    Attributes
    ----------
    function, address
        Its name, and where it begins: its first call counts, until it returns.
    start
        Where inputs are put into memory and each run begins; the same function or one before it.
    skip
        Instructions of it that are left out first.
    instructions
        The most that are recorded; None: to its end.
    """

    function: str
    address: int
    start: int
    skip: int = 0
    instructions: int | None = None


@dataclass(frozen=True)
class Head:
    """One run: how many instructions were recorded, and a digest of their addresses."""

    instructions: int
    path: int
    cut: bool
    """The function had not returned after the most instructions that may be recorded."""


@dataclass(frozen=True)
class Batch:
    """Some runs, in order.

    Attributes
    ----------
    first
        Number of the first one.
    samples
        (runs, channels, instructions), uint8: what each instruction shows on each channel, at most 255.
    paths
        (runs,), uint64: digests of the addresses of the instructions.
    instructions
        (runs,), uint32: how many were recorded; samples beyond are 0.
    """

    first: int
    samples: NDArray[np.uint8]
    paths: NDArray[np.uint64]
    instructions: NDArray[np.uint32]


@dataclass(frozen=True)
class Recorder:
    """A firmware on a device, ready to be recorded.

    Attributes
    ----------
    pokes
        Where a run's input goes, in the order of its bytes.
    uart
        What the firmware receives before the window.
    max_seconds
        Simulated time within which the window has to begin.
    """

    image: Image
    device: Device
    window: Window
    pokes: tuple[Poke, ...]
    uart: bytes = b""
    max_seconds: float = 10.0

    def __post_init__(self) -> None:
        """Refuse a device whose simulator does not record (InputError)."""
        refuse_other(self.device)

    @property
    def input_bytes(self) -> int:
        """Bytes of one run's input."""
        return sum(poke.bytes for poke in self.pokes)

    def details(self, inputs: Bytes) -> list[tuple[Head, NDArray[Any]]]:
        """Record what meets in each instruction.

        Parameters
        ----------
        inputs
            (n, input_bytes), uint8.

        Returns
        -------
        Of each run its head, and for each instruction `pc` and `meetings` of each channel: `source`, the
        number of the instruction that left the value `before` (-1: none of the window), `place`, the
        register's number or the address, and `before` and `after`.

        Raises
        ------
        InputError
            When the window never begins, or has more than `INSTRUCTIONS_MOST` instructions.
        """
        return self._detailed(inputs)[0]

    def ended(self, inputs: Bytes) -> Ended:
        """How runs end, with what they used that is not modelled: from the start to the end of the window.

        Raises
        ------
        InputError
            As `details`.
        """
        return with_places(self._detailed(inputs)[1], self.image, self.device)

    def _detailed(self, inputs: Bytes) -> tuple[list[tuple[Head, NDArray[Any]]], Ended]:
        limit = self.window.instructions or INSTRUCTIONS_MOST
        found = []
        with ExitStack() as stack:
            running = stack.enter_context(_Run(self, inputs, limit, ("--leak-detail",)))
            for _ in range(len(inputs)):
                head = _checked(self, running.take(_HEAD, 1)[0])
                if head.instructions == 0:
                    raise InputError(
                        f"{self.window.function}: --skip {self.window.skip} leaves none of its instructions"
                    )
                if head.cut and self.window.instructions is None:
                    raise InputError(
                        f"{self.window.function}: it executes more than {INSTRUCTIONS_MOST:,} instructions; "
                        "record some of them with --skip and --instructions"
                    )
                detail = running.take(_DETAIL, head.instructions)
                sources = detail["meetings"]["source"]
                np.maximum(sources - self.window.skip, -1, out=sources)
                found.append((head, detail))
            return found, running.ended()

    def record(
        self,
        inputs: Bytes,
        instructions: int,
        channels: Sequence[str] = CHANNELS,
        processes: int = PROCESSES,
    ) -> Iterator[Batch]:
        """Record runs.

        Parameters
        ----------
        inputs
            (n, input_bytes), uint8: a row for each run.
        instructions
            How many are recorded of each.
        channels
            Which of `CHANNELS`; samples have them in that tuple's order.
        """
        wanted = [number for number, name in enumerate(CHANNELS) if name in channels]
        mask = sum(1 << number for number in wanted)
        size = len(wanted) * instructions
        rows = max(1, _BATCH_BYTES // (size + _HEAD.itemsize))
        starts = range(0, len(inputs), rows)
        processes = max(1, min(processes, len(starts)))
        kind = np.dtype([("head", _HEAD), ("samples", np.uint8, (len(wanted), instructions))])
        with ExitStack() as stack:
            running = []
            for turn in range(processes):
                parts = [inputs[start : start + rows] for start in starts[turn::processes]]
                own = np.concatenate(parts) if parts else inputs[:0]
                arguments = ("--leak-channels", str(mask))
                running.append(stack.enter_context(_Run(self, own, instructions, arguments)))
            for number, start in enumerate(starts):
                count = min(rows, len(inputs) - start)
                taken = running[number % processes].take(kind, count)
                heads = taken["head"]
                if (heads["flags"] & _ABSENT).any():
                    _checked(self, heads[(heads["flags"] & _ABSENT) != 0][0])
                yield Batch(start, taken["samples"], heads["path"], heads["instructions"])


def _checked(recorder: Recorder, head: Any) -> Head:
    if head["flags"] & _ABSENT:
        raise InputError(
            f"{recorder.window.function}: it is not called after the place where runs begin; check --from"
        )
    return Head(int(head["instructions"]), int(head["path"]), bool(head["flags"] & _CUT))


class _Run:
    """One driver that records; used as a context, which ends it."""

    def __init__(self, recorder: Recorder, inputs: Bytes, limit: int, extra: Sequence[str]) -> None:
        self._recorder = recorder
        self._inputs = np.ascontiguousarray(inputs)
        self._limit, self._extra = limit, extra
        self._stack = ExitStack()
        if inputs.ndim != 2 or inputs.shape[1] != recorder.input_bytes:
            raise InputError(f"inputs of shape {inputs.shape}: {recorder.input_bytes} bytes are needed a run")

    def __enter__(self) -> _Run:
        with ExitStack() as stack:
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def _start(self, stack: ExitStack) -> None:
        recorder = self._recorder
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="motecrypt-leak.")))
        given, uart, self._events, self._errors = (
            stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 -- the stack closes it
            for _ in range(4)
        )
        given.write(self._inputs.tobytes())
        uart.write(recorder.uart)
        for file in (given, uart):
            file.flush()
            file.seek(0)
        self._output, output_in = os.pipe()
        stack.callback(os.close, self._output)
        try:
            _widen(self._output)
            how = FreeRun(max_seconds=recorder.max_seconds, uart=Uart(input=uart.fileno()), max_output=None)
            words = [str(part) for part in driver_command(recorder.image, recorder.device, how, scratch)]
            words = [word.replace("{events}", str(self._events.fileno())) for word in words]
            words += self._arguments(given, output_in)
            self._process = subprocess.Popen(
                words,
                stdin=uart,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(given.fileno(), output_in, self._events.fileno()),
            )
        except OSError as error:
            raise MotecryptError(f"the simulator does not start: {error.strerror}") from error
        finally:
            os.close(output_in)
        stack.callback(self._process.wait)
        stack.callback(self._process.kill)

    def _arguments(self, given: IO[bytes], output: int) -> list[str]:
        window = self._recorder.window
        words = ["--leak-from", hex(window.start), "--leak-window", hex(window.address)]
        words += ["--leak-skip", str(window.skip), "--leak-limit", str(self._limit)]
        words += ["--leak-runs", str(len(self._inputs))]
        words += ["--leak-input", str(given.fileno()), "--leak-output", str(output), *self._extra]
        for poke in self._recorder.pokes:
            words += ["--leak-poke", f"{poke.address:#x}:{poke.bytes}"]
        return words

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def take(self, kind: np.dtype[Any], count: int) -> NDArray[Any]:
        """Wait for some records of the output.

        Raises
        ------
        InputError
            When the window never begins.
        MotecryptError
            When the simulator ends early or is silent.
        """
        data = np.empty(count, kind)
        left = data.data.cast("B") if count else memoryview(b"")
        while len(left):
            try:
                ready, _ = process.readable([self._output], self._process.pid, process.LONG_S)
            except process.Hangs as why:
                raise MotecryptError(
                    f"{self._recorder.window.function}: no trace: the simulator was killed {why}"
                ) from None
            if not ready:
                raise MotecryptError(
                    f"{self._recorder.window.function}: no trace within {process.LONG_S:g} s of "
                    "processor time; record fewer instructions (--instructions)"
                )
            got = os.readv(self._output, [left])
            if got == 0:
                self._explain()
            left = left[got:]
        return data

    def ended(self) -> Ended:
        """How the driver ended, once all was taken; MotecryptError where it does not say."""
        ended = self._ended()
        if ended is None or ended.reason != "recorded":
            self._explain()
        return ended

    def _ended(self) -> Ended | None:
        process.ends(self._process, process.ASKED_S)
        self._events.seek(0)
        return ended_of(self._events.read(), self._recorder.device)

    def _explain(self) -> NoReturn:
        ended, window = self._ended(), self._recorder.window
        if ended is not None and ended.reason in ("limit", "stop", "sleep", "stopped"):
            raise InputError(
                f"{window.function}: the window never begins: the firmware did not come to {window.start:#x} "
                f"({ended.detail}); --max-seconds allows more"
            )
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        detail = "" if ended is None else ended.detail
        raise MotecryptError(f"{window.function}: {detail or (said[-1] if said else 'the simulator ended')}")


def _widen(pipe: int) -> None:
    """Let a driver run ahead by a batch while another one is read."""
    import fcntl

    try:
        fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError:  # the system's limit for users
        return
