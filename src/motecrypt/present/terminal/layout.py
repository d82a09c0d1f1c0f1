"""How a table is laid out for a width: nothing that is printed is ever cut.

Numbers, names and words stay whole. Only prose, which is a column of long cells with spaces, breaks, at its
spaces. Of a table that is too wide, columns with one value in all rows move to a line above it. Then the
least useful columns go, and a last line says how many. Where not even two columns fit, a row is printed one
field a line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

PROSE_WIDTH = 24
"""Characters: a cell with spaces that is longer is prose; prose is not made narrower than this."""
GAP = 2
"""Characters between two columns."""


@dataclass(frozen=True)
class Layout:
    """What of a table is printed, and how.

    `columns` are the indices printed, in order, `widths` their characters (both empty for records); `same`
    are the indices of columns in the line above; `left_out` counts the columns that are not printed.
    """

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    same: tuple[int, ...] = ()
    left_out: int = 0

    @property
    def records(self) -> bool:
        """Whether each row is printed one field a line."""
        return not self.columns


def lay_out(
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    width: int | None,
    least: Sequence[str] = (),
    measured: Callable[[str], int] = len,
    whole: Collection[str] = (),
) -> Layout:
    """The layout of rows of `cells` for a width in characters (None: as wide as it needs).

    `least` names columns that can go, the least useful first. After them the others go from the right, the
    last column (a verdict, a reason) after those, the first never. `measured` gives the characters of a text
    on the screen. The cells of the `whole` columns, which are names, never break.
    """
    everything = tuple(range(len(columns)))
    natural = [_natural(columns[i], [row[i] for row in cells], measured) for i in everything]
    least_widths = [
        natural[i] if columns[i] in whole else _narrowest(columns[i], [row[i] for row in cells], measured)
        for i in everything
    ]
    if width is None or not columns or _total(natural) <= width:
        return Layout(everything, tuple(natural))
    same = tuple(i for i in everything if i > 0 and len(cells) > 1 and _one_value([row[i] for row in cells]))
    shown = [i for i in everything if i not in same]
    order = [columns.index(name) for name in least if name in columns]
    order += [i for i in (*everything[-2:0:-1], everything[-1]) if i > 0 and i not in order]
    going = [i for i in order if i in shown]
    fewest = min(2, len(shown))
    while len(shown) > fewest and _total([least_widths[i] for i in shown]) > width:
        shown.remove(going.pop(0))
    if _total([least_widths[i] for i in shown]) > width:
        return Layout((), ())
    widths = _shrunk([natural[i] for i in shown], [least_widths[i] for i in shown], width)
    return Layout(tuple(shown), tuple(widths), same, len(columns) - len(shown) - len(same))


def _one_value(values: Sequence[str]) -> bool:
    return len(set(values)) == 1


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _natural(heading: str, cells: Sequence[str], measured: Callable[[str], int]) -> int:
    return max([measured(heading), *(measured(line) for cell in cells for line in cell.splitlines())])


def _narrowest(heading: str, cells: Sequence[str], measured: Callable[[str], int]) -> int:
    """How narrow a column can be: a heading breaks between its words, prose too, all else not at all."""
    least = [measured(word) for word in heading.split()]
    for cell in cells:
        if measured(cell) <= PROSE_WIDTH or " " not in cell:
            least.append(measured(cell))
        else:
            least += [PROSE_WIDTH, *(measured(word) for word in cell.split())]
    return max(least, default=0)


def _shrunk(natural: Sequence[int], narrowest: Sequence[int], width: int) -> list[int]:
    """The widths, the widest that can shrink made narrower until all fit."""
    widths = list(natural)
    while _total(widths) > width:
        able = [i for i in range(len(widths)) if widths[i] > narrowest[i]]
        widest = max(able, key=lambda i: widths[i])
        widths[widest] -= 1
    return widths
