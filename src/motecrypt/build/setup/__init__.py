"""What each command needs installed: probes it, reports it, and installs it.

`need("avr")` returns immediately when everything is installed; otherwise it prints what it will install and
installs it with apt-get (through sudo where needed) and pip (pinned and hashed). `doctor` shows all.
"""

from motecrypt.build.setup.shortages import left_out, summary
from motecrypt.build.setup.systems import by_hand
from motecrypt.build.setup.tool_sets import ToolSet, ToolSetState, have, need, need_each, state, tool_sets

__all__ = [
    "ToolSet",
    "ToolSetState",
    "by_hand",
    "have",
    "left_out",
    "need",
    "need_each",
    "state",
    "summary",
    "tool_sets",
]
