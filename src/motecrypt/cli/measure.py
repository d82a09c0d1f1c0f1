"""motecrypt measure: cycles, flash, RAM and stack of ciphers on devices."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from motecrypt.app.measure import Builds, Lengths, MeasureRequest, measure_plan, plan
from motecrypt.app.plan import flags_of
from motecrypt.app.selection import parse_lengths
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell, Measurement
from motecrypt.build.setup import need
from motecrypt.catalog import DEVICE, Catalog
from motecrypt.catalog.flashing import TOOLS
from motecrypt.catalog.typed import typed_cipher
from motecrypt.cli._choices import completes, mirror_option
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
from motecrypt.results import Results


@click.command(
    epilog="Example: motecrypt measure --device uno --cipher aes128-cbc --cipher ascon-aead128 --bytes 16,48"
)
@click.option(
    "--device",
    "devices",
    shell_complete=completes("devices"),
    multiple=True,
    help=f"A device, your own folder, or all for every simulated one; may be repeated (default: {DEVICE}).",
)
@click.option(
    "--cipher",
    "ciphers",
    shell_complete=completes("ciphers"),
    multiple=True,
    help="A cipher, a family, your own folder, or recommended for all of that security status.",
)
@click.option(
    "--public-key",
    "public_keys",
    shell_complete=completes("public_keys"),
    multiple=True,
    help="A public-key algorithm, such as x25519, or your own folder.",
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
@click.option(
    "--by-device",
    is_flag=True,
    help="One table with a row for each device: the cycles of the fastest implementation of each cipher.",
)
@db_option
@table_options
def command(
    devices: Sequence[str],
    ciphers: Sequence[str],
    public_keys: Sequence[str],
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
    by_device: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure ciphers on devices: cycles, flash, RAM and stack, every output checked.

    With --public-key, measure the operations of a public-key algorithm: making keys, agreeing, signing,
    verifying and so on, each in a firmware of its own. --bytes is then the length of the signed message.

    What was measured before with the same sources, compiler and simulator is not measured again. Two
    processes that measure into one results file at the same time share the work.

    Use --flags '-O2' --flags '-O3 -flto' to compare compiler flags, --toolchain gcc-5.4 --toolchain gcc-14
    to compare compilers ('motecrypt list toolchains'), --device all --cipher recommended --library
    motecrypt --by-device to compare devices. With --board the same firmware is flashed to the
    board at a port, whose own timer counts; simulated figures are listed next to it.

    Code in another person's folder runs in the simulator and cannot reach this computer. With --device
    host it is not confined and runs with your rights. A cipher's oracle.py also runs with your rights
    (docs/security.md).
    """
    if by_device and (board is not None or len(flag_sets) > 1 or len(toolchains) > 1):
        raise InputError(
            "--by-device compares devices; omit --board, and give at most one --flags and one --toolchain"
        )
    made = plan(
        MeasureRequest(
            ciphers=ciphers,
            devices=devices,
            libraries=libraries,
            variants=variants,
            public_keys=public_keys,
            lengths=Lengths(
                parse_lengths(lengths),
                parse_lengths(ad_lengths, "--ad-bytes"),
                parse_lengths(key_bits, "--key-bits") if key_bits else [],
            ),
            builds=Builds([flags_of(text) for text in flag_sets], toolchains, placements, mirror),
        )
    )
    made.prepare()
    results = open_results(db)
    if board is not None:
        _on_board(made.cells, board, results, made.catalog, as_json)
        return
    with results, progress("measuring") as report:
        measured = measure_plan(made, results, jobs, report)
    figures, catalog = measured.figures, measured.catalog
    if by_device:
        from motecrypt.cli._by_device import print_by_device  # with data that --help does not need

        print_by_device(figures, as_json, catalog)
    elif len(toolchains) > 1 and not as_json:
        print_compared(figures)
    else:
        best = print_ranked(figures, as_json, catalog)
        if best is not None and not as_json:
            print_next(_next(catalog, best))
    click.get_current_context().exit(int(measured.failed))


def _next(catalog: Catalog, best: Measurement) -> str:
    """The command that exports the best, where it is ours; else the one that audits its cipher."""
    from motecrypt.exports import next_step

    if best.cipher in catalog.public_keys:
        return "motecrypt list public-keys"
    step = ""
    with contextlib.suppress(InputError):  # a device that nothing is exported for
        device = catalog.device(best.device)
        step = next_step(catalog, device, best.cipher, best.implementation, best.placement)
    return step or shlex.join(["motecrypt", "audit", typed_cipher(catalog.cipher(best.cipher))])


def _on_board(cells: Sequence[Cell], port: str, results: Results, catalog: Catalog, as_json: bool) -> None:
    flashing = catalog.device(cells[0].device).flashing if cells else None
    need("board", *[kit for kit in [TOOLS[flashing.tool] if flashing else ""] if kit])
    from motecrypt.measuring.bench.board import measure_on_board

    with results, progress("measuring on the board") as report:
        pairs = measure_on_board(cells, port, results, catalog, report)
    if as_json:
        shown = ("board", "simulated", "difference")
        print_json([{name: getattr(pair, name) for name in shown} for pair in pairs])
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
