"""Facts of a data sheet as text: what is done to a chip's registers, and what must be read then.

`put VTOR 0xFFFFFFFF; get VTOR = 0xFFFFFF00`: a statement ends at a semicolon or with its line; a `#` begins a
comment. A number is a sum of names, numbers and bits (`b31`), such as `TIMER+0x10` or `b0+b5`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from natively import ask

Script = tuple[str, Mapping[str, int]]
"""Facts, and the names in them."""
NAMES = {"NEVER": 2**64 - 1, "ONES": 2**32 - 1}


def number(text: str, names: Mapping[str, int]) -> int:
    """The value of a sum."""
    total = 0
    for part in text.split("+"):
        if part in names:
            total += names[part]
        elif part[0] == "b" and part[1:].isdigit():
            total += 1 << int(part[1:])
        else:
            total += int(part, 0)
    return total


def statements(text: str, names: Mapping[str, int]) -> list[tuple[tuple[object, ...], int | None]]:
    """Each operation with its numbers, and what it must return; None: anything."""
    found: list[tuple[tuple[object, ...], int | None]] = []
    for line in text.splitlines():
        for statement in line.split("#")[0].split(";"):
            done, _, expected = statement.partition("=")
            if words := done.split():
                numbers = [number(word, names) for word in words[1:]]
                found.append(((words[0], *numbers), number(expected.strip(), names) if expected else None))
    return found


def wrong(program: Path, text: str, names: Mapping[str, int]) -> list[str]:
    """What did not come as the facts say."""
    asked = statements(text, {**names, **NAMES})
    answers = ask(program, lines=[line for line, _ in asked])
    return [
        f"{n}: {line[0]} {' '.join(f'{number:#x}' for number in line[1:])}: {got:#x}, not {expected:#x}"
        for n, ((line, expected), got) in enumerate(zip(asked, answers, strict=True))
        if expected is not None and got != expected
    ]
