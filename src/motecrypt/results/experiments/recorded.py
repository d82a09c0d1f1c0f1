"""Answers that came with the program: those of experiments that take minutes, each with the day it was made.

`data/recorded/NAME.jsonl` has one answer a line; `python -m made.recorded` writes it. A study shows
them until `reproduce NAME --full` has made answers of its own, which are newer. Runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.model import RECORDED, ExperimentResult
from motecrypt.catalog.places import DATA


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer and its question, as the results file keeps them."""

    experiment: ExperimentResult
    asked: Mapping[str, Any]


def file_of(study: str) -> Path:
    """Where the answers of a study of ours are, or would be."""
    return DATA / "recorded" / f"{study}.jsonl"


def read(path: Path) -> list[RecordedAnswer]:
    """The answers in a file; none where there is no such file.

    Raises
    ------
    InputError
        A line is not as `write` makes it.
    """
    if not path.is_file():
        return []
    answers = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            kept = json.loads(line)
            asked, made_at = kept["asked"], kept["made_at"]
            inputs = {**asked, RECORDED: made_at}
            experiment = ExperimentResult(
                kept["kind"], kept["version"], inputs, kept["outcome"], made_at, kept["motecrypt_version"]
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}: no recorded answer ({error})") from None
        answers.append(RecordedAnswer(experiment, asked))
    return answers


def text(answers: Iterable[RecordedAnswer]) -> str:
    """The answers as `read` takes them: one a line, in the order given."""
    return "".join(
        json.dumps(
            {
                "kind": answer.experiment.kind,
                "version": answer.experiment.version,
                "made_at": answer.experiment.made_at,
                "motecrypt_version": answer.experiment.motecrypt_version,
                "asked": answer.asked,
                "outcome": answer.experiment.outcome,
            },
            sort_keys=True,
            separators=(",", ":"),
        )
        + "\n"
        for answer in answers
    )


def only(experiments: Iterable[ExperimentResult]) -> list[ExperimentResult]:
    """Those of these results that came with the program."""
    return [experiment for experiment in experiments if RECORDED in experiment.inputs]


def days(experiments: Iterable[ExperimentResult]) -> list[str]:
    """The days on which those of these results were made that came with the program."""
    return sorted({experiment.made_at[:10] for experiment in only(experiments)})
