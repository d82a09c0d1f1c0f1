"""Self-contained libraries of what was measured: for Arduino, PlatformIO, Pico SDK, Zephyr, ESP-IDF, plain C.

`target`, `choose` and `plan` say what an export is; `Export.write` makes its folder, whole or not at all.
"""

from motecrypt.export.figures import figure_cells, measure_command
from motecrypt.export.folder import refuse_foreign
from motecrypt.export.library import Export, KnownAnswer, choose, known_answer, next_step, plan
from motecrypt.export.link import (
    LinkRadio,
    Sketch,
    cost_question,
    next_link_step,
    plan_link,
    plan_sketch,
    running_examples,
)
from motecrypt.export.targets import Target, for_device, target, target_for, target_names

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
