"""The plots of a survey: every mark, line and label where the figures put it."""

from __future__ import annotations

from xml.etree import ElementTree

from motecrypt.air.radios.plots import svg_plot, text_plot


def test_a_plot_for_a_terminal() -> None:
    drawn = text_plot(
        [10, 20, 30, 40], [("*", "all", [0, 40, 80, 160]), ("o", "some", [0, 20, 80, 70])], "ms"
    )
    # Of 16 rows from the bottom: 40 of 160 is 4 up, 70 is 7, 80 is 8.
    rows = {0: "   *", 7: "  o", 8: "   o", 11: " *", 13: " o", 15: "o"}
    labels = {0: "160.0", 4: "120.0", 8: "80.0", 12: "40.0"}
    expected = [f"{labels.get(n, ''):>9} |{rows.get(n, ''):<4}" for n in range(16)]
    expected += ["      0.0 +----", " " * 11 + "10 40 bytes"]
    assert drawn.splitlines() == ["ms: * all   o some", *expected]


def test_a_long_plot_is_72_columns_wide() -> None:
    lengths = list(range(1, 145))
    lines = text_plot(lengths, [("*", "a", [5.0] * 144)], "us").splitlines()
    assert lines[1] == "      5.0 |" + "*" * 72
    assert lines[17] == "      0.0 +" + "-" * 72 and lines[18] == " " * 11 + "1" + "144".rjust(71) + " bytes"
    assert "      1.0 |" in text_plot([1], [("*", "a", [0])], "us")


def test_a_drawn_plot_has_steps() -> None:
    """Two neighbours are a step, half a byte around each; a length alone is a dot."""
    text = svg_plot("A & b", [10, 11, 13], [("red", "<one>", [0, 25, 100]), ("blue", "two", [50] * 3)], "us")
    drawn = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert drawn.attrib == {"viewBox": "0 0 760 420", "font-family": "sans-serif", "font-size": "12"}
    # The plane: 70 to 740 across for 9.5 to 13.5 bytes, 370 up to 50.
    assert [part.attrib for part in drawn.iter(space + "path")] == [
        {"d": path, "fill": "none", "stroke": colour, "stroke-width": "1.5"}
        for path, colour in (
            ("M70.0,370.0H237.5V290.0H405.0M572.5,50.0H740.0", "red"),
            ("M70.0,210.0H237.5V210.0H405.0M572.5,210.0H740.0", "blue"),
        )
    ]
    assert [part.attrib for part in drawn.iter(space + "circle")] == [
        {"cx": "656.2", "cy": cy, "r": "2.5", "fill": colour}
        for cy, colour in (("50.0", "red"), ("210.0", "blue"))
    ]
    assert [part.attrib for part in drawn.iter(space + "line")] == [
        {"x1": "70.0", "x2": "740.0", "y1": f"{y:.1f}", "y2": f"{y:.1f}", "stroke": "#ddd"}
        for y in (370, 290, 210, 130, 50)
    ]
    labels = [(part.text, part.attrib) for part in drawn.iter(space + "text")]
    end, middle = {"text-anchor": "end"}, {"text-anchor": "middle"}
    steps = []
    for value, y, length, x in zip(
        (0, 25, 50, 75, 100), (374, 294, 214, 134, 54), (10, 11, 12, 12, 13), range(5), strict=True
    ):
        steps.append((str(value), {"x": "64.0", "y": f"{y:.1f}", **end}))
        steps.append((str(length), {"x": f"{153.75 + 125.625 * x:.1f}", "y": "388.0", **middle}))
    assert labels == [
        ("A & b", {"x": "70.0", "y": "22", "font-size": "15"}),
        *steps,
        ("<one>", {"x": "70.0", "y": "42", "fill": "red"}),
        ("two", {"x": "270.0", "y": "42", "fill": "blue"}),
        ("message bytes; us", {"x": "740.0", "y": "412.0", **end}),
    ]
    assert drawn.find(space + "rect").attrib == {"width": "760", "height": "420", "fill": "white"}  # type: ignore[union-attr]


def test_the_drawn_plot_of_a_survey_has_a_level_piece_for_every_length() -> None:
    values = [float(n % 12 == 0) for n in range(1, 49)]
    [path] = ElementTree.fromstring(svg_plot("t", range(1, 49), [("red", "a", values)], "us")).iter(
        "{http://www.w3.org/2000/svg}path"
    )
    assert path.attrib["d"].count("H") == 48 and "L" not in path.attrib["d"]
