"""Runs one firmware at one length: every output checked against the oracle, then counted and traced."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from motecrypt.base import process
from motecrypt.base.errors import FailureKind, MotecryptError
from motecrypt.base.frames import ProtocolError
from motecrypt.base.model import OPERATIONS, Cipher, Device, Operation
from motecrypt.build.toolchain import Firmware, build, key_of
from motecrypt.catalog.oracles import oracle
from motecrypt.measuring.bench import inputs
from motecrypt.measuring.bench.plan import Job, empty_request
from motecrypt.simulate.runners import (
    Fault,
    Options,
    Region,
    Session,
    Starts,
    counts_while_tracing,
    keeps_lines,
    runner_of,
)
from motecrypt.simulate.runners.protocol import Client

WIPED_BYTES_MIN = 8  # a shorter plaintext may be what a wiped output happens to look like
TRACED_CYCLES_MAX = 20_000_000  # a request in a tracing run, before one without has shown that it ends


class WrongOutput(MotecryptError):
    """The firmware's output differs from the oracle's: the figure is worth nothing."""

    usual_kind = FailureKind.WRONG_BYTES


class Stopped(Exception):
    """Nobody waits for this any more."""


@dataclass(frozen=True)
class CellFigures:
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


def starts_of(device: Device, firmware: Firmware) -> Starts:
    """Starts of a firmware on its device, one after the other."""
    runner = runner_of(device.runner)
    return Starts(lambda options: runner.open_session(device, firmware.elf, firmware.data_end, options))


def run_passes(
    job: Job, starts: Starts, cache: str, key_bits: int, message_bytes: int, ad_bytes: int
) -> dict[Operation, CellFigures]:
    """The figures of each operation of a firmware at one length; `starts` are those of the job's firmware."""
    assert isinstance(job.cipher, Cipher)
    expected = _expected(job.cipher, key_bits, message_bytes, ad_bytes)
    counted, traced, painted, exact = _counted_and_traced(job, starts, expected, cache)
    overhead = overhead_of(job, cache)
    first = 1 if cache == "warm" and keeps_lines(job.device) else 0  # the first run brings the lines in
    figures: dict[Operation, CellFigures] = {}
    for operation in job.implementation.operations:
        figures[operation] = figures_of(
            regions=counted[operation][first:],
            traces=traced[operation][first:],
            painted=painted[operation],
            cost=overhead[operation],
            exact=exact,
        )
    return figures


def figures_of(
    regions: Sequence[Region], traces: Sequence[Region], painted: Sequence[int], cost: Region, *, exact: bool
) -> CellFigures:
    """The figures of an operation's runs; `cost` is the cost of measuring, `traces` its runs with tracing."""
    digests = {r.trace for r in traces if r.trace is not None}
    cycles = tuple(r.cycles - cost.cycles for r in regions)
    stacks = [r.stack_bytes for r in traces if r.stack_bytes is not None]
    varies = (len(digests) > 1 or min(cycles) != max(cycles)) if digests else None
    return CellFigures(
        cycles=cycles if exact else tuple(max(0, c) for c in cycles),
        stack_bytes=max(stacks) if stacks else None,
        painted_stack_bytes=max(painted),
        timing_varies=varies,
        exact=exact,
        extra=_median_extra(regions) | _median_counts(regions, cost),
    )


_Regions = dict[Operation, list[Region]]


def _counted_and_traced(
    job: Job, starts: Starts, expected: Sequence[_Expected], cache: str
) -> tuple[_Regions, _Regions, dict[Operation, list[int]], bool]:
    """One run where tracing counts exactly; two where it does not, or where following every instruction of
    a long operation would take long and a run without may show sooner that it never ends."""
    if counts_while_tracing(job.device):
        short = Options(trace=True, cache=cache, max_cycles=TRACED_CYCLES_MAX)
        try:
            both, painted, exact = _one_pass(job, starts, expected, short)
            return both, both, painted, exact
        except Fault as error:
            if error.kind is not FailureKind.SILENT:
                raise
    try:
        counted, _, exact = _one_pass(job, starts, expected, Options(cache=cache))
    except (ProtocolError, WrongOutput) as error:
        if error.transient:
            raise
        raise _better_reason(job, starts, expected, cache, error) from error
    traced, painted, _ = _one_pass(job, starts, expected, Options(trace=True, cache=cache))
    return counted, traced, painted, exact


def _better_reason(
    job: Job, starts: Starts, expected: Sequence[_Expected], cache: str, error: MotecryptError
) -> MotecryptError:
    """A stack that runs into the data shows as anything at all; a tracing run names it."""
    try:
        _one_pass(job, starts, expected, Options(trace=True, cache=cache, max_cycles=TRACED_CYCLES_MAX))
    except Fault as traced:
        if traced.kind is FailureKind.STACK:
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


SIMULATED_S = 3600.0
"""Processor time of a simulator for one answer: more than the most cycles that a device may take need."""
# What a runner counts next to cycles: like them, without the cost of measuring.
COUNTED = ("instructions", "core_cycles", "cache_misses", "wait_cycles")


def _median_counts(regions: Sequence[Region], cost: Region) -> dict[str, float | int | str]:
    """Counts of the region that has the median cycles, so that these follow from its core and misses."""
    middle = sorted(regions, key=lambda r: r.cycles)[(len(regions) - 1) // 2]
    return {name: middle.extra[name] - cost.extra.get(name, 0) for name in COUNTED if name in middle.extra}


def client_of(session: Session) -> Client:
    """What loops in a simulator ends by its cycles, always at the same: its limit of time is a longer one."""
    limit_s = SIMULATED_S if session.cycles_exact else process.LONG_S
    return Client(session, limit_s, together=session.holds_input)


def _one_pass(
    job: Job, starts: Starts, expected: Sequence[_Expected], options: Options
) -> tuple[dict[Operation, list[Region]], dict[Operation, list[int]], bool]:
    operations, tag_bytes = job.implementation.operations, job.cipher.tag_bytes
    regions: dict[Operation, list[Region]] = {o: [] for o in operations}
    painted: dict[Operation, list[int]] = {o: [] for o in operations}
    with starts.start(options) as session:
        client = client_of(session)
        client.wait_ready()
        for data, ciphertext, tag in expected:
            if job.stop.is_set():
                raise Stopped
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
                    raise WrongOutput(
                        f"{operation} answered '{ran.status}' for {len(data.message)} bytes",
                        kind=FailureKind.WRONG_STATUS,
                    )
                if operation == "encrypt" and (ran.output, ran.tag) != (ciphertext, tag):
                    raise WrongOutput(difference(ciphertext + tag, ran.output + ran.tag))
                if operation == "decrypt" and ran.output != data.message:
                    raise WrongOutput(f"decrypt: {difference(data.message, ran.output)}")
                if operation in operations:
                    regions[operation] += new
                    painted[operation].append(ran.painted_stack_bytes)
        if tag_bytes and "decrypt" in operations:
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
                f"decrypt answered '{ran.status}' for a tag with a bit flipped in byte {flipped}",
                kind=FailureKind.WRONG_TAG_ACCEPTED,
            )
        if len(data.message) >= WIPED_BYTES_MIN and ran.output == data.message:
            raise WrongOutput(
                "decrypt refused a wrong tag but left the plaintext in its output",
                kind=FailureKind.PLAINTEXT_SHOWN,
            )


def difference(expected: bytes, got: bytes) -> str:
    for at, (a, b) in enumerate(zip(expected, got, strict=False)):
        if a != b:
            return f"byte {at} is 0x{b:02x}, the oracle gives 0x{a:02x}"
    return f"{len(got)} bytes, the oracle gives {len(expected)}"


def overhead_of(job: Job, cache: str) -> dict[Operation, Region]:
    """What is between the marks with the no-op cipher: the cost of measuring, subtracted everywhere."""
    build_key = key_of(empty_request(job.device, job.placement, job.cipher.tag_bytes))
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
    firmware = build(empty_request(device, placement, tag_bytes), build_key)
    runner = runner_of(device.runner)
    options = Options(trace=counts_while_tracing(device), cache=cache)
    costs: dict[Operation, Region] = {}
    with runner.open_session(device, firmware.elf, firmware.data_end, options) as session:
        client = client_of(session)
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
