"""The report on paper: few pages, each figure drawn at its width, no text below 9 points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from motecrypt.present.report.printing import WIDTH_PX, print_pdf

PAGES_MAX = 12
POINT_PX = 96 / 72

_SMALL = """least => [...document.querySelectorAll('#main *')].filter(e =>
  !e.closest('svg') && e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())
  && parseFloat(getComputedStyle(e).fontSize) < least - 0.01).map(e => `${e.tagName}.${e.className}`)"""
_CUT = """() => [...document.querySelectorAll('#main *')].filter(e =>
  e.checkVisibility() && !e.closest('svg') && e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => `${e.tagName}.${e.className}`)"""


def test_the_printed_report_has_few_pages(report_file: Path, tmp_path: Path) -> None:
    printed = print_pdf(report_file.read_text(), tmp_path / "r.pdf")
    assert 3 <= printed.pages <= PAGES_MAX
    assert printed.path.read_bytes().startswith(b"%PDF")


def test_text_on_paper_has_nine_points_and_nothing_is_cut(browser: Any, report_file: Path) -> None:
    page = browser.new_page(viewport={"width": WIDTH_PX, "height": 1000})
    page.emulate_media(media="print")
    page.goto(report_file.as_uri())
    page.evaluate("preparePaper()")
    assert page.evaluate(_SMALL, 9 * POINT_PX) == []
    assert page.evaluate(_CUT) == []
    drawn = page.evaluate("figuresOnPaper().map(f => f.querySelectorAll('svg path, svg text').length)")
    assert len(drawn) > 10 and min(drawn) > 5
    assert page.evaluate("failures") == []
    page.close()
