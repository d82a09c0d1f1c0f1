"""The rule on the length of functions."""

from __future__ import annotations

from lint.lengths import LINES_MAX, offences
from lint.sources import parsed


def made(statements: int, above: str = "") -> list[str]:
    body = "".join(f"    x{number} = {number}\n" for number in range(statements))
    docstring = '    """Lines of text\n\n    do not count.\n    """\n'
    return list(offences((parsed(f"{above}@decorated\ndef f(\n    a,\n    b,\n):\n{docstring}{body}"),)))


def test_a_long_function_has_a_reason_above_it() -> None:
    assert made(LINES_MAX) == []
    assert made(LINES_MAX + 1) == ["made.py:2: f: 61 lines; divide it, or give a reason above it"]
    assert made(LINES_MAX + 1, "# Long: one table.\n") == []
    assert made(LINES_MAX + 1, "# One table.\n") != []


def test_a_reason_goes_when_the_function_is_divided() -> None:
    assert made(LINES_MAX, "# Long: one table.\n") == ["made.py:1: above no long function"]
