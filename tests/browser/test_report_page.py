"""The report in a real browser: drawn, quiet, offline; filters, keyboard, phone, dark, paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}
DARK = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}


def test_every_figure_is_drawn_and_nothing_is_asked_of_a_network(opened: Any) -> None:
    opened.settle()
    assert opened.page.evaluate("failures") == []
    counts = opened.page.evaluate(
        "figures.map(f => f.querySelectorAll('.plot svg path, .plot svg rect, .plot svg text').length)"
    )
    assert counts and min(counts) > 5
    opened.page.evaluate("updateExplorer()")
    opened.page.wait_for_selector("#explorer-plot svg")
    assert [url for url in opened.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert opened.console == []


@pytest.mark.parametrize("opened", [PHONE, DARK], indirect=True, ids=["phone", "dark"])
def test_nothing_is_wider_than_the_window(opened: Any) -> None:
    opened.settle()
    width, window = opened.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= window
    assert opened.console == []


CARDS = """[...document.querySelectorAll("table.cards")]
  .filter((table) => table.parentElement.clientWidth && !table.closest("details:not([open])"))
  .map((table) => table.classList.contains("labelled"))"""


@pytest.mark.parametrize("opened", [PHONE], indirect=True, ids=["phone"])
def test_tables_are_cards_on_a_phone(opened: Any) -> None:
    opened.settle()
    shown = opened.page.evaluate(CARDS)
    assert shown and all(shown)
    opened.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    opened.page.wait_for_function(
        f"() => {{ const all = {CARDS}; return all.length > {len(shown)} && all.every(Boolean); }}"
    )


@pytest.mark.parametrize("opened", [DARK], indirect=True, ids=["desk"])
def test_a_table_that_fits_is_no_cards(opened: Any) -> None:
    opened.settle()
    assert not all(opened.page.evaluate(CARDS))


@pytest.mark.parametrize(
    ("opened", "same"), [(PHONE, False), (DARK, True)], indirect=["opened"], ids=["phone", "desk"]
)
def test_charts_have_smaller_print_where_there_is_little_room(opened: Any, same: bool) -> None:
    opened.settle()
    theme = opened.page.evaluate("JSON.stringify(themed(innerWidth)) === JSON.stringify(report.theme)")
    assert theme == same


@pytest.mark.parametrize("opened", [DARK], indirect=True, ids=["dark"])
def test_text_and_figures_are_light_on_dark(opened: Any) -> None:
    opened.settle()
    shades = opened.page.evaluate(
        """() => [document.body, document.querySelector('#front figure svg text')].map(e => {
          const s = getComputedStyle(e);
          const parts = (c) => (c.match(/[\\d.]+/g) || []).slice(0, 3).map(Number);
          const of = (c) => parts(c).reduce((a, b) => a + b, 0) / 3;
          return e === document.body ? of(s.backgroundColor) : of(s.fill);
        })"""
    )
    assert shades[0] < 60 < 180 < shades[1]


def test_links_open_what_is_closed(opened: Any) -> None:
    page = opened.page
    assert not page.evaluate("document.getElementById('cipher-rc4d').open")
    page.click("table.index a[href='#cipher-rc4d']")
    page.wait_for_function("document.getElementById('cipher-rc4d').open")


def test_everything_can_be_reached_with_the_keyboard(opened: Any) -> None:
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.evaluate("document.querySelector('#explorer-form select').focus()")
    seen = set()
    for _ in range(24):
        seen.add(page.evaluate("document.activeElement.name || document.activeElement.tagName"))
        page.keyboard.press("Tab")
    assert {"x", "y", "xscale", "operation", "bytes", "search", "device", "library"} <= seen
    unreachable = page.evaluate(
        """[...document.querySelectorAll('.scroll')]
          .filter(e => e.tabIndex !== 0 || !e.getAttribute('aria-label')).length"""
    )
    assert unreachable == 0


def test_figures_save_as_svg_and_csv(opened: Any, tmp_path: Path) -> None:
    opened.settle()
    page = opened.page
    for kind, start in (("svg", "<svg"), ("csv", "cipher,")):
        with page.expect_download() as waiting:
            page.click(f"#figure-time-by-cipher [data-save={kind}]")
        target = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(target)
        assert target.name == f"time-by-cipher.{kind}"
        assert target.read_text().startswith(start)
        assert "currentColor" not in target.read_text()


def test_on_paper_the_sources_are_open_and_light(opened: Any, tmp_path: Path) -> None:
    opened.settle()
    page = opened.page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.querySelector('header.top')).display") == "none"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.querySelectorAll('details.source:not([open])').length") == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelectorAll('details.source[open]').length") == 0
    printed = tmp_path / "report.pdf"
    page.pdf(path=str(printed), prefer_css_page_size=True)
    assert printed.read_bytes().startswith(b"%PDF")
