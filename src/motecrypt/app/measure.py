"""Measure ciphers on devices: cycles, flash, RAM and stack, every output checked."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from motecrypt.app.plan import checked_flag_sets, planned, prepare, public_key_cells, toolchains_by_device
from motecrypt.app.selection import Selection, select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Measurement
from motecrypt.build.setup import need
from motecrypt.catalog import DEVICE, Catalog
from motecrypt.catalog.flashing import TOOLS
from motecrypt.catalog.typed import typed_cipher
from motecrypt.measuring import bench
from motecrypt.results import Results, Stored, opened

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress
    from motecrypt.measuring.bench.board import BesideSimulated

ALL, RECOMMENDED = "all", "recommended"


@dataclass(frozen=True)
class Lengths:
    """Lengths of inputs; each combination is measured.

    Attributes
    ----------
    message_bytes : of the messages; of the signed message for public-key algorithms.
    ad_bytes : of the associated data.
    key_bits : of the keys; empty: each length that a cipher has.
    """

    message_bytes: Sequence[int] = (16,)
    ad_bytes: Sequence[int] = (0,)
    key_bits: Sequence[int] = ()


@dataclass(frozen=True)
class Builds:
    """How firmware is built; each combination is measured.

    Attributes
    ----------
    flag_sets : compiler flags instead of the device's; an empty set: the device's.
    toolchains : names or files of toolchains; empty: the system's compiler.
    placements : "flash" or "ram"; empty: each that a device has.
    mirror : the Debian archive to fetch a toolchain from; empty: this machine's.
    """

    flag_sets: Sequence[Sequence[str]] = ((),)
    toolchains: Sequence[str] = ()
    placements: Sequence[str] = ()
    mirror: str = ""


@dataclass(frozen=True)
class MeasureRequest:
    """What to measure.

    Attributes
    ----------
    ciphers : names, families, paths of folders, or "recommended" for all of that security status.
    devices : names, paths of folders, or "all" for each simulated one.
    libraries : names or paths of folders; empty: all.
    variants : of our own ciphers; empty: all but protected ones.
    public_keys : public-key algorithms instead of ciphers.
    """

    ciphers: Sequence[str] = ()
    devices: Sequence[str] = (DEVICE,)
    libraries: Sequence[str] = ()
    variants: Sequence[str] = ()
    public_keys: Sequence[str] = ()
    lengths: Lengths = field(default_factory=Lengths)
    builds: Builds = field(default_factory=Builds)


@dataclass(frozen=True)
class MeasurePlan:
    """The cells of a request, and the catalog with the user's own folders."""

    cells: tuple[Cell, ...]
    catalog: Catalog
    chosen: Selection
    mirror: str = ""

    def prepare(self) -> None:
        """Prove the user's own ciphers, and install what firmware is built and run with.

        Raises
        ------
        InputError
            A known answer is wrong, or a tool is not available.
        """
        self.chosen.prove_own()
        prepare(self.catalog, self.cells, self.mirror)


@dataclass(frozen=True)
class MeasureResult:
    """The figures of a request, in the order of its cells.

    Attributes
    ----------
    figures : one measurement a cell: cycles, bytes of flash, RAM and stack; a failure has its reason.
    catalog : with the user's own folders.
    """

    figures: tuple[Measurement, ...]
    catalog: Catalog

    @property
    def ok(self) -> list[Measurement]:
        """Those that ran and were right."""
        return [figure for figure in self.figures if figure.status == "ok"]

    @property
    def failed(self) -> bool:
        """Whether none ran, or one failed for another reason than that it does not fit."""
        return not self.ok or bool(self.wrong)

    @property
    def wrong(self) -> list[Measurement]:
        """Those that failed for another reason than that they do not fit."""
        return [figure for figure in self.figures if figure.status not in ("ok", "does-not-fit")]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a measurement, as a table of pandas takes them."""
        return [asdict(figure) for figure in self.figures]


def plan(request: MeasureRequest) -> MeasurePlan:
    """The cells of every combination that exists.

    Raises
    ------
    InputError
        A name that does not exist, lengths or flags that are not taken, or nothing left to measure.
    """
    devices, ciphers = _spelled_out(request.devices or (DEVICE,), request.ciphers)
    toolchains = request.builds.toolchains
    chosen = select(ciphers, request.libraries, devices, toolchains, request.public_keys)
    if not chosen.ciphers and not chosen.libraries and not chosen.public_keys:
        raise InputError(
            "say what to measure: --cipher NAME, --public-key NAME or --library NAME "
            "('motecrypt list ciphers')"
        )
    lengths = request.lengths
    if chosen.public_keys and (chosen.ciphers or lengths.key_bits or tuple(lengths.ad_bytes) != (0,)):
        raise InputError("--public-key takes no --cipher, --key-bits or --ad-bytes: measure those apart")
    what = (chosen, request.variants, lengths.message_bytes, request.builds.placements)
    how = (checked_flag_sets(request.builds.flag_sets), toolchains_by_device(chosen))
    cells = (
        public_key_cells(*what, *how)
        if chosen.public_keys
        else planned(*what, lengths.ad_bytes, lengths.key_bits, *how)
    )
    return MeasurePlan(tuple(cells), chosen.catalog, chosen, request.builds.mirror)


def measure(
    request: MeasureRequest,
    results: Stored = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> MeasureResult:
    """Measure what is not stored yet, and give all of it.

    Parameters
    ----------
    results
        The results file: its path, or opened. None: the default one.
    jobs
        How many firmwares run at the same time; None: as processors allow.
    progress
        Called from other threads, too.

    Raises
    ------
    InputError
        As `plan`, or a tool is not available.
    """
    made = plan(request)
    made.prepare()
    with opened(results) as store:
        return measure_plan(made, store, jobs, progress)


def measure_plan(
    made: MeasurePlan,
    results: Results,
    jobs: int | None = None,
    progress: Progress | None = None,
    crew_of: bench.CrewOf | None = None,
) -> MeasureResult:
    """As `measure`, for a plan that is prepared, by whom `crew_of` names."""
    found: Mapping[Cell, Measurement] = bench.ensure(
        made.cells, results, made.catalog, jobs, progress or (lambda *_: None), crew_of=crew_of
    )
    return MeasureResult(tuple(found[cell] for cell in made.cells), made.catalog)


def measure_on_board(
    made: MeasurePlan, port: str, results: Results, progress: Progress | None = None
) -> list[BesideSimulated]:
    """Measure a prepared plan on the board at a serial port, next to simulated figures that are stored.

    Raises
    ------
    InputError
        The cells are of several devices, or a tool is not available.
    BoardError
        The board cannot be flashed, or does not answer as it should.
    """
    from motecrypt.measuring.bench import board

    flashing = made.catalog.device(made.cells[0].device).flashing if made.cells else None
    need("board", *[tool_set for tool_set in [TOOLS[flashing.tool] if flashing else ""] if tool_set])
    return board.measure_on_board(made.cells, port, results, made.catalog, progress)


def after(catalog: Catalog, best: Measurement) -> str:
    """The command that exports what is best, where it is ours; else the one that audits its cipher."""
    from motecrypt.exports.commands import next_step

    if best.cipher in catalog.public_keys:
        return "motecrypt list public-keys"
    step = ""
    with contextlib.suppress(InputError):  # a device that nothing is exported for
        device = catalog.device(best.device)
        step = next_step(catalog, device, best.cipher, best.implementation, best.placement)
    return step or shlex.join(["motecrypt", "audit", typed_cipher(catalog.cipher(best.cipher))])


def _spelled_out(devices: Sequence[str], ciphers: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of devices and ciphers, with "all" and "recommended" replaced by the names that they mean."""
    if ALL not in devices and RECOMMENDED not in ciphers:
        return list(devices), list(ciphers)
    known = Catalog.load()
    simulated = [device.name for device in known.devices.values() if device.simulated]
    sound = [cipher.name for cipher in known.ciphers.values() if cipher.security == RECOMMENDED]
    return (
        [name for text in devices for name in (simulated if text == ALL else [text])],
        [name for text in ciphers for name in (sound if text == RECOMMENDED else [text])],
    )
