"""The report as PDF: Chromium prints the page, after every figure was drawn at its width on paper.

Chromium and playwright are the tool set `browser`. The page is loaded from a file and asks for nothing else.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically

COMMANDS = ("chromium", "chromium-browser")
ARGUMENTS = (
    *("--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-dev-shm-usage"),
)
#: An A4 page between its margins in CSS pixels: 186 mm.
WIDTH_PX = 703
DEADLINE_S = 120.0
MODULE = "motecrypt.present.report.printing"
_PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")
_READY = "() => figuresOnPaper().every((f) => drawn.get(f.querySelector('.plot'))?.view)"


@dataclass(frozen=True)
class PrintedReport:
    """A PDF that was written: its size and how many pages it has."""

    path: Path
    bytes: int
    pages: int


def print_pdf(html: str, target: Path, deadline_s: float = DEADLINE_S) -> PrintedReport:
    """Print a report; the file is written completely or not at all.

    Parameters
    ----------
    html
        What `page.render` made.

    Raises
    ------
    InputError
        Chromium or playwright is missing, or does not finish within the deadline.
    """
    command = next((path for name in COMMANDS if (path := shutil.which(name))), None)
    if command is None:
        raise InputError("--pdf needs Chromium: apt-get install --no-install-recommends chromium")
    if importlib.util.find_spec("playwright") is None:
        raise InputError("--pdf needs the Python package playwright: pip install playwright")
    with tempfile.TemporaryDirectory() as folder:
        page, made = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8")
        # In a process of its own, which can be ended: not every call of playwright has a deadline.
        words = [command, str(page), str(made), f"{deadline_s:g}"]
        done = process.run([sys.executable, "-P", "-m", MODULE, *words], timeout_s=deadline_s)
        if not done.ok or not made.is_file():
            reason = next(iter(done.errors.strip().splitlines()), "no reason given")
            raise InputError(f"--pdf {target}: Chromium could not print the report: {reason}")
        printed = made.read_bytes()
    write_atomically(target, printed)
    return PrintedReport(target, len(printed), page_count(printed))


def main(arguments: Sequence[str]) -> int:
    """Print a page as the words say: CHROMIUM PAGE TARGET SECONDS; 1 and a line if Chromium fails."""
    command, page, target, deadline_s = arguments
    playwright: Any = importlib.import_module("playwright.sync_api")
    try:
        Path(target).write_bytes(_printed(playwright, command, Path(page), float(deadline_s)))
    except playwright.Error as error:
        print(str(error).strip(), file=sys.stderr)
        return 1
    return 0


def _printed(playwright: Any, command: str, page: Path, deadline_s: float) -> bytes:
    for_root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium does not start for root with one
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=command, args=[*ARGUMENTS, *for_root])
        try:
            shown = browser.new_page(viewport={"width": WIDTH_PX, "height": 1000})
            shown.set_default_timeout(deadline_s * 1000)
            shown.emulate_media(media="print", color_scheme="light")
            shown.goto(page.as_uri())
            shown.evaluate("preparePaper()")
            shown.wait_for_function(_READY)
            return bytes(shown.pdf(prefer_css_page_size=True, print_background=True))
        finally:
            browser.close()


def page_count(pdf: bytes) -> int:
    """How many pages a PDF of Chromium has."""
    return len(_PAGE.findall(pdf))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
