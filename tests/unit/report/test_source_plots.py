"""Every plot and table of figures in the sources is drawn in the report: printed figures next to ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from goldens.views.made_up import filled
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.sources import sources

#: By study: the names of figures, and whether the source prints figures that they can show.
PLOTS = {
    "rf": {
        "rf-figure-6": True,
        "rf-table-2-ms": True,
        "rf-table-3-ms": True,
        "rf-table-4-throughput-kb-s": True,
    },
    "wlan": {
        **dict.fromkeys(("wlan-figure-2", "wlan-figure-8", "wlan-figure-10"), True),
        **dict.fromkeys(("wlan-figure-3", "wlan-figure-9", "wlan-figure-11"), True),
        **dict.fromkeys(("wlan-figure-4-5-6", "wlan-figure-7"), False),  # bars without any number in the text
        **dict.fromkeys((f"wlan-table-{n}-ratio-to-no-encryption" for n in (1, 2, 3)), True),
        **dict.fromkeys(("wlan-packet-sizes", "wlan-encodings", "wlan-battery"), False),
    },
    "rc4d": {"rc4d-type-time-space-time-time-ours-ms": True, "rc4d-type-time-space-bytes": True},
    "pico": {
        **dict.fromkeys(("pico-files", "pico-strings-time-encrypt-decrypt-s"), True),
        **dict.fromkeys(
            ("pico-strings-memory-flash-ram-bytes", "pico-files-time-encryption-decryption-ms"), True
        ),
    },
}


@pytest.fixture(scope="module")
def drawn() -> dict[str, dict[str, Figure]]:
    return {part.name: {f.name: f for f in part.figures} for part in sources(filled("near"))}


def words(row: Mapping[str, Any]) -> Iterator[str]:
    for key, value in row.items():
        yield key
        yield str(value)


@pytest.mark.parametrize("study", PLOTS)
def test_each_plot_has_the_printed_figures_next_to_ours(
    study: str, drawn: dict[str, dict[str, Figure]]
) -> None:
    for name, printed in PLOTS[study].items():
        figure = drawn[study][name]
        assert figure.data() and figure.caption and figure.command == f"motecrypt reproduce {study}"
        said = " ".join(word for row in figure.data() for word in words(row))
        assert ("paper" in said or "print" in said) == printed, name
        if printed:
            assert any(word in said for word in SIDES) or name == "pico-files", name


def test_what_follows_from_the_paper_is_not_drawn_as_ours(drawn: dict[str, dict[str, Figure]]) -> None:
    """The RF paper's throughput is computed from its own times: only table 4 is drawn so."""
    figures = [figure for own in drawn.values() for figure in own.values()]
    recomputed = [f for f in figures if any("recomputed" in row for row in f.data())]
    assert "rf-table-4-throughput-kb-s" in {figure.name for figure in recomputed}
    for figure in recomputed:
        assert "recomputed from its other figures (circles)" in figure.caption
        assert not any("ours" in row for row in figure.data())


SIDES = ("ours", "model", "recomputed", "author's code")
#: Units, which do not say alone what is drawn.
UNITS = {
    *(
        "s",
        "ms",
        "milliseconds",
        "µs",
        "bytes",
        "B",
        "KB/s",
        "MB/s",
        "µJ",
        "µJ/byte",
        "J",
        "mA",
        "%",
        "cycles",
    ),
    *("ratio", "bits", ""),
}


def axes(part: Any, panel: str = "") -> Iterator[tuple[str, str]]:
    """The title of each panel with that of each of its axes of numbers."""
    if isinstance(part, Mapping):
        title = part.get("title", panel) if "encoding" in part or "layer" in part else panel
        panel = title if isinstance(title, str) else title.get("text", panel)
        for axis in ("x", "y"):
            channel = part.get("encoding", {}).get(axis, {})
            if channel.get("type") == "quantitative":
                yield panel, channel.get("title") or ""
        for name in ("layer", "concat", "hconcat", "vconcat"):
            for inner in part.get(name, ()):
                yield from axes(inner, panel)


def test_each_axis_says_what_it_draws(drawn: dict[str, dict[str, Figure]]) -> None:
    """Not its unit alone; and what has a unit of energy is not called power, nor anything else."""
    seen = 0
    for figures in drawn.values():
        for name, figure in figures.items():
            for panel, title in axes(figure.specification):
                seen += 1
                assert title not in UNITS, (name, panel, title)
                if "J" in title.rpartition(", ")[2]:
                    assert title.startswith("energy"), (name, panel, title)
                    assert not panel.startswith("power"), (name, panel, title)
    assert seen > 50


def test_a_figure_says_whose_code_it_measured(drawn: dict[str, dict[str, Figure]]) -> None:
    """Recorded figures of the author's own code are not called ours."""
    recorded = 0
    for part in sources(filled("near")):
        of = {(row.table, row.column, row.row): row.like_for_like for row in part.rows}
        for figure in part.figures:
            for panel in figure.specification.get("concat", [figure.specification]):
                for value in panel.get("data", {}).get("values", ()) if "verdict" in str(panel) else ():
                    if "whose" not in value:
                        continue
                    possible = {like for (_, _, row), like in of.items() if row == value["row"]}
                    if value["whose"] != "ours":
                        recorded += 1
                        assert value["whose"] in possible
                        assert "author's code" in figure.caption
                    else:
                        assert possible - {"author's code", "author's code, recorded"}
    assert recorded > 0
