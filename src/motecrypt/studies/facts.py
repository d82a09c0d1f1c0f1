"""A published fact next to ours, as every study, view and schema has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal[
    "matches",
    "differs",
    "paper is inconsistent",
    "not printed",
    "needs hardware",
    "bring the code",
    "not measured",
]
FactKind = Literal["figure", "claim", "derived", "input"]
LikeForLike = Literal[
    "", "author's code", "author's code, recorded", "same algorithm, ours", "the paper itself", "other"
]
CauseKnown = Literal["", "shown by experiment", "consistent with", "unknown"]


@dataclass(frozen=True)
class Tolerance:
    """How far ours may be from the paper, up and down: `share` of the printed value plus `absolute` of its
    unit. `origin` says where the limit comes from (clock, compiler, model, rounding, wording)."""

    share: float = 0.0
    absolute: float = 0.0
    origin: str = "exact"


@dataclass(frozen=True)
class Comparison:
    """One published fact next to ours. `motecrypt.studies.judge.compare` makes it and computes its verdict.

    Attributes
    ----------
    ratio
        Ours divided by the paper, where both are numbers.
    note
        For people. Other views quote or calculate with two more fields: `brief`, the note's essence in one
        clause, and `figures` of ours by name, each with its unit in the name.
    id
        Stable name of the row, with the study's name first; no other row has it.
    topic
        What other views look for (`motecrypt.studies.claim_ids`); most rows have none.
    kind
        A printed figure, a claim of the text, derived from other rows, which `derived_from` names, or an
        input: a printed value that our experiments take over. Only figures and claims are counted.
    like_for_like
        Where our side comes from.
    better
        Whether ours is better where it differs; None where neither direction is better. Not part of the
        verdict.
    cause, cause_known, command
        Why the two differ, how this is known, and the command that shows it.
    missing
        What is needed to compare: hardware, code or figures, and how to get it.
    """

    source: str
    table: str
    row: str
    column: str
    unit: str
    published: float | str | None
    measured: float | str | None
    ratio: float | None
    verdict: Verdict
    note: str = ""
    brief: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    id: str = ""
    topic: str = ""
    kind: FactKind = "figure"
    derived_from: tuple[str, ...] = ()
    tolerance: Tolerance | None = None
    like_for_like: LikeForLike = ""
    better: bool | None = None
    cause: str = ""
    cause_known: CauseKnown = ""
    command: str = ""
    missing: str = ""

    @property
    def recomputed(self) -> bool:
        """Whether `measured` is not ours: it follows from other figures of the paper."""
        return self.like_for_like == "the paper itself"
