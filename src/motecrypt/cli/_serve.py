"""`report --serve`: the page at an address of this computer, and its orders through the ordinary door.

What an order names is of the catalog only: a page never names a folder, so it never runs somebody's own code.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from motecrypt.adviser import api as advise
from motecrypt.app.advise import wanted
from motecrypt.app.ensure import ensure
from motecrypt.app.plan import planned, prepare, toolchains_by_device
from motecrypt.app.report import content_of
from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell
from motecrypt.cli._output import open_results, print_note
from motecrypt.measuring import bench
from motecrypt.present.report import render
from motecrypt.present.report.orders import PageOrder
from motecrypt.present.report.server import ReportServer
from motecrypt.present.report.work import Watch, Work
from motecrypt.studies import Needs

CELLS_MAX = 20_000
INTERVAL_S = 3600.0
"""Seconds between messages in the adviser's question: what is measured does not depend on it."""


def serve(
    db: Path | None,
    compilers: Sequence[str],
    port: int,
    deadline_s: float,
    jobs: int | None,
    stop: threading.Event | None = None,
) -> None:
    """Serve the report until Ctrl-C (or until `stop` is set), then end what is being measured.

    Raises
    ------
    InputError
        The port is not available.
    """

    def page() -> str:
        with open_results(db, compilers, make=False) as results:
            return render(content_of(results), live=True)

    def measure(order: PageOrder, watch: Watch) -> str:
        return measured(order, watch, db, jobs)

    work = Work(measure, deadline_s, lambda: server.forget())
    server = ReportServer(page, work, port)
    stop = stop or threading.Event()
    server.start()
    try:
        print(f"The report: {server.address}", flush=True)
        print(
            "Only this computer can open it. It measures what the page asks for. Ctrl-C ends it.", flush=True
        )
        while not stop.wait(1.0):  # a wait without an end would keep the signal from Python on some systems
            pass
    except KeyboardInterrupt:
        print()
    finally:
        ended = server.close()
    print("Stopped." if ended else "Stopped; a measurement did not end in time.", flush=True)


def measured(order: PageOrder, watch: Watch, db: Path | None, jobs: int | None) -> str:
    """Measure an order, and say what was done. Raises InputError for what does not exist or cannot fit."""
    watch(0, 0, "preparing")
    if order.kind == "advise":
        return _advised(order, watch, db, jobs)
    chosen = select(order.ciphers, (), order.devices)
    cells = planned(chosen, (), order.message_bytes, (), [0], [], [()], toolchains_by_device(chosen))
    _check(cells)
    prepare(chosen.catalog, cells, "")
    with open_results(db) as results:
        made = bench.ensure(cells, results, chosen.catalog, jobs, watch)
    failed = sum(m.status != "ok" for m in made.values())
    return f"{len(made)} figures are there" + (
        f", {failed} failed, each with its reason below its cipher" if failed else ""
    )


def _advised(order: PageOrder, watch: Watch, db: Path | None, jobs: int | None) -> str:
    """What the adviser compares for a question: every cipher that could be its answer."""
    chosen = select(devices=order.devices)
    question = advise.Question(
        message_bytes=order.message_bytes[0],
        interval_s=INTERVAL_S,
        answer_bytes=order.answer_bytes,
        delivery=order.delivery,
        needs=order.needs,
    )
    found = wanted(chosen.catalog, chosen.device, question)
    needs = Needs(kits=(chosen.device.kit,), cells=[cell for _, cells in found for cell in cells])
    _check(needs.cells)
    with open_results(db) as results:
        print_note(ensure("advise", needs, results, chosen.catalog, jobs, watch))
    return f"all figures for {order.message_bytes[0]} bytes on {chosen.device.name} are there"


def _check(cells: Sequence[Cell]) -> None:
    if len(cells) > CELLS_MAX:
        raise InputError(
            f"{len(cells):,} figures at a time are too many: choose fewer, {CELLS_MAX:,} at most"
        )
