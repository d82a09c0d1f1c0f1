"""Draws which package imports which, from tests/rooms.toml: `python docs/pictures/packages.py`.

A package is drawn above all that it imports. An arrow that follows from two others is left out.
"""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LISTED = FOLDER.parents[1] / "tests" / "rooms.toml"
PICTURE = FOLDER / "packages.svg"
ABOUT = {
    "cli": "commands: parse, print",
    "app": "the API in Python",
    "present": "report, pages, compare",
    "studies": "a published source each",
    "measuring": "benchmarks, experiments",
    "adviser": "what to use, for how long",
    "exports": "libraries to install",
    "results": "one file of figures",
    "attack": "what breaks ciphers",
    "simulate": "runs firmware",
    "build": "compilers, tools",
    "link": "secure link, gateway",
    "air": "models of radios",
    "gate": "budgets in CI",
    "catalog": "what exists",
    "base": "records, errors, text",
}
WIDTH, BOX, ROW, HEIGHT = 860, 150, 84, 44


def arrows(path: Path = LISTED) -> dict[str, set[str]]:
    """The packages that each package imports."""
    found: dict[str, set[str]] = {}
    for row, listed in tomllib.loads(path.read_text())["rooms"].items():
        top = row.split(".")[0]
        found.setdefault(top, set()).update(name.split(".")[0] for name in listed)
    return {one: others - {one} for one, others in found.items()}


def floors(graph: dict[str, set[str]]) -> dict[str, int]:
    """How high each package lies; one that imports nothing is on floor 0."""
    found: dict[str, int] = {}

    def floor(name: str) -> int:
        if name not in found:
            found[name] = 1 + max((floor(below) for below in graph[name]), default=-1)
        return found[name]

    for name in graph:
        floor(name)
    return found


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without the arrows that follow from others."""

    def below(name: str) -> set[str]:
        return graph[name] | {far for near in graph[name] for far in below(near)}

    return {
        name: {near for near in others if not any(near in below(other) for other in others - {near})}
        for name, others in graph.items()
    }


def drawn(graph: dict[str, set[str]]) -> str:
    """The picture as SVG."""
    high = floors(graph)
    top = max(high.values())
    place: dict[str, tuple[float, float]] = {}
    for floor in range(top + 1):
        names = sorted(name for name, where in high.items() if where == floor)
        for at, name in enumerate(names):
            place[name] = (WIDTH * (at + 1) / (len(names) + 1), 20 + ROW * (top - floor))
    parts = []
    for one, others in sorted(reduced(graph).items()):
        for other in sorted(others):
            (x1, y1), (x2, y2) = place[one], place[other]
            y1 += HEIGHT
            y2 -= 6
            middle = (y1 + y2) / 2
            parts.append(
                f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}" '
                'fill="none" stroke="#8a94a3" marker-end="url(#head)"/>'
            )
    for name, (x, y) in sorted(place.items()):
        parts.append(
            f'<rect x="{x - BOX / 2:.0f}" y="{y:.0f}" width="{BOX}" height="{HEIGHT}" rx="6" '
            'fill="#eef3fa" stroke="#4a6a94"/>'
            f'<text x="{x:.0f}" y="{y + 19:.0f}" font-weight="bold">{name}</text>'
            f'<text x="{x:.0f}" y="{y + 35:.0f}" font-size="11">{escape(ABOUT[name])}</text>'
        )
    height = 40 + ROW * top + HEIGHT
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#8a94a3"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="14" text-anchor="middle" fill="#1d2733"><title>Which package imports which</title>\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n{head}\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(arrows()), encoding="utf-8")
