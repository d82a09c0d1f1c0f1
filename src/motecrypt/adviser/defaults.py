"""What the adviser assumes where nothing is given: the one definition for the command line, the report's page
and its orders. Two front ends with different defaults would answer one question in two ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from motecrypt.adviser.model import DELIVERIES, NEEDS, USUAL_NEEDS

USUAL: Mapping[str, Any] = {
    "regulator": "none",
    "flash": None,
    "ram": None,
    "latency": None,
    "overhead": None,
    "delivery": DELIVERIES[0],
    "loss": "0",
    "answer": 0,
    "need": USUAL_NEEDS,
    "bare-chip": False,
    "sleeps": False,
}
"""By the option of `motecrypt advise` that has a field in the page's form; None: no limit."""

EXAMPLE: Mapping[str, Any] = {"device": "uno", "radio": "srf", "bytes": 20, "every": "10s", "battery": "3xAA"}
"""A question's options without a default: the example of the command's help and the question that the page's
form opens with."""


def example_command() -> str:
    """The command that asks the example."""
    return " ".join(["motecrypt advise", *(f"--{name} {value}" for name, value in EXAMPLE.items())])


def whole_needs(asked: Iterable[str]) -> tuple[str, ...]:
    """The needs in the order of `NEEDS`. Constant-time alone asks for more than is usual, not for less."""
    needs = set(asked)
    if needs == {"constant-time"}:
        needs |= set(USUAL_NEEDS)
    return tuple(need for need in NEEDS if need in needs)
