"""A mutant: one small change of one file, and the result of its tests."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any

KILLED = "killed"
SURVIVED = "survived"
TIMED_OUT = "time-out"
EQUIVALENT = "equivalent"
UNCOUNTED = "uncounted"
"""It does not compile, or compiles to the very same code: no part of the sample."""


@dataclass(frozen=True)
class Mutant:
    """One change: the characters from `start` to `end` of a file become `new`.

    Attributes
    ----------
    path : of the file, from the project's root.
    domain : of the file, by owners.toml.
    line : where the change begins, counted from 1.
    operator : the name of the rule that made it.
    before, after : the whole changed lines, without what leads and trails.
    """

    path: str
    domain: str
    line: int
    operator: str
    start: int
    end: int
    new: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """A short name that stays the same while the line and the ones before it stay."""
        text = "\0".join((self.path, str(self.line), self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    def applied(self, text: str) -> str:
        """The file's text with the change."""
        return text[: self.start] + self.new + text[self.end :]


def edit(path: str, domain: str, operator: str, old: str, new: str) -> Mutant:
    """The mutant that turns one text into another, which differ in one place."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < min(len(old), len(new)) - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end, new_end = len(old) - tail, len(new) - tail
    return Mutant(
        path=path,
        domain=domain,
        line=old.count("\n", 0, start) + 1,
        operator=operator,
        start=start,
        end=end,
        new=new[start:new_end],
        before=_lines(old, start, end),
        after=_lines(new, start, new_end),
    )


def _lines(text: str, start: int, end: int) -> str:
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return text[first : last if last >= 0 else len(text)].strip()


@dataclass
class Result:
    """The outcome of a mutant. `output` is the end of what the tests said."""

    mutant: Mutant
    outcome: str
    seconds: float = 0.0
    output: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """For the results file."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Result:
        """From the results file."""
        return cls(**{**record, "mutant": Mutant(**record["mutant"])})

    def diff(self) -> str:
        """The change as a diff of its lines."""
        before, after = self.mutant.before.splitlines(), self.mutant.after.splitlines()
        return "\n".join(line for line in difflib.ndiff(before, after) if not line.startswith("?"))


@dataclass
class Tally:
    """Counts of one domain, or of all."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, outcome: str) -> None:
        """Count one more."""
        self.counts[outcome] = self.counts.get(outcome, 0) + 1

    def of(self, outcome: str) -> int:
        """How many ended so."""
        return self.counts.get(outcome, 0)

    @property
    def judged(self) -> int:
        """Those that the tests had to kill."""
        return self.of(KILLED) + self.of(SURVIVED) + self.of(TIMED_OUT)

    @property
    def sample(self) -> int:
        """All that count."""
        return self.judged + self.of(EQUIVALENT)

    @property
    def score(self) -> float:
        """The share that was killed of those that had to be; 1 where there were none."""
        return self.of(KILLED) / self.judged if self.judged else 1.0
