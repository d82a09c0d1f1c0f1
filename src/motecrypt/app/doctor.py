"""What is installed of the kits that commands need, and how to get the others."""

from __future__ import annotations

from dataclasses import dataclass

from motecrypt.build.setup import KitState, by_hand, kits, state


@dataclass(frozen=True)
class KitReport:
    """A kit; `how`: the commands that install what is missing, empty where it is complete."""

    kit: str
    complete: bool
    optional: bool
    title: str
    missing: tuple[str, ...]
    how: str

    @property
    def state(self) -> str:
        """Whether it is there, in words."""
        return "ready" if self.complete else "optional, missing" if self.optional else "missing"


def doctor() -> list[KitReport]:
    """All kits. Nothing is installed."""
    return [
        KitReport(s.kit.name, s.complete, s.kit.optional, s.kit.title, tuple(s.missing), _how(s))
        for s in map(state, kits())
    ]


def _how(s: KitState) -> str:
    if s.complete:
        return ""
    how = [by_hand(s.by_hand)] if s.by_hand else []
    if s.missing_python:
        how.append(f"pip install --require-hashes -r {s.kit.lock}")
    return "; ".join(how) + (f" ({s.kit.note})" if s.kit.note else "")
