"""One report in Debian's Chromium, with everything that it says and asks for written down."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import page_fonts
from motecrypt.catalog import Catalog
from motecrypt.exports.targets import sleepers
from motecrypt.present.report import gather, render
from motecrypt.present.report.vega import javascript
from motecrypt.results import Results
from report_data import fill

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
]


def _missing() -> str:
    if CHROMIUM is None:
        return (
            "Chromium is not installed: apt-get install --no-install-recommends chromium (tool set 'browser')"
        )
    if page_fonts.missing():
        return f"{page_fonts.missing()} is missing: apt-get install {page_fonts.PACKAGE} (tool set 'browser')"
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed: pip install -r src/motecrypt/data/locks/browser.txt"
    if not javascript():
        return "vl-convert-python is not installed: pip install 'motecrypt[plots]' (tool set 'plots')"
    return ""


@dataclass
class Opened:
    """A page, what it wrote to the console, and what it asked of a network."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until every figure is drawn."""
        self.page.wait_for_function(
            "figures.every(f => drawn.get(f.querySelector('.plot'))?.view)", timeout=60_000
        )


@pytest.fixture(scope="session")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of made-up figures, and next to it the data that it was made of."""
    if _missing():
        pytest.skip(_missing())
    folder = tmp_path_factory.mktemp("report")
    with Results(folder / "results.db") as results:
        fill(results)
        catalog = Catalog.load()
        content = gather(results, catalog, sleepers(catalog))
    target = folder / "report.html"
    target.write_text(render(content))
    return target


@pytest.fixture(scope="session", autouse=True)
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Every browser that these tests start has the same fonts on every machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in page_fonts.environment(tmp_path_factory.mktemp("fonts")).items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def browser(fonts: None) -> Iterator[Any]:
    """Debian's Chromium, headless."""
    if _missing():
        pytest.skip(_missing())
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any, report_file: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """The report in a window; parametrised indirectly with the window's options."""
    options = getattr(request, "param", {"viewport": {"width": 1280, "height": 900}})
    context = browser.new_context(**options)
    page = context.new_page()
    seen = Opened(page)
    page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.console.append(f"error: {error}"))
    page.on("request", lambda asked: seen.requests.append(asked.url))
    page.goto(report_file.as_uri())
    yield seen
    context.close()
