"""motecrypt export: a measured cipher as a library to install."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from motecrypt import exports as export
from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Device, Implementation, Measurement
from motecrypt.build.setup import have
from motecrypt.catalog import Catalog
from motecrypt.catalog.typed import typed_cipher, typed_device
from motecrypt.cli._link_options import chosen_radio
from motecrypt.cli._output import db_option, json_option, open_results, print_json, print_next, progress
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.results.findings.link_cost import LinkCostAnswer, LinkCostQuestion


@click.command(epilog="Example: motecrypt export arduino McAes --cipher aes128-ccm8")
@click.argument("target_name", metavar=f"[{'|'.join(export.target_names())}]")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--cipher", "cipher_name", default=None, help="A cipher, or your own folder.")
@click.option(
    "--variant", default=None, help="Variant of our implementation (default: the best for the target's core)."
)
@click.option(
    "--device",
    "device_name",
    default=None,
    help="With c: for this device, with the variant that is best there and its compiler's flags.",
)
@click.option(
    "--placement", default="flash", show_default=True, help="Memory of constant tables: flash or ram."
)
@click.option("--url", default="", help="Your library's web address, for its metadata.")
@click.option(
    "--link", "with_link", is_flag=True, help="Export the secure link with that cipher, and its examples."
)
@click.option(
    "--radio",
    "radio_name",
    default=None,
    help="With --link: for this radio only, which makes the node smaller.",
)
@click.option("--packet-bytes", type=int, default=None, help="With --radio: its packet length.")
@click.option("--sends-only", is_flag=True, help="With --radio: for nodes that never listen.")
@click.option(
    "--no-measure", is_flag=True, help="Do not compile or run anything: the README has the stored figures."
)
@db_option
@json_option
def command(
    target_name: str,
    folder: Path,
    cipher_name: str | None,
    variant: str | None,
    device_name: str | None,
    placement: str,
    url: str,
    with_link: bool,
    radio_name: str | None,
    packet_bytes: int | None,
    sends_only: bool,
    no_measure: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write a cipher as a self-contained library into DIR: the C files that were measured, nothing else.

    Its README has the figures of exactly this export: what is not stored for these sources and the compiler
    that is here is measured first, where the device's compiler and simulator are installed. DIR must be new,
    empty, or an earlier export in which nothing was changed; the same figures make the same bytes.

    With --link it is a node of the secure link (docs/link.md) with storage, examples and that cipher;
    'motecrypt provision' gives nodes their keys.
    """
    if cipher_name is None:
        raise InputError("say what to export: --cipher NAME ('motecrypt list ciphers')")
    chosen = select([cipher_name], devices=[] if device_name is None else [device_name])
    target = export.target(target_name, chosen.catalog)
    if device_name is not None:
        target = export.for_device(target, chosen.device)
    cipher = chosen.cipher
    body = export.choose(chosen.catalog, cipher, target, variant, placement)
    chosen.prove_own()
    radio = _radio(with_link, radio_name, packet_bytes, sends_only)
    export.refuse_foreign(folder)
    with open_results(db, make=not no_measure) as results:
        if with_link:
            plan = partial(export.plan_link, placement=placement, url=url, radio=radio)
            planned = plan(chosen.catalog, target, cipher, body)
            question = export.cost_question(chosen.catalog, target, cipher, body, placement, radio)
            costs = _link_costs(question, chosen.catalog, results, not no_measure)
            planned = plan(chosen.catalog, target, cipher, body, costs=costs)
        else:
            planned = export.plan(chosen.catalog, target, cipher, body, results, placement=placement, url=url)
            if not no_measure:
                measured = _measure(chosen.catalog, target, body, placement, results)
                planned = export.plan(
                    chosen.catalog,
                    target,
                    cipher,
                    body,
                    results,
                    placement=placement,
                    url=url,
                    measured=measured,
                )
    planned.write(folder)
    for warning in _warnings(planned):
        print(f"motecrypt: warning: {warning}", file=sys.stderr)
    if as_json:
        print_json(
            {
                **planned.about,
                "folder": folder,
                "name": planned.name,
                "standing": cipher.standing,
                "files": sorted(planned.files),
                "measure": [missing.command for missing in planned.figures.missing],
            }
        )
        return
    what = f"the link with {cipher.name}" if with_link else cipher.name
    print(f"{folder}: {what} ({body.name}) as {target.title}, {len(planned.files)} files; see README.md")
    if planned.figures.missing:
        devices = " and ".join(missing.device for missing in planned.figures.missing)
        print(f"not measured on {devices}: README.md has the commands; export again to add the figures")
    wanted = (
        []
        if with_link
        else export.figure_cells(chosen.catalog, body, placement, chosen.catalog.device(target.device))
    )
    print_next(_next(planned, target, folder, wanted, db))


def _next(
    planned: export.Export,
    target: export.Target,
    folder: Path,
    wanted: Sequence[tuple[Device, Sequence[Cell]]],
    db: Path | None,
) -> str:
    """Keys for the nodes of a link; else the missing figures, the library's own test in the simulator, or an
    audit of the cipher."""
    if "link" in planned.about:
        from motecrypt.exports.link_node import suite_of

        suite = suite_of(planned.cipher)
        return f"motecrypt key gateway.key --link{'' if suite == 'aes128-ccm' else f' --suite {suite}'}"
    missing = next((one.device for one in planned.figures.missing if one.command), None)
    if missing is not None:
        device, cells = next(pair for pair in wanted if pair[0].title == missing)
        asked = typed_cipher(planned.cipher)
        step = export.measure_command(typed_device(device), planned.body, cells, asked)
        return step if db is None else f"{step} --db {shlex.quote(str(db))}"
    sketch = "examples/KnownAnswer/KnownAnswer.ino"
    if sketch in planned.files and target.name == "arduino":
        words = ["run", str(folder / sketch), "--libraries", str(folder.parent), "--until", "right"]
    else:
        words = ["audit", typed_cipher(planned.cipher)]
    return shlex.join(["motecrypt", *words])


def _measure(
    catalog: Catalog, target: export.Target, body: Implementation, placement: str, results: Results
) -> Mapping[Cell, Measurement]:
    """The figures by their content, on the devices whose compiler and simulator are here."""
    wanted = export.figure_cells(catalog, body, placement, catalog.device(target.device))
    cells = [cell for device, cells in wanted if have(device.kit) for cell in cells]
    with progress("measuring") as report:
        return bench.ensure(cells, results, catalog, progress=report)


def _link_costs(
    question: LinkCostQuestion, catalog: Catalog, results: Results, measure: bool
) -> tuple[LinkCostAnswer, str] | None:
    """The link's figures by their content where its device's compiler and simulator are here, else stored."""
    if not measure or not (have(catalog.device(question.device).kit) and have("host")):
        return question.answer(results)
    from motecrypt.measuring.experiments.link_cost import LinkCost

    with progress("measuring") as report:
        found = LinkCost.of(question).ensure(results, lambda what: report(0, 1, what))
        report(1, 1, "")
    read = LinkCostAnswer.from_json(found.outcome)
    return None if read is None else (read, found.made_at[:10])


def _radio(
    with_link: bool, name: str | None, packet_bytes: int | None, sends_only: bool
) -> export.LinkRadio | None:
    """The one radio that a link is for."""
    if not with_link and (name is not None or packet_bytes is not None or sends_only):
        raise InputError("--radio, --packet-bytes and --sends-only need --link")
    if name is None:
        if packet_bytes is not None or sends_only:
            raise InputError("--packet-bytes and --sends-only need --radio ('motecrypt list radios')")
        return None
    return export.LinkRadio(chosen_radio(name, packet_bytes), sends_only)


def _warnings(planned: export.Export) -> list[str]:
    cipher = planned.cipher
    if cipher.standing == "broken":
        return [
            f"{cipher.name} is BROKEN ({cipher.standing_reason}): for study only; it does not protect data"
        ]
    if cipher.standing in ("legacy", "unrated"):
        return [f"{cipher.name} is {cipher.standing}: {cipher.standing_reason or 'it is not rated'}"]
    return []
