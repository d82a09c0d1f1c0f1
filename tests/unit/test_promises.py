"""Each promise of a page has an oracle: a test that states it; or its entry gives the reason why not.

tests/promises.toml has an entry for each sentence, and each row of a table, with one of the words below.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from power_cuts.facts import NEVER
from proof.main import PROOFS
from proof.rules import MODELS

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parent / "docs"
PAGES = ("link", "gateway", "coap", "tftp", "files")
WORDS = re.compile(r"\b(?:never|refused|once|only|at most|guarantees?)\b", re.IGNORECASE)
_FENCED = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
_ENDS = re.compile(r"(?<=[.?!])\s+(?=[^a-z])")
_FIELDS = {"id", "page", "says", "tests", "not_a_promise"}


def sentences(text: str) -> Iterator[str]:
    """Sentences and rows of tables, without code and headings, each on one line."""
    block: list[str] = []
    for line in [*_FENCED.sub("\n", text).splitlines(), ""]:
        told = line.strip()
        row, over = told.startswith("|"), not told or told.startswith("#")
        if (over or row or _ITEM.match(told)) and block:
            yield from _ENDS.split(" ".join(block))
            block = []
        if row:
            yield told
        elif not over and (block or not line.startswith("    ")):
            block.append(_ITEM.sub("", told, count=1))


def entries() -> list[dict[str, Any]]:
    """Of tests/promises.toml."""
    read: list[dict[str, Any]] = tomllib.loads((TESTS / "promises.toml").read_text())["promise"]
    return read


@lru_cache(maxsize=256)
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _texts(tree: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and _is_text(node)}


def _is_text(node: ast.Constant) -> bool:
    return isinstance(node.value, str)


def _counts(path: str, holder: str) -> set[str]:
    """What a campaign counts: the fields of a class that are numbers, or what is noted."""
    tree = _tree(TESTS / path)
    if holder == "_note":
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        noted = [node.args[0] for node in calls if getattr(node.func, "attr", "") == holder]
        return {node.value for node in noted if isinstance(node, ast.Constant)}
    (found,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == holder]
    fields = [node for node in found.body if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(field.target) for field in fields if ast.unparse(field.annotation) == "int"}


def unknown(oracle: str) -> str:
    """What is wrong with an oracle, or nothing."""
    kind, _, name = oracle.partition(":")
    if kind == "proof":
        return "" if name in (*PROOFS, *MODELS) else "no such proof or model"
    if kind == "campaign":
        return "" if name in _counts("campaign/world.py", "Wrong") else "no such count"
    if kind == "soak":
        return "" if name in _counts("soak/world.py", "_note") else "no such count"
    if kind == "power-cuts":
        return "" if name in NEVER else "no such count"
    file, _, function = oracle.partition("::")
    path, (function, _, case) = TESTS / file, function.partition("[")
    if not (file.endswith(".py") and path.is_file()):
        return "no such file"
    tree = _tree(path)
    if function not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
        return "no such test"
    return "" if not case or case.removesuffix("]") in _texts(tree) else "no such case of that test"


@pytest.mark.parametrize("page", PAGES)
def test_each_promise_of_a_page_has_an_oracle(page: str) -> None:
    said = [each for each in sentences((DOCS / f"{page}.md").read_text()) if WORDS.search(each)]
    words = [entry["says"] for entry in entries() if entry["page"] == page]
    missing = [each for each in said if not any(word in each for word in words)]
    assert missing == [], "add them to tests/promises.toml"
    assert [word for word in words if sum(word in each for each in said) != 1] == [], "not there once"
    order = [next(at for at, each in enumerate(said) if word in each) for word in words]
    assert order == sorted(order), "in the order of the page"


def test_entries_are_whole_and_their_oracles_are_there() -> None:
    read = entries()
    assert [name for name, count in Counter(entry["id"] for entry in read).items() if count > 1] == []
    for entry in read:
        assert set(entry) <= _FIELDS and entry["page"] in PAGES, entry
        assert bool(entry.get("tests")) != bool(entry.get("not_a_promise")), entry["id"]
        assert re.fullmatch(rf"{entry['page']}(-[a-z0-9]+)+", entry["id"]), entry["id"]
    wrong = [(entry["id"], name, unknown(name)) for entry in read for name in entry.get("tests", ())]
    assert [each for each in wrong if each[2]] == []


def test_an_oracle_that_is_not_there_is_found() -> None:
    here = "unit/test_promises.py::"
    for oracle, told in (
        (here + "test_an_oracle_that_is_not_there_is_found", ""),
        (here + "test_an_oracle_that_is_not_there_is_found[link]", ""),
        (here + "test_an_oracle_that_is_not_there_is_found[no" + "where]", "no such case of that test"),
        (here + "test_nothing", "no such test"),
        ("unit/test_promise.py::test_nothing", "no such file"),
        ("campaign:doubled", ""),
        ("campaign:first", "no such count"),
        ("soak:doubled", ""),
        ("soak:first", "no such count"),
        ("power-cuts:doubled", ""),
        ("power-cuts:first", "no such count"),
        ("proof:window", ""),
        ("proof:epochs", ""),
        ("proof:all", "no such proof or model"),
    ):
        assert unknown(oracle) == told, oracle


def test_a_page_is_read_by_sentences_and_rows() -> None:
    text = """
# Never a heading

One sentence, which
goes on. "Two" is here: `a.b` and i.e. no end at 2^32. Three.

    never code

- An item. Its second
  sentence.
1. A number.
| a | row. Of two |
|---|---|

```sh
only code
```
"""
    assert list(sentences(text)) == [
        "One sentence, which goes on.",
        '"Two" is here: `a.b` and i.e. no end at 2^32.',
        "Three.",
        "An item.",
        "Its second sentence.",
        "A number.",
        "| a | row. Of two |",
        "|---|---|",
    ]
