"""Short names for source lines: by kind and file. Independent of where the lines come from."""

from __future__ import annotations

from collections.abc import Iterable

LINES_MOST = 8


def tell_places(places: Iterable[tuple[str, str]]) -> str:
    """Say where traces part, from pairs of kind (branch, address) and "file:line".

    Example: "branch at rc6.c:41 and 69; address at aes_tables.c:142, 143 and 186".
    """
    by_file: dict[tuple[str, str], dict[str, None]] = {}
    for kind, place in places:
        file, _, line = place.rpartition(":")
        by_file.setdefault((kind, file), {})[line] = None
    told = []
    for (kind, file), lines in by_file.items():
        numbers = sorted(lines, key=lambda line: (len(line), line))
        if len(numbers) > LINES_MOST:
            numbers = [*numbers[:LINES_MOST], f"{len(numbers) - LINES_MOST} more lines"]
        listed = numbers[0] if len(numbers) == 1 else f"{', '.join(numbers[:-1])} and {numbers[-1]}"
        told.append(f"{kind} at {file}:{listed}" if file else f"{kind} in {listed}")
    return "; ".join(told)


def sentence_case(text: str) -> str:
    """The text with its first letter in upper case, the rest as it is."""
    return text[:1].upper() + text[1:]
