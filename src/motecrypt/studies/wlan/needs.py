"""What the Wi-Fi study needs measured, timed and simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from motecrypt.base.model import ExperimentResult
from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.data_types import DataTypes
from motecrypt.measuring.experiments.file_sizes import EncodingTiming, SizeSweep
from motecrypt.measuring.experiments.host_speed import HostSpeed
from motecrypt.measuring.experiments.transfer_wlan import TransferWlan, ensure_all
from motecrypt.results import Results
from motecrypt.studies import Long, Needs
from motecrypt.studies.wlan import plan


@dataclass(frozen=True)
class Transfers:
    """All the transfers as one experiment, so that their runs share the processors."""

    def find(self, results: Results) -> ExperimentResult | None:
        """The last transfer's newest stored result; None where any transfer has none. Runs nothing."""
        found = [question.find(results) for question in plan.transfers()]
        return None if None in found else found[-1]

    def ensure(self, results: Results, progress: Callable[[str], None] | None = None) -> ExperimentResult:
        """Simulate what is missing; the result is the last transfer's."""
        requests = [TransferWlan.of(question) for question in plan.transfers()]
        return ensure_all(requests, results, progress)[-1]


def needs() -> Needs:
    """Cells on nodes and timings on this host; the transfers take ns-3 minutes."""
    cells = [cell for group in plan.node_cells(Catalog.load()).values() for cell in group]
    timings = [DataTypes.of(question) for question in plan.host_ciphers()]
    sizes = [SizeSweep.of(plan.sizes(name)) for name in plan.CIPHERS]
    return Needs(
        tool_sets=("host", "openssl", "images"),
        toolchains=plan.TOOLCHAINS,
        cells=list(dict.fromkeys(cells)),
        experiments=[*timings, HostSpeed.of(plan.host_speed()), *sizes, EncodingTiming()],
        long=Long([Transfers()], plan.transfers(), tool_sets=("wlan",)),
    )
