"""What is installed of the tool sets that commands need, and how to get the others."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.build.setup import ToolSetState, by_hand, state, tool_sets


@dataclass(frozen=True)
class ToolSetReport:
    """A tool set; `how`: the commands that install what is missing, empty where it is complete."""

    tool_set: str
    complete: bool
    optional: bool
    title: str
    missing: tuple[str, ...]
    how: str

    @property
    def state(self) -> str:
        """Whether it is there, in words."""
        return "ready" if self.complete else "optional, missing" if self.optional else "missing"


def doctor() -> list[ToolSetReport]:
    """All tool sets. Nothing is installed."""
    return [
        ToolSetReport(
            s.tool_set.name, s.complete, s.tool_set.optional, s.tool_set.title, tuple(s.missing), _how(s)
        )
        for s in map(state, tool_sets())
    ]


def _how(s: ToolSetState) -> str:
    if s.complete:
        return ""
    how = [by_hand(s.by_hand)] if s.by_hand else []
    if s.missing_python:
        how.append(f"pip install --require-hashes -r {s.tool_set.lock}")
    return "; ".join(how) + (f" ({s.tool_set.note})" if s.tool_set.note else "")
