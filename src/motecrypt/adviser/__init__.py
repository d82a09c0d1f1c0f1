"""Which cipher for this device, radio, battery and budget? Pure: plain records in, reasons out.

    from motecrypt import adviser as advise

    answer = advise.advise(question, candidates, device, radio, link, battery, regulator)

`advise` looks at its arguments and nothing else. `candidates_from`, `device_part`, `radio_part`,
`link_facts`, `battery_part` and `regulator_part` make these from the catalog, from data files and from
measurements that someone else made; `export` gives all of it as JSON. docs/advise.md describes the model.
"""

from typing import TYPE_CHECKING

from motecrypt.base.lazy import on_demand

if TYPE_CHECKING:
    from motecrypt.adviser.asked import Asked, Node, answered, node_of, setting_of
    from motecrypt.adviser.defaults import EXAMPLE, USUAL, command_of, example_command, whole_needs
    from motecrypt.adviser.exchange import message_bytes_max
    from motecrypt.adviser.exported import GRID, Exporter, candidates_of, export
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
    "GRID",
    "LOSS_PERCENT_MAX",
    "NEEDS",
    "USUAL",
    "USUAL_NEEDS",
    "Advice",
    "Asked",
    "BatteryPart",
    "Candidate",
    "DeviceFacts",
    "EnergyShares",
    "Entry",
    "Exclusion",
    "Exporter",
    "LinkFacts",
    "MessageCosts",
    "Node",
    "Point",
    "Question",
    "RadioPart",
    "RegulatorPart",
    "StoragePart",
    "SuiteWork",
    "advise",
    "answered",
    "battery_part",
    "candidates_from",
    "candidates_of",
    "cell_names",
    "command_of",
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

__getattr__ = on_demand(
    __name__,
    {
        **dict.fromkeys(
            (
                "EXAMPLE",
                "USUAL",
                "command_of",
                "example_command",
                "whole_needs",
            ),
            "defaults",
        ),
        **dict.fromkeys(("Asked", "Node", "answered", "node_of", "setting_of"), "asked"),
        **dict.fromkeys(("message_bytes_max",), "exchange"),
        **dict.fromkeys(
            (
                "GRID",
                "Exporter",
                "candidates_of",
                "export",
            ),
            "exported",
        ),
        **dict.fromkeys(
            (
                "battery_part",
                "candidates_from",
                "cell_names",
                "device_part",
                "placed",
                "radio_part",
                "regulator_names",
                "regulator_part",
                "sleeps_with",
                "weighable",
            ),
            "gather",
        ),
        **dict.fromkeys(("link_facts",), "link_data"),
        **dict.fromkeys(
            (
                "DELIVERIES",
                "EXCLUDED",
                "NEEDS",
                "USUAL_NEEDS",
                "Advice",
                "BatteryPart",
                "Candidate",
                "DeviceFacts",
                "EnergyShares",
                "Entry",
                "Exclusion",
                "LinkFacts",
                "MessageCosts",
                "Point",
                "Question",
                "RadioPart",
                "RegulatorPart",
                "SuiteWork",
            ),
            "model",
        ),
        **dict.fromkeys(("extension_note",), "notes"),
        **dict.fromkeys(
            (
                "advise",
                "life_days",
                "link_refusal",
                "supply_refusal",
                "unfit",
            ),
            "rank",
        ),
        **dict.fromkeys(
            (
                "StoragePart",
                "currents_ma",
                "storage_names",
                "storage_part",
                "stored_device",
            ),
            "storage",
        ),
        **dict.fromkeys(
            (
                "BYTES_MAX",
                "LOSS_PERCENT_MAX",
                "loss_share",
                "seconds",
                "whole_bytes",
            ),
            "units",
        ),
        **dict.fromkeys(("row",), "shown"),
        **dict.fromkeys(("radio_refusal",), "unknown"),
    },
)
