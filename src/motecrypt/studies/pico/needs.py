"""What the Pico study needs measured and run."""

from __future__ import annotations

from motecrypt.experiments.call_sequence import CallSequence
from motecrypt.experiments.files import FileJob, FileJobs
from motecrypt.experiments.passwords import PasswordDerivation
from motecrypt.studies import Needs
from motecrypt.studies.pico import figures, files


def needs() -> Needs:
    """Set-up and call of each library on the source's bytes, files of all sizes, what a guess at a password
    costs, and the cells for sizes and compiler levels."""
    jobs = FileJobs(tuple(FileJob.of(question) for question in files.questions()))
    sequences = [CallSequence.of(question) for question in figures.sequences()]
    return Needs(
        toolchains={figures.DEVICE: figures.TOOLCHAIN},
        cells=figures.cells(),
        experiments=[*sequences, jobs, PasswordDerivation.of(files.PASSWORDS)],
    )
