"""Figures for a paper: their exact width, size of text, grey, metadata and LaTeX."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from motecrypt.base.errors import InputError
from motecrypt.present.report import paper
from motecrypt.present.report.export import export_figures
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.paper import PaperFormat, fitted, latex, width_mm, with_metadata
from tool_sets import needs_tool_set

VALUES = {"values": [{"x": n, "y": n * n, "s": f"a long name of a series {n % 3}"} for n in range(9)]}
LINE: dict[str, Any] = {
    "data": VALUES,
    "mark": "line",
    "title": {"text": "Inside", "fontSize": 11},
    "encoding": {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "y", "type": "quantitative"},
        "color": {"field": "s", "type": "nominal", "legend": {"orient": "bottom", "columns": 4}},
    },
}
SINGLE = Figure("single", "Title <1>", "50 % of_x & \\y", "motecrypt x", LINE)
DOTS = {**LINE, "mark": "point"}
DOT = Figure("dots", "Dots", "", "motecrypt x", DOTS)
PANELS = Figure("panels", "Panels", "Caption.", "motecrypt y", {"hconcat": [DOTS, DOTS]})


def points(svg: str) -> float:
    return float(re.search(r'<svg[^>]*\swidth="([0-9.]+)"', svg)[1])  # type: ignore[index]


@needs_tool_set("plots")
@pytest.mark.parametrize("figure", [SINGLE, PANELS], ids=lambda figure: figure.name)
@pytest.mark.parametrize("mm", [88, 180])
def test_a_figure_has_the_width_and_text_of_8_points(figure: Figure, mm: float, tmp_path: Path) -> None:
    export_figures([figure], tmp_path, None, PaperFormat(mm, titled=False))
    svg = (tmp_path / f"{figure.name}.svg").read_text()
    assert points(svg) / 72 * 25.4 == pytest.approx(mm, abs=0.2)
    assert set(re.findall(r'font-size="([0-9.]+)px"', svg)) == {"8"}
    pdf = (tmp_path / f"{figure.name}.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[0 0 ([0-9.]+)", pdf)
    assert box and float(box[1]) / 72 * 25.4 == pytest.approx(mm, abs=0.2)
    assert (tmp_path / f"{figure.name}.csv").read_text().count("\n") >= 10
    assert f"width={mm}mm" in (tmp_path / f"{figure.name}.tex").read_text()


class Measured:
    """In place of Vega: a figure is 70 wider than its plots, and never narrower than its legends."""

    def __init__(self, legend: int = 0) -> None:
        self.legend, self.drawn = legend, 0

    def vegalite_to_svg(self, made: dict[str, Any]) -> str:
        self.drawn += 1
        views = made.get("hconcat") or made.get("concat") or (made.get("vconcat") or [made])[:1]
        if made.get("columns"):
            views = views[: made["columns"]]
        encoding = views[0].get("encoding") or views[0]["layer"][0]["encoding"]
        columns = (encoding["color"]["legend"] or {"columns": 0})["columns"]
        width = max(sum(view.get("width", 200) + 70 for view in views), self.legend * columns)
        return f'<svg class="marks" width="{width}" height="9">'


def test_the_width_is_found_by_drawing() -> None:
    engine = Measured()
    made = fitted(DOT, PaperFormat(88), engine)
    assert made["width"] == pytest.approx(88 / 25.4 * 72 - 70, abs=0.5) and engine.drawn <= 3
    two = fitted(PANELS, PaperFormat(180), Measured())
    assert [view["width"] for view in two["hconcat"]] == pytest.approx([180 / 25.4 * 36 - 70] * 2, abs=0.5)


def test_narrow_figures_have_panels_below_each_other() -> None:
    made = fitted(PANELS, PaperFormat(88), Measured())
    assert "hconcat" not in made and made["columns"] == 1 and len(made["concat"]) == 2
    assert "hconcat" in PANELS.specification, "the figure itself stays"


def test_a_wide_legend_gets_fewer_columns() -> None:
    made = fitted(DOT, PaperFormat(88), Measured(legend=120))
    assert made["encoding"]["color"]["legend"]["columns"] == 2
    assert made["width"] == pytest.approx(88 / 25.4 * 72 - 70, abs=0.5)


def test_the_title_is_drawn_by_choice() -> None:
    plain = Figure("f", "The title", "", "", {k: v for k, v in LINE.items() if k != "title"})
    assert fitted(plain, PaperFormat(88), Measured())["title"] == ["The title"]
    assert "title" not in fitted(plain, PaperFormat(88, titled=False), Measured())


@needs_tool_set("plots")
def test_a_long_title_is_broken_into_lines(tmp_path: Path) -> None:
    plain = {k: v for k, v in LINE.items() if k != "title"}
    long = Figure("long", "A title of many words " * 6, "", "", plain)
    export_figures([long], tmp_path, None, PaperFormat(88))
    svg = (tmp_path / "long.svg").read_text()
    assert points(svg) / 72 * 25.4 == pytest.approx(88, abs=1)
    assert len(re.findall(r"<tspan[^>]*>[^<]*(?:title|words)", svg)) >= 3


def test_more_columns_than_panels_are_as_many_as_panels() -> None:
    declared = Figure("f", "", "", "", {"concat": [DOTS, DOTS], "columns": 4})
    made = fitted(declared, PaperFormat(180), Measured())
    assert [view["width"] for view in made["concat"]] == pytest.approx([180 / 25.4 * 36 - 70] * 2, abs=0.5)


def test_lines_differ_without_colour() -> None:
    made = fitted(SINGLE, PaperFormat(88), Measured())
    assert made["encoding"]["strokeDash"]["field"] == "s"


def test_latex_is_escaped() -> None:
    made = latex(SINGLE, PaperFormat(88))
    assert r"\caption{50 \% of\_x \& \textbackslash{}y}" in made and "\\begin{figure}\n" in made
    assert "\\begin{figure*}" in latex(SINGLE, PaperFormat(180))


def test_metadata_are_an_update_that_every_reader_finds() -> None:
    pdf = b"%PDF-1.7\nxref\ntrailer\n<<\n/Size 17\n/Root 3 0 R\n/Info 16 0 R\n>>\nstartxref\n9\n%%EOF"
    made = with_metadata(pdf, SINGLE)
    assert made.startswith(pdf) and b"/Prev 9\n" in made and b"/Root 3 0 R" in made[len(pdf) :]
    table = int(re.findall(rb"startxref\n(\d+)", made)[-1])
    assert made[table:].startswith(b"xref\n16 1\n")
    place = int(made[table + 10 : table + 20])
    assert made[place:].startswith(b"16 0 obj")
    title = re.search(rb"/Title <feff([0-9a-f]+)>", made)
    assert title and bytes.fromhex(title[1].decode()).decode("utf-16-be") == "Title <1>"
    assert with_metadata(b"%PDF-other", SINGLE) == b"%PDF-other"


def test_widths_are_millimetres_of_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert (width_mm("88mm"), width_mm("18 cm")) == (88.0, 180.0)
    for wrong in ("88", "wide", "10mm", "9000mm", "-88mm", ""):
        with pytest.raises(InputError, match=r"^--width '"):
            width_mm(wrong)
    for words in (("--width", "88mm"), ("--no-title",), ("--width", "8", "--figures", "f")):
        code, _, error = run(capsys, "report", *words)
        assert code == 2 and len(error.strip().splitlines()) == 1 and "--width" in error
    assert paper.TEXT_POINTS == 8
