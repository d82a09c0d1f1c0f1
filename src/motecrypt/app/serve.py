"""The report at an address of this computer, and what its page asks to have measured.

What an order names is of the catalog only: a page never names a folder, so it never runs somebody's own code.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from motecrypt.adviser import api as advise
from motecrypt.app.advise import wanted
from motecrypt.app.ensure import ensure
from motecrypt.app.measure import Lengths, MeasureRequest, measure_plan, plan
from motecrypt.app.report import content_of
from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Cell
from motecrypt.build.setup import need
from motecrypt.present.report import render
from motecrypt.present.report.orders import PageOrder
from motecrypt.present.report.server import ReportServer
from motecrypt.present.report.work import Watch, Work
from motecrypt.results import Stored, opened
from motecrypt.studies import Needs

CELLS_MAX = 20_000
INTERVAL_S = 3600.0
"""Seconds between messages in the adviser's question: what is measured does not depend on it."""


def report_server(
    results: Path | str | None = None,
    compilers: Sequence[str] = (),
    port: int = 0,
    deadline_s: float = 1800.0,
) -> ReportServer:
    """A server of the report, to `start` and to `close`.

    Parameters
    ----------
    results
        The results file; None: the default one.
    compilers
        Only the stored figures of these (part of a version line).
    port
        0: a free one.
    deadline_s
        Time after which a measurement is stopped.

    Raises
    ------
    InputError
        The port is not available.
    """
    need("plots")

    def page() -> str:
        with opened(results, compilers, make=False) as stored:
            return render(content_of(stored), live=True)

    work = Work(lambda order, watch: measured(order, watch, results), deadline_s, lambda: server.forget())
    server = ReportServer(page, work, port)
    return server


def measured(order: PageOrder, watch: Watch, results: Stored) -> str:
    """Measure an order, and say what was done. Raises InputError for what does not exist or cannot fit."""
    watch(0, 0, "preparing")
    if order.kind == "advise":
        return _advised(order, watch, results)
    made = plan(MeasureRequest(order.ciphers, order.devices, lengths=Lengths(order.message_bytes)))
    _check(made.cells)
    made.prepare()
    with opened(results) as stored:
        figures = measure_plan(made, stored, None, watch).figures
    failed = sum(m.status != "ok" for m in figures)
    return f"{len(figures)} figures are there" + (
        f", {failed} failed, each with its reason below its cipher" if failed else ""
    )


def _advised(order: PageOrder, watch: Watch, results: Stored) -> str:
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
    needs = Needs(tool_sets=(chosen.device.tool_set,), cells=[cell for _, cells in found for cell in cells])
    _check(needs.cells)
    with opened(results) as stored:
        note = ensure("advise", needs, stored, chosen.catalog, None, watch)
    length, *_ = order.message_bytes
    there = f"all figures for {length} bytes on {chosen.device.name} are there"
    return note or there


def _check(cells: Sequence[Cell]) -> None:
    if len(cells) > CELLS_MAX:
        raise InputError(
            f"{len(cells):,} figures at a time are too many: choose fewer, {CELLS_MAX:,} at most"
        )
