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
from motecrypt.base.model import RECORDED, Finding
from motecrypt.catalog.places import DATA


@dataclass(frozen=True)
class RecordedAnswer:
    """One answer and its question, as the results file keeps them."""

    finding: Finding
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
            finding = Finding(
                kept["kind"], kept["version"], inputs, kept["outcome"], made_at, kept["motecrypt_version"]
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}: no recorded answer ({error})") from None
        answers.append(RecordedAnswer(finding, asked))
    return answers


def text(answers: Iterable[RecordedAnswer]) -> str:
    """The answers as `read` takes them: one a line, in the order given."""
    return "".join(
        json.dumps(
            {
                "kind": answer.finding.kind,
                "version": answer.finding.version,
                "made_at": answer.finding.made_at,
                "motecrypt_version": answer.finding.motecrypt_version,
                "asked": answer.asked,
                "outcome": answer.finding.outcome,
            },
            sort_keys=True,
            separators=(",", ":"),
        )
        + "\n"
        for answer in answers
    )


def only(findings: Iterable[Finding]) -> list[Finding]:
    """Those of these findings that came with the program."""
    return [finding for finding in findings if RECORDED in finding.inputs]


def days(findings: Iterable[Finding]) -> list[str]:
    """The days on which those of these findings were made that came with the program."""
    return sorted({finding.made_at[:10] for finding in only(findings)})
