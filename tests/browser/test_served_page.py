"""The served report in a real browser: its form asks our server, shows progress, then has the figures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from motecrypt.catalog import Catalog
from motecrypt.present.report import gather, render
from motecrypt.present.report.orders import PageOrder
from motecrypt.present.report.server import ReportServer
from motecrypt.present.report.work import Watch, Work
from motecrypt.results import Results
from report_data import fill


@dataclass
class Bench:
    """Stores made-up figures where a bench would measure; waits in between until it is let go."""

    path: Path
    orders: list[PageOrder] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, order: PageOrder, watch: Watch) -> str:
        self.orders.append(order)
        watch(1, 3, "the first")
        watch.running(["uno rc4d motecrypt/plain"])
        while not self.go_on.wait(0.05):
            watch.running(["uno rc4d motecrypt/plain"])
        with Results(self.path) as results:
            fill(results, family="rc4d")
        watch(3, 3, "the last")
        return "figures are there"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "results.db")


@pytest.fixture
def served(bench: Bench) -> Iterator[ReportServer]:
    def page() -> str:
        with Results(bench.path) as results:
            return render(gather(results, Catalog.load()), live=True)

    server = ReportServer(page, Work(bench, 60, lambda: server.forget()))
    server.start()
    yield server
    assert server.close()


def test_the_form_measures_and_the_page_shows_it(browser: Any, served: ReportServer, bench: Bench) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    asked: list[str] = []
    console: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: console.append(f"error: {error}"))
    try:
        page.goto(served.address)
        assert page.query_selector("#explorer-form") is None  # nothing is measured yet
        state = "{total: 8, running: [], what: 'w', seconds: 30, deadline_s: 120, done: "
        said = [page.evaluate(f"progressText({state}{done}}})") for done in (0, 2, 8)]
        assert said == [
            "0 of 8 firmwares measured; w; stops after 2 min at the latest",
            "2 of 8 firmwares measured; w; about 90 s left; stops after 2 min at the latest",
            "8 of 8 firmwares measured; w; stops after 2 min at the latest",
        ]
        page.fill("#measure-form input[name=bytes]", "16, 0")
        page.select_option("#measure-form select[name=ciphers]", [])
        page.click("#measure-form button[type=submit]")
        assert page.get_attribute("#measure-form input[name=bytes]", "aria-invalid") == "true"
        errors = page.eval_on_selector_all("#measure-form .field-error", "all => all.map(e => e.textContent)")
        assert errors == [
            "Ciphers: choose at least one",
            "Messages, bytes '0': write whole numbers from 1 to 65535, such as 16, 64",
        ]
        assert bench.orders == []
        page.fill("#measure-form input[name=bytes]", "16, 64")
        page.select_option("#measure-form select[name=ciphers]", ["rc4d", "rc4"])
        page.click("#measure-form button[type=submit]")
        page.wait_for_function("/1 of 3/.test(document.getElementById('measure-state')?.textContent)")
        assert bench.orders == [PageOrder("measure", ("uno",), ("rc4", "rc4d"), (16, 64))]
        assert page.is_disabled("#measure-form button[type=submit]")
        assert page.evaluate("document.getElementById('measure-progress').value") == 1
        page.reload()  # an order is not lost with the page that gave it
        page.wait_for_function("/1 of 3/.test(document.getElementById('measure-state')?.textContent)")
        bench.go_on.set()
        page.wait_for_selector("#explorer-form", state="attached")
        page.wait_for_function("/^done: fig/.test(document.getElementById('measure-state')?.textContent)")
        page.evaluate("updateExplorer()")
        assert page.evaluate("new Set(explorerRows().map((row) => row.cipher)).has('rc4d')")
        page.wait_for_selector("#explorer-form select[name=bytes] option[value='64']", state="attached")
        page.select_option("#explorer-form select[name=bytes]", "64")
        page.click("#explorer .actions button >> text=Measure more of these")
        page.wait_for_function("document.querySelector('#measure-form input[name=bytes]')?.value === '64'")
        page.fill("#measure-form input[name=bytes]", "16, 64")
        page.fill("#adviser-form input[name=bytes]", "24")
        page.click("#adviser-measure")
        page.wait_for_function("/^done: fig/.test(document.getElementById('measure-state')?.textContent)")
        page.wait_for_function("document.querySelector('#adviser-form input[name=bytes]')?.value === '24'")
        assert bench.orders[1:] == [
            PageOrder(
                "advise", ("uno",), (), (24,), 0, "unconfirmed", ("confidentiality", "integrity", "replay")
            )
        ]
        bench.go_on.clear()
        page.click("#measure-form button[type=submit]")
        page.wait_for_selector("#measure-stop:not([hidden])")
        page.click("#measure-stop")
        page.wait_for_function("/^stopped: /.test(document.getElementById('measure-state')?.textContent)")
        ours = (served.address, "data:", "blob:")
        assert [url for url in asked if not url.startswith(ours)] == []
        assert console == []
    finally:
        context.close()
