"""Which cipher for this device, radio, battery and budget? Pure: plain records in, reasons out.

    from motecrypt import advise

    answer = advise.advise(question, candidates, device, radio, link, battery, regulator)

`advise` looks at its arguments and nothing else. `candidates_from`, `device_part`, `radio_part`,
`link_facts`, `battery_part` and `regulator_part` make these from the catalog, from data files and from
measurements that someone else made; `export` gives all of it as JSON. docs/advise.md describes the model.
"""

from motecrypt.advise.defaults import EXAMPLE, USUAL, example_command, whole_needs
from motecrypt.advise.exchange import message_bytes_max
from motecrypt.advise.exported import GRID, Exporter, candidates_of, export
from motecrypt.advise.gather import (
    battery_part,
    candidates_from,
    cell_names,
    device_part,
    placed,
    radio_part,
    regulator_names,
    regulator_part,
    sleeps_with,
    weighable,
)
from motecrypt.advise.link_data import link_facts
from motecrypt.advise.notes import extension_note
from motecrypt.advise.rank import advise, life_days, link_refusal, supply_refusal, unfit
from motecrypt.advise.records import (
    DELIVERIES,
    EXCLUDED,
    NEEDS,
    USUAL_NEEDS,
    Advice,
    BatteryPart,
    Candidate,
    DeviceFacts,
    EnergyShares,
    Entry,
    Exclusion,
    LinkFacts,
    MessageCosts,
    Point,
    Question,
    RadioPart,
    RegulatorPart,
    SuiteWork,
)
from motecrypt.advise.storage import (
    StoragePart,
    currents_ma,
    storage_names,
    storage_part,
    stored_device,
)
from motecrypt.advise.units import LOSS_PERCENT_MAX, loss_share, seconds, whole_bytes
from motecrypt.advise.unknown import radio_refusal

__all__ = [
    "DELIVERIES",
    "EXAMPLE",
    "EXCLUDED",
    "GRID",
    "LOSS_PERCENT_MAX",
    "NEEDS",
    "USUAL",
    "USUAL_NEEDS",
    "Advice",
    "BatteryPart",
    "Candidate",
    "DeviceFacts",
    "EnergyShares",
    "Entry",
    "Exclusion",
    "Exporter",
    "LinkFacts",
    "MessageCosts",
    "Point",
    "Question",
    "RadioPart",
    "RegulatorPart",
    "StoragePart",
    "SuiteWork",
    "advise",
    "battery_part",
    "candidates_from",
    "candidates_of",
    "cell_names",
    "currents_ma",
    "device_part",
    "example_command",
    "export",
    "extension_note",
    "life_days",
    "link_facts",
    "link_refusal",
    "loss_share",
    "message_bytes_max",
    "placed",
    "radio_part",
    "radio_refusal",
    "regulator_names",
    "regulator_part",
    "seconds",
    "sleeps_with",
    "storage_names",
    "storage_part",
    "stored_device",
    "supply_refusal",
    "unfit",
    "weighable",
    "whole_bytes",
    "whole_needs",
]
