"""The README's pictures are small, and show what the commands print today."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest

from motecrypt.build.toolchain import pinned
from motecrypt.catalog import Catalog
from toolchains import OWN, environment_with

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"
sys.path.insert(0, str(FOLDER))

import make  # noqa: E402
import packages  # noqa: E402

SHOWN_FOR = "gcc-5.4"  # the toolchain whose figures the pictures and the README have


def shown_in(picture: str) -> str:
    """What an SVG file shows below its title, without spaces: each colour is an element of its own."""
    parts = re.findall(r"<text [^>]*>(.*?)</text>", (FOLDER / picture).read_text(), re.DOTALL)
    return without_spaces(html.unescape("".join(parts[1:])))


def without_spaces(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("name", ["answer.svg", "session.svg", "report.png"])
def test_a_picture_is_small_and_is_in_the_readme(name: str) -> None:
    assert 1000 < (FOLDER / name).stat().st_size <= make.BYTES_MAX
    assert f"](docs/pictures/{name})" in (ROOT / "README.md").read_text()
    if name.endswith(".svg"):
        addresses = set(re.findall(r"https?://[^\s\"<]+", (FOLDER / name).read_text()))
        assert addresses == {"http://www.w3.org/2000/svg", "https://www.textualize.io"}


def test_the_picture_of_the_explorer_is_small_and_is_in_the_docs() -> None:
    assert 1000 < (FOLDER / "explorer.png").stat().st_size <= make.BYTES_MAX
    assert "](pictures/explorer.png)" in (ROOT / "docs" / "report.md").read_text()


def test_the_picture_of_the_packages_is_what_the_list_says() -> None:
    graph = packages.arrows()
    assert packages.PICTURE.read_text() == packages.drawn(graph), "run docs/pictures/packages.py"
    assert "](pictures/packages.svg)" in (ROOT / "docs" / "design.md").read_text()
    high = packages.floors(graph)
    assert all(high[one] > high[other] for one, others in graph.items() for other in others)


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    graph = {"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": set()}
    assert packages.reduced(graph) == {"a": {"b", "d"}, "b": {"c"}, "c": set(), "d": set()}
    assert packages.floors(graph) == {"a": 2, "b": 1, "c": 0, "d": 0}


def test_the_pictures_show_the_commands_of_the_readme() -> None:
    page = (ROOT / "README.md").read_text()
    for name, command in (("answer.svg", make.ANSWER), ("session.svg", make.SESSION)):
        assert shown_in(name).startswith(without_spaces(f"$ {command}"))
        assert f"./{command}" in page


def test_a_drawn_terminal_shows_what_was_printed() -> None:
    printed = "\x1b[1mUse:\x1b[0m  \x1b[32mrecommended\x1b[0m <1,234>\n" + "word " * 40
    drawn = make.drawn("motecrypt x", printed)
    assert "recommended" in drawn and "&lt;1,234&gt;" in drawn and "font-face" not in drawn
    assert drawn.count("word") >= 40 and drawn == make.drawn("motecrypt x", printed)


@pytest.mark.long
def test_the_picture_of_the_answer_is_what_the_command_prints(tmp_path: Path) -> None:
    target = Catalog.load().toolchains[SHOWN_FOR].target_for("avr-gcc")
    assert target is not None
    own = OWN if pinned.is_system(target) else SHOWN_FOR
    printed = make.printed(make.ANSWER, tmp_path, environment_with(own, "avr-gcc"))
    today = re.sub(r"\x1b\[[0-9;]*m", "", printed)
    shown = shown_in("answer.svg")
    assert shown == without_spaces(f"$ {make.ANSWER}\n{today}"), "python docs/pictures/make.py answer"
