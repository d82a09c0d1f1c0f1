"""What other experiments than cells are asked, one module a kind: the questions that find stored answers.

A question is a frozen record. Views ask it of the results and get the newest answer,
whatever builds, tools and computers it was made with. How an answer is made is `experiments` and
`audits.runs`, whose requests are the same questions with `ensure`; nothing here runs or compiles anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from motecrypt.base.model import ExperimentResult
from motecrypt.results import Results
from motecrypt.results.experiments.answers import Answer


class ExperimentQuestion:
    """What is asked of the results: a kind of result, its version, and the question itself."""

    KIND: ClassVar[str]
    VERSION: ClassVar[int]
    ANSWER: ClassVar[type[Answer]]

    @classmethod
    def of(cls, question: ExperimentQuestion) -> Self:
        """The same question, asked by this class."""
        return cls(**vars(question))

    def asked(self) -> dict[str, Any]:
        """The question as it is stored next to its answers: JSON data, nothing of how an answer is made."""
        raise NotImplementedError

    def find(self, results: Results) -> ExperimentResult | None:
        """The newest stored answer, or None; what is not of the answer's shape is not there. Runs nothing."""
        return self.shaped(results.newest_experiment(self.KIND, self.VERSION, self.asked()))

    def kept(self, results: Results, inputs: Mapping[str, Any]) -> ExperimentResult | None:
        """The stored answer of exactly these inputs, or None: one of another shape has to be made again."""
        return self.shaped(results.experiment(self.KIND, self.VERSION, inputs))

    @classmethod
    def shaped(cls, found: ExperimentResult | None) -> ExperimentResult | None:
        """The result if its outcome is of the answer's shape, else None."""
        return None if found is None or cls.ANSWER.from_json(found.outcome) is None else found


__all__ = ["Answer", "ExperimentQuestion"]
