"""Runs a command behind setup.sh until its end or Ctrl-C: `python -m motecrypt.build.setup.behind COMMAND`.

A shell has its background programs ignore Ctrl-C, so that they would outlive the command that they are for.
It needs nothing but Python's own library. A failure here is reported later, by the command itself.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from motecrypt.build.setup.runs import trouble

TIMEOUT_S = 1800.0


def main(command: Sequence[str]) -> int:
    """0; 1 where it failed; 130 after Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return int(bool(trouble(command, dict(os.environ), TIMEOUT_S, lambda text: None)))
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
