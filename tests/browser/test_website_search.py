"""The site's search runs in a page that was opened as a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from motecrypt import __version__
from tool_sets import needs_tool_set

ROOT = Path(__file__).resolve().parents[2]


@needs_tool_set("site")
def test_the_search_finds_pages_without_a_network(tmp_path: Path, browser: Any) -> None:
    report = tmp_path / "sample.html"
    report.write_text("<!doctype html><title>a report</title>")
    subprocess.run(
        [
            sys.executable,
            "-P",
            str(ROOT / "website/build.py"),
            "--out",
            str(tmp_path / "site"),
            "--report",
            str(report),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=True,
        capture_output=True,
        timeout=240,
    )
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "site" / __version__ / "index.html").as_uri())
    page.click(".md-search__input")
    page.keyboard.type("replay")
    page.wait_for_selector(".md-search-result__item a", timeout=60_000)
    assert "matching documents" in page.inner_text(".md-search-result__meta")
    assert asked and all(url.startswith("file:") for url in asked)
    page.close()
