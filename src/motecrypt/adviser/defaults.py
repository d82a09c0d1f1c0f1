"""What the adviser assumes where nothing is given: the one definition for the command line, the report's page
and its orders. Two front ends with different defaults would answer one question in two ways."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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


_ORDER = (
    *("device", "radio", "bytes", "every", "battery", "regulator", "delivery", "loss", "answer"),
    *("flash", "ram", "latency", "overhead"),
)
_FLAGS = ("bare-chip", "sleeps")
_PLAIN = re.compile("[A-Za-z0-9.,_-]+")


def command_of(fields: Mapping[str, Any]) -> str:
    """The command that asks what the fields of a form ask: texts by option, `need` a list of them, and a flag
    only where it is set."""
    words = ["motecrypt advise"]
    for name in _ORDER:
        usual = USUAL.get(name)
        text = fields.get(name) or ""
        if text and (usual is None or text != str(usual)):
            words.append(f"--{name} {text if _PLAIN.fullmatch(text) else _quoted(text)}")
    needs = fields.get("need")
    if needs is not None and list(needs) != list(USUAL["need"]):
        words.append(f"--need {_quoted(','.join(needs))}")
    return " ".join([*words, *[f"--{name}" for name in _FLAGS if fields.get(name)]])


def _quoted(text: str) -> str:
    """For a shell; a quotation mark in it ends the quotation, and begins it again."""
    return "'" + text.replace("'", "'\\''") + "'"


def example_command() -> str:
    """The command that asks the example."""
    return command_of({name: str(value) for name, value in EXAMPLE.items()})


def whole_needs(asked: Sequence[str]) -> tuple[str, ...]:
    """The needs in the order of `NEEDS`, then what is none. Constant-time alone asks for more than is usual,
    not for less."""
    needs = set(asked)
    if needs == {"constant-time"}:
        needs |= set(USUAL_NEEDS)
    return (*[need for need in NEEDS if need in needs], *[need for need in asked if need not in NEEDS])
