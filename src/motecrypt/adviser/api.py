"""Which cipher for this device, radio, battery and budget? Pure: plain records in, reasons out.

    from motecrypt.adviser import api as advise

    answer = advise.advise(question, candidates, device, radio, link, battery, regulator)

`advise` looks at its arguments and nothing else. `candidates_from`, `device_part`, `radio_part`,
`link_facts`, `battery_part` and `regulator_part` make these from the catalog, from data files and from
measurements that someone else made; `exported.export` gives all as JSON. docs/advise.md describes the model.
"""

from motecrypt.adviser.asked import Node, Supply, answered, asked_in, node_of, setting_of
from motecrypt.adviser.defaults import EXAMPLE, USUAL, command_of, example_command, whole_needs
from motecrypt.adviser.exchange import message_bytes_max
from motecrypt.adviser.gather import (
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
from motecrypt.adviser.link_data import link_facts
from motecrypt.adviser.model import (
    DELIVERIES,
    EXCLUDED,
    NEEDS,
    USUAL_NEEDS,
    Advice,
    BatteryPart,
    Budgets,
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
from motecrypt.adviser.notes import extension_note
from motecrypt.adviser.rank import advise, life_days, link_refusal, supply_refusal, unfit
from motecrypt.adviser.shown import row
from motecrypt.adviser.storage import (
    StoragePart,
    currents_ma,
    storage_names,
    storage_part,
    stored_device,
)
from motecrypt.adviser.units import BYTES_MAX, LOSS_PERCENT_MAX, loss_share, seconds, whole_bytes
from motecrypt.adviser.unknown import radio_refusal

__all__ = [
    "BYTES_MAX",
    "DELIVERIES",
    "EXAMPLE",
    "EXCLUDED",
    "LOSS_PERCENT_MAX",
    "NEEDS",
    "USUAL",
    "USUAL_NEEDS",
    "Advice",
    "BatteryPart",
    "Budgets",
    "Candidate",
    "DeviceFacts",
    "EnergyShares",
    "Entry",
    "Exclusion",
    "LinkFacts",
    "MessageCosts",
    "Node",
    "Point",
    "Question",
    "RadioPart",
    "RegulatorPart",
    "StoragePart",
    "SuiteWork",
    "Supply",
    "advise",
    "answered",
    "asked_in",
    "battery_part",
    "candidates_from",
    "cell_names",
    "command_of",
    "currents_ma",
    "device_part",
    "example_command",
    "extension_note",
    "life_days",
    "link_facts",
    "link_refusal",
    "loss_share",
    "message_bytes_max",
    "node_of",
    "placed",
    "radio_part",
    "radio_refusal",
    "regulator_names",
    "regulator_part",
    "row",
    "seconds",
    "setting_of",
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
