"""Pages of one thing in a real browser: quiet, offline, keyboard, phone, and names that try to be scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from motecrypt.air.radios import load_radio
from motecrypt.present.pages.audit_page import audit_page
from motecrypt.present.pages.history_page import history_page
from motecrypt.present.pages.profile_page import profile_page
from motecrypt.present.pages.radio_page import radio_page, variants_of
from page_data import HOSTILE, made_audit, made_cipher, made_history, made_listings, made_profile

SIZES = [(390, "light"), (768, "dark"), (1440, "light")]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    pages = {
        "profile": profile_page(made_profile(), made_listings(), HOSTILE, "uno", 16_000_000, "motecrypt x")
    }
    pages["audit"] = audit_page(made_cipher(), "made plain", made_audit(), "motecrypt x")
    pages["history"] = history_page(made_history(), 2.0, "motecrypt x")
    pages["radio"] = radio_page(variants_of(load_radio("srf")), 4, "motecrypt x")
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text)
    return {name: folder / f"{name}.html" for name in pages}


@pytest.fixture
def show(browser: Any) -> Iterator[Any]:
    """A function that opens a page; at the end nothing may have been reported or fetched."""
    contexts: list[Any] = []
    reported: list[str] = []

    def opened(file: Path, width: int = 1280, scheme: str = "light") -> Any:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.on("console", lambda message: reported.append(message.text))
        page.on("pageerror", lambda error: reported.append(str(error)))
        page.on("request", lambda asked: reported.append(asked.url) if asked.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert reported == []


@pytest.mark.parametrize("kind", ["profile", "audit", "history", "radio"])
@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_a_page_fits_and_no_name_is_obeyed(
    show: Any, files: dict[str, Path], kind: str, width: int, scheme: str
) -> None:
    page = show(files[kind], width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.title() != "owned" and page.locator("img:not(.map)").count() == 0
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button,input,select,[role=img],[role=region]')].filter(e => "
        "!(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || "
        "e.labels?.length)).map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_the_flame_graph_by_keyboard(show: Any, files: dict[str, Path]) -> None:
    page = show(files["profile"])
    blocks = page.locator("#flame button")
    assert blocks.count() == 5
    lowest = "Math.max(...[...flameBox.children].map(e => e.offsetTop + e.offsetHeight))"
    assert 0 <= page.evaluate(f"flameBox.clientHeight - {lowest}") <= 2, "as high as its rows"
    page.locator("#flame button[tabindex='0']").focus()
    for key, name in (
        ("ArrowDown", "main"),
        ("ArrowDown", "work"),
        ("ArrowRight", "tiny"),
        ("ArrowUp", "main"),
    ):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == name
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert blocks.count() == 4, "tiny is beside what is shown"
    assert page.evaluate("document.activeElement.style.width") == "100%"
    assert "899 cycles (89.9 %), 600 of them its own, 3 calls" in page.text_content("#flame-status")
    page.keyboard.press("Escape")
    assert blocks.count() == 5
    page.fill("#flame-find", "WORK")
    assert page.text_content("#flame-status").startswith("60.0 %")
    assert page.locator("#flame button.match").all_text_contents() == ["work"]


def test_the_tree_folds_and_lines_open(show: Any, files: dict[str, Path]) -> None:
    page = show(files["profile"])
    rows = page.locator("#tree tbody tr:visible")
    before = rows.count()
    page.click("#tree button[aria-label='What main calls']")
    assert (before, rows.count()) == (4, 2)
    page.click("#tree button[aria-label='What main calls']")
    assert rows.count() == 4
    page.click("button[aria-label='Instructions of line 2']")
    assert page.locator("tr.instruction .text").all_text_contents()[:2] == [
        "10:  ldi r24, 0x05",
        "12:  rcall .+6",
    ]
    page.click("button[aria-label='Instructions of line 2']")
    assert page.locator("details[data-listing='0'] tr.instruction").count() == 0
    assert page.locator("details[data-listing='1'] tr.instruction").count() == 1


def test_a_table_sorts_by_a_column_and_the_slider_says_the_stack(show: Any, files: dict[str, Path]) -> None:
    page = show(files["profile"])
    page.click("table.sortable button:text-is('calls')")
    shown = [
        row.split()[0] for row in page.locator("table.sortable tbody td[data-name=calls]").all_text_contents()
    ]
    assert shown == sorted(shown, key=int, reverse=True)
    assert page.get_attribute("th:has(button:text-is('calls'))", "aria-sort") == "descending"
    assert page.text_content("#stack-status").startswith("From 32 µs: 32 bytes, in </script>")
    page.focus("#stack-at")
    page.keyboard.press("ArrowLeft")
    assert page.text_content("#stack-status") == "From 16 µs: 24 bytes, in work."


def test_a_history_finds_by_words(show: Any, files: dict[str, Path]) -> None:
    page = show(files["history"])
    page.fill("#history-find", "uno CYCLES")
    assert page.text_content("#history-status") == "1 figures fit."
    page.fill("#history-find", "uno nothing")
    assert page.locator("table.sortable tbody tr:visible").count() == 0
    assert page.locator("details[data-search]:visible").count() == 0


def test_the_slider_shows_the_wait_of_a_short_packet(show: Any, files: dict[str, Path]) -> None:
    page = show(files["radio"])
    waits = page.locator("#radio-lanes .span.k1:not(.answer)")
    assert waits.all_text_contents() == ["waits 100 ms"]
    page.focus("#radio-bytes")
    page.keyboard.press("ArrowLeft")
    assert page.input_value("#radio-count") == "12" and waits.count() == 0
    assert "12 bytes in 1 packet" in page.text_content("#radio-status")
    assert "the last packet is full" in page.get_attribute("#radio-bytes", "aria-valuetext")
    page.fill("#radio-count", "999")
    page.keyboard.press("Enter")
    assert page.input_value("#radio-bytes") == "64"
    page.select_option("#radio-variant", "1")
    assert "16 ms waiting" in page.text_content("#radio-status")
    page.check("#radio-fit")
    wide = page.evaluate(
        "[...document.querySelectorAll('.lane .span')].every(e => parseFloat(e.style.left) <= 100)"
    )
    assert wide and page.locator("#radio-table tbody tr").count() > 8
    rows = page.eval_on_selector_all(
        "#radio-table tbody tr", "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    begun = page.evaluate("shownVariant().lengths[63].spans")
    assert [row[1] for row in rows] == [("message", "answer")[sender] for _, sender, *_ in begun]
    assert rows[0][1] == "message" and rows[-1][1] == "answer"
