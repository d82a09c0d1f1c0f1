"""Tests that need a tool set are skipped without it, for one reason that ./test can count."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import tool_sets
from motecrypt.catalog import Catalog
from tool_sets import needs_tool_set, on_devices, skip_without

TESTS = Path(__file__).resolve().parents[1]
AVR = "the tool set 'avr' is not installed (motecrypt doctor)"
BOTH = "the tool sets 'avr' and 'board' are not installed (motecrypt doctor)"


def _without(*gone: str) -> Callable[..., SimpleNamespace]:
    return lambda tool_set, *, compiler=True: SimpleNamespace(complete=tool_set not in gone)


def test_the_mark_skips_where_one_of_its_tool_sets_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_sets, "state", _without("avr", "board"))
    assert needs_tool_set("pico").args == (False,)
    for mark, reason in (
        (needs_tool_set("avr"), AVR),
        (needs_tool_set("avr", "pico"), AVR),
        (needs_tool_set("pico", "avr"), AVR),
        (needs_tool_set("avr", "pico", "board"), BOTH),
    ):
        assert (mark.args, mark.kwargs) == ((True,), {"reason": reason})


def test_a_device_without_its_tool_set_is_a_case_that_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [Catalog.load().device(name) for name in ("uno", "pico")]
    every = on_devices(*devices)
    monkeypatch.setattr(tool_sets, "state", _without("avr"))
    fewer = on_devices(*devices)
    assert [case.values for case in every] == [case.values for case in fewer] == [("uno",), ("pico",)]
    assert [case.marks[0].args for case in fewer] == [(True,), (False,)]  # type: ignore[union-attr]


def _asks_what_is_installed(node: ast.AST) -> bool:
    """Whether an expression that makes a list has another length where something else is installed."""
    makes = isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
    conditions = [each for part in node.generators for each in part.ifs] if makes else []  # type: ignore[attr-defined]
    words = {name.id for each in conditions for name in ast.walk(each) if isinstance(name, ast.Name)}
    words |= {name.attr for each in conditions for name in ast.walk(each) if isinstance(name, ast.Attribute)}
    return bool(words & {"have", "state", "which", "find_spec"})


def test_no_test_has_other_cases_where_something_else_is_installed() -> None:
    """Neither in a module's constants nor in its decorators; a missing one skips a case, and is counted."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        for node in ast.parse(text).body if re.search(r"\b(have|state|which|find_spec)\(", text) else []:
            if isinstance(node, ast.FunctionDef):
                made: list[ast.AST] = [*node.decorator_list]
            else:
                made = [node] if isinstance(node, ast.Assign | ast.AnnAssign) else []
            if any(_asks_what_is_installed(inner) for outer in made for inner in ast.walk(outer)):
                found.append(f"{path.relative_to(TESTS)}:{node.lineno}")
    assert not found, "use tool_sets.on_devices or tool_sets.needs_tool_set"


def test_a_test_skips_itself_for_the_same_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_sets, "state", _without("avr", "board"))
    skip_without("pico")
    for wanted, reason in ((("avr",), AVR), (("avr", "pico", "board"), BOTH)):
        with pytest.raises(pytest.skip.Exception, match=f"^{re.escape(reason)}$"):
            skip_without(*wanted)


@pytest.mark.parametrize("compiler", [True, False])
def test_a_pinned_toolchain_may_take_the_place_of_a_tool_sets_compiler(
    monkeypatch: pytest.MonkeyPatch, compiler: bool
) -> None:
    asked: list[bool] = []

    def state(tool_set: str, *, compiler: bool) -> SimpleNamespace:
        asked.append(compiler)
        return SimpleNamespace(complete=True)

    monkeypatch.setattr(tool_sets, "state", state)
    skip_without("avr", compiler=compiler)
    assert asked == [compiler]


def test_no_test_words_that_reason_itself() -> None:
    own = re.compile(r"skipif\(\s*not \(?have\(|if not have\([^)]*\):\s+pytest\.skip")
    named = {path.relative_to(TESTS) for path in TESTS.rglob("*.py") if own.search(path.read_text())}
    assert not named, "tool_sets.py has the mark"
