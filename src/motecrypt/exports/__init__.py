"""Self-contained libraries of what was measured: for Arduino, PlatformIO, Pico SDK, Zephyr, ESP-IDF, plain C.

`target`, `choose` and `plan` say what an export is; `Export.write` makes its folder, whole or not at all.
"""

from typing import TYPE_CHECKING

from motecrypt.base.lazy import on_demand
from motecrypt.exports.commands import LinkRadio, next_link_step, next_step
from motecrypt.exports.targets import Target, for_device, target, target_for, target_names

if TYPE_CHECKING:
    from motecrypt.exports.figures import figure_cells, measure_command
    from motecrypt.exports.folder import refuse_foreign
    from motecrypt.exports.library import Export, KnownAnswer, choose, known_answer, plan
    from motecrypt.exports.link import Sketch, cost_question, plan_link, plan_sketch, running_examples

__all__ = [
    "Export",
    "KnownAnswer",
    "LinkRadio",
    "Sketch",
    "Target",
    "choose",
    "cost_question",
    "figure_cells",
    "for_device",
    "known_answer",
    "measure_command",
    "next_link_step",
    "next_step",
    "plan",
    "plan_link",
    "plan_sketch",
    "refuse_foreign",
    "running_examples",
    "target",
    "target_for",
    "target_names",
]

__getattr__ = on_demand(
    __name__,
    {
        **dict.fromkeys(("figure_cells", "measure_command"), "figures"),
        "refuse_foreign": "folder",
        **dict.fromkeys(("Export", "KnownAnswer", "choose", "known_answer", "plan"), "library"),
        **dict.fromkeys(("Sketch", "cost_question", "plan_link", "plan_sketch", "running_examples"), "link"),
    },
)
