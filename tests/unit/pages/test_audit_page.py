"""The page of an audit: each part's pictures and the tables behind them, from made-up answers."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from typing import Any

import pytest

from motecrypt.present.pages.audit_page import audit_page
from motecrypt.present.pages.pictures import DARKEST, LIGHTEST, png
from motecrypt.results.experiments.audit import AuditAnswer
from page_data import HOSTILE, Read, made_audit, made_cipher


def page_of(*parts: tuple[str, AuditAnswer]) -> str:
    return audit_page(made_cipher(), "made plain", parts, "motecrypt audit made")


def part(name: str, data: dict[str, Any], weight: str = "bad") -> tuple[str, AuditAnswer]:
    return name, AuditAnswer(name, "a verdict", weight, ("A sentence.",), data)


@pytest.fixture(scope="module")
def parts() -> list[tuple[str, AuditAnswer]]:
    return made_audit()


@pytest.fixture(scope="module")
def page(parts: list[tuple[str, AuditAnswer]]) -> str:
    return page_of(*parts)


def pixels(picture: bytes) -> list[bytes]:
    """Rows of palette indices of a PNG without filters."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    at, found = 8, {}
    while at < len(picture):
        size, kind = struct.unpack(">I4s", picture[at : at + 8])
        found[kind] = picture[at + 8 : at + 8 + size]
        assert struct.unpack(">I", picture[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            kind + found[kind]
        )
        at += 12 + size
    width, height = struct.unpack(">II", found[b"IHDR"][:8])
    lines = zlib.decompress(found[b"IDAT"])
    assert found[b"PLTE"][:3] == bytes(LIGHTEST) and found[b"PLTE"][300:] == bytes(DARKEST)
    rows = [lines[n : n + width + 1] for n in range(0, len(lines), width + 1)]
    assert len(rows) == height and {row[0] for row in rows} == {0}
    return [row[1:] for row in rows]


def test_a_map_has_a_pixel_for_each_value() -> None:
    assert pixels(png([[0, 50, 100], [120, -3, 7]])) == [bytes([0, 50, 100]), bytes([100, 0, 7])]


def test_the_diffusion_map_shows_each_bit_and_its_table_the_means(page: str) -> None:
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert len(pictures) == 1
    assert pixels(base64.b64decode(pictures[0])) == [bytes([100, 10 * n]) for n in range(8)]
    assert ["0", "100", "35"] in Read(page).rows


def test_a_histogram_and_its_table_have_all_inputs(page: str) -> None:
    rows = Read(page).rows
    assert ["900", "3"] in rows and ["1,000", "5"] in rows
    assert page.count('class="bar-of"') == 2 + 2, "two cycles, two positions"
    assert "900 to 1,000 over 8 random keys and messages" in page


def test_bars_are_joined_where_there_are_many() -> None:
    spread = [[1000 + n, 1] for n in range(400)]
    name, answer = made_audit()[2]
    rows = [answer.data["rows"][0] | {"spread": spread, "partings": []}]
    page = page_of((name, AuditAnswer("t", "v", "bad", (), {"message_bytes": 16, "rows": rows})))
    assert page.count('class="bar-of"') == 40
    places = [float(x) for x in re.findall(r'class="bar-of" x="([0-9.]+)"', page)]
    assert places[-1] - places[0] == pytest.approx(1000 * 390 / 400), "of an axis from 1,000 to 1,400"
    assert '<span class="tick y" style="bottom:100.00%">10</span>' in page
    heights = {float(h) for h in re.findall(r'class="bar-of"[^>]* height="([0-9.]+)"', page)}
    assert heights == {1000.0}, "ten inputs in each, and an axis of ten"


def test_traces_are_drawn_where_they_part(page: str) -> None:
    rows = Read(page).rows
    assert ["7", "0x10", "0x10"] in rows and ["8", "0x20", "0x10"] in rows and ["9", "0x10", ""] in rows
    assert "M0.0" not in page.split("branch at")[0]
    assert f"two, encrypt, in flash: branch at {'&lt;/script&gt;'}" in page


def test_power_curves_have_points_and_a_threshold(page: str) -> None:
    rows = Read(page).rows
    assert ["weight, correlation, no noise", "100", "4.5", "5", "1"] in rows
    assert ["12", "9.5", "aes.c:3"] in rows and "threshold 4.5" in page


def test_a_long_curve_has_its_peaks_in_the_table() -> None:
    curve = [0.0, -9.0, 1.0] * 100
    test = {"first_instruction": 5, "threshold": None, "curve": curve, "places": ["a"] * 300}
    rows = Read(page_of(part("power:uno", {"rows": [{"variant": "v", "attacks": [], "t_test": test}]}))).rows
    told = [row for row in rows if row[-1] == "a"]
    assert len(told) == 60 and {row[1] for row in told} == {"-9"} and told[0] == ["6", "-9", "a"]


def test_a_part_without_pictures_has_all_its_figures(page: str) -> None:
    rows = Read(page).rows
    assert ["two", "9"] in rows and ["3", "none"] in rows and ["queries mean", "167.2"] in rows


def test_names_stay_text(page: str) -> None:
    read = Read(page)
    assert len(read.scripts) == 2 and "\u202e" not in page
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert {a.get("src", "")[:15] for t, a in read.elements if t == "img"} == {"data:image/png;"}
    assert HOSTILE not in page


@pytest.mark.parametrize("kind", ["diffusion", "timing:uno", "power:uno", "taint", "statistics", "integrity"])
@pytest.mark.parametrize("data", [{}, {"rows": "no"}, {"rows": [1]}, {"matrix": {}}, {"positions": [{}]}])
def test_data_of_another_shape_are_shown_as_far_as_they_go(kind: str, data: dict[str, Any]) -> None:
    assert "a verdict" in page_of(part(kind, data))


def test_parts_are_counted_by_what_they_found() -> None:
    page = page_of(part("a", {}), part("b", {}, "good"), part("c", {}, "bad"), part("d", {}, "skipped"))
    assert "2 × ✗ weak, 1 × ✓ good, 1 × – skipped" in page
