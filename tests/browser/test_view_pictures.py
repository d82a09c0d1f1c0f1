"""Ten views of the pages look as their stored pictures do, in one font on every machine."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import page_fonts
from page_views import PICTURES, VIEWS, View, as_png, difference, fields_of, pages, screenshots

#: Mean difference of a field, of 255, that passes. Letters are larger next to the window of a phone. A serif
#: font everywhere changes the wide views by 0.4 to 1.4, and the phone's by 2.4.
TOLERANCE, TOLERANCE_PHONE = 1.6, 3.5
OTHER_FONT = """
  const style = document.createElement('style');
  style.textContent = '* { font-family: serif !important; }';
  document.head.append(style);
"""
FONTS = ("front", "explorer")
#: What must not pass, by view.
FAULTS = {
    "front": ["document.querySelector('#adviser').remove();"],
    "front-phone": ["document.querySelector('main').style.marginLeft = '200px';"],
    "explorer": ["document.querySelector('#explorer').replaceChildren();"],
    "explorer-security": ["document.querySelector('#explorer-plot').replaceChildren();"],
    "profile": ["document.querySelector('#flame').remove();"],
    "audit": ["document.querySelector('style').remove();"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The pages of made-up figures."""
    return pages(tmp_path_factory.mktemp("views"))


@pytest.fixture(scope="module")
def reader(browser: Any) -> Any:
    """A page that reads and writes pictures."""
    return browser.new_page()


def _stored(reader: Any, view: View) -> list[list[int]]:
    return fields_of(reader, (PICTURES / f"{view.name}.png").read_bytes())


#: The width of a line in a family, or in the font of a file.
_WIDTH = """async ([family, content]) => {
  if (content) document.fonts.add(await new FontFace(family, `url(data:font/ttf;base64,${content})`).load());
  const context = document.createElement('canvas').getContext('2d');
  context.font = `20px ${family}`;
  return context.measureText('iiimmmWWW 0123').width;
}"""


@pytest.mark.parametrize(
    ("file", "families"),
    [
        ("DejaVuSans.ttf", ["system-ui", "sans-serif", "Arial", "'Segoe UI', sans-serif"]),
        ("DejaVuSerif.ttf", ["serif", "'Times New Roman'"]),
        ("DejaVuSansMono.ttf", ["monospace"]),
    ],
)
def test_text_is_as_wide_on_every_machine(reader: Any, file: str, families: list[str]) -> None:
    """A page that asks for a class of fonts, or for one of another machine, gets DejaVu."""
    content = base64.b64encode((page_fonts.FOLDER / file).read_bytes()).decode()
    expected = reader.evaluate(_WIDTH, ["own", content])
    asked = {family: reader.evaluate(_WIDTH, [family, ""]) for family in families}
    assert asked == dict.fromkeys(families, pytest.approx(expected))


@pytest.mark.crosscheck
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_looks_as_before(
    browser: Any, made: Mapping[str, Path], reader: Any, tmp_path: Path, view: View
) -> None:
    changes = ["", *([OTHER_FONT] if view.name in FONTS else []), *FAULTS.get(view.name, ())]
    shots = screenshots(browser, view, made[view.page], changes)
    seen = tmp_path / f"{view.name}.png"
    seen.write_bytes(shots[0])
    stored = _stored(reader, view)
    found = [difference(stored, fields_of(reader, shot)) for shot in shots]
    most = TOLERANCE if view.width >= 600 else TOLERANCE_PHONE
    assert found[0] <= most, (
        f"differs by {found[0]:.1f}: look at {seen}; "
        "if it is as it should be: PYTHONPATH=src:tests python tests/golden_pages.py"
    )
    if view.name in FONTS:
        assert found[1] <= most, "another font is not a fault"
    if view.name in FAULTS:
        assert found[-1] > most, "a fault is not seen"


def test_pictures_are_small_and_read_back(reader: Any) -> None:
    stored = list(PICTURES.glob("*.png"))
    assert {path.stem for path in stored} == {view.name for view in VIEWS} and len(VIEWS) == 10
    assert all(path.stat().st_size < 20_000 for path in stored)
    fields = _stored(reader, VIEWS[0])
    assert fields_of(reader, as_png(reader, fields)) == fields
    moved = fields[64:] + fields[:64]
    assert difference(fields, fields) == 0
    assert 0 < difference(fields, moved) < 12
