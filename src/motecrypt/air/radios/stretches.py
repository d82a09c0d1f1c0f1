"""Neighbouring message lengths over which every figure changes evenly: one row has all of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ROUNDED = 0.0021
"""Two differences between figures with three decimals may differ so much by rounding alone."""

Row = Mapping[str, float]


def even_stretches(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """First and last row of each stretch, in order; together they are all rows.

    Parameters
    ----------
    rows
        By ascending `message_bytes`, with `packets` and other figures.

    Notes
    -----
    Within a stretch lengths follow each other, take as many packets, and each figure changes by the same
    amount with every byte. So what is between its ends is on the straight line through them. Two rows alone
    are always on a line, so a stretch has one row, or three and more.
    """
    found, start = [], 0
    while start < len(rows):
        last = start
        if start + 2 < len(rows) and _same_step(rows, start, start + 1):
            last = start + 2
            while last + 1 < len(rows) and _same_step(rows, start, last):
                last += 1
        found.append((rows[start], rows[last]))
        start = last + 1
    return found


def _same_step(rows: Sequence[Row], start: int, at: int) -> bool:
    """Whether the step from `at` is one byte in as many packets, and as large as that from `start`."""
    step, first = _step(rows, at), _step(rows, start)
    if step["message_bytes"] != 1 or first["message_bytes"] != 1 or step["packets"] or first["packets"]:
        return False
    return all(abs(step[name] - first[name]) <= ROUNDED for name in step)


def _step(rows: Sequence[Row], at: int) -> dict[str, float]:
    return {name: rows[at + 1][name] - value for name, value in rows[at].items()}
