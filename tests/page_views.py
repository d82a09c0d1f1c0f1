"""Ten views of the pages, and how a screenshot becomes a small picture that tests compare.

A picture is the mean colour of each field of a grid. Letters are smaller than a field, so another font
changes little; a chart, a panel or a column that is missing changes much. The browser itself reads and writes
the PNG files.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.catalog import Catalog
from motecrypt.present.pages.audit_page import audit_page
from motecrypt.present.pages.profile_page import profile_page
from motecrypt.present.report import gather, render
from motecrypt.results import Results
from page_data import HOSTILE, made_audit, made_cipher, made_listings, made_profile
from report_data import fill

#: Fields across; up, as many as keep them square.
ACROSS = 64
HEIGHT = 900
PICTURES = Path(__file__).resolve().parent / "golden" / "pages"


@dataclass(frozen=True)
class View:
    """What is looked at: a page in a window, after a script, from an element on.

    `script` is a body of JavaScript; `seen` is what must be there before the picture is taken.
    """

    name: str
    page: str
    width: int
    scheme: str
    top: str
    script: str = ""
    seen: str = ""
    medium: str = "screen"


_EXPLORER = "updateExplorer();"
_MAP = """
  explorerForm.elements.x.value = 'security';
  for (const one of explorerForm.elements.security) one.checked = true;
"""
_CHART = "#explorer-plot svg"
VIEWS = (
    View("front", "report", 1440, "light", "body"),
    View("front-phone", "report", 390, "light", "body"),
    View("front-dark", "report", 768, "dark", "body"),
    View("front-paper", "report", 794, "light", "body", medium="print"),
    View("explorer", "report", 1440, "light", "#explorer", _EXPLORER, _CHART),
    View("explorer-security", "report", 768, "dark", "#figure-explorer", _MAP + _EXPLORER, _CHART),
    View("explorer-phone", "report", 390, "light", "#figure-explorer", _EXPLORER, _CHART),
    View(
        "cipher",
        "report",
        1440,
        "light",
        "#cipher-rc4d",
        "location.hash = '#cipher-rc4d';",
    ),
    View("profile", "profile", 1440, "light", "body"),
    View("audit", "audit", 1440, "dark", "body"),
)

#: The mean colour of each field: rows of [red, green, blue].
_FIELDS = """async ([source, across]) => {
  const bytes = await (await fetch(`data:image/png;base64,${source}`)).blob();
  const image = await createImageBitmap(bytes);
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
  const size = width / across, up = Math.max(1, Math.round(height / size));
  const sums = Array.from({ length: across * up }, () => [0, 0, 0, 0]);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const row = Math.min(up - 1, Math.floor(y / size)), column = Math.min(across - 1, Math.floor(x / size));
      const field = sums[row * across + column];
      const at = 4 * (y * width + x);
      for (let part = 0; part < 3; part += 1) field[part] += data[at + part];
      field[3] += 1;
    }
  }
  return sums.map((field) => field.slice(0, 3).map((sum) => Math.round(sum / field[3])));
}"""
_PNG = """async ([fields, across]) => {
  const canvas = new OffscreenCanvas(across, fields.length / across);
  const context = canvas.getContext("2d");
  fields.forEach(([red, green, blue], index) => {
    context.fillStyle = `rgb(${red} ${green} ${blue})`;
    context.fillRect(index % across, Math.floor(index / across), 1, 1);
  });
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""
_DRAWN = "figures.every(f => !f.checkVisibility() || drawn.get(f.querySelector('.plot'))?.view)"
Fields = list[list[int]]


def pages(folder: Path) -> Mapping[str, Path]:
    """The pages that are looked at, of made-up figures, as files."""
    with Results(folder / "results.db") as results:
        for family in ("rc4d", "ascon"):
            fill(results, family=family)
        made = {"report": render(gather(results, Catalog.load()))}
    made["profile"] = profile_page(made_profile(), made_listings(), HOSTILE, "uno", 16_000_000, "motecrypt x")
    made["audit"] = audit_page(made_cipher(), "made plain", made_audit(), "motecrypt x")
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text)
    return {name: folder / f"{name}.html" for name in made}


def screenshots(browser: Any, view: View, path: Path, changes: Sequence[str] = ("",)) -> list[bytes]:
    """A view as PNG, after each of some scripts that change it."""
    context = browser.new_context(viewport={"width": view.width, "height": HEIGHT}, color_scheme=view.scheme)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        page.emulate_media(media=view.medium, color_scheme=view.scheme)
        page.evaluate(f"() => {{ {view.script} }}")
        if view.page == "report":
            page.wait_for_function(_DRAWN, timeout=60_000)
        if view.seen:
            page.wait_for_selector(view.seen)
        page.wait_for_timeout(400)  # a figure is drawn again when its place gets another width
        top = page.evaluate("s => document.querySelector(s).getBoundingClientRect().top + scrollY", view.top)
        area = {"x": 0, "y": max(0, top - 8), "width": view.width, "height": HEIGHT}
        made = []
        for change in changes:
            page.evaluate(f"() => {{ {change} }}")
            made.append(bytes(page.screenshot(full_page=True, clip=area)))
        return made
    finally:
        context.close()


def fields_of(page: Any, png: bytes) -> Fields:
    """The small picture of a screenshot, or a stored one as it is."""
    found: Fields = page.evaluate(_FIELDS, [base64.b64encode(png).decode(), ACROSS])
    return found


def as_png(page: Any, fields: Fields) -> bytes:
    """A small picture as PNG, a pixel for each field."""
    return base64.b64decode(page.evaluate(_PNG, [fields, ACROSS]))


def difference(one: Fields, other: Fields) -> float:
    """How different two small pictures are, from 0 to 255: a field counts as its likest one nearby.

    A line that breaks elsewhere moves what is below by a field or two, and changes little. Both directions
    are compared, so that what is only in one of them counts.
    """
    return max(_one_way(one, other), _one_way(other, one))


def _one_way(one: Fields, other: Fields) -> float:
    rows, total = len(one) // ACROSS, 0.0
    for index, field in enumerate(one):
        y, x = divmod(index, ACROSS)
        near = [
            other[row * ACROSS + column]
            for row in range(max(0, y - 2), min(rows, len(other) // ACROSS, y + 3))
            for column in range(max(0, x - 1), min(ACROSS, x + 2))
        ]
        total += (
            min((sum(abs(a - b) for a, b in zip(field, each, strict=True)) for each in near), default=765) / 3
        )
    return total / len(one)
