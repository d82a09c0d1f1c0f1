"""What the RC4D study needs measured and run."""

from __future__ import annotations

from motecrypt.measuring.audits import AuditRun
from motecrypt.measuring.experiments.features import FeatureProbe
from motecrypt.studies import Needs
from motecrypt.studies.rc4d.figures import DEVICE, TOOLCHAIN, cells
from motecrypt.studies.rc4d.study import ATTACK, PROBES


def needs() -> Needs:
    """Every variant of ours on the UNO, and on the host what the ciphers take, how far they diffuse and
    the attack that shows whether RC4D is stronger than RC4."""
    probes = [FeatureProbe.of(question) for question in PROBES.values()]
    return Needs(
        tool_sets=("host",),
        toolchains={DEVICE: TOOLCHAIN},
        cells=cells(),
        experiments=[*probes, AuditRun.of(ATTACK)],
    )
