"""What opening the report takes in a browser: of 3,000 measurements, and of a hundred thousand.

The processor time of the page's own thread in Chromium until the explorer's chart is drawn: at most 1 s for
3,000 measurements, at most 5 s for 100,000, of which neighbours are drawn as one point. The medians of some
rounds. Figures out of view are drawn later, in idle moments; their time is printed, too.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from motecrypt.catalog import Catalog  # noqa: E402
from motecrypt.present.report import gather, render  # noqa: E402
from motecrypt.results import Results  # noqa: E402
from report_data import fill  # noqa: E402

CANNOT_RUN = 77
ROUNDS = 3
TIMEOUT_MS = 120_000
CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
MANY_DEVICES = ("uno", "pico", "mega2560", "stm32f4", "stm32f0", "nano", "pico2")
#: Title, devices, lengths, and the most seconds until the page can be used.
PAGES: tuple[tuple[str, tuple[str, ...], tuple[int, ...], float], ...] = (
    ("3,000", ("uno", "pico"), (16,), 1.0),
    ("100,000", MANY_DEVICES, tuple(range(16, 161, 16)), 5.0),
)


def main() -> int:
    """Make both pages, open them, print the times, and say whether the limits hold."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("playwright is not installed (tool set 'browser')")
        return CANNOT_RUN
    if CHROMIUM is None:
        print("Chromium is not installed (tool set 'browser')")
        return CANNOT_RUN
    held = True
    with tempfile.TemporaryDirectory(prefix="motecrypt-") as name, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for title, devices, lengths, most_s in PAGES:
            page = Path(name) / "report.html"
            with Results(Path(name) / f"{title}.db") as results:
                count = fill(results, devices=devices, lengths=lengths)
                page.write_text(render(gather(results, Catalog.load())))
            rounds = [_opened(browser, page) for _ in range(ROUNDS)]
            usable, all_drawn = (statistics.median(times) for times in zip(*rounds, strict=True))
            print(
                f"{count:,} measurements, {page.stat().st_size / 1e6:.1f} MB: "
                f"{usable:.2f} s until it can be used "
                f"(at most {most_s:g} s wanted), {all_drawn:.2f} s with every figure drawn"
            )
            held = held and usable <= most_s
        browser.close()
    return 0 if held else 1


def _opened(browser: Any, path: Path) -> tuple[float, float]:
    """Seconds of the page's thread until the explorer is drawn, and until all figures are."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def processor_s() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))

    before = processor_s()
    page.goto(path.as_uri())
    page.evaluate("updateExplorer()")
    page.wait_for_selector("#explorer-plot svg", timeout=TIMEOUT_MS)
    usable = processor_s() - before
    page.wait_for_function(
        "figures.every(f => drawn.get(f.querySelector('.plot'))?.view)", timeout=TIMEOUT_MS
    )
    drawn = processor_s() - before
    context.close()
    return usable, drawn


if __name__ == "__main__":
    sys.exit(main())
