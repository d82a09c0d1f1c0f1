"""Plan and ensure: run the cells that are missing, check every output, store every outcome.

`ensure(cells, results)` is the only door to a measurement. A cell that cannot run is a stored result
with its reason; it never stops the others.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache

from motecrypt import __version__, inputs
from motecrypt.build import BuildError, BuildRequest, Firmware, build, key_of
from motecrypt.catalog import Catalog, empty_implementation
from motecrypt.errors import InputError, MotecryptError
from motecrypt.model import OPERATIONS, Cell, Cipher, Device, Implementation, Measurement, Operation
from motecrypt.oracles import oracle
from motecrypt.protocol import Client, ProtocolError
from motecrypt.results import Results
from motecrypt.runners import Fault, Options, Region, runner_of

BENCH_VERSION = 2
ANSWER_TIMEOUT_S = 120.0
WIPED_BYTES_MIN = 8  # a shorter plaintext may be what a wiped output happens to look like
TRACED_CYCLES_MAX = 20_000_000  # a tracing run that only looks for the reason of a fault

Progress = Callable[[int, int, str], None]


class WrongOutput(MotecryptError):
    """The firmware's output differs from the oracle's: the figure is worth nothing."""


class _Stopped(Exception):
    """Nobody waits for this any more."""


@dataclass(frozen=True)
class Job:
    """One built firmware and the lengths it is run at: what one worker does."""

    device: Device
    cipher: Cipher
    implementation: Implementation
    placement: str
    flags: tuple[str, ...]
    runs: tuple[tuple[str, int, int, int], ...]  # cache, key bits, message bytes, associated-data bytes
    stop: threading.Event = field(compare=False)  # set when nobody wants the outcome any more
    build_key: str = ""

    @property
    def title(self) -> str:
        """For progress: which device, cipher and implementation."""
        return f"{self.device.name} {self.cipher.name} {self.implementation.name}"

    def cell(self, operation: Operation, run: tuple[str, int, int, int]) -> Cell:
        """The cell of one operation in one run."""
        cache, key_bits, message_bytes, ad_bytes = run
        return Cell(
            *(self.device.name, self.implementation, operation, key_bits, message_bytes, ad_bytes),
            *(self.placement, cache, self.flags),
        )


# --- plan -----------------------------------------------------------------------------------------


def cells_for(
    catalog: Catalog,
    device: Device,
    implementation: Implementation,
    *,
    message_bytes: Sequence[int],
    key_bits: Sequence[int] = (),
    ad_bytes: Sequence[int] = (0,),
    placements: Sequence[str] = (),
    caches: Sequence[str] = (),
    flags: tuple[str, ...] = (),
    operations: Sequence[Operation] = OPERATIONS,
) -> list[Cell]:
    """The cells of one implementation on one device, skipping lengths that the cipher cannot take."""
    cipher = catalog.cipher(implementation.cipher)
    wanted = [p for p in device.placements if p in (placements or implementation.placements or ("flash",))]
    cells = []
    for placement in wanted or list(device.placements)[:1]:
        for cache in device.placements[placement].caches:
            if caches and cache not in caches:
                continue
            for bits in key_bits or implementation.key_bits:
                if bits not in implementation.key_bits:
                    continue
                for length in message_bytes:
                    if not cipher.message.allows(length):
                        continue
                    for ad in ad_bytes if cipher.associated_data else (0,):
                        cells += [
                            Cell(device.name, implementation, o, bits, length, ad, placement, cache, flags)
                            for o in operations
                            if o in implementation.operations
                        ]
    return cells


def cell_key(catalog: Catalog, cell: Cell) -> str:
    """The content hash of a cell: build, runner, inputs, oracle and lengths. Builds nothing."""
    return _Keys(catalog)(cell)


def cell_keys(catalog: Catalog, cells: Iterable[Cell]) -> dict[Cell, str]:
    """The keys of many cells: what those of one build share is worked out once."""
    keys = _Keys(catalog)
    return {cell: keys(cell) for cell in cells}


class _Keys:
    """Keys of many cells: each build's part is worked out once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._shared: dict[tuple[str, Implementation, str, tuple[str, ...]], tuple[str, str, str]] = {}
        self._empty: dict[tuple[str, str, int], str] = {}

    def __call__(self, cell: Cell) -> str:
        group = (cell.device, cell.implementation, cell.placement, cell.flags)
        if group not in self._shared:
            device = self._catalog.device(cell.device)
            cipher = self._catalog.cipher(cell.implementation.cipher)
            built = _key_or_reason(BuildRequest(device, *group[1:]))
            base = self._base(device, cell.placement, cipher.tag_bytes)
            runner = runner_of(device.runner).identity(device)
            settings = json.dumps([device.clock_hz, dict(device.simulator)], sort_keys=True)
            self._shared[group] = (built, f"{base} {runner} {settings}", _oracle_hash(cipher))
        return _hash_cell(*self._shared[group], _describe(cell))

    def _base(self, device: Device, placement: str, tag_bytes: int) -> str:
        key = (device.name, placement, tag_bytes)
        if key not in self._empty:
            self._empty[key] = _key_or_reason(_empty_request(device, placement, tag_bytes))
        return self._empty[key]

    def build_key(self, job: Job) -> str:
        """The key that the job's firmware had when its cells got theirs."""
        return self._shared[(job.device.name, job.implementation, job.placement, job.flags)][0]


def _key_or_reason(request: BuildRequest) -> str:
    try:
        return key_of(request)
    except BuildError as error:
        return f"unbuildable: {error}"


def _empty_request(device: Device, placement: str, tag_bytes: int) -> BuildRequest:
    return BuildRequest(device, empty_implementation(tag_bytes), placement)


def _describe(cell: Cell) -> str:
    body = cell.implementation
    return json.dumps(
        [
            *(cell.device, cell.operation, cell.key_bits, cell.message_bytes, cell.ad_bytes),
            *(cell.placement, cell.cache, cell.flags),
            *(body.cipher, body.library, body.configuration, body.variant, inputs.VERSION, BENCH_VERSION),
        ]
    )


def _hash_cell(built: str, runner: str, oracle_hash: str, description: str) -> str:
    return hashlib.sha256("\0".join((built, runner, oracle_hash, description)).encode()).hexdigest()


@lru_cache(maxsize=256)
def _oracle_hash(cipher: Cipher) -> str:
    path = cipher.folder / cipher.oracle
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "missing"


# --- ensure ---------------------------------------------------------------------------------------


def ensure(
    cells: Iterable[Cell],
    results: Results,
    catalog: Catalog | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    again: bool = False,
) -> dict[Cell, Measurement]:
    """Measure what is missing and return every cell's measurement.

    Parameters
    ----------
    cells
        What is wanted; measurements already stored with the same content are not made again.
    jobs
        Firmwares run side by side; default: the number of processors.
    progress
        Called with (done, total, title) as firmwares are finished.
    again
        Measure what is stored, too: a board is asked each time.
    """
    catalog = catalog or Catalog.load()
    keys = _Keys(catalog)
    stored = {cell: results.measurement(keys(cell)) for cell in dict.fromkeys(cells)}
    missing = [
        cell for cell, found in stored.items() if again or found is None or found.extra.get("transient")
    ]
    stop = threading.Event()
    work = [replace(job, build_key=keys.build_key(job)) for job in _group(catalog, missing, stop)]

    def take(future: Future[dict[Cell, Measurement]]) -> None:
        outcome = future.result()
        results.store({keys(cell): m for cell, m in outcome.items()})
        stored.update({cell: m for cell, m in outcome.items() if cell in stored})

    with ThreadPoolExecutor(max_workers=jobs or os.cpu_count() or 1) as pool:
        futures = {pool.submit(_measure_job, job): job for job in work}
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                take(future)
                if progress is not None:
                    progress(done, len(work), futures[future].title)
        except BaseException as error:
            stop.set()
            for future in futures:
                future.cancel()
            if isinstance(error, KeyboardInterrupt):
                for future in wait(futures).done:  # what is done is kept
                    if not future.cancelled() and future.exception() is None:
                        take(future)
            raise
    return {cell: m for cell, m in stored.items() if m is not None}


def _group(catalog: Catalog, cells: Sequence[Cell], stop: threading.Event) -> list[Job]:
    runs: dict[tuple[str, Implementation, str, tuple[str, ...]], dict[tuple[str, int, int, int], None]] = {}
    for cell in cells:
        group = runs.setdefault((cell.device, cell.implementation, cell.placement, cell.flags), {})
        group[(cell.cache, cell.key_bits, cell.message_bytes, cell.ad_bytes)] = None
    return [
        Job(catalog.device(d), catalog.cipher(body.cipher), body, placement, flags, tuple(run), stop)
        for (d, body, placement, flags), run in runs.items()
    ]


def _measure_job(job: Job) -> dict[Cell, Measurement]:
    request = BuildRequest(job.device, job.implementation, job.placement, job.flags)
    outcome: dict[Cell, Measurement] = {}
    firmware: Firmware | None = None
    base: Firmware | None = None
    trouble: tuple[str, str] | None = None
    passing = False  # whether the trouble may be gone the next time
    try:
        firmware = build(request)
        if firmware.key != job.build_key:
            raise BuildError("a source was changed meanwhile: measure again", transient=True)
        base = build(_empty_request(job.device, job.placement, job.cipher.tag_bytes))
        trouble = _misfit(job.device, firmware)
    except BuildError as error:
        trouble, passing = ("build-failed", str(error)), error.transient
    for run in job.runs:
        if job.stop.is_set():
            break
        cache, key_bits, message_bytes, ad_bytes = run
        failed = trouble or _too_long(job, message_bytes, ad_bytes, key_bits)
        passes: dict[Operation, _Figures] = {}
        transient = passing
        if failed is None and firmware is not None:
            try:
                passes = _run_passes(job, firmware, cache, key_bits, message_bytes, ad_bytes)
            except Fault as error:
                failed, transient = ("fault", str(error)), error.transient
            except WrongOutput as error:
                failed = ("wrong-output", str(error))
            except ProtocolError as error:
                failed = ("fault", str(error))
                transient = "no answer within" in str(error) or job.device.runner == "board"
            except BuildError as error:
                failed, transient = ("build-failed", str(error)), error.transient
            except _Stopped:
                break
        for operation in job.implementation.operations:
            cell = job.cell(operation, run)
            figures = passes.get(operation)
            outcome[cell] = _measurement(job, cell, firmware, base, figures, failed, transient)
    return outcome


def _misfit(device: Device, firmware: Firmware) -> tuple[str, str] | None:
    for name, needed in (("flash", firmware.total.flash), ("ram", firmware.total.ram)):
        memory = device.memory.get(name)
        if memory is not None and needed > memory.bytes:
            label = "RAM" if name == "ram" else name
            return "does-not-fit", f"does not fit: needs {needed:,} of {memory.bytes:,} bytes of {label}"
    return None


def _too_long(job: Job, message_bytes: int, ad_bytes: int, key_bits: int) -> tuple[str, str] | None:
    bench = job.device.bench
    for what, needed, capacity in (
        ("a message", message_bytes, bench["message"]),
        ("associated data", ad_bytes, bench["ad"]),
        ("a key", key_bits // 8, bench["key"]),
    ):
        if needed > capacity:
            return (
                "does-not-fit",
                f"{what} of {needed} bytes: the firmware on {job.device.name} holds {capacity}",
            )
    return None


# --- running --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Figures:
    cycles: tuple[int, ...]
    stack_bytes: int | None
    painted_stack_bytes: int
    timing_varies: bool | None
    exact: bool
    extra: Mapping[str, float | int | str]


_Expected = tuple[inputs.Inputs, bytes, bytes]  # with the oracle's ciphertext and tag


@lru_cache(maxsize=64)
def _expected(cipher: Cipher, key_bits: int, message_bytes: int, ad_bytes: int) -> tuple[_Expected, ...]:
    encrypt = oracle(cipher)
    drawn = []
    for index in range(inputs.COUNT):
        data = inputs.draw(cipher.name, index, key_bits, cipher.nonce_bytes, ad_bytes, message_bytes)
        drawn.append((data, *encrypt(data.key, data.nonce, data.ad, data.message)))
    return tuple(drawn)


def _run_passes(
    job: Job, firmware: Firmware, cache: str, key_bits: int, message_bytes: int, ad_bytes: int
) -> dict[Operation, _Figures]:
    expected = _expected(job.cipher, key_bits, message_bytes, ad_bytes)
    try:
        counted, _, exact = _one_pass(job, firmware, expected, Options(cache=cache))
    except (Fault, WrongOutput) as error:
        raise _better_reason(job, firmware, expected, cache, error) from error
    traced, painted, _ = _one_pass(job, firmware, expected, Options(trace=True, cache=cache))
    overhead = _overhead(job, cache)
    figures: dict[Operation, _Figures] = {}
    for operation in job.implementation.operations:
        regions, traces = counted[operation], traced[operation]
        digests = {r.trace for r in traces if r.trace is not None}
        cost = overhead[operation]
        cycles = tuple(r.cycles - cost.cycles for r in regions)
        stacks = [r.stack_bytes for r in traces if r.stack_bytes is not None]
        varies = (len(digests) > 1 or min(cycles) != max(cycles)) if digests else None
        figures[operation] = _Figures(
            cycles=cycles if exact else tuple(max(0, c) for c in cycles),
            stack_bytes=max(stacks) if stacks else None,
            painted_stack_bytes=max(painted[operation]),
            timing_varies=varies,
            exact=exact,
            extra=_median_extra(regions) | _median_counts(regions, cost),
        )
    return figures


def _better_reason(
    job: Job, firmware: Firmware, expected: Sequence[_Expected], cache: str, error: MotecryptError
) -> MotecryptError:
    """A stack that runs into the data shows as anything at all; a tracing run names it."""
    try:
        _one_pass(job, firmware, expected, Options(trace=True, cache=cache, max_cycles=TRACED_CYCLES_MAX))
    except Fault as traced:
        if "stack" in str(traced):
            return traced
    except MotecryptError:
        pass
    return error


def _median_extra(regions: Sequence[Region]) -> dict[str, float | int | str]:
    """Medians of whatever else a runner says of its regions (cache misses, instructions)."""
    names = {name for r in regions for name in r.extra}
    extra: dict[str, float | int | str] = {}
    for name in sorted(names):
        values = [r.extra[name] for r in regions if isinstance(r.extra.get(name), int | float)]
        if values:
            extra[name] = statistics.median_low(values)
    return extra


# What a runner counts beside cycles: like them, without the cost of measuring.
COUNTED = ("instructions", "core_cycles", "cache_misses")


def _median_counts(regions: Sequence[Region], cost: Region) -> dict[str, float | int | str]:
    """Counts of the region that has the median cycles, so that these follow from its core and misses."""
    middle = sorted(regions, key=lambda r: r.cycles)[(len(regions) - 1) // 2]
    return {name: middle.extra[name] - cost.extra.get(name, 0) for name in COUNTED if name in middle.extra}


def _one_pass(
    job: Job, firmware: Firmware, expected: Sequence[_Expected], options: Options
) -> tuple[dict[Operation, list[Region]], dict[Operation, list[int]], bool]:
    operations, tag_bytes = job.implementation.operations, job.cipher.tag_bytes
    regions: dict[Operation, list[Region]] = {o: [] for o in operations}
    painted: dict[Operation, list[int]] = {o: [] for o in operations}
    runner = runner_of(job.device.runner)
    with runner.open_session(job.device, firmware.elf, firmware.data_end, options) as session:
        client = Client(session, ANSWER_TIMEOUT_S)
        client.wait_ready()
        for data, ciphertext, tag in expected:
            if job.stop.is_set():
                raise _Stopped
            client.set_key(data.key)
            if data.nonce:
                client.set_nonce(data.nonce)
            if data.ad:
                client.set_ad(data.ad)
            client.set_message(data.message if "encrypt" in operations else ciphertext)
            if tag and "encrypt" not in operations:
                client.set_tag(tag)
            for operation in OPERATIONS:
                if operation not in operations and operation != "setup":  # every cipher needs its key
                    continue
                ran = client.run(operation, 1, tag_bytes)
                new = session.regions()
                if ran.status != "ok" or len(new) != 1:
                    raise WrongOutput(f"{operation} answered '{ran.status}' for {len(data.message)} bytes")
                if operation == "encrypt" and (ran.output, ran.tag) != (ciphertext, tag):
                    raise WrongOutput(_difference(ciphertext + tag, ran.output + ran.tag))
                if operation == "decrypt" and ran.output != data.message:
                    raise WrongOutput(f"decrypt: {_difference(data.message, ran.output)}")
                if operation in operations:
                    regions[operation] += new
                    painted[operation].append(ran.painted_stack_bytes)
        if tag_bytes and "decrypt" in operations and not options.trace:
            _refuses_a_wrong_tag(client, expected[-1], tag_bytes)
        return regions, painted, session.cycles_exact


def _refuses_a_wrong_tag(client: Client, last: _Expected, tag_bytes: int) -> None:
    """Set up with the last key still: a tag with one bit flipped must be refused, and nothing be shown."""
    data, ciphertext, tag = last
    for flipped in (0, tag_bytes - 1):
        client.set_message(ciphertext)
        client.set_tag(tag[:flipped] + bytes([tag[flipped] ^ 1]) + tag[flipped + 1 :])
        ran = client.run("decrypt", 1, tag_bytes)
        if ran.status != "bad tag":
            raise WrongOutput(
                f"decrypt answered '{ran.status}' for a tag with a bit flipped in byte {flipped}"
            )
        if len(data.message) >= WIPED_BYTES_MIN and ran.output == data.message:
            raise WrongOutput("decrypt refused a wrong tag but left the plaintext in its output")


def _difference(expected: bytes, got: bytes) -> str:
    for at, (a, b) in enumerate(zip(expected, got, strict=False)):
        if a != b:
            return f"byte {at} is 0x{b:02x}, the oracle says 0x{a:02x}"
    return f"{len(got)} bytes, the oracle says {len(expected)}"


def _overhead(job: Job, cache: str) -> dict[Operation, Region]:
    """What lies between the marks with the empty cipher: the cost of measuring, subtracted everywhere."""
    build_key = key_of(_empty_request(job.device, job.placement, job.cipher.tag_bytes))
    key = (job.device.name, str(job.device.extra.get("port", "")), job.placement, cache, build_key)
    if key not in _overheads:
        _overheads[key] = _measured_overhead(
            job.device, job.placement, job.cipher.tag_bytes, cache, build_key
        )
    return _overheads[key]


_overheads: dict[tuple[str, ...], dict[Operation, Region]] = {}  # of this process


def _measured_overhead(
    device: Device, placement: str, tag_bytes: int, cache: str, build_key: str
) -> dict[Operation, Region]:
    firmware = build(_empty_request(device, placement, tag_bytes), build_key)
    runner = runner_of(device.runner)
    options = Options(cache=cache)
    costs: dict[Operation, Region] = {}
    with runner.open_session(device, firmware.elf, firmware.data_end, options) as session:
        client = Client(session, ANSWER_TIMEOUT_S)
        client.wait_ready()
        client.set_key(bytes(16))
        client.set_message(bytes(16))
        for operation in OPERATIONS:
            seen: list[Region] = []
            for _ in range(5):
                client.run(operation, 1, tag_bytes)
                seen += session.regions()
            costs[operation] = min(seen, key=lambda r: r.cycles)
    return costs


# --- the record -----------------------------------------------------------------------------------


def _time_us(device: Device, cycles: int | None, extra: Mapping[str, object]) -> float | None:
    """Cycles as time: by the device's clock or, where a runner says how fast its counter ran, by that."""
    if cycles is None:
        return None
    rate = extra.get("ticks_per_ns")
    if isinstance(rate, int | float) and rate > 0:
        return round(cycles / rate / 1000, 4)
    return round(cycles * 1e6 / device.clock_hz, 4)


def _measurement(
    job: Job,
    cell: Cell,
    firmware: Firmware | None,
    base: Firmware | None,
    figures: _Figures | None,
    failed: tuple[str, str] | None,
    transient: bool,
) -> Measurement:
    body = job.implementation
    status, reason = failed or ("ok", "")
    cycles = figures.cycles if figures else ()
    median = int(statistics.median_low(cycles)) if cycles else None
    extra: dict[str, object] = dict(figures.extra) if figures else {}
    if figures:
        extra["painted_stack_bytes"] = figures.painted_stack_bytes
    if transient:
        extra["transient"] = True
    sized = firmware is not None and base is not None
    total, empty = (firmware.total, base.total) if firmware and base else (None, None)
    record = Measurement(
        device=job.device.name,
        library=body.library,
        configuration=body.configuration,
        cipher=body.cipher,
        variant=body.variant,
        key_bits=cell.key_bits,
        operation=cell.operation,
        message_bytes=cell.message_bytes,
        ad_bytes=cell.ad_bytes,
        tag_bytes=job.cipher.tag_bytes,
        placement=cell.placement,
        cache=cell.cache,
        cycles_min=min(cycles) if cycles else None,
        cycles_median=median,
        cycles_max=max(cycles) if cycles else None,
        inputs=len(cycles),
        timing_varies=figures.timing_varies if figures else None,
        time_us=_time_us(job.device, median, extra),
        flash_bytes=total.flash - empty.flash if total and empty else None,
        flash_symbol_bytes=firmware.cipher.flash if firmware and sized else None,
        ram_bytes=total.ram - empty.ram if total and empty else None,
        eeprom_bytes=total.eeprom - empty.eeprom if total and empty else None,
        stack_bytes=figures.stack_bytes if figures else None,
        status=status,
        reason=reason,
        compiler=firmware.compiler if firmware else "",
        flags=firmware.flags if firmware else " ".join(cell.flags),
        runner=runner_of(job.device.runner).identity(job.device),
        cycles_exact=figures.exact if figures else False,
        elf_sha256=firmware.sha256 if firmware else "",
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        motecrypt_version=__version__,
        extra=extra,
    )
    return replace(record, reason=record.reason[:500])


__all__ = ["Cell", "InputError", "Job", "Progress", "cell_key", "cells_for", "ensure"]
