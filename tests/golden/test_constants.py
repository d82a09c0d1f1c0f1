"""Every number that the models and views are built on is as tests/golden/constants.json keeps it."""

from __future__ import annotations

import difflib
from pathlib import Path

import golden_constants

SOURCE = """
class Record:
    count: int = 3
    name: str = "x"
    other: float
    ends: bool = True

    def asked(self, a, b=-1, *, c, d=2.5, e=None):
        def inside(f=False): ...
        local: int = 4


def alone(a, b, c=1, /, d=2): ...
"""


def test_what_is_taken_without_a_word_is_kept(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text(SOURCE)
    assert golden_constants.defaults(tmp_path / "source.py") == {
        "Record.count": 3,
        "Record.ends": True,
        "Record.asked(b)": -1,
        "Record.asked(d)": 2.5,
        "Record.asked.inside(f)": False,
        "alone(c)": 1,
        "alone(d)": 2,
    }


def test_what_a_key_is_by_default_is_kept(tmp_path: Path) -> None:
    text = (
        "def f(t):\n    return t.flag('a', False), t.integer('b', 3, low=1), t.text('c', ''), t.flag('d')\n"
    )
    (tmp_path / "source.py").write_text(text)
    assert golden_constants.keys(tmp_path / "source.py") == {"key a in f": False, "key b in f": 3}


def test_digits_of_rounded_figures_are_kept(tmp_path: Path) -> None:
    text = "def f(x):\n    g(x, 7)\n    return [round(x), round(x / 2, 3),\n        round(x, 1)]\n"
    (tmp_path / "source.py").write_text(text)
    assert golden_constants.digits(tmp_path / "source.py") == {"round in f": [3, 1]}


def test_the_constants_are_what_they_were() -> None:
    kept, now = golden_constants.PLACE.read_text(), golden_constants.written()
    changed = list(difflib.unified_diff(kept.splitlines(), now.splitlines(), "kept", "now", n=0, lineterm=""))
    assert not changed, f"if this is meant, run: {golden_constants.COMMAND}"
