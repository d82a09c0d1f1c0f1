"""Self-contained libraries of what was measured: for Arduino, PlatformIO, Pico SDK, Zephyr, ESP-IDF, plain C.

`target`, `choose` and `plan` say what an export is; `Export.write` makes its folder, whole or not at all.
"""

from motecrypt.exports.figures import figure_cells, measure_command
from motecrypt.exports.folder import refuse_foreign
from motecrypt.exports.library import Export, KnownAnswer, choose, known_answer, next_step, plan
from motecrypt.exports.link import (
    LinkRadio,
    Sketch,
    cost_question,
    next_link_step,
    plan_link,
    plan_sketch,
    running_examples,
)
from motecrypt.exports.targets import Target, for_device, target, target_for, target_names

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
