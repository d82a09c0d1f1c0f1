"""What the study of AES-256 over a serial radio needs run."""

from __future__ import annotations

from motecrypt.experiments.transfer import Transfer
from motecrypt.studies import Needs
from motecrypt.studies.rf.study import transfer


def needs() -> Needs:
    """The ten messages sent in virtual time in every mode."""
    return Needs(experiments=[Transfer.of(transfer())])
