"""Tests that need a kit are skipped without it, for one reason that ./test can count."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import kits
from kits import needs_kit, skip_without

TESTS = Path(__file__).resolve().parents[1]
AVR = "the kit 'avr' is not installed (motecrypt doctor)"
BOTH = "the kits 'avr' and 'board' are not installed (motecrypt doctor)"


def _without(*gone: str) -> Callable[..., SimpleNamespace]:
    return lambda kit, *, compiler=True: SimpleNamespace(complete=kit not in gone)


def test_the_mark_skips_where_one_of_its_kits_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kits, "state", _without("avr", "board"))
    assert needs_kit("pico").args == (False,)
    for mark, reason in (
        (needs_kit("avr"), AVR),
        (needs_kit("avr", "pico"), AVR),
        (needs_kit("pico", "avr"), AVR),
        (needs_kit("avr", "pico", "board"), BOTH),
    ):
        assert (mark.args, mark.kwargs) == ((True,), {"reason": reason})


def test_a_test_skips_itself_for_the_same_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kits, "state", _without("avr", "board"))
    skip_without("pico")
    for wanted, reason in ((("avr",), AVR), (("avr", "pico", "board"), BOTH)):
        with pytest.raises(pytest.skip.Exception, match=f"^{re.escape(reason)}$"):
            skip_without(*wanted)


@pytest.mark.parametrize("compiler", [True, False])
def test_a_pinned_toolchain_may_take_the_place_of_a_kits_compiler(
    monkeypatch: pytest.MonkeyPatch, compiler: bool
) -> None:
    asked: list[bool] = []

    def state(kit: str, *, compiler: bool) -> SimpleNamespace:
        asked.append(compiler)
        return SimpleNamespace(complete=True)

    monkeypatch.setattr(kits, "state", state)
    skip_without("avr", compiler=compiler)
    assert asked == [compiler]


def test_no_test_words_that_reason_itself() -> None:
    own = re.compile(r"skipif\(\s*not \(?have\(|if not have\([^)]*\):\s+pytest\.skip")
    named = {path.relative_to(TESTS) for path in TESTS.rglob("*.py") if own.search(path.read_text())}
    assert not named, "kits.py has the mark"
