"""Code decides by kinds and figures, never by the words of a message.

`./test lint` asks it of every module. These are the ways that it sees.
"""

from __future__ import annotations

import pytest

from lint.sources import parsed
from lint.words_read import readings


@pytest.mark.parametrize(
    "source",
    [
        "try: f()\nexcept OSError as error:\n  if 'locked' in str(error): g()",
        "try: f()\nexcept OSError as error:\n  said = str(error)\n  if 'locked' in said: g()",
        "try: f()\nexcept OSError as error:\n  if 'locked' not in str(error).lower(): g()",
        "def f(error: sqlite3.Error):\n  return str(error).startswith('x')",
        "match = re.search('needs', failed.reason)",
        "match = _PATTERN.search(row.note)",
        "early = [r for r in rows if r.note.startswith('faster')]",
        "cause = failed.reason.rsplit(': ', 1)[-1]",
        "trouble = 'x' in m.reason",
        "bad = audit.verdict.startswith('broken')",
        "row = next(r for r in rows if wanted in r.row)",
        "full = 'No space left on device' in outcome.errors",
        "measured = None if reason == plan.NOT_MEASURED else 1",
        "measured = None if reason == 'not measured' else 1",
    ],
)
def test_each_way_to_search_a_message_is_seen(source: str) -> None:
    assert len(list(readings(parsed(source)))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "'x' in names",
        "f.split(',')",
        "print(str(error))",
        "told = error.kind in KINDS",
        "x = row.note or ''",
        "x = m.reason == ''",
    ],
)
def test_other_code_passes(source: str) -> None:
    assert list(readings(parsed(source))) == []
