"""Reads how a device's board is flashed: the tool and its configuration, in the device's folder."""

from __future__ import annotations

import re

from motecrypt.base.descriptor import Table
from motecrypt.base.model import Flashing

TOOLS = {"openocd": "openocd", "bossac": "bossac", "minichlink": ""}
"""The tools by their commands, with their tool sets; no package has minichlink."""

# Only names of OpenOCD's own files: a device's folder must not name other scripts.
_CONFIG = re.compile(r"(?:board|interface|target)/[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)?\.cfg")


def read_flashing(table: Table) -> Flashing | None:
    """The table `flashing` of a device, None where it is empty; InputError when it is not as it should be."""
    if not table.plain():
        return None
    tool = table.text("tool", choices=tuple(TOOLS))
    configs = table.texts("configs") if tool == "openocd" else ()
    if tool == "openocd" and not (configs and all(_CONFIG.fullmatch(name) for name in configs)):
        raise table.wrong("configs", list(configs), "OpenOCD's own files, such as target/stm32f1x.cfg")
    transport = table.text("transport", "", choices=("", "swd")) if tool == "openocd" else ""
    table.text("source")
    table.done()
    return Flashing(tool, configs, transport)
