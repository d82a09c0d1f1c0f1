"""Which compiler a figure in a test is for: budgets and sizes are a compiler's as much as the code's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

import pytest

T = TypeVar("T")


def for_compiler(compiler: str, figures: Mapping[str, T]) -> T:
    """The figures measured with the compiler that a measurement names, by "major.minor" of its version.

    A compiler that none were measured with has no figure to be held to: the test is skipped and says so.
    """
    found = re.search(r"\b(\d+\.\d+)\.\d+\b", compiler)
    assert found, compiler
    if found[1] not in figures:
        pytest.skip(f"no figures for {compiler}: there are for {', '.join(figures)}")
    return figures[found[1]]
