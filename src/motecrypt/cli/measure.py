"""motecrypt measure: cycles, flash, RAM and stack of ciphers on devices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from motecrypt.app.measure import Builds, Lengths, MeasureRequest, after, measure_on_board, measure_plan, plan
from motecrypt.app.plan import flags_of
from motecrypt.app.selection import parse_lengths
from motecrypt.base.errors import InputError
from motecrypt.catalog import DEVICE
from motecrypt.cli._choices import completes, mirror_option
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    print_next,
    progress,
    show,
    table_options,
)
from motecrypt.cli._request import jobs_option
from motecrypt.present.terminal.measurements import (
    best_of,
    board_view,
    compared_view,
    ranked_documents,
    ranked_view,
)


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
@click.option("--board", metavar="PORT", help="Measure on the real board at this serial port.")
@jobs_option
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
    with open_results(db) as results:
        if board is not None:
            with progress("measuring on the board") as report:
                pairs = measure_on_board(made, board, results, report)
            told = [(pair.board, pair.simulated, pair.difference) for pair in pairs]
            shown = ("board", "simulated", "difference")
            if as_json:
                print_json([dict(zip(shown, each, strict=True)) for each in told])
            else:
                show(*board_view(board, told))
            return
        with progress("measuring") as report:
            measured = measure_plan(made, results, jobs, report)
    figures, catalog = measured.figures, measured.catalog
    if by_device:
        from motecrypt.present.terminal.by_device import by_device_documents, by_device_view  # not for --help

        print_json(by_device_documents(figures)) if as_json else show(*by_device_view(figures, catalog))
    elif as_json:
        print_json(ranked_documents(figures, catalog))
    elif len(toolchains) > 1:
        show(*compared_view(figures))
    else:
        show(*ranked_view(figures, catalog))
        best = best_of(figures, catalog)
        if best is not None:
            print_next(after(catalog, best))
    click.get_current_context().exit(int(measured.failed))
