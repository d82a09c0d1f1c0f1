"""What the Pico study needs measured and run."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.measuring.experiments.call_sequence import CallSequence
from motecrypt.measuring.experiments.files import FileJob, FileJobs
from motecrypt.measuring.experiments.passwords import PasswordDerivation
from motecrypt.measuring.experiments.remains import PlaintextRemains
from motecrypt.measuring.experiments.second_core import SecondCoreRun
from motecrypt.results.experiments.pico_file import FileQuestion
from motecrypt.studies import Long, Needs
from motecrypt.studies.pico import figures, files, remains, second_core


def needs() -> Needs:
    """Set-up and call of each library on the source's bytes, files of all sizes, what a guess at a password
    costs, and the cells for sizes and compiler levels. Large files, and all hashes, take minutes."""
    long = files.long_questions()
    sequences = [CallSequence.of(question) for question in figures.sequences()]
    return Needs(
        toolchains={figures.DEVICE: figures.TOOLCHAIN},
        cells=figures.cells(),
        experiments=[*sequences, _jobs(files.quick_questions()), PasswordDerivation.of(files.PASSWORDS)],
        long=Long(
            [_jobs(long), PlaintextRemains.of(remains.QUESTION), SecondCoreRun.of(second_core.QUESTION)],
            [*long, remains.QUESTION, second_core.QUESTION],
        ),
    )


def _jobs(questions: Sequence[FileQuestion]) -> FileJobs:
    return FileJobs(tuple(FileJob.of(question) for question in questions))
