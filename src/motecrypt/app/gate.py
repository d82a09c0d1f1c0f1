"""Measures what a motecrypt.toml asks for, of one tree: libraries, ciphers and firmware."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.adviser import api as advise
from motecrypt.adviser.gather import candidate as candidate_of
from motecrypt.air.radios import load_radio
from motecrypt.app.plan import planned, prepare, toolchains_by_device
from motecrypt.app.profile import profile
from motecrypt.app.run import RunRequest
from motecrypt.app.selection import is_path, select
from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cell, Device, Measurement
from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.build.toolchain.pinned import with_toolchain
from motecrypt.build.toolchain.sizes import symbols
from motecrypt.catalog import Catalog
from motecrypt.gate.figures import Benchmark, benchmarks_of, build_name, cell_name
from motecrypt.gate.plan import BatteryEntry, FirmwareEntry, GatePlan, MeasuredEntry
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.simulate.callgraph.bounds import StackBound, stack_bounds
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.profiling import DID_NOT_RUN, Profile, choose
from motecrypt.simulate.emulate.run import Ended
from motecrypt.simulate.emulate.symbols import DEMANGLERS, read_symbols

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress

ASLEEP_LOOKS = 300
"""Looks in a row at which a program of the plan may sleep: it may wait for a network."""
#: The function that an operation of the benchmark firmware begins with.
OPERATION_FUNCTIONS = {"setup": "cipher_setup", "encrypt": "cipher_encrypt", "decrypt": "cipher_decrypt"}


class HinderedError(InputError):
    """The machine hindered a measurement, as by a full disk: the code is not at fault."""


@dataclass(frozen=True)
class RanFirmware:
    """A firmware that was run: its file as laid out, its device, and its profile."""

    image: Image
    device: Device
    profile: Profile


@dataclass(frozen=True)
class Taken:
    """What was measured of one tree; `cells` by the names of their benchmarks, for the causes of growth;
    `entries`: the names of the benchmarks of each entry; `ended`: how each firmware's run ended."""

    benchmarks: list[Benchmark] = field(default_factory=list)
    cells: dict[str, tuple[Cell, Catalog]] = field(default_factory=dict)
    builds: dict[str, tuple[Cell, Catalog]] = field(default_factory=dict)
    firmware: dict[str, RanFirmware] = field(default_factory=dict)
    ended: dict[str, Ended] = field(default_factory=dict)
    entries: dict[MeasuredEntry | FirmwareEntry, list[str]] = field(default_factory=dict)


def take(plan: GatePlan, root: Path, results: Results, jobs: int | None, report: Progress) -> Taken:
    """Measure everything that the plan asks for, in the tree at `root`.

    Raises
    ------
    InputError
        Something named is not there, a tool is missing, or the machine hindered a measurement.
    """
    taken = Taken()
    for entry in plan.measured:
        catalog, cells = _cells(entry, root)
        prepare(catalog, cells, "")
        measured = bench.ensure(cells, results, catalog, jobs, report)
        _none_transient(measured.values())
        toolchain = cells[0].toolchain
        for cell, m in measured.items():
            taken.cells[cell_name(m, toolchain)] = (cell, catalog)
            name = build_name(m, toolchain)
            other, _ = taken.builds.setdefault(name, (cell, catalog))
            if other.implementation != cell.implementation:
                raise _two_of(plan, name)
        found = _with_worst(benchmarks_of(measured.values(), toolchain), taken)
        if plan.battery is not None:
            days = _battery_days(plan.battery, catalog, measured, toolchain)
            found = [_with_days(benchmark, days.get(benchmark.name)) for benchmark in found]
        taken.entries[entry] = [benchmark.name for benchmark in found]
        known = {benchmark.name for benchmark in taken.benchmarks}  # a build that an entry before has
        taken.benchmarks.extend(benchmark for benchmark in found if benchmark.name not in known)
    for firmware in plan.firmware:
        known = {benchmark.name for benchmark in taken.benchmarks}
        found = _firmware(firmware, root, taken)
        for benchmark in found:
            if benchmark.name in known:
                raise _two_of(plan, benchmark.name)
        taken.entries[firmware] = [benchmark.name for benchmark in found]
        taken.benchmarks.extend(found)
    return taken


def _two_of(plan: GatePlan, name: str) -> InputError:
    return InputError(
        f"{plan.file}: two entries give the benchmark '{name}'; rename a library's folder or a firmware"
    )


def _none_transient(measured: Any) -> None:
    for m in measured:
        if m.transient:
            raise HinderedError(f"{cell_name(m)}: could not be measured now: {m.reason}; run it again")


def _cells(entry: MeasuredEntry, root: Path) -> tuple[Catalog, list[Cell]]:
    def placed(name: str) -> str:
        return str(root / name) if is_path(name) else name

    folder = root / entry.folder if entry.folder else None
    if folder is not None and not (folder / "library.toml").is_file():
        raise InputError(
            f"{folder}: no library.toml there; [[library]] 'folder' names the folder that has it"
        )
    chosen = select(
        [placed(entry.cipher)] if entry.cipher else list(entry.ciphers),
        [str(folder)] if folder else [placed(name) for name in entry.libraries],
        [placed(name) for name in entry.devices],
        [placed(entry.toolchain)] if entry.toolchain else [],
    )
    chosen.prove_own()
    catalog, lengths = chosen.catalog, entry.message_bytes
    some = [name for name in chosen.wanted if any(map(catalog.cipher(name).message.allows, lengths))]
    if not some:
        raise InputError(f"{entry.folder or entry.cipher}: nothing to measure: no cipher takes its lengths")
    return catalog, planned(
        replace(chosen, ciphers=some),
        *(entry.variants, lengths, entry.placements, entry.ad_bytes, entry.key_bits, [entry.flags]),
        toolchains_by_device(chosen),
    )


def bounds_of(elf: Path, device: Device) -> list[StackBound]:
    """The stack of each function by static analysis; nothing for cores and files that have none."""
    try:
        return stack_bounds(elf, device, read_symbols(elf, DEMANGLERS[device.runner]))
    except (InputError, KeyError):
        return []


def built(cell: Cell, catalog: Catalog) -> tuple[Device, Path]:
    """The device, with the compiler of the cell, and the firmware that the cell is measured with."""
    device = with_toolchain(catalog.device(cell.device), cell.toolchain, catalog.toolchains)
    return device, build(BuildRequest(device, cell.implementation, cell.placement, cell.flags)).elf


def _with_worst(found: list[Benchmark], taken: Taken) -> list[Benchmark]:
    """With the worst stack of the cipher's operations, where there is a bound."""
    told = []
    for benchmark in found:
        if benchmark.name in taken.builds and benchmark.ran:
            device, elf = built(*taken.builds[benchmark.name])
            table, mask = symbols(elf), ~1 if device.runner == "arm" else ~0
            entries = {table[name] & mask for name in OPERATION_FUNCTIONS.values() if name in table}
            bounds = [bound for bound in bounds_of(elf, device) if bound.address in entries]
            if bounds and all(bound.bounded for bound in bounds):
                worst = max(bound.worst for bound in bounds)
                benchmark = replace(benchmark, figures={**benchmark.figures, "stack_worst": worst})
        told.append(benchmark)
    return told


# --- batteries ---------------------------------------------------------------------------------------


def _battery_days(
    entry: BatteryEntry, catalog: Catalog, measured: Mapping[Cell, Measurement], toolchain: str
) -> dict[str, float]:
    """Days that the battery lasts a node that sends such messages, each encrypted by the cipher alone; by the
    names of the benchmarks of encryption."""
    groups: dict[tuple[object, ...], list[tuple[Cell, Measurement]]] = {}
    for cell, m in measured.items():
        if m.status == "ok" and not cell.ad_bytes:
            key = (cell.device, cell.implementation, cell.key_bits, cell.placement, cell.cache, cell.flags)
            groups.setdefault(key, []).append((cell, m))
    found = {}
    for of in groups.values():
        one = of[0][0]
        device, body = catalog.device(one.device), one.implementation
        candidate = candidate_of(
            catalog.cipher(body.cipher), body, one.key_bits, one.placement, one.cache, [m for _, m in of]
        )
        for cell, m in of:
            if cell.operation == "encrypt":
                days = life_days(entry, device, candidate, cell.message_bytes)
                if days is not None:
                    found[cell_name(m, toolchain)] = days
    return found


def life_days(
    entry: BatteryEntry, device: Device, candidate: advise.Candidate, message_bytes: int
) -> float | None:
    """Days, with one decimal place; None where the cipher has no figures of that length.

    Raises
    ------
    InputError
        The battery cannot run the device, or a name is unknown.
    """
    radio = advise.radio_part(load_radio(entry.radio))
    facts = advise.device_part(device, "board", entry.sleeps)
    battery, regulator = advise.battery_part(entry.battery), advise.regulator_part(entry.regulator)
    refusal = advise.radio_refusal(radio, entry.sleeps) or advise.supply_refusal(facts, battery, regulator)
    if refusal:
        raise InputError(f"[battery]: {refusal}")
    question = advise.Question(
        message_bytes=message_bytes,
        interval_s=advise.seconds(entry.every, "[battery] every"),
        needs=("confidentiality",),
    )
    days = advise.life_days(question, candidate, facts, radio, advise.link_facts(), battery, regulator)
    return None if days is None else round(days, 1)


def _with_days(benchmark: Benchmark, days: float | None) -> Benchmark:
    if days is None:
        return benchmark
    return replace(benchmark, figures={**benchmark.figures, "battery_days": days})


def _work_s(share: float) -> float:
    """Processor time of a program that may use every processor, for `share` times LONG_S."""
    return share * process.LONG_S * process.processors()


# --- firmware ----------------------------------------------------------------------------------------


def _firmware(entry: FirmwareEntry, root: Path, taken: Taken) -> list[Benchmark]:
    """The benchmarks of a firmware: the whole run, and one for each of the functions that are asked for."""
    device = str(root / entry.device) if is_path(entry.device) else entry.device
    if entry.build:
        select(devices=[device])  # before a build that may take long
        outcome = process.run(entry.build, cwd=root, work_s=_work_s(1), asleep=ASLEEP_LOOKS)
        if not outcome.ok:
            raise MotecryptError(
                f"firmware {entry.name}: '{' '.join(entry.build)}' failed: {outcome.told_errors}"
            )
    ran = profile(
        RunRequest(
            root / entry.file,
            device,
            until=entry.until or None,
            max_seconds=entry.max_seconds,
            max_output=None,
        )
    )
    image, found = ran.image, ran.profile
    name = f"{ran.device.name}/{entry.name}"
    taken.ended[name] = ran.ended
    if ran.failure:
        return [Benchmark(name, name, {}, "fault", ran.failure)]
    figures: dict[str, float] = {"flash": image.flash_bytes}
    if image.ram_bytes is not None:
        figures["ram"] = image.ram_bytes
    if found.ended.stack_bytes is not None:
        figures["stack"] = found.ended.stack_bytes
    if entry.until:  # else it ran for as long as it was let
        figures["cycles"] = found.ended.cycles
    taken.firmware[name] = RanFirmware(image, ran.device, found)
    bounds = (
        {bound.address: bound for bound in bounds_of(image.elf, ran.device) if bound.bounded}
        if image.elf
        else {}
    )
    main = next((bound.worst for bound in bounds.values() if bound.name.partition("(")[0] == "main"), None)
    if main is not None:
        figures["stack_worst"] = main
    benchmarks = [Benchmark(name, name, figures)]
    for cost in choose(found.functions, entry.functions, DID_NOT_RUN) if entry.functions else ():
        own: dict[str, float] = {}
        if cost.cycles_range is not None:
            own["cycles"] = cost.cycles_range[2]
        if cost.stack_bytes is not None:
            own["stack"] = cost.stack_bytes
        if cost.address in bounds:
            own["stack_worst"] = bounds[cost.address].worst
        benchmarks.append(Benchmark(f"{name}/{cost.name}", name, own))
    return benchmarks


# --- a repository of motecrypt's own ------------------------------------------------------------------


def take_with_own_program(plan: GatePlan, root: Path, db: Path) -> Taken:
    """Measure the plan's ciphers with the motecrypt of the tree at `root`: of its own repository, whose older
    commits have their own ciphers.

    Raises
    ------
    InputError
        That program cannot be run, or says that something is wrong.
    """
    taken = Taken()
    for entry in plan.measured:
        words: list[str | Path] = [root / "motecrypt", "measure", "--db", db, "--json"]
        options = {
            "--cipher": [entry.cipher] if entry.cipher else entry.ciphers,
            "--library": [str(root / entry.folder)] if entry.folder else entry.libraries,
            "--device": entry.devices,
            "--variant": entry.variants,
            "--placement": entry.placements,
            "--toolchain": [entry.toolchain] if entry.toolchain else [],
            "--flags": [" ".join(entry.flags)] if entry.flags else [],
            "--bytes": [",".join(map(str, entry.message_bytes))],
            "--ad-bytes": [",".join(map(str, entry.ad_bytes))],
            "--key-bits": [",".join(map(str, entry.key_bits))] if entry.key_bits else [],
        }
        for option, values in options.items():
            for value in values:
                words += [option, value]
        outcome = process.run(words, cwd=root, work_s=_work_s(4), asleep=ASLEEP_LOOKS)
        if outcome.code not in (0, 1):
            raise InputError(f"{root / 'motecrypt'}: {outcome.first_error}")
        measured = _measurements(outcome.output, root)
        _none_transient(measured)
        toolchain = Path(entry.toolchain).stem if is_path(entry.toolchain) else entry.toolchain
        taken.benchmarks.extend(benchmarks_of(measured, toolchain))
    return taken


def _measurements(text: str, root: Path) -> list[Measurement]:
    """What `measure --json` printed, by whichever version: fields that are unknown here are left out."""
    known = {f.name for f in fields(Measurement)}
    try:
        return [Measurement(**{k: v for k, v in row.items() if k in known}) for row in json.loads(text)]
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{root / 'motecrypt'}: measure printed no measurements ({error})") from None


@contextmanager
def fed(data: bytes) -> Iterator[int]:
    """A descriptor to read these bytes from, as a firmware's input."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        yield file.fileno()
