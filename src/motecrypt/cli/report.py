"""motecrypt report: all results as one HTML file, and its figures for papers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from motecrypt.app.report import ReportRequest, report
from motecrypt.base.errors import InputError
from motecrypt.cli._interrupt import patient
from motecrypt.cli._output import (
    compiler_option,
    db_option,
    json_option,
    print_json,
    print_next,
    stages,
    typed_with,
)
from motecrypt.cli._request import FILE, FOLDER

DEFAULT = Path("report.html")
DEADLINE = "30min"


@click.command(epilog="Example: motecrypt report -o report.html --figures figures")
@click.option("-o", "--output", type=FILE, default=DEFAULT, show_default=True, help="The HTML file.")
@click.option(
    "--figures", type=FOLDER, help="A directory for every figure as SVG, PDF and CSV, with captions."
)
@click.option(
    "--width",
    metavar="MM",
    help="With --figures: of this width, for a paper: 88mm or 180mm. Text of 8 points, LaTeX next to each.",
)
@click.option("--no-title", is_flag=True, help="With --width: no title above a figure; captions have it.")
@click.option(
    "--pdf", type=FILE, help="A file for the report as PDF, printed by Chromium (tool set browser)."
)
@click.option(
    "--serve",
    "served",
    is_flag=True,
    help="Instead of a file: show the report at an address of this computer, and measure what the page asks "
    "for. Ctrl-C ends it.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="With --serve: its port (default: a free one)."
)
@click.option(
    "--deadline",
    default=DEADLINE,
    show_default=True,
    help="With --serve: time after which a measurement is stopped: 90s, 10min, 1h.",
)
@compiler_option
@db_option
@json_option
def command(
    output: Path,
    figures: Path | None,
    width: str | None,
    no_title: bool,
    pdf: Path | None,
    served: bool,
    port: int,
    deadline: str,
    compilers: Sequence[str],
    db: Path | None,
    as_json: bool,
) -> None:
    """Write what is in the results as one HTML file that opens anywhere, offline. Does not measure.

    With --serve it writes no file. It shows the report in a browser on this computer, and the page has a form
    that measures what is missing. Nothing else on this computer or the network can use it: the address
    has a secret part.
    """
    if served:
        _serve(port, deadline, compilers, db)
        return
    _refuse_without_serve()
    request = ReportRequest(output, figures, width, not no_title, pdf, compilers)
    made = report(request, db, stages)
    count, printed = len(made.content.all_figures()), made.pdf
    if as_json:
        written: dict[str, object] = {"report": output, "bytes": made.bytes, "figures": count}
        written |= {"captions": made.captions} if made.captions else {}
        written |= {"pdf": printed.path, "pages": printed.pages} if printed else {}
        print_json(written)
        return
    print(f"{output}: {made.bytes / 1e6:.1f} MB, {count} figures")
    if made.captions is not None:
        print(f"{figures}: {count} figures as SVG, PDF and CSV; captions in {made.captions.name}")
    if printed is not None:
        print(f"{printed.path}: {printed.pages} pages, {printed.bytes / 1e6:.1f} MB")
    of = () if db is None else ("--db", str(db))
    if made.content.empty:
        print("The results have nothing for the report, which lists the commands that fill it.")
        print("Ciphers of your own are not in it: motecrypt results lists them.")
        print_next(shlex.join(["motecrypt", "reproduce", "rc4d", *of]))
    elif figures is None:
        print_next(typed_with("--figures", "figures"))
    else:
        print_next(shlex.join(["motecrypt", "results", "--format", "csv", *of]))


def _serve(port: int, deadline: str, compilers: Sequence[str], db: Path | None) -> None:
    """Serve the report; InputError for an option that belongs to the file."""
    names = {"output": "--output", "figures": "--figures", "width": "--width", "as_json": "--json"}
    for parameter, option in {**names, "no_title": "--no-title", "pdf": "--pdf"}.items():
        if _given(parameter):
            raise InputError(f"{option}: --serve writes no file; omit one of the two")
    from motecrypt.adviser.api import seconds
    from motecrypt.app.serve import report_server

    server = report_server(db, compilers, port, seconds(deadline, "--deadline"))
    with patient():
        server.start()
        try:
            print(f"The report: {server.address}", flush=True)
            print(
                "Only this computer can open it. It measures what the page asks for. Ctrl-C ends it.",
                flush=True,
            )
            while True:
                time.sleep(1.0)  # a wait without an end would keep the signal from Python on some systems
        except KeyboardInterrupt:
            print()
        finally:
            ended = server.close()
        print("Stopped." if ended else "Stopped; a measurement did not end in time.", flush=True)


def _refuse_without_serve() -> None:
    for parameter, option in (("port", "--port"), ("deadline", "--deadline")):
        if _given(parameter):
            raise InputError(f"{option}: needs --serve")


def _given(parameter: str) -> bool:
    return click.get_current_context().get_parameter_source(parameter) is not ParameterSource.DEFAULT
