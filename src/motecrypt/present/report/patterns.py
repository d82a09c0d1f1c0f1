"""Fills of bars that differ without colour: each colour has a pattern of its own, in SVG. Pure.

A drawing by Vega has flat fills. Here the fills of bars and areas, and of their symbols in a legend, become
references to `<pattern>` elements with the same colour as ground.
"""

from __future__ import annotations

import re

from motecrypt.present.report.looks import pattern_of

_GROUP = re.compile(
    r'<g class="mark-(?:rect|area|arc) role-mark[^"]*"(?:(?!</g>).)*</g>'
    r'|<g class="mark-symbol role-legend-symbol"(?:(?!</g>).)*</g>',
    re.S,
)
_FILLED = re.compile(r'class="mark-(?:rect|area|arc) role-mark')
_CLOSED = re.compile(r'<path(?=[^>]*\sfill="(#[0-9A-Fa-f]{6})")[^>]*?>')
_SQUARE = re.compile(r'\sd="M-[0-9.]+,-[0-9.]+h')
_CELL = 4
"""Side of a pattern's tile, in points: a bar 5 points wide shows it, and it survives a printer's screen."""
_MOST_FILLS = 12
"""A drawing with more fills than this shows a quantity by its colour, not categories."""


def patterned(svg: str) -> str:
    """The drawing with patterns in place of flat fills of bars and areas; any other is returned as it is."""
    colours: dict[str, str] = {}

    def filled(path: re.Match[str]) -> str:
        colour = path[1].upper()
        name = colours.setdefault(colour, f"pattern-{colour[1:].lower()}")
        return path[0].replace(f'fill="{path[1]}"', f'fill="url(#{name})"')

    def group(found: re.Match[str]) -> str:
        text = found[0]
        if "role-legend-symbol" in text and not _SQUARE.search(text):
            return text  # of points or lines, which differ by shape and dash
        return _CLOSED.sub(filled, text)

    if not _FILLED.search(svg):
        return svg
    made = _GROUP.sub(group, svg)
    if not colours or len(colours) > _MOST_FILLS:
        return svg
    definitions = "".join(_definition(colour, name) for colour, name in colours.items())
    return re.sub(r"(<svg[^>]*>)", lambda head: f"{head[1]}<defs>{definitions}</defs>", made, count=1)


def _definition(colour: str, name: str) -> str:
    ink = "#000000" if _luminance(colour) > 0.3 else "#ffffff"
    return (
        f'<pattern id="{name}" patternUnits="userSpaceOnUse" width="{_CELL}" height="{_CELL}">'
        f'<rect width="{_CELL}" height="{_CELL}" fill="{colour}"/>{_drawn(pattern_of(colour), ink)}</pattern>'
    )


def _drawn(pattern: str, ink: str) -> str:
    """What is on the ground of a tile of 4 by 4 points; lines go on in the next tile."""
    if pattern == "solid":
        return ""
    if pattern == "dots":
        return f'<circle cx="2" cy="2" r="1" fill="{ink}"/>'
    paths = {
        "rising": "M-1,1L1,-1M0,4L4,0M3,5L5,3",
        "falling": "M-1,3L1,5M0,0L4,4M3,-1L5,1",
        "level": "M0,2H4",
        "upright": "M2,0V4",
        "grid": "M0,2H4M2,0V4",
        "cross": "M-1,1L1,-1M0,4L4,0M3,5L5,3M-1,3L1,5M0,0L4,4M3,-1L5,1",
    }
    return f'<path d="{paths[pattern]}" fill="none" stroke="{ink}" stroke-width="0.8"/>'


def _luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, 0 to 1 (WCAG 2.2, relative luminance)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
