"""Charts as HTML and SVG without any script: the curve scales with the page, labels keep their size. Pure.

Each chart is a picture with a name for those who do not see it; the page puts a table behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from markupsafe import Markup, escape

from motecrypt.base.text import printable
from motecrypt.present.pages.shell import count

#: Units of the inner coordinates, in both directions.
SIZE = 1000
DASHES = ("", "7 4", "2 3", "9 3 2 3")
"""A line's dashes, so that it is known without its colour."""


@dataclass(frozen=True)
class Tick:
    """A place on an axis (0 to 1 from its beginning) and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with its name and unit in `title`."""

    title: str
    low: float
    high: float
    ticks: tuple[Tick, ...]

    def place(self, value: float) -> float:
        """Where a value is, 0 to 1; values outside are put on the border."""
        if self.high == self.low:
            return 0.0
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def axis(title: str, low: float, high: float, wanted: int = 5, *, ends: bool = False) -> Axis:
    """An axis with round numbers at its ticks, over at least [low, high]; `ends`: exactly up to `high`."""
    if high <= low:
        high = low + 1
    step = _round_step((high - low) / wanted)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    low, high = first * step, high if ends else last * step
    ticks = tuple(
        Tick((n * step - low) / (high - low), count(round(n * step, 9)))
        for n in range(first, last + 1)
        if n * step <= high
    )
    return Axis(title, low, high, ticks)


def _round_step(least: float) -> float:
    power = 10.0 ** floor(log10(least))
    return next(part * power for part in (1, 2, 2.5, 5, 10) if part * power >= least * 0.999)


@dataclass(frozen=True)
class Series:
    """A series of points; `steps`: the value holds until the next point. None breaks the line."""

    name: str
    points: Sequence[tuple[float, float] | None]
    steps: bool = False
    filled: bool = False
    marks: bool = False


def line_chart(label: str, x: Axis, y: Axis, lines: Sequence[Series]) -> Markup:
    """Lines over an axis. `label` says in a sentence what the picture shows."""
    drawn = "".join(_line(line, x, y, number) for number, line in enumerate(lines))
    legend = (
        "".join(
            f'<li><svg class="key" viewBox="0 0 30 10" aria-hidden="true">'
            f'<path class="line s{n % 8}" d="M0,5H30"{_dash(n)}/></svg>{_text(line.name)}</li>'
            for n, line in enumerate(lines)
        )
        if len(lines) > 1
        else ""
    )
    picture = f'<svg viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'
    return frame(label, x, y, picture, f'<ul class="legend">{legend}</ul>' if legend else "")


def frame(label: str, x: Axis, y: Axis, picture: str, below: str = "") -> Markup:
    """Axes with their titles around a picture, which is HTML; `below` goes under them."""
    return Markup(
        f'<div class="chart" role="img" aria-label="{_text(label)}">'
        f'<div class="y-title">{_text(y.title)}</div>'
        f'<div class="plot">{_grid(y, "y")}{_grid(x, "x")}{picture}</div>'
        f'<div class="x-title">{_text(x.title)}</div>{below}</div>'
    )


def bar_chart(label: str, x: Axis, y: Axis, bars: Sequence[tuple[float, float]], width: float) -> Markup:
    """Bars of a width in units of x, each around its place."""
    half = SIZE * width / (x.high - x.low) / 2
    drawn = "".join(
        f'<rect class="bar-of" x="{SIZE * x.place(at) - half:.1f}" width="{2 * half:.1f}" '
        f'y="{SIZE * (1 - y.place(value)):.1f}" height="{SIZE * y.place(value):.1f}"/>'
        for at, value in bars
    )
    picture = f'<svg viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'
    return frame(label, x, y, picture)


def log_axis(title: str, low: float, high: float) -> Axis:
    """An axis of decades over [low, high], both above 0. Its places are of logarithms: see `logs`."""
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    last = max(last, first + 1)
    ticks = tuple(Tick((n - first) / (last - first), count(10.0**n)) for n in range(first, last + 1))
    return Axis(f"{title} (logarithmic)", first, last, ticks)


def logs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points with the logarithms of their first values, for a `log_axis`."""
    return [(log10(at), value) for at, value in points]


def _text(value: str) -> Markup:
    return escape(printable(value))


def _dash(number: int) -> str:
    dash = DASHES[number % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _grid(of: Axis, side: str) -> str:
    return "".join(_tick(tick, side) for tick in of.ticks)


def _tick(tick: Tick, side: str) -> str:
    at = f"{100 * tick.at:.2f}%"
    if side == "y":
        rule = f'<span class="rule" style="bottom:{at}"></span>'
        return f'{rule}<span class="tick y" style="bottom:{at}">{_text(tick.label)}</span>'
    end = " end" if tick.at > 0.97 else ""  # its label would leave the page
    return f'<span class="tick x{end}" style="left:{at}">{_text(tick.label)}</span>'


def _line(line: Series, x: Axis, y: Axis, number: int) -> str:
    parts: list[list[tuple[float, float]]] = [[]]
    for point in line.points:
        if point is None:
            parts.append([])
        else:
            parts[-1].append((SIZE * x.place(point[0]), SIZE * (1 - y.place(point[1]))))
    made = []
    for part in filter(None, parts):
        path = _path(part, line.steps)
        if line.filled:
            made.append(f'<path class="area s{number % 8}" d="{path}V{SIZE}H{part[0][0]:.1f}Z"/>')
        made.append(f'<path class="line s{number % 8}" d="{path}"{_dash(number)}/>')
        if line.marks:  # a line of no length with a round end: a dot that does not scale
            dots = "".join(f"M{a:.1f},{b:.1f}h0" for a, b in part)
            made.append(f'<path class="dots s{number % 8}" d="{dots}"/>')
    return "".join(made)


def _path(points: Sequence[tuple[float, float]], steps: bool) -> str:
    first, *others = points
    path = f"M{first[0]:.1f},{first[1]:.1f}"
    before = first[1]
    for at, value in others:
        if steps:
            path += f"H{at:.1f}" + (f"V{value:.1f}" if value != before else "")
        else:
            path += f"L{at:.1f},{value:.1f}"
        before = value
    return path
