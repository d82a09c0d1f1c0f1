"""Makes data/recorded/*.jsonl: the answers of each study's long experiments, run here or stored already.

`python -m made.recorded [STUDY]...`; it takes what `motecrypt reproduce STUDY --full` takes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from motecrypt.base.model import RECORDED
from motecrypt.base.paths import write_atomically
from motecrypt.build.setup import need
from motecrypt.cli._output import open_results, progress
from motecrypt.results import Results
from motecrypt.results.experiments import ExperimentQuestion
from motecrypt.results.experiments.recorded import RecordedAnswer, file_of, text
from motecrypt.studies import names, needs


def main() -> None:
    """Record the studies of these names, or all that have something to record."""
    parser = argparse.ArgumentParser(prog="python -m made.recorded", description=__doc__)
    parser.add_argument("study", nargs="*", choices=[[], *names()], metavar="STUDY")
    chosen: Sequence[str] = parser.parse_args().study
    with open_results(None) as results:
        for name in chosen or names():
            long = needs(name).long
            if long is not None:
                need(*long.tool_sets)
                with progress(name) as told:
                    total = len(long.experiments)
                    for number, experiment in enumerate(long.experiments):
                        experiment.ensure(results, partial(told, number, total))
                answers = [_answer(question, results) for question in long.questions]
                write_atomically(file_of(name), text(answers).encode())
                print(f"{file_of(name)}: {len(answers)} answers", file=sys.stderr)


def _answer(question: ExperimentQuestion, results: Results) -> RecordedAnswer:
    found = question.find(results)
    if found is None or RECORDED in found.inputs:
        raise SystemExit("an answer is missing or was recorded before: start with a new results file")
    return RecordedAnswer(found, question.asked())


if __name__ == "__main__":
    main()
