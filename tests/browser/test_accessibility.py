"""axe-core finds nothing on any page: phone to desktop, light, dark and print, everything open.

axe-core comes from npm, pinned and hashed (tests/npm). The rows of a table repeat one another, as do
the tables of a source, so a few of each are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from motecrypt.air.radios import load_radio
from motecrypt.catalog import Catalog
from motecrypt.present.pages.audit_page import audit_page
from motecrypt.present.pages.history_page import history_page
from motecrypt.present.pages.profile_page import profile_page
from motecrypt.present.pages.radio_page import radio_page, variants_of
from motecrypt.present.report import gather, render
from motecrypt.results import Results
from page_data import HOSTILE, made_audit, made_cipher, made_history, made_listings, made_profile
from report_data import fill
from tool_sets import NPM, needs_npm

AXE = NPM / "axe-core" / "axe.min.js"
ROWS = 3
#: Width, colours and medium.
LOOKS = [
    *((width, scheme, "screen") for width in (390, 768, 1440) for scheme in ("light", "dark")),
    (1440, "light", "print"),
]
COLOURS_ONLY = {(390, "dark"), (768, "light"), (1440, "dark")}
RUN = """async (rules) => {
  const only = rules.length ? {runOnly: {type: 'rule', values: rules}} : {};
  const found = await axe.run(document, {resultTypes: ['violations'], ...only});
  return found.violations.flatMap((v) => v.nodes.map((n) =>
    `${v.id}: ${n.html.slice(0, 160)}: ${(n.any[0] || n.all[0] || n.none[0] || {}).message || ''}`));
}"""
OPEN = """async (rows) => {
  [...document.querySelectorAll('details.bare')].slice(rows).forEach((part) => part.remove());
  for (let closed; (closed = document.querySelectorAll('details:not([open])')).length;) {
    for (const part of closed) part.open = true;
    await new Promise((resume) => setTimeout(resume, 50));  // what is filled when it is opened
    for (const source of document.querySelectorAll('details[data-source]')) {
      [...source.querySelectorAll(':scope > details')].slice(rows, -1).forEach((part) => part.remove());
    }
  }
  [...document.querySelectorAll('.plot')].slice(2 * rows).forEach((plot) => plot.replaceChildren());
  for (const body of document.querySelectorAll('tbody')) {
    [...body.rows].slice(rows).forEach((row) => row.remove());
  }
}"""

pytestmark = needs_npm(AXE)


def _report(path: Path) -> str:
    """A served report, which has every part that the file has, and the form to measure."""
    with Results(path) as results:
        for family in ("rc4d", "ascon"):
            fill(results, family=family, lengths=(16, 32, 64))
        return render(gather(results, Catalog.load()), live=True)


MADE: dict[str, Callable[[Path], str]] = {
    "report": _report,
    "profile": lambda _: profile_page(
        made_profile(), made_listings(), HOSTILE, "uno", 16_000_000, "motecrypt x"
    ),
    "audit": lambda _: audit_page(made_cipher(), "made plain", made_audit(), "motecrypt x"),
    "history": lambda _: history_page(made_history(), 2.0, "motecrypt x"),
    "radio": lambda _: radio_page(variants_of(load_radio("srf")), 4, "motecrypt x"),
}


@pytest.fixture(scope="module", params=list(MADE))
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page as a file."""
    folder = tmp_path_factory.mktemp(request.param)
    target = folder / f"{request.param}.html"
    target.write_text(MADE[request.param](folder / "results.db"))
    return target


@pytest.fixture
def show(browser: Any) -> Iterator[Callable[[Path, int, str], Any]]:
    """Opens a page at a width and in colours, with axe-core in it."""
    contexts: list[Any] = []

    def opened(path: Path, width: int, scheme: str) -> Any:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.goto(path.as_uri())
        page.evaluate(AXE.read_text(encoding="utf-8"))
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.crosscheck
def test_axe_finds_nothing(show: Any, page_file: Path) -> None:
    found: dict[str, list[str]] = {}
    page = show(page_file, 1440, "light")
    if page_file.stem == "report":
        page.fill("#explorer-form input[name=flash]", "wrong")  # a field's error is checked, too
        page.evaluate("updateExplorer()")
        page.fill("#explorer-form input[name=flash]", "")
        page.fill("#adviser-form input[name=every]", "wrong")
        page.wait_for_selector("#explorer-plot svg")
        page.click("#explorer-table tbody button")
        page.fill("#explorer-form input[name=ram]", "wrong")
    page.evaluate(OPEN, ROWS)
    for width, scheme, medium in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, media=medium)
        # What other colours change, at each width; all the rest once for each.
        rules = ["color-contrast", "link-in-text-block"] if (width, scheme) in COLOURS_ONLY else []
        for violation in page.evaluate(RUN, rules):
            found.setdefault(violation, []).append(f"{width} {scheme} {medium}")
    assert not found, "\n".join(f"{violation} ({', '.join(where)})" for violation, where in found.items())


@pytest.mark.crosscheck
def test_axe_notices_a_fault(show: Any, page_file: Path) -> None:
    page = show(page_file, 1440, "light")
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: #ddd; background: #fff\">pale</p>')"
    )
    page.evaluate("document.querySelectorAll('main > *').forEach((part) => part.remove())")
    assert any(text.startswith("color-contrast: ") for text in page.evaluate(RUN, []))
