"""Python as JavaScript: each construct that is known gives the same in both, and every other is refused."""

from __future__ import annotations

import importlib
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from motecrypt.present.report.page import STATIC
from motecrypt.present.report.translate import javascript
from motecrypt.present.report.translate_source import Untranslatable
from tool_sets import needs_tool_set

DATA = Path(__file__).parents[2] / "data"
#: One of everything that the translator knows; `every` answers with plain values.
SOURCE = '''
from __future__ import annotations
import math, re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import ceil, comb
from typing import NamedTuple

USUAL: dict = {"a": 1, "b": None}
NEEDS = ("x", "y", "z")
SOME = NEEDS[:2]
_TIME = re.compile("([0-9]+(?:[.][0-9]+)?) *([a-z]*)")
new = 5

@dataclass(frozen=True)
class Base:
    """A record."""
    name: str
    size: int = 3

@dataclass(frozen=True)
class Part(Base):
    share: float = 0.5
    inside: tuple = ()

    @property
    def text(self) -> str:
        """Its name, and more."""
        size = self.size + 1
        return f"{self.name} of {size:d}"

class Pair(NamedTuple):
    left: int
    right: int = 7

@lru_cache(maxsize=4)
def kept(number: int, *, by: int = 2) -> int:
    return number * by

def key(one: tuple) -> int:
    return one[1]

def told(default: int, function: str = "f", last: bool = False) -> str:
    if default > 1:
        return f"{function}{default:d}`${{}}\\\\"
    elif last:
        return "last"
    else:
        pass
    return "none"

def loops(most: int) -> list:
    found = []
    count = total = 0
    while True:
        count += 1
        if count % 2 == 0:
            continue
        if count > most:
            break
        for index, (a, b) in enumerate([(1, 2), (3, 4)], start=count):
            found.append((index, a + b))
            total += a
    counts = {}
    for one in "abcab":
        counts[one] = counts.get(one, 0) + 1
    counts["c"] += 10
    def inner(x: int) -> int:
        return x + total
    return [found, total, list(counts.items()), inner(1)]

def truths() -> list:
    values = [0, 0.0, 1, "", "x", [], [0], {}, {"a": 1}, set(), {1}, None, True, False, ()]
    return [
        ["t" if one else "f" for one in values], [one or 5 for one in (0, 3, "")],
        [one and 5 for one in (0, 3)],
        [not one for one in values], any(values), all(values), bool([]), any(v > 2 for v in (1, 2)),
    ]

def comparisons() -> list:
    part, same = Part("n", inside=((1, 2),)), Part("n", 3, 0.5, ((1, 2),))
    return [
        part == same, part != replace(same, size=4), part is same, [1, [2]] == [1, [2]],
        {"a", "b"} == {"b", "a"},
        {"a": [1]} == {"a": [1]}, 1 < 2 <= 2 < 3, (1, "b") < (1, "c"), [2] > [1, 9], "a" < "b", None is None,
        "x" in NEEDS, "q" not in NEEDS, 2 in {1, 2}, "a" in {"a": 1}, "ell" in "hello",
        (1, 2) in [(1, 2)], 1 == 1.0,
        Pair(1) == Pair(1, 7), True + True, part.size == same.size and part is not None,
    ]

def every() -> list:
    part = Part(name="a", **{"size": 2})
    first, *rest = [3, 1, 2]
    (a, [b, c]), d = (1, [2, 3]), 4
    pairs = [("p", 2), ("q", 1), ("r", 2)]
    seen = {}
    for name, number in pairs:
        seen.setdefault(number, []).append(name)
    states = {Pair(1, 2): 1.0, Pair(1, 3): 2.0}
    states[Pair(1, 2)] = states.get(Pair(1, 2), 0.0) + 0.5
    match = _TIME.fullmatch("12.5 min")
    least = min(pairs, key=key)
    one = "a" + "b"
    return [
        part.text, part.share, [part.name, part.size], Part("b").inside, told(2),
        told(1, last=True), told(0, "g"),
        first, rest, a, b, c, d, -d, 1 if d else 2, 7 // 2, -7 // 2, 7 % 3, -7 % 3, divmod(7, 2),
        7 / 2, 6 | 1,
        {"a"} | {"a"} == {"a"}, len(pairs), len("four"), len(seen), list(seen.items()), [n for n in seen],
        list(seen.keys()), list(seen.values()), [[*k, v] for k, v in states.items()],
        match[1], match[2], _TIME.fullmatch("x") is None, _TIME.fullmatch("7")[2], least,
        max([4, 9, 2]), max(1, 2.5),
        min([], default=3), max(pairs, key=lambda p: (p[1], p[0])), sorted(pairs, key=key), sorted([3, 1, 2]),
        [x * y for x in range(1, 3) for y in range(x, 4) if x != y], {x % 2 for x in range(1)} == {0},
        list({x: x + 1 for x in range(3)}.items()), sum(x for x in (1, 2)), kept(4), kept(4, by=3), new,
        list(zip([1, 2], "ab", strict=True)), list(dict.fromkeys("abca")),
        list(dict(zip("ab", [1, 2])).items()),
        list(pairwise([1, 2, 3])), list(range(3)), int("12"), int(3.7), float("2.5"),
        float("inf") > 1e300, str(5),
        ceil(1.2), math.ceil(2), comb(7, 3), abs(-2), math.inf > 0, " x ".strip(),
        ",".join(["a", "b"]), "Ab".lower(),
        "ab".upper(), "a.a".replace(".", "$&"), "abc".startswith("ab"), NEEDS.index("y"), SOME,
        "hello"[1:3], [1, 2, 3][-1],
        [0.5] * 3, (*rest, first), list({"b": 2, **{"c": 3}}.items()), USUAL["b"], tuple([1]), [*seen],
        (half := 0.5) + half, [which for x in (1, -1) if (which := "up" if x > 0 else "")], one,
        list(Pair(1, 2)),
        Pair(1)._replace(right=9), [left + right for left, right in [Pair(1, 2)]], loops(4),
        truths(), comparisons(),
        f"{1234.5:,.1f} {2.5:.0f} {0.125:.2f} {12:d} {0.1 + 0.2:.{d}f} {1e-5:g} {123456789.0:.3g} {'text'}",
    ]
'''
FORMATS = ("d", ",d", ".0f", ".1f", ",.0f", ",.2f", "g", ".3g", ".1g", ".6g", ".12g")
#: What JavaScript would compute otherwise, or what is not needed: bodies of functions; `|` ends a line.
REFUSED = """
return f'{x!r}'
return f'{x:>5}'
return f'{x:.1e}'
return x ** 2
return x >> 1
return ~x
return print(x)
return round(x)
return sorted(x, reverse=True)
return math.fsum(x)
return x.split()
return x.join(y=1)
return x.y(1)
return x[::2]
return 1j
return b'x'
return ...
return unknown
return isinstance(x, int)
return two(1, z=1)
return two(*x, **x)
return One(*x)
return One(1, 2)
return [await y for y in x]
del x
global x
assert x
yield x
raise ValueError(x)
import json
x.y = 1
x: int
*y, z = x
try:|        pass|    finally:|        pass
with x:|        pass
for a in x:|        pass|    else:|        pass
while x:|        pass|    else:|        pass
match x:|        case 1: pass
""".strip().splitlines()
#: These are translated, and raise in JavaScript where the two languages would differ.
RAISED = """
f'{x}'
f'{x / 4:d}'
[1] + [2]
x + 'a'
'a' - 1
1 < 'a'
sum([0.5])
1 / (x - x)
{'a': 1}['b']
[1][2]
{(1, 2)}
float('y')
str(x / 4)
min([])
NAMES.index('q')
One()
One(**{'b': 1})
""".strip().splitlines()
_AROUND = """
import math
from dataclasses import dataclass
NAMES = ('a',)
@dataclass
class One:
    a: int
def two(a, b=1):
    return a
"""


def made(folder: Path, name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of that source that can be imported; its name."""
    (folder / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return name


def run(script: str) -> str:
    whole = (STATIC / "python.js").read_text() + script
    done = subprocess.run(["node", "-"], input=whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@needs_tool_set("node")
def test_every_construct_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = made(tmp_path, "translated_all", SOURCE, monkeypatch)
    script = javascript((f"{name}.every",), "it")
    theirs = json.loads(run(f"{script}console.log(JSON.stringify(it.every()));"))
    ours = json.loads(json.dumps(importlib.import_module(name).every()))
    assert len(ours) >= 90
    for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
        assert one == other or (isinstance(one, dict) and list(one.values()) == other), number


def test_every_construct_is_written_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a change is meant, this is what tests/data/translated.js is to be."""
    name = made(tmp_path, "translated_all", SOURCE, monkeypatch)
    assert javascript((f"{name}.every",), "it") == (DATA / "translated.js").read_text()


def test_a_refused_statement_is_told_by_its_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "def it(x):\n    while x > 1:\n        x = 2\n    else:\n        x = 5\n    return x\n"
    name = made(tmp_path, "told", source, monkeypatch)
    with pytest.raises(Untranslatable, match=r"told\.py:2: cannot be made JavaScript: while x > 1:$"):
        javascript((f"{name}.it",), "made")


@needs_tool_set("node")
def test_numbers_are_written_as_in_python() -> None:
    """Also ties, which Python rounds to even, and what is nearly one."""
    draw = random.Random(5)
    values = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 0.125, 0.375, 1.005, 1e-5, 0.00001234, 5e-324]
    values += [9.5, 95.0, 99.5, 999999.5, 1e20]
    values += [draw.choice((1, -1)) * draw.randrange(4000) / 2 ** draw.randrange(8) for _ in range(300)]
    values += [draw.lognormvariate(0, 12) for _ in range(300)]
    cases = [(value, form) for value in values for form in FORMATS if "d" not in form]
    cases += [(draw.randrange(-(10**9), 10**9), form) for form in FORMATS if "d" in form for _ in range(50)]
    script = f"for (const [v, f] of {json.dumps(cases)}) console.log(python.format(v, f));"
    assert run(script).splitlines() == [format(value, form) for value, form in cases]


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_known_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    source = f"{_AROUND}def it(x):\n    {body}\n".replace("|", "\n")
    name = made(tmp_path, f"refused_{REFUSED.index(body)}", source, monkeypatch)
    with pytest.raises(Untranslatable, match=r"refused_\d+\.py(:\d+)?: "):
        javascript((f"{name}.it",), "made")


@needs_tool_set("node")
def test_what_would_differ_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _AROUND + "".join(f"def f{n}(x):\n    return {body}\n" for n, body in enumerate(RAISED))
    name = made(tmp_path, "raised", source, monkeypatch)
    script = javascript(tuple(f"{name}.f{n}" for n in range(len(RAISED))), "it")
    asked = """
      for (const one of Object.values(it)) {
        let said = "nothing";
        try { one(1); } catch (error) { said = error.name; }
        console.log(said);
      }
    """
    found = dict(zip(RAISED, run(script + asked).splitlines(), strict=True))
    assert set(found.values()) <= {"TypeError", "RangeError"}, found


def test_names_that_clash_or_are_javascripts_are_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, "clash_a", "def size():\n    return 1\n", monkeypatch)
    made(tmp_path, "clash_b", "import clash_a\ndef size():\n    return clash_a.size() + 1\n", monkeypatch)
    made(
        tmp_path,
        "clash",
        "from clash_b import size\ndef default(new):\n    return size() + new\n",
        monkeypatch,
    )
    script = javascript(("clash.default",), "it")
    assert "function clash_a_size()" in script and "function clash_default(new_)" in script
