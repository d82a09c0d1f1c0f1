"""Self-contained libraries of what was measured: for Arduino, PlatformIO, Pico SDK, Zephyr, ESP-IDF, plain C.

`target`, `choose` and `plan` say what an export is; `Export.write` makes its folder, whole or not at all.
"""

from motecrypt.export.library import Export, KnownAnswer, choose, known_answer, next_step, plan
from motecrypt.export.link import LinkRadio, next_link_step, plan_link
from motecrypt.export.targets import Target, target, target_for, target_names

__all__ = [
    "Export",
    "KnownAnswer",
    "LinkRadio",
    "Target",
    "choose",
    "known_answer",
    "next_link_step",
    "next_step",
    "plan",
    "plan_link",
    "target",
    "target_for",
    "target_names",
]
