"""What the study of AES-256 over a serial radio needs run."""

from __future__ import annotations

from motecrypt.measuring.experiments.crowd import CrowdRun
from motecrypt.measuring.experiments.serial_write import SerialWrites
from motecrypt.measuring.experiments.transfer import Transfer
from motecrypt.studies import Long, Needs
from motecrypt.studies.rf import crowd
from motecrypt.studies.rf.explanations import writes
from motecrypt.studies.rf.rows import transfer


def needs() -> Needs:
    """The ten messages sent in virtual time in every mode, and writes to a port; networks of up to 50 nodes
    take minutes."""
    questions = crowd.questions()
    return Needs(
        experiments=[Transfer.of(transfer()), SerialWrites.of(writes())],
        long=Long([CrowdRun.of(question) for question in questions], questions),
    )
