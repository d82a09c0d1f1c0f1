"""Runs a user's programs for published rows of hardware (`reproduce hardware --library FOLDER`), and keeps
what their regions take on the simulated chip.

FOLDER/hardware.toml names the programs (docs/hardware.md). A program's output is checked before its cycles
count.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.adviser.hardware.rows import HardwareRow, rows, settings
from motecrypt.base.descriptor import Table
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device, ExperimentResult
from motecrypt.build.toolchain.pinned import with_toolchain
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.catalog.flags import checked_flags
from motecrypt.results import Results
from motecrypt.results.experiments.hardware import KIND, VERSION, HardwareQuestion
from motecrypt.simulate.runners import Options, runner_of
from motecrypt.simulate.timed import TimedFirmware, TimedSources, built_timed

CACHES = ("warm", "cold", "kept")
ANSWER_S = 120.0
MAX_OUTPUT_BYTES = 1 << 16


@dataclass(frozen=True)
class TimedProgram:
    """One program of a folder and the rows that its regions are, in order.

    Attributes
    ----------
    rows
        Ids of rows; "" for a region that is of none, such as one that fills a cache.
    per
        By row, what its cycles are divided by: bytes or blocks.
    expected
        Hexadecimal digits that the program must send.
    folder
        The name of the folder that it was read from.
    toolchains
        "" for the device's own compiler; the one of its rows where it is known; else the pinned ones it is
        built with in turn.
    variants
        Toolchains with flags that are added, for what other compilers do.
    """

    name: str
    folder: str
    device: str
    sources: TimedSources
    rows: tuple[str, ...]
    per: tuple[int, ...]
    expected: str
    cache: str
    toolchains: tuple[str, ...]
    variants: tuple[tuple[str, tuple[str, ...]], ...]
    code: str
    commit: str

    def find(self, results: Results) -> ExperimentResult | None:
        """The last row's newest stored result; None where a row has none. Runs nothing."""
        found = [HardwareQuestion(row, self.device).find(results) for row in self.rows if row]
        return None if None in found or not found else found[-1]

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """Build and run it with each of its toolchains, and store what its rows take.

        Raises
        ------
        InputError
            It sends other bytes than it must, or marks another number of regions.
        BuildError, ProtocolError
            It cannot be built, or does not end.
        """
        catalog = Catalog.load()
        device = catalog.device(self.device)
        runner = str(runner_of(device.runner).identity(device))
        runs: dict[str, list[dict[str, Any]]] = {row: [] for row in self.rows if row}
        builds: dict[str, dict[str, Any]] = {}
        for name, flags in [*((name, ()) for name in self.toolchains), *self.variants]:
            variant = " ".join(flags)
            if progress is not None:
                progress(f"{self.name} on {self.device}{f' with {name}' if name else ''} {variant}".rstrip())
            compiled = with_toolchain(device, name, catalog.toolchains)
            with self._built(compiled, flags) as firmware:
                counted = self._run(compiled, firmware)
            for row, cycles, per in zip(self.rows, counted, self.per, strict=True):
                if row:
                    builds[row] = self._build(per)
                    runs[row].append(
                        {
                            "toolchain": compiled.compiler.toolchain,
                            "variant": variant,
                            "compiler": firmware.compiler,
                            "firmware_sha256": firmware.sha256,
                            "cycles": cycles / per,
                        }
                    )
        stored = []
        for row, took in runs.items():
            question = HardwareQuestion(row, self.device)
            outcome = {
                "runs": took,
                "code": self.code,
                "commit": self.commit,
                "runner": runner,
                "build": builds[row],
            }
            inputs = {**question.asked(), "runner": runner, "program": _hash(took)}
            stored.append(results.store_experiment(KIND, VERSION, inputs, outcome, question.asked()))
        return stored[-1]

    @contextmanager
    def _built(self, device: Device, flags: tuple[str, ...]) -> Iterator[TimedFirmware]:
        """Its firmware, for as long as it is used; BuildError names the program."""
        with ExitStack() as stack:
            try:
                built = stack.enter_context(built_timed(device, self.sources.with_flags(device, flags)))
            except BuildError as error:
                raise BuildError(
                    f"{self.name}, by {device.compiler.toolchain or device.compiler.command}: {error}",
                    kind=error.kind,
                    transient=error.transient,
                    cause=error.cause,
                ) from error
            yield built

    def _build(self, per: int) -> dict[str, Any]:
        """What repeats the runs of a row (experiments.hardware.TimedBuild)."""
        return {
            "command": f"motecrypt reproduce hardware --library {shlex.quote(self.folder)}",
            "sources": [source.name for source in self.sources.sources],
            "flags": list(self.sources.flags),
            "defines": list(self.sources.defines),
            "cache": self.cache,
            "per": per,
        }

    def _run(self, device: Device, firmware: TimedFirmware) -> list[int]:
        """Cycles of each region, without what marking costs."""
        runner = runner_of(device.runner)
        options = Options(cache=self.cache, trace=True)  # or unaligned accesses would not be counted
        with runner.open_session(device, firmware.elf, firmware.data_end, options) as session:
            said, end = b"", session.clock.now() + ANSWER_S
            while not said.endswith(b"\n"):
                came = session.read(end)
                if not came or len(said) > MAX_OUTPUT_BYTES:
                    raise InputError(f"{self.name}: it did not end within {ANSWER_S:g} {session.clock.unit}")
                said += came
            empty, *regions = session.regions()
        sent = said.decode("ascii", "replace").strip()
        if sent != self.expected:
            raise InputError(
                f"{self.name}: it sent {sent[:64] or 'nothing'}, expected {self.expected[:64] or 'nothing'}"
            )
        if len(regions) != len(self.rows):
            raise InputError(f"{self.name}: it marked {len(regions)} regions for {len(self.rows)} rows")
        return [region.cycles - empty.cycles for region in regions]


def _hash(runs: list[dict[str, Any]]) -> str:
    return hashlib.sha256("".join(run["firmware_sha256"] for run in runs).encode()).hexdigest()


def read_programs(folder: Path) -> list[TimedProgram]:
    """The programs of a folder's hardware.toml.

    Raises
    ------
    InputError
        The file is missing or not as it should be, or names a row that there is not.
    """
    table = Table.read(folder / "hardware.toml")
    code, commit = table.text("code", filled=True), table.text("commit", "")
    shared = [folder / name for name in table.texts("include", [])]
    programs = [_program(entry, folder, code, commit, shared) for entry in table.tables("program")]
    table.done()
    return programs


def _program(entry: Table, folder: Path, code: str, commit: str, shared: list[Path]) -> TimedProgram:
    ids = entry.texts("rows")
    wanted = [_row(name, entry) for name in ids if name]
    if not wanted:
        raise entry.wrong("rows", list(ids), "at least one row's id")
    devices = {_device(row) for row in wanted}
    if len(devices) > 1 or "" in devices:
        raise entry.wrong("rows", list(ids), "rows of one chip that a device models")
    sources = entry.texts("sources")
    per = entry.integers("per", [1] * len(ids))
    if len(per) != len(ids) or min(per) < 1:
        raise entry.wrong("per", list(per), "a positive number for each row")
    device = devices.pop()
    compilers = {settings().compiler_of(device, row) for row in wanted if not row.assembly}
    if len(compilers) > 1:
        raise entry.wrong("rows", list(ids), "rows of one compiler")
    known = compilers.pop() if compilers else ""
    toolchains = ("",) if all(row.assembly for row in wanted) else (known,) if known else _toolchains(device)
    program = TimedProgram(
        name=f"{folder / sources[0]}",
        folder=folder.resolve().name,
        device=device,
        sources=TimedSources(
            tuple((folder / name).resolve() for name in sources),
            tuple(place.resolve() for place in (*shared, *(folder / n for n in entry.texts("include", [])))),
            entry.texts("defines", []),
            checked_flags(entry.texts("flags", []), entry.where),
        ),
        rows=ids,
        per=tuple(per),
        expected="".join(entry.text("expected", "").lower().split()),
        cache=entry.text("cache", "warm", choices=CACHES),
        toolchains=toolchains,
        variants=() if known else _variants(device, toolchains),
        code=code,
        commit=commit,
    )
    entry.done()
    return program


def _row(name: str, entry: Table) -> HardwareRow:
    if name not in rows():
        raise InputError(f"{entry.where}: no row '{name}'; 'motecrypt reproduce hardware --rows' lists them")
    return rows()[name]


def _device(row: HardwareRow) -> str:
    chip = settings().chip_of(row)
    return "" if chip is None else chip.device


def _toolchains(device: str) -> tuple[str, ...]:
    """Those of the study that compile for a device."""
    catalog = Catalog.load()
    command = catalog.device(device).compiler.command
    return tuple(n for n in settings().toolchains if catalog.toolchain(n).target_for(command) is not None)


def _variants(device: str, toolchains: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Those of the study for these toolchains and the device's compiler."""
    command = Catalog.load().device(device).compiler.command
    fit = (v for v in settings().variants if v.toolchain in toolchains and v.compiler == command)
    return tuple((each.toolchain, each.flags) for each in fit)
