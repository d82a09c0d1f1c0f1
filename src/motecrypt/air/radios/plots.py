"""Time to deliver over message length, as text and as SVG. Pure; takes plain lists."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 72, 16


def text_plot(lengths: Sequence[int], series: Sequence[tuple[str, str, Sequence[float]]], unit: str) -> str:
    """A plot for a terminal.

    Parameters
    ----------
    lengths : the horizontal axis.
    series : (mark, name, values) each; a later one is drawn over an earlier.
    unit : of the values.
    """
    top = max(max(values) for _, _, values in series) or 1.0
    columns = min(WIDTH, len(lengths))
    grid = [[" "] * columns for _ in range(HEIGHT)]
    for mark, _, values in series:
        for index, value in enumerate(values):
            column = index * columns // len(lengths)
            row = HEIGHT - 1 - min(int(value / top * HEIGHT), HEIGHT - 1)
            grid[row][column] = mark
    lines = []
    for number, row_cells in enumerate(grid):
        label = f"{top * (HEIGHT - number) / HEIGHT:9.1f}" if number % 4 == 0 else " " * 9
        lines.append(f"{label} |{''.join(row_cells)}")
    lines.append(f"{0:9.1f} +{'-' * columns}")
    first, last = str(lengths[0]), str(lengths[-1])
    lines.append(" " * 11 + first + last.rjust(max(columns - len(first), len(last) + 1)) + " bytes")
    legend = "   ".join(f"{mark} {name}" for mark, name, _ in series)
    return "\n".join([f"{unit}: {legend}", *lines])


def svg_plot(
    title: str, lengths: Sequence[int], series: Sequence[tuple[str, str, Sequence[float]]], unit: str
) -> str:
    """The same plot as a self-contained SVG; `series` holds (colour, name, values).

    Each length is a level piece of a line, a byte wide; the pieces of lengths that follow each other are
    joined to steps. A length without neighbours is a dot.
    """
    width, height, left, bottom, up = 760.0, 420.0, 70.0, 50.0, 50.0
    top = max(max(values) for _, _, values in series) or 1.0
    span = lengths[-1] - lengths[0]

    def x(length: float) -> float:  # half a byte to the left of the first length is the border
        return left + (length - lengths[0] + 0.5) / (span + 1) * (width - left - 20)

    def y(value: float) -> float:
        return height - bottom - value / top * (height - bottom - up)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>',
        f'<text x="{left}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for step in range(5):
        value, length = top * step / 4, lengths[0] + span * step / 4
        parts.append(
            f'<line x1="{left}" x2="{width - 20}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.4g}</text>')
        parts.append(
            f'<text x="{x(length):.1f}" y="{height - bottom + 18}" text-anchor="middle">{length:.0f}</text>'
        )
    for number, (colour, name, values) in enumerate(series):
        path, dots = "", []
        for index, (n, value) in enumerate(zip(lengths, values, strict=True)):
            joined, goes_on = n - 1 in lengths[index - 1 : index], n + 1 in lengths[index + 1 : index + 2]
            path += f"V{y(value):.1f}" if joined else f"M{x(n - 0.5):.1f},{y(value):.1f}"
            path += f"H{x(n + 0.5):.1f}"
            if not joined and not goes_on:
                dots.append(f'<circle cx="{x(n):.1f}" cy="{y(value):.1f}" r="2.5" fill="{colour}"/>')
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += dots
        parts.append(f'<text x="{left + 200 * number}" y="42" fill="{colour}">{escape(name)}</text>')
    parts.append(
        f'<text x="{width - 20}" y="{height - 8}" text-anchor="end">message bytes; {escape(unit)}</text>'
    )
    return "\n".join([*parts, "</svg>", ""])
