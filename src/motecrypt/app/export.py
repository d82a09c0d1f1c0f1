"""Write a measured cipher, or the link with it, as a library to install."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.app.selection import select
from motecrypt.base.model import Cell, Device
from motecrypt.build.setup import have
from motecrypt.catalog import Catalog
from motecrypt.catalog.typed import typed_cipher, typed_device
from motecrypt.exports.commands import LinkRadio
from motecrypt.exports.targets import Target, for_device
from motecrypt.exports.targets import target as target_named
from motecrypt.measuring import bench
from motecrypt.results import Results, opened
from motecrypt.results.experiments.link_cost import LinkCostAnswer, LinkCostQuestion

if TYPE_CHECKING:
    from motecrypt.air.radios import Radio
    from motecrypt.base.progress import Progress
    from motecrypt.exports.library import Export


@dataclass(frozen=True)
class ExportRequest:
    """What to export.

    Attributes
    ----------
    target : "arduino", "c", "pico-sdk" and others.
    cipher : its name, or the path of a folder.
    variant : of our implementation; empty: the best for the target's core, of those in constant time there.
    device : with "c": for this device, with its compiler's flags.
    placement : of constant tables: "flash" or "ram"; empty: flash, or without a variant the first from which
        reads take the same time.
    url : the library's web address, for its metadata.
    link : the secure link with that cipher: for any radio (True), or for one.
    measure : whether what is not stored is measured for the README, where compiler and simulator are here.
    """

    target: str
    cipher: str
    variant: str = ""
    device: str = ""
    placement: str = ""
    url: str = ""
    link: bool | LinkRadio = False
    measure: bool = True


@dataclass(frozen=True)
class ExportResult:
    """What was written.

    Attributes
    ----------
    library : its name, files and figures; `library.figures.missing` are those that are not stored.
    cells : what its figures are, by device; none for a link, which has costs of its own.
    """

    folder: Path
    target: Target
    library: Export
    cells: Sequence[tuple[Device, Sequence[Cell]]]

    @property
    def warning(self) -> str:
        """What to know of the cipher's security status; empty where there is nothing."""
        cipher = self.library.cipher
        if cipher.security == "broken":
            reason = cipher.security_reason
            return f"{cipher.name} is BROKEN ({reason}): for study only; it does not protect data"
        if cipher.security in ("legacy", "unrated"):
            return f"{cipher.name} is {cipher.security}: {cipher.security_reason or 'it is not rated'}"
        return ""

    def next_command(self, results: Path | None = None) -> str:
        """Keys for the nodes of a link; else the missing figures, into these `results`, the library's test in
        the simulator, or an audit of the cipher."""
        library, folder = self.library, self.folder
        if "link" in library.about:
            from motecrypt.exports.link_node import suite_of

            suite = suite_of(library.cipher)
            return f"motecrypt key gateway.key --link{'' if suite == 'aes128-ccm' else f' --suite {suite}'}"
        name = typed_cipher(library.cipher)
        missing = next((one.device for one in library.figures.missing if one.command), None)
        if missing is not None:
            from motecrypt.exports.figures import measure_command

            device, cells = next(pair for pair in self.cells if pair[0].title == missing)
            step = measure_command(typed_device(device), library.body, cells, name)
            return step if results is None else f"{step} --db {shlex.quote(str(results))}"
        sketch, words = "examples/KnownAnswer/KnownAnswer.ino", ["audit", name]
        if sketch in library.files and self.target.name == "arduino":
            words = ["run", str(folder / sketch), "--libraries", str(folder.parent), "--until", "right"]
        return shlex.join(["motecrypt", *words])

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            **self.library.about,
            "folder": str(self.folder),
            "name": self.library.name,
            "security": self.library.cipher.security,
            "files": sorted(self.library.files),
            "measure": [missing.command for missing in self.library.figures.missing],
        }


def export_bridge(radio: Radio, folder: Path | str) -> Sequence[str]:
    """Write the program of a bridge into a folder, as `export` does; the names of its files.

    Raises
    ------
    InputError
        There is none for the radio, or the folder must not be replaced.
    """
    from motecrypt.exports.bridge import bridge_files
    from motecrypt.exports.folder import write_folder

    files = bridge_files(Path(folder).name, radio)
    write_folder(Path(folder), files, {"bridge": radio.name})
    return sorted(files)


def export(
    request: ExportRequest,
    folder: Path | str,
    results: Path | str | Results | None = None,
    progress: Progress | None = None,
) -> ExportResult:
    """Write a library into a folder that is new, empty or an earlier export in which nothing was changed.

    `results` and `progress` are as `measure` takes them.

    Raises
    ------
    InputError
        A name that does not exist, no implementation for the target, or a folder that must not be replaced.
    """
    from motecrypt.exports.figures import figure_cells
    from motecrypt.exports.folder import refuse_foreign
    from motecrypt.exports.library import choose
    from motecrypt.exports.library import plan as plan_library
    from motecrypt.exports.link import cost_question, plan_link
    from motecrypt.exports.timing import place

    chosen = select([request.cipher], devices=[request.device] if request.device else [])
    catalog, folder, report = chosen.catalog, Path(folder), progress or (lambda *_: None)
    target = target_named(request.target, catalog)
    if request.device:
        target = for_device(target, chosen.device)
    body = choose(catalog, chosen.cipher, target, request.variant or None, request.placement)
    placement = place(catalog, target, body, request.variant or None, request.placement)
    what, url = (catalog, target, chosen.cipher, body), request.url
    chosen.prove_own()
    refuse_foreign(folder)
    cells: Sequence[tuple[Device, Sequence[Cell]]] = ()
    with opened(results, make=request.measure) as store:
        if request.link:
            radio = None if request.link is True else request.link
            linked = partial(plan_link, placement=placement, url=url, radio=radio)
            linked(*what)  # what cannot be exported is not measured
            question = cost_question(*what, placement, radio)
            library = linked(
                *what, costs=_link_costs(question, catalog, store, report if request.measure else None)
            )
        else:
            alone = partial(plan_library, placement=placement, url=url)
            library = alone(*what, store)
            cells = figure_cells(catalog, body, placement, catalog.device(target.device))
            if request.measure:
                here = [cell for device, own in cells if have(device.tool_set) for cell in own]
                library = alone(*what, store, measured=bench.ensure(here, store, catalog, progress=report))
    library.write(folder)
    return ExportResult(folder, target, library, cells)


def _link_costs(
    question: LinkCostQuestion, catalog: Catalog, results: Results, report: Progress | None
) -> tuple[LinkCostAnswer, str] | None:
    """The link's figures by their content where its device's compiler and simulator are here, else stored."""
    if report is None or not (have(catalog.device(question.device).tool_set) and have("host")):
        return question.answer(results)
    from motecrypt.measuring.experiments.link_cost import LinkCost

    found = LinkCost.of(question).ensure(results, lambda what: report(0, 1, what))
    report(1, 1, "")
    read = LinkCostAnswer.from_json(found.outcome)
    return None if read is None else (read, found.made_at[:10])
