"""Which cipher for this device, radio, battery and budget? Pure: plain records in, reasons out.

    from motecrypt import advise

    answer = advise.advise(question, candidates, device, radio, battery, regulator)

`advise` looks at its arguments and nothing else. `candidates_from`, `device_part`, `radio_part`,
`battery_part` and `regulator_part` make these from the catalog and from measurements that someone else
made; `export` gives all of it as JSON. docs/advise.md describes the model.
"""

from motecrypt.advise.gather import (
    GRID,
    Exporter,
    battery_part,
    candidates_from,
    candidates_of,
    cell_names,
    device_part,
    export,
    placed,
    radio_part,
    regulator_names,
    regulator_part,
)
from motecrypt.advise.rank import advise, supply_refusal, unfit
from motecrypt.advise.records import (
    NEEDS,
    Advice,
    BatteryPart,
    Candidate,
    DeviceFacts,
    EnergyShares,
    Entry,
    Exclusion,
    MessageCosts,
    Point,
    Question,
    RadioPart,
    RegulatorPart,
)
from motecrypt.advise.units import seconds, whole_bytes

__all__ = [
    "GRID",
    "NEEDS",
    "Advice",
    "BatteryPart",
    "Candidate",
    "DeviceFacts",
    "EnergyShares",
    "Entry",
    "Exclusion",
    "Exporter",
    "MessageCosts",
    "Point",
    "Question",
    "RadioPart",
    "RegulatorPart",
    "advise",
    "battery_part",
    "candidates_from",
    "candidates_of",
    "cell_names",
    "device_part",
    "export",
    "placed",
    "radio_part",
    "regulator_names",
    "regulator_part",
    "seconds",
    "supply_refusal",
    "unfit",
    "whole_bytes",
]
