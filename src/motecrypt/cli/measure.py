"""motecrypt measure: cycles, flash, RAM and stack of ciphers on devices."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path

import click

from motecrypt import bench
from motecrypt.catalog import DEVICE, Catalog
from motecrypt.catalog.flags import checked_flags
from motecrypt.cli._measurements import print_compared, print_ranked
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    print_next,
    print_table,
    progress,
    table_options,
)
from motecrypt.cli._selection import Selection, completes, nearest_length, parse_lengths, select
from motecrypt.cli._toolchains import mirror_option, need_toolchain
from motecrypt.errors import InputError
from motecrypt.model import Cell, Device, Measurement
from motecrypt.results import Results
from motecrypt.setup import need
from motecrypt.toolchain.pinned import target_of


@click.command(
    epilog="Example: motecrypt measure --device uno --cipher aes128-cbc --cipher ascon-aead128 --bytes 16,48"
)
@click.option(
    "--device",
    "devices",
    shell_complete=completes("devices"),
    multiple=True,
    help=f"A device, or your own folder; may be repeated (default: {DEVICE}).",
)
@click.option(
    "--cipher",
    "ciphers",
    shell_complete=completes("ciphers"),
    multiple=True,
    help="A cipher, a family, or your own folder.",
)
@click.option(
    "--library",
    "libraries",
    shell_complete=completes("libraries"),
    multiple=True,
    help="A library, or your own folder.",
)
@click.option("--variant", "variants", multiple=True, help="Only these variants of our own ciphers.")
@click.option(
    "--bytes", "lengths", default="16", show_default=True, help="Message lengths: 16,32,47 or 1-64."
)
@click.option("--ad-bytes", "ad_lengths", default="0", show_default=True, help="Associated-data lengths.")
@click.option("--key-bits", "key_bits", default="", help="Only these key lengths, such as 128,256.")
@click.option("--placement", "placements", multiple=True, help="flash or ram; may be repeated.")
@click.option(
    "--flags",
    "flag_sets",
    multiple=True,
    help="Compiler flags instead of the device's, such as -O3; flags that run a program or name a file "
    "are refused.",
)
@click.option(
    "--toolchain",
    "toolchains",
    shell_complete=completes("toolchains"),
    multiple=True,
    help="A toolchain, or your own file; may be repeated to compare (default: the system's compiler).",
)
@mirror_option
@click.option("--board", default=None, metavar="PORT", help="Measure on the real board at this serial port.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@db_option
@table_options
def command(
    devices: Sequence[str],
    ciphers: Sequence[str],
    libraries: Sequence[str],
    variants: Sequence[str],
    lengths: str,
    ad_lengths: str,
    key_bits: str,
    placements: Sequence[str],
    flag_sets: Sequence[str],
    toolchains: Sequence[str],
    mirror: str,
    board: str | None,
    jobs: int | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure ciphers on devices: cycles, flash, RAM and stack, every output checked.

    What was measured before with the same sources, compiler and simulator is not measured again. Two
    processes that measure into one results file at the same time share the work.

    Use --flags '-O2' --flags '-O3 -flto' to compare compiler flags, --toolchain gcc-5.4 --toolchain gcc-14
    to compare compilers ('motecrypt list toolchains'). With --board the same firmware is flashed to the
    board at a port, whose own timer counts; simulated figures are listed next to it.

    Code in another person's folder runs in the simulator and cannot reach this computer. With --device
    host it is not confined and runs with your rights. A cipher's oracle.py also runs with your rights
    (docs/security.md).
    """
    chosen = select(ciphers, libraries, devices or (DEVICE,), toolchains)
    catalog = chosen.catalog
    if not chosen.ciphers and not chosen.libraries:
        raise InputError("say what to measure: --cipher NAME or --library NAME ('motecrypt list ciphers')")
    cells = _plan(
        catalog,
        chosen.devices,
        chosen.ciphers,
        chosen.libraries,
        variants,
        (parse_lengths(lengths), parse_lengths(ad_lengths, "--ad-bytes")),
        parse_lengths(key_bits, "--key-bits") if key_bits else [],
        placements,
        [_flags(text) for text in flag_sets] or [()],
        _toolchains_by_device(chosen),
    )
    chosen.prove_own()
    for name, toolchain in dict.fromkeys((cell.device, cell.toolchain) for cell in cells):
        if toolchain:
            need_toolchain(catalog, catalog.device(name), toolchain, mirror)
        else:
            need(catalog.device(name).kit)
    results = open_results(db)
    if board is not None:
        _on_board(cells, board, results, catalog, as_json)
        return
    with results, progress("measuring") as report:
        measured = bench.ensure(cells, results, catalog, jobs, report)
    figures = [measured[cell] for cell in cells]
    if len(toolchains) > 1 and not as_json:
        print_compared(figures)
    else:
        best = print_ranked(figures, as_json, catalog)
        if best is not None and not as_json:
            print_next(_next(catalog, best))
    # Some that do not fit are an answer; none that ran, or one that is wrong, crashes or does not compile is
    # a failure.
    none = not any(m.status == "ok" for m in figures)
    failed = any(m.status not in ("ok", "does-not-fit") for m in figures)
    click.get_current_context().exit(int(none or failed))


def _next(catalog: Catalog, best: Measurement) -> str:
    """The command that exports the best, where it is ours; else the one that audits its cipher."""
    from motecrypt.export import next_step

    step = ""
    with contextlib.suppress(InputError):  # a device that nothing is exported for
        device = catalog.device(best.device)
        step = next_step(catalog, device, best.cipher, best.implementation, best.placement)
    return step or f"motecrypt audit {best.cipher}"


def _on_board(cells: Sequence[Cell], port: str, results: Results, catalog: Catalog, as_json: bool) -> None:
    need("board")
    from motecrypt.bench.board import measure_on_board

    with results, progress("measuring on the board") as report:
        pairs = measure_on_board(cells, port, results, catalog, report)
    if as_json:
        print_json(
            [
                {
                    "board": asdict(p.board),
                    "simulated": p.simulated and asdict(p.simulated),
                    "difference": p.difference,
                }
                for p in pairs
            ]
        )
        return
    rows = []
    for pair in pairs:
        m, simulated = pair.board, pair.simulated.cycles_median if pair.simulated else None
        rows.append(
            [
                *(m.cipher, m.implementation, m.key_bits, m.operation, m.message_bytes, m.placement),
                "" if m.cycles_median is None else f"{m.cycles_median:,}",
                "" if simulated is None else f"{simulated:,}",
                "" if pair.difference is None else f"{100 * pair.difference:+.2f} %",
                m.reason,
            ]
        )
    columns = ("cipher", "implementation", "key", "operation", "bytes", "placement")
    print_table(
        f"Measured on the board at {port}",
        (*columns, "board's cycles", "simulated", "difference", "note"),
        rows,
        "median over the inputs, the call itself subtracted; the board counts with its own timer; stored as "
        f"{pairs[0].board.device if pairs else 'no device'}; simulated: figures that 'motecrypt "
        f"measure' stored",
    )


def _flags(text: str) -> tuple[str, ...]:
    try:
        flags = tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"--flags '{text}': {str(error).lower()}") from error
    if not flags:
        raise InputError("--flags '': no flags; omit the option to use the device's own flags")
    return checked_flags(flags, "--flags")


def _toolchains_by_device(chosen: Selection) -> dict[str, list[str]]:
    """Which of the toolchains compile for each device; the system's own where none was chosen.

    Raises
    ------
    InputError
        A toolchain is for none of the devices, or a device has none of the toolchains.
    """
    if not chosen.toolchains:
        return {device.name: [""] for device in chosen.devices}
    fitting = {
        device.name: [t.name for t in chosen.toolchains if t.target_for(device.compiler.command)]
        for device in chosen.devices
    }
    for device in chosen.devices:
        if not fitting[device.name]:
            target_of(chosen.toolchains[0], device, chosen.catalog.toolchains.values())
    for toolchain in chosen.toolchains:
        if not any(toolchain.name in names for names in fitting.values()):
            target_of(toolchain, chosen.device, chosen.catalog.toolchains.values())
    return fitting


def _plan(
    catalog: Catalog,
    devices: Sequence[Device],
    ciphers: Sequence[str],
    libraries: Sequence[str],
    variants: Sequence[str],
    lengths: tuple[list[int], list[int]],
    key_bits: Sequence[int],
    placements: Sequence[str],
    flag_sets: Sequence[tuple[str, ...]],
    toolchains: Mapping[str, Sequence[str]],
) -> list[Cell]:
    cells: list[Cell] = []
    message_bytes, ad_bytes = lengths
    wanted = ciphers or sorted({i.cipher for i in catalog.implementations if i.library in libraries})
    for device in devices:
        for placement in placements:
            if placement not in device.placements:
                raise InputError(
                    f"{device.name} has no placement '{placement}'; it has {', '.join(device.placements)}"
                )
        for name in wanted:
            cipher = catalog.cipher(name)
            if not any(cipher.message.allows(n) for n in message_bytes):
                raise InputError(
                    f"{name} takes {nearest_length(cipher, message_bytes[0])}; no length in --bytes fits"
                )
            for body in catalog.implementations_of(name, device.name, libraries):
                if variants and body.variant not in variants:
                    continue
                for flags, toolchain in product(flag_sets, toolchains[device.name]):
                    cells += bench.cells_for(
                        catalog,
                        device,
                        body,
                        message_bytes=message_bytes,
                        key_bits=key_bits,
                        ad_bytes=ad_bytes,
                        placements=placements,
                        flags=flags,
                        toolchain=toolchain,
                    )
    if not cells:
        raise InputError(
            "nothing to measure: no implementation fits this choice of device, library, variant and key "
            "length ('motecrypt list implementations')"
        )
    return cells
